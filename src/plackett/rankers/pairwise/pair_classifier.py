"""A pair classifier as a ranker: learn which of two documents is better, then derive an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, whole
from plackett._base.errors import DataError
from plackett._base.estimator import clone
from plackett._base.search_space import SearchSpace
from plackett.aggregation.orderings.named import find_ordering
from plackett.data.dataset import RankingDataset
from plackett.losses.pointwise.binary_logistic import BinaryLogistic
from plackett.models.linear import Linear
from plackett.models.networks.neural import Neural
from plackett.models.trees.model import Trees
from plackett.rankers.base import Ranker
from plackett.rankers.pairwise._listed_pairs import listed_pairs
from plackett.scorers.comparators.pair_model import PAIR_FEATURES, ForeignComparator, ModelComparator, pair_table
from plackett.scorers.linear import LinearScorer
from plackett.scorers.ordered import Comparator, OrderedScorer
from plackett.solvers.monitor import Monitor, SilentMonitor

__all__ = ["PairClassifier"]

#: Models that go by a name.
_MODELS: dict[str, Any] = {"linear": Linear, "trees": Trees, "neural": Neural}


@dataclass(kw_only=True, eq=False, repr=False)
class PairClassifier(Ranker):
    """Ranking in two stages: a classifier learns which of two documents is better, and an ordering builds lists from
    it.

    The classifier is trained on pairs of documents of unequal labels (or on the preferences of the dataset), each in
    both directions. Its prediction h(u, v) for two documents is made consistent by averaging both directions: (h(u, v)
    + 1 − h(v, u)) / 2. It is called on batches of pairs: O(n log n) pairs per list with ``order="quicksort"``,
    all n²/2 with the other orderings. A linear model does not need to form pairs at all.

    With validation data, ``history_`` has one value: that of the finished ranker. With a scikit-learn classifier the
    ranker predicts, pickles and clones, but cannot be saved with `save`, which does not use pickle. With plackett's own
    models it can.

    Parameters
    ----------
    estimator
        ``"linear"`` (logistic regression), ``"trees"``, ``"neural"``, a model object such as ``Trees(num_leaves=15)``,
        or any scikit-learn classifier with ``predict_proba``.
    order
        ``"quicksort"``, ``"degree"``, ``"greedy"``, ``"exact"``, or an ordering such as ``QuickSort(k=10)``.
    pair_features
        ``"difference"`` of the features of the two documents, ``"concatenation"``, or ``"both"``. A linear model learns
        the same from all of them.
    normalize
        Give each query the same weight, however many pairs it has.
    max_pairs
        If there are more pairs than this, sample this many in proportion to their weights. Time and memory grow with
        it.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y, qid = [[0.0], [1.0], [2.0], [3.0]] * 2, [0, 1, 1, 2] * 2, [1, 1, 1, 1, 2, 2, 2, 2]
    >>> PairClassifier(estimator=GaussianNB(), order="degree").fit(X, y, qid=qid).rank([[5.0], [9.0]], qid=[1, 1])
    array([2, 1])

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010. Balcan, Bansal, Beygelzimer, Coppersmith,
    Langford, Sorkin: Robust reductions from ranking to classification. Machine Learning 2008.
    """

    takes_preferences: ClassVar[bool] = True
    search_space: ClassVar[SearchSpace] = {"estimator": ("linear", "trees"), "order": ("quicksort", "degree")}
    effort: ClassVar[str | None] = None

    estimator: Any = "linear"
    order: Any = "quicksort"
    pair_features: str = "difference"
    normalize: bool = False
    max_pairs: int = 100_000

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        choice("pair_features", self.pair_features, PAIR_FEATURES)
        whole("max_pairs", self.max_pairs, least=1)
        ordering = find_ordering(self.order, random_state=self.random_state)
        model = self._model()
        winner, loser, weight = listed_pairs(data, self.max_pairs, self.normalize, self.random_state)
        some = weight > 0
        winner, loser, weight = winner[some], loser[some], weight[some] * some.sum()
        with monitor.training(1, "pairs"):
            if winner.size:
                scorer: Any = OrderedScorer(self._comparator(model, data, winner, loser, weight), ordering)
            else:  # nothing to learn: no order is better than another
                scorer = LinearScorer(np.zeros((data.n_features, 1)), np.zeros(1))
            monitor.keep(scorer)
        self.scorer_ = scorer

    def _comparator(
        self, model: Any, data: RankingDataset, winner: np.ndarray, loser: np.ndarray, weight: np.ndarray
    ) -> Comparator:
        # each pair, then the same pair reversed
        first, second = (np.stack(both, axis=1).ravel() for both in ((winner, loser), (loser, winner)))
        table = pair_table(data.X, first, second, self.pair_features)
        if not _differ(table):  # nothing to learn: all documents are equal
            return ModelComparator(LinearScorer(np.zeros((table.shape[1], 1)), np.zeros(1)), self.pair_features)
        better, weight = np.tile([1.0, 0.0], winner.size), np.repeat(0.5 * weight, 2)
        if hasattr(model, "predict_proba"):
            return ForeignComparator(_classifier(model, table, better, weight), self.pair_features)
        offsets, qids = np.arange(0, better.size + 1, 2), np.arange(winner.size)
        pairs = RankingDataset(X=table, y=better, offsets=offsets, qids=qids, sample_weight=weight)
        return ModelComparator(model.train(BinaryLogistic(), pairs, SilentMonitor(), None), self.pair_features)

    def _model(self) -> Any:
        """A model of ours, or a classifier."""
        if isinstance(self.estimator, str):
            if self.estimator not in _MODELS:
                raise DataError(
                    f"estimator={self.estimator!r}; the models are {', '.join(map(repr, _MODELS))}; or give a model, "
                    "or a classifier with predict_proba"
                )
            return _MODELS[self.estimator](random_state=self.random_state, n_jobs=self.n_jobs)
        if not hasattr(self.estimator, "train") and not hasattr(self.estimator, "predict_proba"):
            raise DataError(f"estimator={self.estimator!r} has no predict_proba; give a classifier that has it")
        return self.estimator

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Whether NaN features are treated as missing values; decided by the estimator."""
        model = self._model()
        if not hasattr(model, "predict_proba"):
            return bool(model.allow_nan)
        from sklearn.utils import get_tags

        return bool(get_tags(model).input_tags.allow_nan)

    def save(self, path: Any) -> None:
        """Write the ranker to one file; raises an error with a classifier from another library."""
        self.check_fitted()
        if isinstance(getattr(self.scorer_, "comparator", None), ForeignComparator):
            self.scorer_.comparator.to_arrays()
        super().save(path)


def _differ(table: Any) -> bool:
    """Whether there are two different rows."""
    if isinstance(table, np.ndarray):
        return bool((table[1:] != table[:-1]).any())
    return table.nnz > 0


def _classifier(model: Any, table: Any, better: np.ndarray, weight: np.ndarray) -> Any:
    classifier, labels = clone(model), better.astype(np.int64)
    if np.ptp(weight) <= 1e-9 * weight.max():
        return classifier.fit(table, labels)
    from sklearn.utils.validation import has_fit_parameter

    if not has_fit_parameter(classifier, "sample_weight"):
        raise DataError(
            f"the pairs have weights (sample_weight, query_weight, or normalize=True), and a "
            f"{type(model).__name__} takes none in fit; train it without them"
        )
    return classifier.fit(table, labels, sample_weight=weight)
