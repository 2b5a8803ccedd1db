"""Inverse square rank fusion with a logarithmic count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett.aggregation._reciprocal import reciprocal_sums
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists

__all__ = ["LogISR"]


@dataclass(frozen=True, kw_only=True)
class LogISR(Aggregation):
    r"""Inverse square rank fusion with the logarithm of the number N(d) of lists that have the document.

    .. math:: s(d) = \log(N(d) + \sigma) \sum_{m \ni d} \frac{w_m}{r_m(d)^2}

    Parameters
    ----------
    sigma
        Above 0, documents that are in only one list keep their order; 0 is the form of the paper, in which they all
        score 0.

    Examples
    --------
    >>> LogISR(sigma=0).scores(RankLists.from_orders([["a", "b"], ["b"]])).round(4).tolist()  # 1.25 · log 2
    [0.0, 0.8664]

    References
    ----------
    Mourão, Martins, Magalhães: Multimodal medical information retrieval with unsupervised rank fusion. Computerized
    Medical Imaging and Graphics 2015.
    """

    name: ClassVar[str] = "LogISR"
    aliases: ClassVar[tuple[str, ...]] = ("LogNISR",)

    sigma: float = 0.01

    def __post_init__(self) -> None:
        number("LogISR: sigma", self.sigma, least=0)

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        total, count = reciprocal_sums(lists, weights, 0.0, 2, n_jobs)
        return total * np.log(np.maximum(count, 1.0) + self.sigma)
