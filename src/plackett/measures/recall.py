"""Recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures._hits import ShareOfHits
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import n_relevant

__all__ = ["Recall"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Recall(ShareOfHits):
    r"""Recall: the share of all relevant documents of the query found among the first k.

    .. math:: \text{R@}k = \frac1R \sum_{r=1}^{k} [l_r \ge \text{rel}]

    Parameters
    ----------
    k
        Cut-off; None is all retrieved documents (trec_eval's set_recall).
    rel
        Lowest label that counts as relevant.

    Notes
    -----
    Ties: exact mean over all orders.

    References
    ----------
    Cleverdon: The Cranfield tests on index language devices. Aslib Proceedings 1967.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["R@2"]).mean["R@2"]
    0.5
    """

    name: ClassVar[str] = "R"
    aliases: ClassVar[tuple[str, ...]] = ("Recall", "recall", "set_recall", "SetR")

    def divisor(self, ranking: Ranking) -> np.ndarray:
        """The relevant documents of each query."""
        return np.maximum(n_relevant(ranking, self.rel), 1)


R = Recall()
