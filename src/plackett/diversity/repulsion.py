"""Diversity inside the relational framework: similar documents push each other apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.diversity.candidates import ScoredCandidates, best_first, similar_to
from plackett.diversity.reranker import Reranker

__all__ = ["Repulsion"]


@dataclass(frozen=True, kw_only=True)
class Repulsion(Reranker):
    r"""Repulsion: the scores z that stay near the relevance f while those of similar documents move apart,

    .. math:: \min_z \lVert z - f \rVert^2 - \frac{\beta}{2} \sum_{i, j} R_{ij} (z_i - z_j)^2
              \quad\Longrightarrow\quad (I - \beta L)\, z = f, \qquad L = D - R,

    the relational ranking function with the sign of the relation reversed. It has a minimum while :math:`\beta <
    1/\lambda_{\max}(L)`; ``strength`` is β in units of that limit, computed for each query. Two near-duplicates with
    almost equal scores end up apart; documents that resemble nothing keep theirs.

    Parameters
    ----------
    strength
        From 0 (the order of the scores) to below 1.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], None, qid=[1, 1, 1])
    >>> Repulsion(strength=0.95).order(data, [3.0, 2.9, 2.5]).tolist()
    [0, 2, 1]

    References
    ----------
    Qin, Liu, Zhang, Wang, Xiong, Li: Learning to rank relational objects and its application to web search. WWW 2008
    (the framework; the sign is reversed here).
    """

    name: ClassVar[str] = "Repulsion"
    needs_similarity: ClassVar[bool] = True

    strength: float = 0.5

    def _check(self) -> None:
        super()._check()
        if not 0.0 <= self.strength < 1.0:
            raise DataError(
                f"strength={self.strength}; give a number from 0 to below 1: at 1 the scores have no minimum"
            )

    def _kernel(self) -> Any:
        return _push

    def _arguments(self, pool: ScoredCandidates) -> tuple[Any, ...]:
        near = (pool.vectors, pool.pointers, pool.other, pool.weight)
        return pool.relevance, pool.chosen, pool.candidates, *near, self.strength


@kernel
def _push(lo, hi, offsets, relevance, chosen, candidates, vectors, pointers, other, weight, strength, order):
    for q in range(lo, hi):
        first, last, n, k = offsets[q], offsets[q + 1], candidates[q], chosen[q]
        rows = order[first : first + n].copy()
        row, laplacian = np.empty(last - first), np.zeros((n, n))
        for i in range(n):
            similar_to(rows[i], first, last, vectors, pointers, other, weight, row)
            for j in range(n):
                if j != i:  # the mean of both directions
                    near = 0.5 * row[rows[j] - first]
                    laplacian[i, j] -= near
                    laplacian[j, i] -= near
                    laplacian[i, i] += near
                    laplacian[j, j] += near
        f = np.empty(n)
        for i in range(n):
            f[i] = relevance[rows[i]]
        limit = np.linalg.eigvalsh(laplacian)[-1]
        z = f
        if limit > 1e-12:
            z = np.linalg.solve(np.eye(n) - strength / limit * laplacian, f)
        best_first(order, first, rows, z, k)
