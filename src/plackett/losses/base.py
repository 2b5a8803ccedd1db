"""Base class of losses: value and gradient with respect to the scores of each query's documents."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from plackett._base.errors import LossError, MeasureError
from plackett._kernels.kernel import ROWS_PER_THREAD, over_queries
from plackett.data.dataset import RankingDataset
from plackett.data.weights import given_or_ones
from plackett.losses.bounds.known_bound import KnownBound
from plackett.measures.base import Measure
from plackett.measures.gains import gains_of
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

__all__ = ["Loss"]

#: Scores are clipped to this distance from 0, so that sums of their squares stay finite.
_FARTHEST = 1e100


class Derivatives(NamedTuple):
    """What a loss gives for some scores: the loss of each query, and the gradient and curvature of each score."""

    value: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray


@dataclass(frozen=True, kw_only=True, repr=False)
class Loss:
    """Base class of all losses.

    A loss is a small frozen object whose fields are its parameters. The loss of a dataset is the sum over queries of
    ``query_weight`` times the loss of the query. A query without pairs or without anything to learn from has loss and
    gradient 0. Unjudged documents (label below 0) are ignored unless the loss says otherwise. Scores beyond ±1e100
    count as ±1e100, so that no loss overflows.

    A subclass declares its properties, so that solvers can be chosen and impossible combinations rejected with a
    reason, its `kernel` and the `constants` that the kernel reads. One whose formula is no single loop over queries
    implements `derivatives` instead, and one that keeps more about a dataset implements `bind`.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.losses import Logistic
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    >>> Logistic()(np.array([0.0, 0.0]), data).__round__(4)  # log 2
    0.6931
    """

    #: A literal, read from the source by the catalogue.
    name: ClassVar[str]
    #: Whether there is a value whose gradient this is; the lambdas have none.
    has_value: ClassVar[bool] = True
    #: Whether the gradient is continuous, as quasi-Newton solvers need.
    smooth: ClassVar[bool] = True
    #: Whether it is convex in the scores.
    convex: ClassVar[bool] = False
    #: Whether adding a constant to the scores of a query changes nothing; not so for pointwise losses.
    shift_invariant: ClassVar[bool] = True
    #: Diagonal of the Hessian: "exact" (where it exists), "surrogate" (positive values suitable for Newton steps) or
    #: "none" (zeros are returned, and Newton steps use 1).
    curvature: ClassVar[str] = "exact"
    #: Whether a bound loss counts its evaluations as rounds of one training, and changes with them.
    counts_rounds: ClassVar[bool] = False
    #: Whether the loss of a query depends on the scores of that query alone (once `settle` has fixed the rest), so that
    #: the loss of the data is the sum over parts of them.
    separable: ClassVar[bool] = True
    #: "pointwise", "pairwise" or "listwise": a sum over documents, over pairs, or of whole lists.
    approach: ClassVar[str] = "listwise"
    #: Whether the pairs are the explicit preferences of a dataset that has any.
    takes_preferences: ClassVar[bool] = False
    #: What a query needs in order to contribute: "pairs" of unequal labels; several "documents", because equal
    #: labels contribute too; several "relevant documents", because their ranks matter whatever the other labels.
    learns_from: ClassVar[str] = "pairs"
    #: Whether the gradient is estimated from few draws, so that a query may happen to have none.
    drawn: ClassVar[bool] = False
    #: Whether exponents are clipped at a stated bound: distant scores then deviate from the formula.
    clipped: ClassVar[bool] = False
    #: Parameters, other than the defaults, with which it is tested too.
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ()

    #: ``kernel(lo, hi, offsets, scores, *constants, *out)``: fills in the derivatives of the queries from lo to hi.
    #: ``out`` are the value, gradient and curvature, each only if the loss declares that it has one.
    kernel: ClassVar[Callable[..., Any]]
    #: How many rows of data are worth a thread: fewer for a kernel that visits pairs of rows.
    rows_per_thread: ClassVar[int] = ROWS_PER_THREAD

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """What the kernel reads besides the scores. It depends on the dataset alone and is computed once for it."""
        return ()

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss of each query (wanted if ``value``), gradient and curvature of each score, by the kernel."""
        return bound.run(self.kernel, scores, *bound.constants)

    def device_form(self, bound: LossOnData) -> DeviceForm | None:
        """How an accelerator computes the gradient; None if only the host can."""
        return None

    def n_outputs(self, data: RankingDataset) -> int:
        """Number of scores per document."""
        return 1

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset, with everything that does not depend on the scores computed once."""
        return LossOnData(self, data, n_jobs)

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
        """Fix everything that depends on the whole dataset, so that the loss can be bound to parts of it.

        Returns the loss itself unless there is something to fix, such as the number of classes.
        """
        return self

    def ranking_scores(self, scores: np.ndarray) -> np.ndarray:
        """The one score per document to rank by; losses with several outputs per document combine them."""
        return scores

    @property
    def combines(self) -> bool:
        """Whether a document has several outputs, of which `ranking_scores` makes one score."""
        return type(self).ranking_scores is not Loss.ranking_scores

    def takes(self, n_outputs: int) -> bool:
        """Whether `ranking_scores` makes one score of this number of outputs per document."""
        return n_outputs == 1

    def bounds(self, measure: Any = None) -> list[KnownBound]:
        """Known bounds of a measure by this loss; without ``measure``, of all measures.

        Each entry prints its inequality and, called with scores and data, returns its right-hand side for each query;
        see `plackett.theory.known_bounds`.

        >>> from plackett.losses import Hinge
        >>> print(Hinge().bounds("AP")[0])
        1 − AP ≤ L / number of relevant  (Theorems 5.1 and 5.2)
        """
        measures = ("nDCG", "AP", "RR", "AUC", "Misranking", "RC") if measure is None else (measure,)
        return [bound for one in measures for bound in self.bounds_of(parse(one))]

    def bounds_of(self, measure: Measure) -> Iterable[KnownBound]:
        """The bounds of one measure that are known; none unless the loss has some."""
        return ()

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
    """How an accelerator computes the gradient of a loss, for many lists at once.

    Parameters
    ----------
    gradient
        ``gradient(torch, scores, *rows)``: the gradient for a table of scores (lists × slots), without the weights
        of the queries and 0 at empty slots. ``rows`` are tables of the values in ``per_row``.
    per_row
        Values of each document, and the value for empty slots. They are converted to float32.
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
    """A loss bound to one dataset; solvers call it repeatedly.

    Subclasses implement `evaluate`; `sample_weight` and `query_weight` are arrays of ones if the dataset has none.
    Most losses need none: they are bound as a `LossOnData`.
    """

    def __init__(self, data: RankingDataset, *, n_jobs: int | None = None, n_outputs: int = 1) -> None:
        self.data = data
        self.n_jobs = n_jobs
        self.n_outputs = n_outputs
        self.sample_weight = given_or_ones(data.sample_weight, data.n_rows)
        self.query_weight = given_or_ones(data.query_weight, data.n_queries)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss of each query (0 if not requested or undefined), gradient and curvature of each score.

        Weights are included: the result is the gradient of the loss of the whole dataset.
        """
        raise NotImplementedError

    def device_form(self) -> DeviceForm | None:
        """How an accelerator computes the gradient; None if only the host can."""
        return None

    def check(self, scores: Any) -> np.ndarray:
        """Scores as an array, checked to have the right shape. Those beyond ±1e100 count as ±1e100."""
        array = np.ascontiguousarray(scores, dtype=np.float64)
        shape = (self.data.n_rows,) if self.n_outputs == 1 else (self.data.n_rows, self.n_outputs)
        if array.shape != shape:
            raise LossError(f"scores have shape {array.shape}, expected {shape}")
        if not (array.min(initial=0.0) >= -_FARTHEST and array.max(initial=0.0) <= _FARTHEST):
            array = np.clip(array, -_FARTHEST, _FARTHEST)  # NaN stays
        return array

    def zeros(self) -> Derivatives:
        """Zeros to be filled in or added to."""
        shape = (self.data.n_rows,) if self.n_outputs == 1 else (self.data.n_rows, self.n_outputs)
        return Derivatives(np.zeros(self.data.n_queries), np.zeros(shape), np.zeros(shape))


class LossOnData(BoundLoss):
    """A loss of the usual kind bound to one dataset: the loss has the formula, this the arrays it is applied to."""

    def __init__(self, loss: Loss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs, n_outputs=loss.n_outputs(data))
        self.loss = loss
        self._has = slice(0 if loss.has_value else 1, 2 if loss.curvature == "none" else 3)
        self.constants = loss.constants(self)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss of each query, gradient and curvature of each score."""
        return self.loss.derivatives(self, scores, value)

    def run(self, kernel: Callable[..., Any], *read: Any) -> Derivatives:
        """Derivatives, as a kernel that reads these arguments fills them in; zeros for those that the loss lacks."""
        out = self.zeros()
        over_queries(
            kernel,
            self.data.offsets,
            *read,
            *out[self._has],
            n_jobs=self.n_jobs,
            rows_per_thread=self.loss.rows_per_thread,
        )
        return out

    def device_form(self) -> DeviceForm | None:
        """How an accelerator computes the gradient; None if only the host can."""
        return self.loss.device_form(self)


def finite_gains(labels: np.ndarray, gain: Any, loss: str) -> np.ndarray:
    """Gain of each label; raises an error if a label is so large that its gain is not finite."""
    try:
        return gains_of(labels, gain)
    except MeasureError as error:
        raise LossError(f"{loss}: {error}") from None


def gain_shares(bound: BoundLoss, gains: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Gain of each document times its weight, as a share of the best value of its query; 0 where that is 0."""
    gains, best = gains * bound.sample_weight, best[bound.data.query_of_row]
    return np.divide(gains, best, out=np.zeros_like(gains), where=best > 0)


def first_swaps(data: RankingDataset, measure: Any, loss: str, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the order of equal scores and the measure's swap state there; raises an error if gains are not finite."""
    ranking = Scored(data, np.zeros(data.n_rows), n_jobs=n_jobs).ranking("stable")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            state = measure.swap_state(ranking)
    except MeasureError as error:
        raise LossError(f"{loss}: {error}") from None
    if not np.isfinite(state[:, 0]).all():
        raise LossError(f"{loss}: gains are too large for labels up to {data.labels.max():g}; try a linear gain")
    return ranking.rows, state
