"""Query-level loss, and how it differs from counting pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett.data.arguments import row_scores
from plackett.data.dataset import RankingDataset
from plackett.theory.risks.associate_losses import as_associate_loss
from plackett.theory.risks.risk import Risk

__all__ = ["query_level_losses", "risk_levels"]


def query_level_losses(loss: Any, scores: Any, data: RankingDataset, *, tie: str = "none") -> np.ndarray:
    r"""Query-level loss :math:`\hat L(f; q) = \frac{1}{n_q} \sum_j l(f; \omega_j^{(q)})` of each query.

    The associates are the documents, labelled pairs or the list, whichever the loss looks at; NaN where a query has
    none.

    >>> data = RankingDataset.from_arrays(None, [1, 0, 0, 1, 0], qid=[1, 1, 1, 2, 2])
    >>> query_level_losses("pairwise 0-1", [2.0, 1.0, 3.0, 0.0, 1.0], data).tolist()
    [0.5, 1.0]

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.
    """
    associate_loss = as_associate_loss(loss, tie=tie)
    plain = data.replace(sample_weight=None, query_weight=None)
    counts = associate_loss.associates.labelled(plain)
    sums = associate_loss.sums(row_scores(data, scores), plain)
    return np.divide(sums, counts, out=np.full(counts.shape, np.nan), where=counts > 0)


class RiskLevels(NamedTuple):
    """The same losses averaged over pairs (or documents) and over queries, and the difference by query."""

    associate_level: float
    query_level: float
    #: :math:`(n_i / N - 1 / r)\\hat L_i` of each query; their sum is the difference of the two risks.
    parts: np.ndarray


def risk_levels(loss: Any, scores: Any, data: RankingDataset) -> RiskLevels:
    r"""Pair-level risk :math:`\frac1N \sum_i \sum_j l` next to the query-level risk :math:`\frac1r \sum_i \hat L_i`.

    They differ by :math:`\sum_i (n_i/N - 1/r) \hat L_i`, so they agree where all queries have the same number of pairs
    or the same loss. Queries without pairs count in neither.

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 0, 1, 0], qid=[1, 1, 1, 2, 2])
    >>> levels = risk_levels("pairwise 0-1", [2.0, 1.0, 3.0, 0.0, 1.0], data)
    >>> round(levels.associate_level, 4), levels.query_level, round(float(levels.parts.sum()), 4)
    (0.6667, 0.75, -0.0833)
    """
    associate_loss = as_associate_loss(loss)
    counts = associate_loss.associates.labelled(data)
    losses = query_level_losses(associate_loss, scores, data)
    used = counts > 0
    parts = np.where(used, (counts / max(counts.sum(), 1.0) - 1.0 / max(used.sum(), 1)) * np.nan_to_num(losses), 0.0)
    return RiskLevels(
        Risk(associate_loss, "document", "average")(scores, data),
        Risk(associate_loss, "two-layer", "average")(scores, data),
        parts,
    )
