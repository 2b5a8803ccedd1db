"""Shared base of the relational rankers: any ranker, and a relation that changes its scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._base.estimator import clone
from plackett._base.progress import steps
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.measures.ranking import Scored
from plackett.rankers.base import Ranker
from plackett.rankers.fold_measure import fold_measure
from plackett.rankers.relational._through import differentiable, trained_through
from plackett.rankers.wrapper import Wrapper
from plackett.scorers.relational import RelationalScorer
from plackett.scorers.relations.functions import FUNCTIONS, RelationalFunction, without_noise
from plackett.scorers.relations.laplacian import STRONGEST
from plackett.scorers.relations.lookup import is_strength, parsed, relation_of
from plackett.solvers.monitor import Monitor, SilentMonitor

#: Strengths that ``beta="auto"`` tries; the first wins ties.
_STRENGTHS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_FOLDS = 5
#: With fewer queries than this, cross-validation is too noisy.
_LEAST_QUERIES = 10


@dataclass(kw_only=True, eq=False, repr=False)
class WrapsRanker(Wrapper):
    """A ranker that changes the scores of another one by the relations of the documents.

    Parameters
    ----------
    base
        The ranker inside: an estimator, which is copied, or the name of one. None uses ``GradientRanker()``, a linear
        model with the logistic pair loss.
    """

    _test_skips: ClassVar[tuple[str, ...]] = ()
    _usual_base: ClassVar[str] = "GradientRanker"

    @property
    def base_(self) -> Ranker:
        """The trained ranker inside."""
        return self.members_[0]

    def refits(self) -> bool:
        """Whether the final model is also trained on the validation data."""
        return self.base_ranker().refits()

    def _categories(self, X: Any) -> dict[str, list[Any]]:
        return self.base_ranker()._categories(X)

    def _fresh(self) -> Ranker:
        """A copy of the ranker inside to train."""
        base: Ranker = clone(self.base_ranker())
        base.set_categories(self.__dict__.get("categories_"))
        base.n_jobs, base.verbose = self.n_jobs, False
        if self.base is None or isinstance(self.base, str):
            base.eval_measure, base.random_state = self.eval_measure, self.random_state
        if self.base is None:
            base.set_params(model=_linear(self))
        return base

    def _train_base(
        self, data: RankingDataset, monitor: Monitor, make: Callable[[RankingDataset], Any] | None, through: bool
    ) -> Ranker:
        """Train the ranker inside. ``make``: validate with the scores of h; ``through``: take the loss at h as well."""
        base = self._fresh()
        kind = type(base)
        if make is not None:
            if monitor.valid is not None:
                final, offsets = make(monitor.valid).scores, monitor.valid.offsets
                monitor.final = lambda f: without_noise(final(f), f, offsets)
            if through and differentiable(base):
                base = trained_through(base, make)
        try:
            base._fit(data, monitor)
        finally:
            base.__class__ = kind
            monitor.final = None
        base.note_training(data, monitor)
        return base

    def settled(self) -> dict[str, Any]:
        """The settled parameters of the ranker inside."""
        base = clone(self.base_)
        return super().settled() | {"base": base.set_params(**self.base_.settled())}


def _linear(ranker: Ranker) -> Any:
    from plackett.models.linear import Linear

    return Linear(random_state=ranker.random_state, n_jobs=ranker.n_jobs)


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalWrapper(WrapsRanker):
    """A ranker whose scores go through a relational function of one relation.

    Parameters
    ----------
    base
        The ranker f: an estimator, which is copied, or the name of one. None uses ``GradientRanker()``, a linear model
        with the logistic pair loss.
    relation
        Name of a relation of the dataset, or a builder such as ``Neighbours(k=10)`` (also as text), which builds it
        from the features of the data to score.
    beta
        Strength of the relation, from 0 (the ranker f alone) to 1e12, beyond which f would be lost in rounding (weights
        of pairs have the same limit). ``"auto"`` chooses 0, 0.03, 0.1, 0.3, 1, 3 or 10 by five-fold cross-validation
        over the training queries with `eval_measure`; f is trained without the relation in each fold. For fewer than
        ten queries it is 0.1. The choice is in ``beta_`` and in the model card. Labels above 1,000, for which nDCG has
        no gains, are judged with linear gain, and a warning, unless another measure is given.
    through
        Train f through the function, so that h fits the labels. This needs a ranker that minimises a loss (others, such
        as `RankBoost`, are trained alone). False trains f alone and applies the function when scoring.

    Attributes
    ----------
    base_
        The trained ranker f.
    beta_
        The strength.
    """

    search_space: ClassVar[SearchSpace] = {"beta": Real(0.01, 10.0, log=True)}

    relation: Any = "similarity"
    beta: float | str = "auto"
    through: bool = True

    @property
    def function(self) -> str:
        """What the relation means, of `plackett.scorers.relations.functions.FUNCTIONS`."""
        raise NotImplementedError

    #: Name under which a relation that is built from the features is kept while training.
    _BUILT: ClassVar[str] = "(built from the features)"

    def _related(self, data: RankingDataset) -> RankingDataset:
        """The data with the relation in it, built once."""
        relation = relation_of(data, self.relation, type(self).__name__, self.n_jobs)
        if callable(parsed(self.relation)):
            return data.replace(relations={**(data.relations or {}), self._BUILT: relation})
        return data

    def _maker(self, beta: float) -> Callable[[RankingDataset], RelationalFunction]:
        ranker_name, given, n_jobs, function = type(self).__name__, self.relation, self.n_jobs, FUNCTIONS[self.function]

        def make(data: RankingDataset) -> RelationalFunction:
            built = (data.relations or {}).get(self._BUILT)
            relation = built if built is not None else relation_of(data, given, ranker_name, n_jobs)
            return function(data, relation, beta, n_jobs)

        return make

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        data = self._related(data)
        if monitor.valid is not None:
            monitor.valid = self._related(monitor.valid)
        beta = self._strength(data)
        base = self._train_base(data, monitor, self._maker(beta) if beta > 0.0 else None, self.through)
        self.scorer_ = RelationalScorer((base,), self.function, self.relation, beta)

    @property
    def beta_(self) -> float:
        """The strength."""
        self.check_fitted()
        return self.scorer_.strength  # type: ignore[no-any-return]

    def _strength(self, data: RankingDataset) -> float:
        if self.beta == "auto":
            if data.n_queries < _LEAST_QUERIES or data.y is None:
                return 0.1
            return self._choose(data)
        if not is_strength(self.beta):
            raise DataError(f"beta={self.beta!r}; give a number from 0 to {STRONGEST:g}, or 'auto'")
        return float(self.beta)

    def _choose(self, data: RankingDataset) -> float:
        """The strength whose held-out queries are ranked best, with f trained without the relation."""
        measure = fold_measure(self, data, "beta")
        order = np.random.default_rng(0).permutation(data.n_queries)
        worth = np.zeros(len(_STRENGTHS))
        with steps(_FOLDS, f"{type(self).__name__}: beta by cross-validation", verbose=self.verbose) as step:
            for fold in range(_FOLDS):
                step()
                held_out = np.sort(order[fold::_FOLDS])
                test = data.select(held_out)
                base = self._fresh()
                base.early_stopping_rounds = None
                with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
                    warnings.simplefilter("ignore", PlackettWarning)
                    base._fit(data.select(np.setdiff1d(order, held_out)), SilentMonitor())
                    f = base.score_rows(test)
                    for i, beta in enumerate(_STRENGTHS):
                        h = self._maker(beta)(test).scores(f) if beta > 0.0 else f
                        scored = Scored(test, h, n_jobs=self.n_jobs)
                        worth[i] += np.nansum(measure.worth(measure.per_query(scored)))
        return _STRENGTHS[int(np.argmax(worth))]

    def settled(self) -> dict[str, Any]:
        """The settled parameters of the ranker inside, and the strength."""
        return super().settled() | {"beta": self.beta_}

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        card = super()._card(data, monitor)
        return card | ({"chosen": {"beta": self.beta_}} if isinstance(self.beta, str) else {})
