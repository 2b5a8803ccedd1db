"""XE-NDCG: a cross entropy that bounds nDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett.losses.base import LossOnData
from plackett.losses.listwise.listnet import TopOneLoss

__all__ = ["XENDCGLoss"]


@dataclass(frozen=True, kw_only=True, repr=False)
class XENDCGLoss(TopOneLoss):
    r"""Cross entropy between gains and the softmax of the scores.

    .. math:: L = \sum_j P_j \log \frac{P_j}{Q_j}, \quad P_j \propto w_j (2^{y_j} - \gamma_j),\ Q_j \propto e^{s_j}

    It is convex and, for every γ in [0, 1), bounds the logarithm of mean nDCG. A query whose labels are all equal has
    loss 0. LightGBM's ``rank_xendcg`` is this loss on trees with γ redrawn in every round.

    Parameters
    ----------
    gamma
        γ, the same for all documents.
    random_state
        Draw γ of each document from [0, 1) with this seed instead, once for a dataset: noise that keeps documents of
        equal label apart. The draw depends on the labels of the query and the position of the row in it.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(XENDCGLoss()(np.zeros(2), data), 4)  # divergence of (¾, ¼) from (½, ½)
    0.1308

    References
    ----------
    Bruch: An alternative cross entropy loss for learning-to-rank. WWW 2021.
    """

    name: ClassVar[str] = "XENDCG"
    _test_variants = ({"gamma": 0.0},)

    gamma: float = 0.5
    random_state: int | None = None

    def __post_init__(self) -> None:
        number(f"{self.name}: gamma", self.gamma, least=0, below=1, error=LossError)

    def exponent(self, bound: LossOnData) -> np.ndarray:
        """log(2^y − γ), for labels of any size."""
        gamma: float | np.ndarray = self.gamma
        if self.random_state is not None:
            from plackett.losses.listwise.draws import uniform

            gamma = uniform(bound.data, self.random_state, 1, bound.n_jobs)[0]
        labels = np.maximum(bound.data.labels, 0.0)
        return labels * np.log(2.0) + np.log1p(-gamma * np.exp2(-labels))
