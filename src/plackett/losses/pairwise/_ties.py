"""Shared base of the comparison models with ties: pairs of unequal labels and pairs of equal ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import template
from plackett.losses.base import LossOnData
from plackett.losses.pairwise.base import SweptLoss, all_pairs, label_order
from plackett.losses.pairwise.rows import add, gaps, sweep_of


@template
def _won(z, value, slope, curvature, width):
    """Stands for the formula of pairs of unequal labels."""
    raise NotImplementedError


@template
def _tied(z, value, slope, curvature, width, tie_weight):
    """Stands for the formula of pairs of equal labels."""
    raise NotImplementedError


@template
def _of_other_documents(row, u, below, n, shape):
    """Pairs of a document with those of lower labels, and with those of the same label that come after it."""
    width, tie_weight = shape
    z, value, slope, bend = gaps(row, u, below, n, 0.0)
    _won(z, value, slope, bend, width)
    total = add(row, u, below, n)
    if tie_weight > 0.0:
        z, value, slope, bend = gaps(row, u, u + 1, below, 0.0)
        _tied(z, value, slope, bend, width, tie_weight)
        total += add(row, u, u + 1, below)
    return total


@dataclass(frozen=True, kw_only=True, repr=False)
class TieLoss(SweptLoss):
    """Minus the log-likelihood of comparisons that may end in a tie.

    Each pair of judged documents of a query is a comparison: won by the document with the higher label, tied where the
    labels are equal. A pair weighs the product of the weights of its two documents.

    Parameters
    ----------
    tie_weight
        Weight of a tied pair relative to one that is not; most pairs of a long list are tied at the lowest label. With
        0 ties are left out.
    normalize
        Divide the loss of a query by the weight of its pairs, so that queries with many pairs do not dominate.
    """

    convex: ClassVar[bool] = True

    tie_weight: float = 1.0
    normalize: bool = False

    #: The formulas: ``won(z, value, slope, curvature, width)`` for an array of differences of pairs of unequal labels,
    #: ``tied(z, value, slope, curvature, width, tie_weight)`` for pairs of equal ones.
    won: ClassVar[Callable[..., Any]]
    tied: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kernel = staticmethod(sweep_of(_of_other_documents, _won=cls.won, _tied=cls.tied))

    @property
    def width(self) -> float:
        """How far apart documents may be and still tie, on the scale of the scores."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        number(f"{self.name}: tie_weight", self.tie_weight, least=0, error=LossError)
        if self.tie_weight > 0 and self.width == 0:
            raise LossError(f"{self.name}: without a width no pair ever ties; widen it, or set tie_weight=0")

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """All pairs of judged documents, the width and the weight of a tie."""
        total = self._pair_weight(bound) if self.normalize else None
        return all_pairs(bound, total), (float(self.width), float(self.tie_weight))

    def _pair_weight(self, bound: LossOnData) -> np.ndarray:
        """Weight of all pairs of each query; a tie counts ``tie_weight``."""
        data, query = bound.data, bound.data.query_of_row
        order, below, _ = label_order(data, bound.n_jobs)
        weight = np.where(data.labels >= 0, bound.sample_weight, 0.0)
        ends = below[np.argsort(order)]  # documents of a query with the same label end at the same position
        blocks, block = np.unique(np.stack([query, ends]), axis=1, return_inverse=True)

        def pairs(group: np.ndarray, n: int) -> np.ndarray:
            return 0.5 * (np.bincount(group, weight, n) ** 2 - np.bincount(group, weight**2, n))

        tied = np.bincount(blocks[0], pairs(block.ravel(), blocks.shape[1]), data.n_queries)
        return np.maximum(pairs(query, data.n_queries) - (1.0 - self.tie_weight) * tied, 0.0)
