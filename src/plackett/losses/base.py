"""What a loss is: value and gradient with respect to the scores of each query's documents."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from plackett._errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.measures.gains import gains_of
from plackett.measures.ranking import Scored

__all__ = ["BoundLoss", "Derivatives", "DeviceForm", "Loss", "finite_gains"]

#: Scores farther from 0 count as this far: their squares, and sums of them, are still numbers.
_FARTHEST = 1e100


class Derivatives(NamedTuple):
    """What a kernel fills: the loss of each query, gradient and curvature of each score."""

    value: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray


@dataclass(frozen=True, kw_only=True, repr=False)
class Loss:
    """Base class of all losses.

    A loss is a small frozen object whose fields are its parameters. The loss of a dataset is the sum over queries of
    ``query_weight`` times the loss of the query. A query without pairs or without anything to learn from has loss and
    gradient 0. Unjudged documents (label below 0) take no part unless the loss says otherwise. Scores beyond ±1e100
    count as ±1e100, so that no loss overflows.

    A subclass says what it is, so that solvers can be chosen and impossible combinations refused with a reason, and
    implements `bind`.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.losses import Logistic
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    >>> Logistic()(np.array([0.0, 0.0]), data).__round__(4)  # log 2
    0.6931
    """

    #: Literals, read from the source by the catalogue.
    name: ClassVar[str]
    _ids: ClassVar[tuple[str, ...]]
    paper: ClassVar[str] = ""
    #: Whether there is a value whose gradient this is; the lambdas have none.
    has_value: ClassVar[bool] = True
    #: Whether the gradient is continuous, as quasi-Newton solvers need.
    smooth: ClassVar[bool] = True
    #: Whether it is convex in the scores.
    convex: ClassVar[bool] = False
    #: Whether adding a constant to the scores of a query changes nothing; pointwise losses fix the level.
    shift_invariant: ClassVar[bool] = True
    #: Diagonal of the Hessian: "exact" (where it exists), "surrogate" (something positive that serves Newton steps) or
    #: "none" (zeros come back, and Newton steps take 1).
    curvature: ClassVar[str] = "exact"
    #: Whether a bound loss counts its evaluations as rounds of one training, and changes with them.
    counts_rounds: ClassVar[bool] = False
    #: What a query must have more than one of to teach anything: "pairs" of unequal labels; "documents", because equal
    #: labels teach too; "relevant documents", because their ranks are at stake whatever the other labels are.
    learns_from: ClassVar[str] = "pairs"
    #: Whether the gradient is estimated from few draws, so that a query may happen to have none.
    drawn: ClassVar[bool] = False
    #: Whether exponents are clipped at a stated bound: far scores have another value than the formula then.
    clipped: ClassVar[bool] = False
    #: Parameters, other than the defaults, with which it is tested too.
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ()

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset, with everything that does not depend on the scores computed once."""
        raise NotImplementedError

    def __call__(self, scores: Any, data: RankingDataset) -> float:
        """Value of the loss: the sum over queries."""
        if not self.has_value:
            raise LossError(f"{self.name} is a gradient without a value; use gradient(scores, data)")
        bound = self.bind(data)
        return float(bound.evaluate(bound.check(scores))[0].sum())

    def gradient(self, scores: Any, data: RankingDataset) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and curvature for each score, flat over all queries."""
        bound = self.bind(data)
        return bound.evaluate(bound.check(scores), value=False)[1:]

    def settle(self, data: RankingDataset) -> Self:
        """The loss with everything fixed that depends on all of the data, so that it can be bound to parts of them.

        The loss itself, unless it has such a thing: a number of classes that the labels decide, for example.
        """
        return self

    def ranking_scores(self, scores: np.ndarray) -> np.ndarray:
        """The one score per document to rank by; losses with several outputs per document combine them."""
        return scores

    def bounds(self, measure: Any = None) -> list[Any]:
        """What is known about this loss as a bound of a measure; of all measures without one.

        Each entry prints its inequality and, called with scores and data, gives its right-hand side for each query; see
        `plackett.theory.known_bounds`.

        >>> from plackett.losses import Hinge
        >>> print(Hinge().bounds("AP")[0])
        1 − AP ≤ L / number of relevant  (Theorems 5.1 and 5.2)
        """
        from plackett.theory.surrogates.known_bounds import known_bounds

        return list(known_bounds(self, measure))

    def replace(self, **parameters: Any) -> Self:
        """Copy with other parameters."""
        return dataclasses.replace(self, **parameters)

    def __str__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{self.name}({', '.join(changed)})"

    __repr__ = __str__


@dataclass(frozen=True)
class DeviceForm:
    """How an accelerator makes the gradient of a loss, for many lists at once.

    Parameters
    ----------
    gradient
        ``gradient(torch, scores, *rows)``: the gradient for a table of scores (lists × places), without the weights
        of the queries and 0 at empty places. ``rows`` are tables of the values in ``per_row``.
    per_row
        Values of each document, and the value that stands at empty places. They are taken in float32.
    scale
        Factor of each query's gradient: its weight and what the loss divides by.
    pairs
        Whether the work grows with the square of the length of the lists.
    """

    gradient: Callable[..., Any]
    per_row: tuple[tuple[np.ndarray, float], ...]
    scale: np.ndarray
    pairs: bool = False


class BoundLoss:
    """A loss on one dataset: what a solver calls again and again.

    Subclasses implement `evaluate`; `sample_weight` and `query_weight` are arrays of ones where the dataset has none.
    """

    def __init__(self, data: RankingDataset, *, n_jobs: int | None = None, n_outputs: int = 1) -> None:
        self.data = data
        self.n_jobs = n_jobs
        self.n_outputs = n_outputs
        self.sample_weight = _ones(data.n_rows) if data.sample_weight is None else data.sample_weight
        self.query_weight = _ones(data.n_queries) if data.query_weight is None else data.query_weight

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss of each query (0 where it was not asked for or does not exist), gradient and curvature of each score.

        Weights are included; the gradient of the dataset's loss is what comes back.
        """
        raise NotImplementedError

    def device_form(self) -> DeviceForm | None:
        """How an accelerator makes the gradient; None where only the host does."""
        return None

    def check(self, scores: Any) -> np.ndarray:
        """Scores as an array of the right shape, or an error. Those beyond ±1e100 count as ±1e100."""
        array = np.ascontiguousarray(scores, dtype=np.float64)
        shape = (self.data.n_rows,) if self.n_outputs == 1 else (self.data.n_rows, self.n_outputs)
        if array.shape != shape:
            raise LossError(f"scores have shape {array.shape}, expected {shape}")
        if not np.abs(array).max(initial=0.0) <= _FARTHEST:
            array = np.clip(array, -_FARTHEST, _FARTHEST)  # NaN stays
        return array

    def _buffers(self) -> Derivatives:
        """Zeros to be filled."""
        shape = (self.data.n_rows,) if self.n_outputs == 1 else (self.data.n_rows, self.n_outputs)
        return Derivatives(np.zeros(self.data.n_queries), np.zeros(shape), np.zeros(shape))


def finite_gains(labels: np.ndarray, gain: Any, loss: str) -> np.ndarray:
    """Gain of each label; an error for labels so large that it is no number any more."""
    with np.errstate(over="ignore"):
        gains = gains_of(labels, gain)
    bad = np.flatnonzero(~np.isfinite(gains))
    if bad.size:
        raise LossError(
            f"{loss}: the gain of label {labels[bad[0]]:g} is not finite; use a linear gain or smaller labels"
        )
    return gains


def first_swaps(data: RankingDataset, measure: Any, loss: str, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the order of equal scores and the measure's swap state there; an error where gains are no numbers."""
    ranking = Scored(data, np.zeros(data.n_rows), n_jobs=n_jobs).ranking("stable")
    with np.errstate(over="ignore", invalid="ignore"):
        state = measure.swap_state(ranking)
    if not np.isfinite(state[:, 0]).all():
        raise LossError(f"{loss}: gains are too large for labels up to {data.labels.max():g}; try a linear gain")
    return ranking.rows, state


def _ones(n: int) -> np.ndarray:
    """Ones that are read-only, as weights of a dataset are: Numba would compile every kernel once more for others."""
    ones = np.ones(n)
    ones.flags.writeable = False
    return ones
