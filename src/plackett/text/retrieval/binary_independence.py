"""The probability ranking principle with independent binary terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.text.retrieval.base import TermModel, term_kernels
from plackett.text.retrieval.matches import Matches

__all__ = ["BinaryIndependence", "probability_order"]


@kernel(inline=True)
def _weight(tf, length, unique, extra, a, b, c, p):  # type: ignore[no-untyped-def]
    return a


@dataclass(frozen=True, kw_only=True)
class BinaryIndependence(TermModel):
    r"""Binary independence model: log-odds of relevance from the presence of terms.

    .. math:: \log \frac{P(R \mid d)}{P(\bar R \mid d)} = \sum_{t \in q \cap d}
              \log \frac{p_t (1 - u_t)}{u_t (1 - p_t)} + \mathrm{const}

    :math:`p_t` is the probability of the term in relevant documents, :math:`u_t` in others, estimated by the whole
    collection: :math:`(n_t + ½) / (N + 1)`. With :math:`p_t = ½` the weights are those of Robertson and Spärck Jones,
    and the model is BM25 with :math:`k_1 = 0` and that IDF.

    Parameters
    ----------
    presence
        :math:`p_t`, between 0 and 1.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> texts = ["blue whales", "blue sky", "red sky"]
    >>> index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    >>> BinaryIndependence().search(index, "whales").scores.round(3).tolist()  # ln(2.5 / 1.5)
    [0.511]

    References
    ----------
    Robertson: The probability ranking principle in IR. Journal of Documentation 33, 1977.
    Robertson, Spärck Jones: Relevance weighting of search terms. JASIS 27, 1976.
    """

    name: ClassVar[str] = "BinaryIndependence"
    aliases: ClassVar[tuple[str, ...]] = ("BIM",)
    _kernels = term_kernels(_weight)

    presence: float = 0.5

    def _check(self) -> None:
        self.expect(0 < self.presence < 1, "presence", "give a probability between 0 and 1")

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        n, df = matches.collection.n_documents, matches.document_frequency
        odds = self.presence / (1.0 - self.presence)
        return (np.log(odds * (n - df + 0.5) / (df + 0.5)),)


def probability_order(probabilities: Any) -> np.ndarray:
    """The probability ranking principle: documents in the order of their probability of relevance.

    If relevance of a document does not depend on the others shown, no order has a larger expected precision at any
    rank, or a larger expected DCG.

    >>> probability_order([0.2, 0.9, 0.5]).tolist()
    [1, 2, 0]

    References
    ----------
    Robertson: The probability ranking principle in IR. Journal of Documentation 33, 1977.
    """
    given = np.asarray(probabilities, np.float64)
    if given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
        raise DataError("probabilities must be a flat array of numbers from 0 to 1")
    return np.argsort(-given, kind="stable")
