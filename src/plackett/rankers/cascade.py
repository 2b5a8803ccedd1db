"""A cascade: cheap rankers first, expensive ones for the remaining documents."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.estimator import clone
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.feature_number import feature_costs, feature_number
from plackett.data.some_rows import some_rows
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.rankers.base import Ranker
from plackett.rankers.named import ranker_named
from plackett.rankers.validation import give_validation
from plackett.rankers.wrapper import needs_whole_lists
from plackett.scorers.cascade import CascadeScorer
from plackett.scorers.nested import best_rows
from plackett.solvers.monitor import Monitor

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Cascade"]

#: A linear function of all features, then trees.
STAGES = ("ListNet", "LambdaMART")
#: Numbers of documents that ``keep="auto"`` tries.
KEEP = (5, 10, 20, 30, 50, 100, 200)


@dataclass(kw_only=True, eq=False, repr=False)
class Cascade(Ranker):
    r"""Rank in stages: each stage scores the best documents of the previous one, with features that may cost more.

    Stage 1 scores all documents of a list. The best ``keep[0]`` go on to stage 2, the best ``keep[1]`` of these to
    stage 3, and so on; documents that went further rank above the others. Each stage is trained on the documents that
    reach it. A feature is computed once per document, by the first stage that uses it, so a document costs on average

    .. math:: \sum_t r_t c_t,

    where :math:`r_t` is the share of documents that reach stage t and :math:`c_t` the cost of the features that stage t
    is the first to use.

    Parameters
    ----------
    stages
        The rankers, the cheapest first: estimators, which are copied, or names of rankers. None uses `ListNet`, then
        `LambdaMART`.
    keep
        Number of documents of a list that go on after each stage except the last one. ``"auto"`` trains all stages on
        all documents and takes the cheapest numbers that lose at most ``max_loss`` of `eval_measure` on the validation
        data, compared with passing all documents on.
    features
        Columns of each stage, by name or number; None for a stage, or for all of them, means all columns. A stage
        should include the columns of the stages before it: they are paid for.
    feature_costs
        Cost of each feature: one number per column, or a mapping of names (or numbers) to costs with 1 for the others.
        None counts 1 for each.
    max_loss
        Limit for ``keep="auto"``, as a difference of means.

    Attributes
    ----------
    members_
        The trained stages.
    keep_
        Number of documents that go on after each stage except the last one.
    cost_
        Average cost of a document on the validation data, or on the training data without any.
    frontier_
        For ``keep="auto"``, one row for each choice tried: keep, cost, value, loss, and whether no other choice is both
        cheaper and better.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=40, docs_per_query=20, n_features=6, random_state=0)
    >>> cascade = Cascade(stages=("ListNet", "MART(n_estimators=20)"), keep=(5,), features=([0, 1], None)).fit(data)
    >>> cascade.cost_  # two features for all documents, four more for a quarter of them
    3.0

    References
    ----------
    Wang, Lin, Metzler: A cascade ranking model for efficient ranked retrieval. SIGIR 2011.
    Chen, Gallagher, Blanco, Culpepper: Efficient cost-aware cascade ranking in multi-stage retrieval. SIGIR 2017.
    """

    effort: ClassVar[str | None] = None
    search_space: ClassVar[SearchSpace] = {"max_loss": Real(0.0003, 0.01, log=True)}
    # trees bin features by counting rows, so weighting a row is not exactly the same as repeating it
    _test_settings: ClassVar[dict[str, Any]] = {"stages": ("ListNet", "LinearRegression"), "keep": (6,)}
    _test_skips: ClassVar[tuple[str, ...]] = ("interrupt",)  # an interrupt ends a stage, not a round of the cascade

    stages: Sequence[Any] | None = None
    keep: Any = "auto"
    features: Sequence[Any] | None = None
    feature_costs: Any = None
    max_loss: float = 0.001

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Whether NaN features are treated as missing values: if all stages do."""
        return all(ranker.allow_nan for ranker in self.parts())

    def parts(self) -> list[Ranker]:
        """The rankers in ``stages``, as given."""
        given = STAGES if self.stages is None else self.stages
        if isinstance(given, str) or len(given) == 0:
            raise DataError(f"stages={given!r}; give a list of rankers, such as ['ListNet', LambdaMART()], or None")
        rankers = [ranker_named(stage)[0] if isinstance(stage, str) else stage for stage in given]
        for stage in rankers:
            if not isinstance(stage, Ranker):
                raise DataError(f"stages: {stage!r} is not a plackett ranker")
        return rankers

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        stages = self.parts()
        columns = self._stage_columns(data, len(stages))
        costs = feature_costs(data, self.feature_costs, 1.0)
        keep = self._numbers(len(stages), monitor)
        for number, stage in enumerate(stages[1:], 2):
            if needs_whole_lists(stage):
                raise DataError(
                    f"stage {number} of the cascade reads groups of documents, which are incomplete where only some "
                    "documents reach it; make it the first stage, or put the cascade inside: "
                    "HypergraphRanker(base=Cascade(…))"
                )
        members: list[Ranker] = []
        rows = np.arange(data.n_rows)
        with monitor.training(len(stages), "Cascade"):
            for number, stage in enumerate(stages):
                if number and keep is not None:
                    before = CascadeScorer.of(data.n_features, members, keep[: number - 1], columns[:number])
                    scores, reached = before.run(data, self.n_jobs)
                    rows = best_rows(scores, reached[-1], data.offsets, keep[number - 1])
                members.append(self._trained(stage, some_rows(data, rows), monitor.valid, columns[number]))
                monitor.update()
        evaluated = data if monitor.valid is None else monitor.valid
        self._tried: list[dict[str, Any]] = []
        if keep is None:
            keep = self._cheapest(members, columns, costs, evaluated)
        self.scorer_ = CascadeScorer.of(data.n_features, members, keep, columns)
        _, reached = self.scorer_.run(evaluated, self.n_jobs)
        self._cost = _cost(reached, columns, costs, evaluated.n_rows)
        if monitor.valid is not None:
            monitor.update(self.score_rows(monitor.valid))

    def _stage_columns(self, data: RankingDataset, n: int) -> list[np.ndarray]:
        """Numbers of the columns of each stage."""
        given = [None] * n if self.features is None else self.features
        if isinstance(given, str) or len(given) != n:
            raise DataError(f"features={self.features!r}; give the columns of each of the {n} stages, or None")
        columns = []
        for own in given:
            if own is None:
                columns.append(np.arange(data.n_features))
                continue
            if isinstance(own, str) or not isinstance(own, Collection) or len(own) == 0:
                raise DataError(f"features: a stage has {own!r}; give a list of names or numbers, or None for all")
            columns.append(np.unique([feature_number(data, name, "features") for name in own]))
        return columns

    def _numbers(self, n: int, monitor: Monitor) -> tuple[int, ...] | None:
        """The numbers in ``keep``; None if they are to be chosen."""
        if isinstance(self.keep, str) and self.keep == "auto":
            if n == 1:
                return ()
            if monitor.valid is None:
                raise DataError(
                    f"keep='auto' needs validation data: {give_validation()}, or numbers of documents as keep"
                )
            return None
        keep = self.keep if isinstance(self.keep, (Sequence, np.ndarray)) and not isinstance(self.keep, str) else None
        whole = keep is not None and all(isinstance(k, (int, np.integer)) and k >= 1 for k in keep)
        if keep is None or not whole or len(keep) != n - 1:
            raise DataError(f"keep={self.keep!r}; give {n - 1} whole numbers from 1, one for each stage but the last")
        return tuple(int(k) for k in keep)

    def _trained(
        self, stage: Ranker, data: RankingDataset, valid: RankingDataset | None, columns: np.ndarray
    ) -> Ranker:
        """A stage, trained on its columns; it may stop early on all validation documents."""
        ranker = clone(stage)
        ranker.n_jobs, ranker.verbose = self.n_jobs, False
        if ranker.early_stopping_rounds is None and valid is not None:
            ranker.early_stopping_rounds = self.early_stopping_rounds
        return ranker.trained_copy(_some_columns(data, columns), valid and _some_columns(valid, columns))

    def _cheapest(
        self, members: list[Ranker], columns: list[np.ndarray], costs: np.ndarray, valid: RankingDataset
    ) -> tuple[int, ...]:
        """The cheapest numbers of documents that lose little enough on the validation data."""
        measure = parse(self.eval_measure)
        longest = int(valid.group.max(initial=1))
        sizes = [*(k for k in KEEP if k < longest), longest]
        for keep in itertools.product(sizes, repeat=len(members) - 1):
            if any(b > a for a, b in itertools.pairwise(keep)):
                continue
            scorer = CascadeScorer.of(valid.n_features, members, keep, columns)
            scores, reached = scorer.run(valid, self.n_jobs)
            value = measure.mean(measure.per_query(Scored(valid, scores, n_jobs=self.n_jobs)))
            cost = _cost(reached, columns, costs, valid.n_rows)
            # scoring a document in a stage is work even if its features are already paid for
            work = sum(rows.size for rows in reached)
            self._tried.append({"keep": list(keep), "cost": cost, "value": value, "work": work})
        full = self._tried[-1]["value"]  # all documents reach the last stage
        if np.isnan(full):
            raise DataError(
                f"{measure} has no value on the validation data; do they have queries with relevant documents?"
            )
        for row in self._tried:
            row["loss"] = float(measure.worth(full) - measure.worth(row["value"]))
        self._tried.sort(key=lambda row: (row["cost"], row["work"], row["loss"]))
        least = np.inf
        for row in self._tried:
            row["frontier"] = bool(row["loss"] < least)
            least = min(least, row["loss"])
            del row["work"]
        good = [row for row in self._tried if row["loss"] <= self.max_loss]
        return tuple(good[0]["keep"])

    def settled(self) -> dict[str, Any]:
        """The numbers of documents that were chosen."""
        return super().settled() | {"keep": self.keep_}

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        """The model card, with the cost of a document and what was tried."""
        cascade = {"cost": self.__dict__.pop("_cost"), "tried": self.__dict__.pop("_tried")}
        return super()._card(data, monitor) | {"cascade": cascade}

    @property
    def keep_(self) -> tuple[int, ...]:
        """How many documents go on after each stage but the last."""
        self.check_fitted()
        return tuple(self.scorer_.keep.tolist())

    @property
    def cost_(self) -> float:
        """Average cost of a document."""
        self.check_fitted()
        return float(self.card_["cascade"]["cost"])

    @property
    def frontier_(self) -> pl.DataFrame:
        """What ``keep="auto"`` tried, the cheapest first."""
        import polars as pl

        self.check_fitted()
        schema: dict[str, Any] = {"keep": pl.List(pl.Int64)} | dict.fromkeys(("cost", "value", "loss"), pl.Float64)
        schema["frontier"] = pl.Boolean
        return pl.DataFrame(self.card_["cascade"]["tried"], schema=schema)


def _some_columns(data: RankingDataset, columns: np.ndarray) -> RankingDataset:
    if columns.size == data.n_features:
        return data
    names = None if data.feature_names is None else tuple(data.feature_names[i] for i in columns)
    return data.replace(X=data.X[:, columns], feature_names=names)


def _cost(reached: list[np.ndarray], columns: list[np.ndarray], costs: np.ndarray, n_rows: int) -> float:
    """Average cost of a document: each feature is paid for once, by the first stage that uses it."""
    paid, total = np.zeros(costs.size, bool), 0.0
    for rows, own in zip(reached, columns, strict=True):
        new = own[~paid[own]]
        total += rows.size * float(costs[new].sum())
        paid[new] = True
    return total / max(n_rows, 1)
