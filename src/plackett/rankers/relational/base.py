"""Shared base of the relational rankers: any ranker, and a relation that changes its scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError, PlackettWarning, in_shell
from plackett._base.estimator import clone
from plackett._base.literals import call
from plackett._base.progress import steps
from plackett._base.search_space import Real, SearchSpace
from plackett._names.catalogue import find
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.measures.ranking import Scored
from plackett.rankers.base import Ranker
from plackett.rankers.fold_measure import fold_measure
from plackett.rankers.relational._functions import RelationalFunction, without_noise
from plackett.rankers.relational._through import differentiable, trained_through
from plackett.rankers.wrapper import Wrapper
from plackett.scorers.related import RelatedScorer
from plackett.solvers.laplacian import STRONGEST, checked
from plackett.solvers.monitor import Monitor, SilentMonitor

#: Strengths that ``beta="auto"`` tries; the first wins ties.
_STRENGTHS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_FOLDS = 5
#: With fewer queries than this, cross-validation is too noisy.
_LEAST_QUERIES = 10


def is_strength(beta: Any) -> bool:
    """Whether this is a number that a relation may be multiplied by."""
    number = isinstance(beta, (int, float, np.integer, np.floating)) and not isinstance(beta, bool)
    return number and bool(0.0 <= beta <= STRONGEST)


def check_numbers(ranker: Ranker, name: str, size: int, least: float = 0.0) -> None:
    """Check that a model file has ``size`` learned numbers, all finite and at least ``least``."""
    numbers = getattr(ranker, name, None)
    if not isinstance(numbers, np.ndarray) or numbers.dtype != np.float64 or numbers.shape != (size,):
        raise DataError(f"{name} is damaged: {size} numbers were expected")
    if not (np.isfinite(numbers).all() and (numbers >= least).all()):
        raise DataError(
            f"{name} is damaged: {numbers[~(np.isfinite(numbers) & (numbers >= least))][0]} is not possible"
        )


def parsed(relation: Any) -> Any:
    """The builder described by a text such as ``"Neighbours(k=10)"``; anything else is returned unchanged."""
    if not isinstance(relation, str) or not relation.endswith(")"):
        return relation
    try:
        name, parameters = call(relation)
        item = find("relation", name)
        return getattr(import_module(item.module), item.symbol)(**parameters)
    except (TypeError, ValueError) as error:
        raise DataError(f"relation={relation!r}: {error}") from None


def relation_of(data: RankingDataset, relation: Any, ranker_name: str, n_jobs: int | None = None) -> Relation:
    """A relation by name, or built from the features; the error message says how to give one."""
    relation = parsed(relation)
    if callable(relation):
        return checked(str(relation), relation(data, n_jobs=n_jobs))
    if not isinstance(relation, str):
        raise DataError(f"relation={relation!r}; give the name of a relation, or a builder such as Neighbours(k=10)")
    known = data.relations or {}
    if relation not in known:
        has = f"its relations are {', '.join(map(repr, known))}" if known else "it has none"
        advice = (
            f"Pass --relation {relation}=FILE, or --relation {relation}=knn:10, which compares features"
            if in_shell()
            else f"Give a RankingDataset with it (data.replace(relations={{{relation!r}: …}})), or the builder "
            "Neighbours(k=10) instead of the name, which compares features"
        )
        raise DataError(
            f"{ranker_name} needs the relation {relation!r} of the documents, which the data lack: {has}. {advice}"
        )
    return checked(relation, known[relation])


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
        self.check_fitted()
        return self.scorer_.rankers[0]  # type: ignore[no-any-return]

    def _refits(self) -> bool:
        return self.base_ranker()._refits()

    def _categories(self, X: Any) -> dict[str, list[Any]]:
        return self.base_ranker()._categories(X)

    def _fresh(self) -> Ranker:
        """A copy of the ranker inside to train."""
        base: Ranker = clone(self.base_ranker())
        base._set_categories(self.__dict__.get("categories_"))
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
        base._note(data, monitor)
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

    allow_nan: ClassVar[bool]
    search_space: ClassVar[SearchSpace] = {"beta": Real(0.01, 10.0, log=True)}

    relation: Any = "similarity"
    beta: float | str = "auto"
    through: bool = True

    def _function(self, data: RankingDataset, relation: Relation, beta: float) -> RelationalFunction:
        """The function of a dataset for one strength above 0."""
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
        ranker_name, given, n_jobs = type(self).__name__, self.relation, self.n_jobs

        def make(data: RankingDataset) -> RelationalFunction:
            built = (data.relations or {}).get(self._BUILT)
            relation = built if built is not None else relation_of(data, given, ranker_name, n_jobs)
            return self._function(data, relation, beta)

        return make

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        data = self._related(data)
        if monitor.valid is not None:
            monitor.valid = self._related(monitor.valid)
        beta = self._strength(data)
        base = self._train_base(data, monitor, self._maker(beta) if beta > 0.0 else None, self.through)
        self.beta_ = beta
        self.scorer_ = RelatedScorer((base,))

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

    def _check_learned(self) -> None:
        if not is_strength(getattr(self, "beta_", None)):
            raise DataError(f"the strength of the relation is damaged: {getattr(self, 'beta_', None)!r:.50}")

    def score_rows(self, data: RankingDataset) -> np.ndarray:
        """Score of each row of a dataset, in its order."""
        f = self.base_.score_rows(data)
        make = self._maker(self.beta_)  # even with strength 0, data without the relation are an error
        if self.beta_ == 0.0:
            if not callable(parsed(self.relation)):
                relation_of(data, self.relation, type(self).__name__)
            return f
        return without_noise(make(data).scores(f), f, data.offsets)

    def settled(self) -> dict[str, Any]:
        """The settled parameters of the ranker inside, and the strength."""
        return super().settled() | {"beta": self.beta_}

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        card = super()._card(data, monitor)
        return card | ({"chosen": {"beta": self.beta_}} if isinstance(self.beta, str) else {})
