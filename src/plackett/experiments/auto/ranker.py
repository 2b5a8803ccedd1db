"""AutoRanker: the ranker that chooses for you."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, number_or_none, whole_or_none
from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.feature_number import feature_number
from plackett.data.inputs import categories_of
from plackett.evaluation.giveaways import warn_of_giveaways
from plackett.experiments.auto.baseline import Baseline
from plackett.experiments.auto.candidates import Candidate, further, given, portfolio, with_categories
from plackett.experiments.auto.folder import TrialFolder
from plackett.experiments.auto.inspection import Facts, inspect_data
from plackett.experiments.auto.list_features import gain_of_list_features
from plackett.experiments.auto.plan import plan
from plackett.experiments.auto.refit import refit
from plackett.experiments.auto.report import COLUMNS, check_report, estimate, leaderboard, reasons
from plackett.experiments.auto.search import Budget, search
from plackett.experiments.auto.selection import BlendMembers, best_alone, members_for, select
from plackett.experiments.auto.splits import folds
from plackett.experiments.auto.trials import CLOCKS, FAILURES, CandidateTrials, OutOfTimeError, fit, quietly
from plackett.measures.base import Measure
from plackett.measures.language import parse
from plackett.rankers.base import Ranker
from plackett.rankers.blend import BlendScorer
from plackett.scorers.list_features import ListFeaturesScorer, relative_columns, widened
from plackett.solvers.monitor import Monitor

if TYPE_CHECKING:
    import polars as pl

__all__ = ["AutoRanker"]

#: Share of the time by which the members of the blend may be late.
LATE = 0.1


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRanker(Ranker):
    """Automatic ranker: inspects the data, tries rankers, blends the best and trains them on all data.

    Linear rankers and boosted trees of a size that suits the data are compared by cross-validation over queries, with
    successive halving: all on one fold, the best on more, until the time is up. The blend is chosen by greedy selection
    with replacement on the scores of held-out documents. Its members are then trained on all data for the number of
    rounds that was best. Ctrl-C ends the search and keeps the best so far.

    Parameters
    ----------
    time_budget
        Total time in seconds. The last trainings may end up to a tenth later.
    n_trials
        Number of settings to try, instead of a time: the result then depends only on the data and the seed.
    candidates
        The rankers to try: estimators, or names of rankers. None chooses them from the data.
    n_folds, n_repeats
        Folds of the cross-validation, and how often to repeat it with new folds; None means 3 times below 200 queries
        and twice below 1,000. Large data is compared on fewer folds, as time allows.
    max_members
        Maximum number of rankers in the blend; None means 10 below 200 queries, where the best cannot be told apart,
        and otherwise 5.
    n_seeds
        Train members that involve randomness (trees on a subset of the columns) with this many seeds, as time allows,
        and average them.
    max_score_time
        Maximum number of seconds for scoring a document on one thread; None means no limit. The time is measured, so
        the choice may differ between machines.
    clock
        What the budget counts: ``"wall"`` is elapsed time, ``"cpu"`` is processor time.
    baseline
        A ranker to compare the result with on the held-out queries, such as ``"column:bm25"``, the order of a feature.
        `reasons_` then says how far the result is ahead. It is no candidate, and its time is not counted.
    list_features
        Also give the rankers each feature relative to its list: its difference from the list's mean in units of the
        list's standard deviation. This helps where values cannot be compared between queries, as with raw BM25 scores.
        Scores then depend on the whole list, so `predict` needs ``qid``, and engines that score one document at a time
        cannot use the model. With False, `reasons_` mentions it if a quick comparison finds a clear gain.
    folder
        Keep finished trainings in this folder and reuse those already there: an interrupted search resumes where it
        stopped. None keeps them in memory.
    eval_measure
        The measure to optimise.
    early_stopping_rounds
        End the search after this many settings in a row without improvement on the validation data.
    validation_fraction
        Fraction of the queries to compare on, instead of cross-validation. An ``eval_set`` has the same effect; it is
        not trained on.

    Attributes
    ----------
    leaderboard_
        What was tried and how good it was on held-out queries, as a polars frame; saved with the model.
    reasons_
        What was found and decided, in sentences.
    estimate_
        The quality to expect on new queries: ``value`` with a 95 % interval from ``low`` to ``high``. Each query is
        measured by members that were not trained on it, with weights and rounds chosen without it. None if there are
        too few queries.
    members_
        The rankers of the blend. With ``list_features`` they take the features and those relative to their list.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=30, random_state=0)
    >>> ranker = AutoRanker(candidates=["ListNet", "RankSVM"], n_trials=2).fit(data)
    >>> ranker.leaderboard_["ranker"].sort().to_list()
    ['ListNet', 'RankSVM']
    >>> ranker.estimate_["measure"]
    'nDCG@10'

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes: Ensemble selection from libraries of models. ICML 2004.
    Jamieson and Talwalkar: Non-stochastic best arm identification and hyperparameter optimization. AISTATS 2016.
    """

    # a search over two small rankers, one of which takes missing values
    _test_settings: ClassVar[dict[str, Any]] = {
        "candidates": ("ListNet(alpha=1.0)", "MART(n_estimators=8, num_leaves=5, min_child_samples=1)"),
        "n_trials": 2,
        "n_folds": 2,
        "n_repeats": 1,
    }
    # an interrupt ends a trial, not a round; copies of a query are one query in the folds, and weights are not
    _test_skips: ClassVar[tuple[str, ...]] = ("interrupt", "query_weight")
    allow_nan: ClassVar[bool] = True
    effort: ClassVar[str | None] = None
    search_space: ClassVar[SearchSpace] = {"max_members": (1, 5), "n_seeds": (1, 3)}

    time_budget: float | None = 60.0
    n_trials: int | None = None
    candidates: Sequence[Any] | None = None
    n_folds: int = 5
    n_repeats: int | None = None
    max_members: int | None = None
    n_seeds: int = 3
    max_score_time: float | None = None
    baseline: Any = None
    list_features: bool = False
    clock: str = "wall"
    folder: str | None = None

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check_parameters()
        if not self.list_features:
            self._search(data, monitor.valid, monitor)
            return
        if not isinstance(data.X, np.ndarray):
            raise DataError("list_features=True makes sparse features dense; give X.toarray(), or list_features=False")
        columns = relative_columns(data, self._categorical(data))
        valid = None if monitor.valid is None else widened(monitor.valid, columns, self.n_jobs)
        self._search(widened(data, columns, self.n_jobs), valid, monitor, seen=data)
        self.scorer_ = ListFeaturesScorer(self.scorer_, data.n_features, columns)

    def _search(
        self, data: RankingDataset, valid: RankingDataset | None, monitor: Monitor, seen: RankingDataset | None = None
    ) -> None:
        """Search on these data; ``seen`` are those that were given, where features were added to them."""
        measure = parse(self.eval_measure)
        budget = Budget(self.time_budget, self.n_trials, self.early_stopping_rounds, CLOCKS[self.clock])
        facts = inspect_data(data if seen is None else seen)
        warn_of_giveaways(facts.suspects)
        facts = replace(facts, n_relative=data.n_features - facts.profile.n_features)
        first, more = self._to_try(facts)
        seed = self.random_state or 0
        cut: dict[str, Any] = {"n_folds": self.n_folds, "n_repeats": self.n_repeats, "random_state": seed}
        splits = folds(data, facts, valid, **cut)
        if len(splits) == 0:
            monitor.start(0, "AutoRanker")
            try:
                self._only(first, data, monitor, facts)
            finally:
                monitor.stop()
            return
        advice = self._advice(data, facts, measure, budget)
        if self.n_trials is None:
            splits = plan(splits, first[0].ranker, budget, n_jobs=self.n_jobs, **cut)
        against = None if self.baseline is None else Baseline.of(given([self.baseline])[0], splits)
        trials = CandidateTrials(
            splits,
            measure,
            n_rows=data.n_rows,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            clock=self.clock,
            folder=None if self.folder is None else TrialFolder(self.folder, splits),
        )
        max_members = members_for(facts.n_lists) if self.max_members is None else self.max_members
        monitor.start(len(splits) * budget.most, "AutoRanker")
        try:
            chosen, why = self._chosen(trials, first, more, budget, max_members, monitor)
            short = self._refit(trials, chosen, data, monitor)
        finally:
            monitor.stop()
        if trials.folder is not None:
            trials.folder.warn_of_failure()
        if valid is not None:
            monitor.update(self.score_rows(valid))
        told: dict[str, Any] = {
            "short": short,
            "advice": advice,
            "document_seconds": self.max_score_time,
            "baseline": against,
        }
        self._told = {
            "leaderboard": leaderboard(trials, chosen),
            "reasons": reasons(trials, chosen, facts, why, budget.spent(), **told),
            "estimate": estimate(trials, chosen),
        }

    def _to_try(self, facts: Facts) -> tuple[list[Candidate], Iterator[Candidate]]:
        """The candidates to begin with, and those that follow as long as there is time."""
        first = portfolio(facts, self.time_budget) if self.candidates is None else given(self.candidates)
        more = iter(()) if self.candidates is not None else further(facts, self.random_state or 0)
        if names := tuple(getattr(self, "categories_", ())):
            first, more = list(with_categories(first, names)), with_categories(more, names)
            if not first:
                raise DataError(f"columns of categories ({', '.join(names)}) need a tree ranker among the candidates")
        return first, more

    def _chosen(
        self,
        trials: CandidateTrials,
        first: list[Candidate],
        more: Iterator[Candidate],
        budget: Budget,
        max_members: int,
        monitor: Monitor,
    ) -> tuple[BlendMembers, str]:
        """The members of the blend, and why the search for them ended."""

        def notify() -> None:
            if monitor.update():
                raise OutOfTimeError("a callback ended the search")

        if self.n_trials is None and self.time_budget is not None:
            trials.deadline = budget.began + self.time_budget
        try:
            why = search(trials, first, more, budget, max_members, notify)
        except KeyboardInterrupt:
            monitor.interrupted, why = True, "it was interrupted"
        trials.settle(interrupted=monitor.interrupted)
        limit = self.max_score_time
        try:
            seed = self.random_state or 0
            return select(trials, max_members=max_members, document_seconds=limit, random_state=seed), why
        except KeyboardInterrupt:
            monitor.interrupted = True
            return best_alone(trials, document_seconds=limit), "it was interrupted"

    def _refit(
        self, trials: CandidateTrials, chosen: BlendMembers, data: RankingDataset, monitor: Monitor
    ) -> str | None:
        """Train the members on all data; why that was cut short, if it was."""
        # with a limit on the scoring time, several seeds of the same ranker would be too slow; after Ctrl-C, nobody
        # wants to wait for them
        seeds = self.n_seeds if self.max_score_time is None and not monitor.interrupted else 1
        latest = trials.deadline + LATE * (self.time_budget or 0.0)
        self.scorer_, short = refit(trials, chosen, data, n_seeds=seeds, deadline=trials.deadline, latest=latest)
        monitor.interrupted = monitor.interrupted or short == "interrupted"
        return short

    def _advice(self, data: RankingDataset, facts: Facts, measure: Measure, budget: Budget) -> str | None:
        """What to try next, if a quick comparison says so."""
        if self.list_features or self.candidates is not None or getattr(self, "categories_", None):
            return None
        seconds = None if self.n_trials is not None else self.time_budget
        gain = gain_of_list_features(
            data, facts, measure, random_state=self.random_state or 0, seconds=seconds, clock=budget.clock
        )
        return gain.sentence(str(measure)) if gain is not None and gain.clear else None

    def _categories(self, X: Any) -> dict[str, list[Any]]:
        return categories_of(X)

    def _categorical(self, data: RankingDataset) -> tuple[int, ...]:
        """The features that are categories, of the data or by a candidate's own parameter."""
        named = list(getattr(self, "categories_", ()))
        for candidate in () if self.candidates is None else given(self.candidates):
            named += getattr(candidate.ranker, "categorical_features", None) or ()
        return tuple(feature_number(data, name, "categorical_features") for name in named)

    def _only(self, candidates: Any, data: RankingDataset, monitor: Monitor, facts: Facts) -> None:
        """Use the first candidate that can be trained: with a single query, nothing can be compared."""
        error: Exception | None = None
        for candidate in candidates:
            ranker = candidate.ranker.set_params(random_state=self.random_state, n_jobs=self.n_jobs, verbose=False)
            try:
                ranker.check_trainable(data, "X")
                with quietly():
                    fit(ranker, data)
            except FAILURES as failure:
                error = error or failure
                continue
            monitor.update()
            self.scorer_ = BlendScorer((ranker,), np.ones(1))
            single = "One query" if data.n_queries == 1 else "Queries that all have the same documents"
            reason = f"{single} cannot be split, so nothing was compared: {candidate.name} was trained as it is."
            self._told = {"leaderboard": [], "reasons": [*facts.sentences(), reason], "estimate": None}
            return
        assert error is not None
        raise error

    def _check_parameters(self) -> None:
        if self.time_budget is None and self.n_trials is None:
            raise DataError("time_budget and n_trials are both None; give seconds, or a number of settings to try")
        for name, least in (("n_trials", 1), ("n_folds", 2), ("n_repeats", 1), ("max_members", 1), ("n_seeds", 1)):
            value = getattr(self, name)
            whole_or_none(name, value, least=least)
        for name in ("time_budget", "max_score_time"):
            value = getattr(self, name)
            number_or_none(name, value, above=0, most=inf)
        if self.baseline is not None:
            given([self.baseline], "baseline")
        choice("clock", self.clock, CLOCKS)

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        return super()._card(data, monitor) | {"auto": self.__dict__.pop("_told")}

    def check_loaded(self) -> None:
        """Check what was read from a model file: the report, too."""
        super().check_loaded()
        check_report(self.card_["auto"])

    @property
    def strict_part(self) -> str:
        """Name of a member that refuses to score missing values."""
        return next((part for member in self.scorer_.members if (part := member.strict_part)), "")

    @property
    def leaderboard_(self) -> pl.DataFrame:
        """What was tried, best first."""
        import polars as pl

        self.check_fitted()
        return pl.DataFrame(self.card_["auto"]["leaderboard"], schema=COLUMNS)

    @property
    def reasons_(self) -> list[str]:
        """What was found and decided, in sentences."""
        self.check_fitted()
        return list(self.card_["auto"]["reasons"])

    @property
    def estimate_(self) -> dict[str, Any] | None:
        """The quality to expect on new queries."""
        self.check_fitted()
        return self.card_["auto"]["estimate"]
