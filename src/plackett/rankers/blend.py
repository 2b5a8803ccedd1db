"""Several rankers as one: the mean of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice, whole_or_none
from plackett._base.errors import DataError
from plackett._base.estimator import clone
from plackett._base.search_space import SearchSpace
from plackett.data.categories import refuse_categories
from plackett.data.dataset import RankingDataset
from plackett.data.moments import deviation_within_lists
from plackett.data.required import check_dataset
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.rankers.base import Ranker
from plackett.rankers.named import ranker_named
from plackett.rankers.validation import give_validation
from plackett.scorers.blend import BlendScorer
from plackett.scorers.standardized import StandardizedScorer
from plackett.solvers.monitor import Monitor

__all__ = ["Blend"]

#: Fast rankers that differ: linear functions and trees, each trained on documents, pairs and lists.
MEMBERS = ("LinearRegression", "RankSVM", "ListNet", "ApproxNDCG", "MART", "QBRank", "LambdaMART", "XENDCG")


@dataclass(kw_only=True, eq=False, repr=False)
class Blend(Ranker):
    r"""The weighted mean of several rankers' scores, each scaled by its own spread.

    :math:`s(x) = \sum_m w_m f_m(x) / \sigma_m` with :math:`\sum_m w_m = 1`, where :math:`\sigma_m` is the standard
    deviation of the scores of member m within lists, on the validation data or, without any, on the training data.
    Members err in different ways, so their mean is often better than the best of them, and depends less on the luck of
    choosing one on few queries.

    Parameters
    ----------
    members
        The rankers: estimators, which are copied and trained on the same data, or names of rankers. None uses linear
        rankers and trees, trained on documents, pairs and lists.
    weights
        One number per member; None weights them equally.
    scale
        ``"spread"`` divides the scores of a member by one number, as above. ``"query"`` standardises them in each query
        (mean 0, variance 1; all 0 if they are equal), for members whose scores spread differently from query to query:
        such a blend looks at whole lists, and cannot be exported.
    n_best
        Keep only this many members, those with the best `eval_measure` on the validation data; None keeps all.
    eval_measure
        Measure of the blend and of members given by name. Estimators keep their own, which decides when they stop
        early.
    early_stopping_rounds
        Applied to every member that does not set its own.
    validation_fraction, calibration
        Settings of the blend. Members with a ``calibration`` of their own get one from the same validation data; a
        member's ``validation_fraction`` is used only if the blend has no validation data.

    Attributes
    ----------
    members_
        The trained rankers that were kept.
    weights_
        Weight of each kept member.
    history_
        Value of `eval_measure` on the validation data.

    Examples
    --------
    >>> X, y, qid = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2], [1, 1, 1, 1]
    >>> blend = Blend(members=("ListNet", "RankSVM"), weights=(1, 3)).fit(X, y, qid=qid)
    >>> blend.weights_.tolist(), blend.rank(X, qid=qid).tolist()
    ([0.25, 0.75], [4, 3, 2, 1])

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes: Ensemble selection from libraries of models. ICML 2004.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = None
    search_space: ClassVar[SearchSpace] = {"n_best": (2, 4)}
    # trees bin features by counting rows, so weighting a row is not exactly the same as repeating it
    _test_settings: ClassVar[dict[str, Any]] = {"members": ("ListNet", "LinearRegression")}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"scale": "query"},)
    _test_skips: ClassVar[tuple[str, ...]] = ("interrupt",)  # an interrupt ends a member, not a round of the blend

    members: Sequence[Any] | None = None
    weights: Sequence[float] | None = None
    n_best: int | None = None
    scale: str = "spread"

    @classmethod
    def of(cls, rankers: Sequence[Ranker], data: RankingDataset, **parameters: Any) -> Self:
        """Blend rankers that are already trained; ``data`` is used to estimate the spread of their scores.

        >>> import plackett as pk
        >>> data = pk.datasets.make_ranking(n_queries=20, random_state=0)
        >>> blend = Blend.of([pk.ListNet().fit(data), pk.LinearRegression().fit(data)], data)
        >>> [type(ranker).__name__ for ranker in blend.members_]
        ['ListNet', 'LinearRegression']
        """
        check_dataset(data)
        refuse_categories(data.categories, "Blend")
        blend = cls(members=tuple(clone(ranker) for ranker in rankers), **parameters)
        for name in ("validation_fraction", "early_stopping_rounds"):
            if getattr(blend, name) is not None:
                raise DataError(f"{name}={getattr(blend, name)!r}: the members of Blend.of are already trained")
        if (blend.calibration is not None or blend.n_best is not None) and data.y is None:
            raise DataError("calibration and n_best need labels, but the data has none")
        for ranker in rankers:
            ranker.check_fitted()
            data = ranker.columns_in.aligned(data)
            ranker.check_features(data)
        scores = [ranker.score_rows(data) for ranker in rankers]
        blend._keep(list(rankers), scores, blend._weights(len(rankers)), data)
        blend.note_training(data, Monitor())
        blend.calibrate_on(data)
        return blend

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        members = self._members()
        weights = self._weights(len(members))
        if self.n_best is not None and monitor.valid is None:
            raise DataError(f"n_best needs validation data: {give_validation()}")
        spread_over = data if monitor.valid is None else monitor.valid
        scores: list[np.ndarray] = []
        with monitor.training(len(members), "Blend"):
            for member in members:
                own = member.fit_prepared(data, monitor.valid)
                scores.append(member.score_rows(spread_over))
                monitor.update()
                if own.interrupted:  # the member stopped quietly; the blend stops with it
                    raise KeyboardInterrupt
        self._keep(members[: len(scores)], scores, weights[: len(scores)], spread_over)
        if monitor.valid is not None:
            monitor.update(self.score_rows(monitor.valid))

    def _keep(self, members: list[Ranker], scores: list[np.ndarray], weights: np.ndarray, data: RankingDataset) -> None:
        """Keep the members, or the best of them."""
        kept = np.arange(len(members))
        if self.n_best is not None:
            measure = parse(self.eval_measure)
            values = [measure.mean(measure.per_query(Scored(data, s, n_jobs=self.n_jobs))) for s in scores]
            order = np.argsort(-measure.worth(np.array(values)), kind="stable")
            kept = np.sort(order[: self.n_best])
        self.weights_ = weights[kept] / weights[kept].sum()
        rankers = tuple(members[i] for i in kept)
        if self.scale == "query":
            self.scorer_: BlendScorer = StandardizedScorer(rankers, self.weights_)
            return
        spreads = np.array([spread_within_lists(scores[i], data) for i in kept])
        self.scorer_ = BlendScorer(rankers, self.weights_ / spreads)

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        """The model card, with the members that were kept and their weights."""
        members = [
            {"algorithm": type(member).__name__, "weight": float(weight)}
            for member, weight in zip(self.members_, self.weights_, strict=True)
        ]
        return super()._card(data, monitor) | {"members": members}

    def settled(self) -> dict[str, Any]:
        """The members that were kept, their weights and the settled parameters of each."""
        members = tuple(clone(member).set_params(**member.settled()) for member in self.members_)
        return super().settled() | {"members": members, "weights": tuple(self.weights_.tolist()), "n_best": None}

    def parts(self) -> list[Ranker]:
        """The rankers in `members`, as given."""
        given = MEMBERS if self.members is None else self.members
        if isinstance(given, str) or len(given) == 0:
            raise DataError(f"members={given!r}; give a list of rankers, such as [RankSVM(), LambdaMART()], or None")
        return [_ranker(member) for member in given]

    def _members(self) -> list[Ranker]:
        """Fresh rankers to train, with the threads of the blend."""
        rankers = [clone(ranker) for ranker in self.parts()]
        given = MEMBERS if self.members is None else self.members
        for ranker, member in zip(rankers, given, strict=True):
            ranker.n_jobs = self.n_jobs
            ranker.verbose = False  # the blend shows its own progress
            if isinstance(member, str):
                ranker.eval_measure = self.eval_measure
            if ranker.early_stopping_rounds is None:
                ranker.early_stopping_rounds = self.early_stopping_rounds
        return rankers

    def _weights(self, n: int) -> np.ndarray:
        whole_or_none("n_best", self.n_best, least=1)
        choice("scale", self.scale, ("spread", "query"))
        weights = np.ones(n) if self.weights is None else np.asarray(self.weights, np.float64)
        if weights.shape != (n,) or not (weights > 0).all() or not np.isfinite(weights).all():
            raise DataError(f"weights={self.weights!r}; give one number above 0 for each of the {n} members")
        return weights

    def untrainable_part(self) -> str:
        """Name of a member that does not accept missing values."""
        return next((part for ranker in self.parts() if (part := ranker.untrainable_part())), "")


def _ranker(member: Any) -> Ranker:
    """The ranker itself, or the one with that name."""
    if isinstance(member, str):
        member = ranker_named(member)[0]
    if not isinstance(member, Ranker):
        raise DataError(f"members: {member!r} is not a plackett ranker")
    return member


def spread_within_lists(scores: np.ndarray, data: RankingDataset) -> float:
    """Standard deviation of scores within lists; 1 if all lists are fully tied."""
    spread = deviation_within_lists(scores, data)
    return spread if spread > 0.0 else 1.0
