"""Geometric mean of average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.ap import AveragePrecision

__all__ = ["GeometricMeanAP"]

#: Smaller values count as this one, as in trec_eval; otherwise one query with 0 would decide the mean.
LEAST = 1e-5


@dataclass(frozen=True, kw_only=True, repr=False)
class GeometricMeanAP(AveragePrecision):
    r"""Average precision with a geometric mean over queries, which emphasises queries answered poorly.

    .. math:: \text{GMAP} = \exp \frac1n \sum_q \log \max(\text{AP}_q, 10^{-5})

    Parameters
    ----------
    k, rel, over, divisor
        As for `plackett.measures.AP`.

    Notes
    -----
    The value of a query is its AP. Ties: exact mean over all orders inside a query.

    References
    ----------
    Robertson: On GMAP, and other transformations. CIKM 2006.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([0, 1, 1, 0, 0, 0], [2, 1, 6, 5, 4, 3], ["GMAP"], qid=[1, 1, 2, 2, 2, 2]).mean["GMAP"].__round__(4)
    0.7071
    """

    name: ClassVar[str] = "GMAP"
    aliases: ClassVar[tuple[str, ...]] = ("gm_map", "gmap")

    def mean(self, values: np.ndarray) -> float:
        """Geometric mean over queries, leaving out skipped ones; NaN if all are skipped."""
        kept = values[~np.isnan(values)]
        return float(np.exp(np.log(np.maximum(kept, LEAST)).mean())) if kept.size else float("nan")


GMAP = GeometricMeanAP()
