"""The base class of measures: frozen objects with parameters that compute one number per query."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from numbers import Real
from types import NoneType
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import MeasureError
from plackett.measures.ranking import TIES, Ranking, Scored, list_ranking
from plackett.measures.swaps import swap, swap_matrix

__all__ = ["Measure"]

#: How many random orders estimate the mean over ties where a measure has no exact form.
TIE_SAMPLES = 64

#: No list is longer, and the arithmetic of the kernels cannot overflow.
LARGEST_CUTOFF = 2**31 - 1

#: For each parameter annotation: the accepted types, and how an error message names them.
_KINDS: dict[Any, tuple[type, ...]] = {
    "bool": (bool, np.bool_),
    "float": (Real,),
    "float | None": (Real, NoneType),
    "str": (str,),
}
_EXPECTED = {
    "bool": "True or False",
    "float": "a number",
    "float | None": "a number or None",
    "str": "a name in quotes",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Measure:
    """Base class of all measures.

    A measure is written as in ir-measures: ``nDCG @ 10``, ``AP(rel=2) @ 100``, ``nDCG(gain="linear")``. Calling it
    returns a copy with other parameters, ``@`` sets the cut-off, and `str` returns the canonical name, which
    `plackett.measures.parse` reads back. Measures with equal parameters are equal. The name shows every parameter that
    was given, even at its default: a preset leaves ``nDCG(gain="exp2")`` unchanged, but not ``nDCG``.

    A subclass is a frozen dataclass. Its fields are the parameters, its class attributes describe it, and `values`
    returns one number per query. A query with nothing to measure (no relevant document, no pair) gets NaN, which the
    rule `empty` then fills in.

    Parameters
    ----------
    ties
        How to treat documents with equal scores: one of `plackett.measures.TIES`. The default, ``expected``, is the
        mean over all orders of the tied documents and never depends on the order of the rows.
    empty
        Value of a query with nothing relevant: a number, or ``"skip"`` to leave it out of the mean (it stays visible as
        missing in the per-query values).
    """

    #: Name and aliases: literals, which the catalogue reads from the source.
    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    #: Whether the rule ``expected`` is exact; otherwise it is estimated from `TIE_SAMPLES` seeded orders.
    exact_ties: ClassVar[bool] = True
    #: Whether larger is better.
    ascending: ClassVar[bool] = True
    #: Whether the measure reads the subtopics of the documents, not only their labels.
    reads_subtopics: ClassVar[bool] = False
    #: Smallest and largest value.
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    #: The parameter that ``@`` sets.
    cutoff: ClassVar[str] = "k"
    #: Whether the measure knows the change from exchanging two documents (`swap_state`).
    swaps: ClassVar[bool] = False
    #: Whether it is a sum of gains of documents times discounts of ranks, so that one swap state serves all scores.
    linear_swaps: ClassVar[bool] = False
    #: ``swap(state, i, j)``, compiled: |change of the measure| when the documents at positions i < j of a query are
    #: exchanged, in constant time, from the `swap_state`. It is the same function for every measure, so that a kernel
    #: which calls it is compiled once.
    swap: ClassVar[Any] = staticmethod(swap)

    ties: str = "expected"
    empty: float | str = 0.0

    def __new__(cls, **parameters: Any) -> Self:
        """Record which parameters were given."""
        measure = super().__new__(cls)
        object.__setattr__(measure, "_given", frozenset(parameters))
        return measure

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            choice(f"{self.name}: ties", self.ties, TIES, error=MeasureError)
        if self.empty != "skip":
            if isinstance(self.empty, (str, bool)) or not np.isfinite(self.empty):
                raise MeasureError(f"{self.name}: empty={self.empty!r}; give a number or 'skip'")
            object.__setattr__(self, "empty", float(self.empty))
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            kinds = _KINDS.get(field.type)
            wrong = kinds and (not isinstance(value, kinds) or isinstance(value, bool) > (bool in kinds))
            if wrong or (isinstance(value, (float, np.floating)) and np.isnan(value)):
                expected = _EXPECTED.get(str(field.type), "another value")
                raise MeasureError(f"{self.name}: {field.name}={value!r}; give {expected}")
        if (k := getattr(self, "k", None)) is not None and (
            isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1
        ):
            raise MeasureError(f"{self.name}: the cut-off must be a positive whole number, got {k!r}")
        if k is not None and k > LARGEST_CUTOFF:
            raise MeasureError(f"{self.name}: the cut-off must be at most {LARGEST_CUTOFF}, got {k!r:.40}")
        if hasattr(self, "rel"):
            if isinstance(self.rel, (str, bool)) or not 0 <= self.rel < np.inf:
                raise MeasureError(f"{self.name}: rel={self.rel!r}; the lowest relevant label must be 0 or more")
            object.__setattr__(self, "rel", float(self.rel))

    def worth(self, value: Any) -> Any:
        """Turn a value of the measure, or an array of values, into one where larger is better: errors are negated.

        >>> from plackett.measures import AP
        >>> AP.worth(0.25)
        0.25
        """
        return value if self.ascending else -value

    # ------------------------------------------------------------------------------------------------------ language

    def __call__(self, **parameters: Any) -> Self:
        """Copy of the measure with other parameters."""
        known = [field.name for field in dataclasses.fields(self)]
        for name in parameters:
            if name not in known:
                raise MeasureError(f"{self.name} has no parameter {name!r}; it has {', '.join(known)}")
        given = {name: getattr(self, name) for name in self.given} | parameters
        try:
            return type(self)(**given)
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, MeasureError):
                raise
            written = ", ".join(f"{name}={value!r:.100}" for name, value in parameters.items())
            raise MeasureError(f"{self.name} cannot have {written}: {error}") from None

    @property
    def given(self) -> frozenset[str]:
        """The parameters given explicitly, even at their defaults: a preset leaves them alone."""
        names: frozenset[str] = vars(self)["_given"]
        return names

    def __matmul__(self, k: float) -> Self:
        if not hasattr(self, self.cutoff):
            raise MeasureError(f"{self.name} has no cut-off: write {self.name}, not {self.name}@{k}")
        parameters: dict[str, Any] = {self.cutoff: k}
        copy: Self = self.__call__(**parameters)
        return copy

    def __str__(self) -> str:
        written = []
        cutoff = ""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == self.cutoff and value is not None:
                cutoff = f"@{_literal(value)}"
            elif field.name in self.given:
                written.append(f"{field.name}={_literal(value)}")
        return self.name + (f"({', '.join(written)})" if written else "") + cutoff

    __repr__ = __str__

    # -------------------------------------------------------------------------------------------------------- values

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query; NaN where there is nothing to measure."""
        raise NotImplementedError

    def per_query(self, scored: Scored) -> np.ndarray:
        """One number per query, after the rules for ties and for queries with nothing relevant; NaN: skipped."""
        ranking = scored.ranking(self.ties)
        values = self.values(ranking)
        if self.ties == "expected" and not self.exact_ties and ranking.tied.any():
            total = np.zeros(scored.data.n_queries)
            for i in range(TIE_SAMPLES):  # one at a time, so that sums run in the same order for any number of queries
                total += self.values(ranking.shuffled(scored.random_state + i))
            values = np.where(ranking.tied, total / TIE_SAMPLES, values)
        return values if self.empty == "skip" else np.where(np.isnan(values), self.empty, values)

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """The state that `swap` reads: one row per position, in list order. Measures without this form raise."""
        raise MeasureError(f"{self} has no closed form for the change from exchanging two documents")

    def swap_deltas(self, labels: Any) -> np.ndarray:
        """|Change of the measure| from exchanging the documents at any two ranks of one ranked list.

        >>> from plackett.measures import RR
        >>> RR.swap_deltas([1, 0]).tolist()
        [[0.0, 0.5], [0.5, 0.0]]
        """
        return swap_matrix(np.asarray(self.swap_state(list_ranking(labels))))

    def mean(self, values: np.ndarray) -> float:
        """Mean of `per_query` over queries, leaving out skipped ones; NaN if all are skipped."""
        kept = values[~np.isnan(values)]
        return float(kept.mean()) if kept.size else float("nan")


def _literal(value: Any) -> str:
    """A parameter value, in the syntax of the measure language."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value)
