"""Linear ranking from pairs drawn one at a time, in memory or from files of any size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np

from plackett._base.arguments import choice, number, whole
from plackett._base.errors import DataError, LossError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.files import NATIVE, TABLES, format_of
from plackett.data.letor.read import check_chunk_bytes, read_letor_chunks
from plackett.data.letor.source import is_regular
from plackett.data.mapped import query_blocks
from plackett.data.moments import feature_scale, weight_of_rows
from plackett.data.native import open_dataset
from plackett.rankers.binary_labels import check_relevance
from plackett.rankers.pairwise._drawn_examples import DrawnExamples, check_count
from plackett.rankers.pairwise.stochastic.descent import Descent, parameters
from plackett.rankers.pairwise.stochastic.learners import LEARNERS, RATES, PairLearner
from plackett.rankers.pairwise.stochastic.loops import LOOPS, Draws, make_draws
from plackett.rankers.pairwise.stochastic.streaming import Survey
from plackett.rankers.validation import validation_data
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor
from plackett.solvers.training_vectors import rows_of

__all__ = ["StochasticRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticRank(DrawnExamples):
    r"""Linear ranker trained on examples drawn at random, one per step: pairs of documents, single documents, or both.

    A step draws x, the difference of a better and a worse document (or ± a single document), and moves the weights w:

    ====================== ===========================================================================================
    ``pegasos``            :math:`w \leftarrow (1 - \eta\alpha) w + \eta x\,[w \cdot x < 1]`, then into the ball
                           :math:`\lVert w \rVert \le 1/\sqrt\alpha`: Ranking SVM
    ``sgd-svm``            the same without the ball
    ``logreg-pegasos``     :math:`w \leftarrow (1 - \eta\alpha) w + \eta x / (1 + e^{w \cdot x})`, then into the ball
    ``logreg``             the same without the ball
    ``passive-aggressive`` :math:`w \leftarrow w + \min(C, \max(0, 1 - w \cdot x) / \lVert x \rVert^2) x`
    ``margin-perceptron``  :math:`w \leftarrow w + \eta x\,[w \cdot x \le 1]`
    ``romma``              the shortest w' with w'·x ≥ 1 and w'·w ≥ ‖w‖², where w·x < 1
    ====================== ===========================================================================================

    A draw takes constant time, and pairs are never listed (with ``sample_weight`` a draw takes time logarithmic in the
    list length). The first two minimise :math:`\frac\alpha2 \lVert w \rVert^2` plus the mean hinge, the next two the
    mean of :math:`\log(1 + e^{-w \cdot x})` in its place, over what the loop draws:

    ======================= ==========================================================================================
    ``rank``                pairs of unequal labels of a query, all pairs of all queries alike
    ``query-norm-rank``     a query, all alike; then one of its pairs, all alike
    ``roc``                 a relevant document and another one, whatever their queries
    ``stochastic``          a document, relevant against not
    ``balanced-stochastic`` a document, relevant ones half of the time
    ``combined-ranking``    ``rank`` with probability ``rank_step_probability``, else ``stochastic``
    ``combined-roc``        ``roc`` with that probability, else ``stochastic``
    ======================= ==========================================================================================

    Weights are probabilities: a pair is drawn in proportion to the product of its documents' ``sample_weight`` and to
    its ``query_weight``. Preferences of the dataset take the place of label pairs in ``rank`` loops; their margins
    take the place of 1 (0 in the logistic learners).

    Parameters
    ----------
    learner, loop
        As above, under the names of sofia-ml.
    n_steps
        Number of examples drawn.
    alpha
        Strength of the penalty, sofia-ml's ``lambda``.
    rate
        Step size η of step t: ``"pegasos"``, 1 / (alpha t); ``"basic"``, 10 / (10 + t); ``"constant"``, ``eta0``;
        ``"auto"``, constant for the perceptron and pegasos otherwise.
    eta0
        The constant rate.
    C
        Largest step of ``passive-aggressive``.
    rank_step_probability
        Share of pairs in the combined loops.
    rel
        The lowest label that counts as relevant, for loops that separate relevant documents from others.
    fit_intercept
        Give single documents a constant feature; pairs do not need one.
    average
        Score with the mean of the weights over the last half to three quarters of the steps instead of the last ones.
    standardize
        Divide each feature by its standard deviation while training. The resulting weights apply to the original
        features.
    n_rounds
        How many times to evaluate the validation data, at equal intervals of steps.

    Examples
    --------
    >>> ranker = StochasticRank(n_steps=1000).fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Sculley: Large scale learning to rank. NIPS workshop on advances in ranking, 2009.
    Sculley: Combined regression and ranking. KDD 2010.
    Shalev-Shwartz, Singer, Srebro: Pegasos: primal estimated sub-gradient solver for SVM. ICML 2007.
    Crammer, Dekel, Keshet, Shalev-Shwartz, Singer: Online passive-aggressive algorithms. JMLR 2006.
    Li, Long: The relaxed online maximum margin algorithm. Machine Learning 2002.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-5, 0.1, log=True)}
    learner: str = "pegasos"
    loop: str = "query-norm-rank"
    n_steps: int = 1_000_000
    alpha: float = 1e-3
    rate: str = "auto"
    eta0: float = 0.02
    C: float = 1.0
    rank_step_probability: float = 0.5
    rel: float = 1.0
    fit_intercept: bool = True
    average: bool = True
    standardize: bool = True
    n_rounds: int = 20

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check_settings()
        if LOOPS[self.loop].by_side:
            check_relevance(data, self.rel)
        super()._fit(data, monitor)

    # ------------------------------------------------------------------------------------------------------------ files

    def fit_file(
        self,
        path: str | os.PathLike[str],
        *,
        passes: int = 1,
        chunk_bytes: int = 1 << 26,
        sparse: bool = False,
        n_features: int | None = None,
        missing: Literal["zero", "nan"] = "zero",
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
    ) -> Self:
        """Learn from a file of any size, LETOR text (plain or compressed) or native, reading it block by block.

        The file is read once to measure the spread of the features and count what there is to draw, then ``passes``
        times to learn; if ``n_features`` is not given, once more before that. Only one block is in memory at a time. A
        pass draws from one block after another, from each as many examples as its share of all pairs (``rank``), of all
        queries with pairs (``query-norm-rank``) or of all documents (``stochastic``): over the whole run an example is
        as likely as in `fit`, and only the order differs. ``roc`` and ``combined-roc`` see only pairs within a block,
        and ``balanced-stochastic`` balances within each. A file of one block gives exactly the result of `fit`.

        Parameters
        ----------
        path, sparse, n_features, missing, chunk_bytes
            As in `plackett.read_letor_chunks`: the rows of a query stand together, and blocks are whole queries of
            about ``chunk_bytes`` bytes of text, or of features in a native file.
        passes
            Number of passes over the file; ``n_steps`` is the total number of steps. Validation data are evaluated
            after each pass.
        eval_set, eval_qid, eval_group
            As in `fit`. ``calibration`` and ``early_stopping_rounds`` need them; ``validation_fraction`` is rejected,
            since queries cannot be set aside from a file that is read block by block.
        """
        self._check_settings()
        name = os.fsdecode(path)
        whole("passes", passes, least=1)
        check_chunk_bytes(chunk_bytes)
        if not is_regular(name):
            raise DataError(f"{name} can be read only once; read it with read_letor_chunks and use partial_fit")
        if self.validation_fraction is not None or eval_set is None:
            self._refuse_validation("fit_file", "give eval_set=… instead of validation_fraction")
        read = partial(self._blocks, name, chunk_bytes=chunk_bytes, sparse=sparse, missing=missing)
        survey = Survey()
        for block in read(n_features=n_features):
            survey.add(block, self._draws(block))
            n_features = block.n_features
        assert n_features is not None
        valid = validation_data(self.check_data, eval_set, eval_qid, eval_group, n_features)
        monitor = self.make_monitor(valid)
        descent = self._descent(survey.scale if self.standardize else np.ones(n_features))
        learner, settings = self._learner()
        start = self._scorer(descent)
        with monitor.training(passes, self._title):
            for plan in survey.schedule(self.n_steps, passes, self._pair_probability):
                for block, (steps, probability) in zip(read(n_features=n_features), plan, strict=True):
                    draws = self._draws(block)._replace(pair_probability=probability)
                    descent.run(learner.run, rows_of(block.X, descent.scale), draws, settings, steps)
                if monitor.keep(self._scorer(descent)):
                    break
        self.scorer_, self.descent_ = monitor.best or start, descent
        self.note_training(block, monitor)
        sizes = {"queries": survey.n_queries, "rows": survey.n_rows, "features": n_features}
        self.card_["data"] = {"file": os.path.basename(name), **sizes}
        self.calibrate_on(valid)
        return self

    def _blocks(self, path: str, **options: Any) -> Iterator[RankingDataset]:
        if format_of(path) in TABLES:
            raise DataError(
                f"{path}: fit_file reads LETOR text and native files; convert the table first (plackett convert {path} "
                f"{os.path.splitext(path)[0]}.plackett)"
            )
        parts = _native_blocks if format_of(path) is NATIVE else partial(read_letor_chunks, n_jobs=self.n_jobs)
        for block in parts(path, **options):
            yield self.prepared(block, path)

    # ------------------------------------------------------------------------------------------------------------ parts

    @property
    def _title(self) -> str:
        return f"{self.learner} · {self.loop}"

    def _check_settings(self) -> None:
        for field, known in (("learner", LEARNERS), ("loop", LOOPS), ("rate", {"auto": None, **RATES})):
            choice(field, getattr(self, field), known, error=LossError)
        for field in ("n_steps", "n_rounds"):
            check_count(field, getattr(self, field))
        for field in ("alpha", "eta0", "C"):
            number(field, getattr(self, field), least=0.0, most=np.inf, error=LossError)
        number("rank_step_probability", self.rank_step_probability, least=0.0, most=1.0, error=LossError)
        if self._rate == "pegasos" and self.alpha == 0.0:
            raise LossError("alpha=0 with rate='pegasos', 1 / (alpha t); give a positive alpha or another rate")

    @property
    def _rate(self) -> str:
        return LEARNERS[self.learner].rate if self.rate == "auto" else self.rate

    def _learner(self) -> tuple[PairLearner, np.ndarray]:
        learner, numbers = LEARNERS[self.learner], RATES[self._rate](self.alpha, self.eta0)
        constant = float(self.fit_intercept)
        return learner, parameters(self.alpha, numbers, self.C, learner.projected, constant, learner.needs_length)

    @property
    def _pair_probability(self) -> float:
        return self.rank_step_probability if LOOPS[self.loop].mixed else 1.0

    def _draws(self, data: RankingDataset) -> Draws:
        return make_draws(
            LOOPS[self.loop],
            data,
            rel=self.rel,
            margin=LEARNERS[self.learner].margin,
            pair_probability=self._pair_probability,
        )

    def _begin(self, data: RankingDataset) -> Descent:
        return self._descent(feature_scale(data.X, weight_of_rows(data), self.standardize))

    def _descent(self, scale: np.ndarray) -> Descent:
        return Descent(scale.size, scale, int(np.random.default_rng(self.random_state).integers(2**63)))

    def _steps_on(self, descent: Descent, data: RankingDataset) -> Callable[[int], None]:
        learner, settings = self._learner()
        return partial(descent.run, learner.run, rows_of(data.X, descent.scale), self._draws(data), settings)

    def _scorer(self, descent: Descent) -> LinearScorer:
        weights, intercept = descent.weights(self.average)
        return LinearScorer(weights[:, None], np.array([intercept]))


def _native_blocks(
    path: str, *, chunk_bytes: int, sparse: bool, missing: str, n_features: int | None
) -> Iterator[RankingDataset]:
    data = open_dataset(path)
    if sparse or missing != "zero":
        raise DataError(f"{path}: sparse and missing are for text; a native file says itself what is stored")
    if n_features not in (None, data.n_features):
        raise DataError(f"{path} has {data.n_features} features, not n_features={n_features}")
    for lo, hi in query_blocks(data.offsets, max(chunk_bytes // (4 * max(data.n_features, 1)), 1)):
        yield data.select(np.arange(lo, hi))
