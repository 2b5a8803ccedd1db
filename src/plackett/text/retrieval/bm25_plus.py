"""BM25+."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._kernels.kernel import kernel
from plackett.text.retrieval.base import term_kernels
from plackett.text.retrieval.bm25 import BM25

__all__ = ["BM25Plus"]


@kernel(inline=True)
def _weight(tf, length, unique, extra, a, b, c, p):  # type: ignore[no-untyped-def]
    return a * (tf / (tf + b + c * length) + p[0])


@dataclass(frozen=True, kw_only=True)
class BM25Plus(BM25):
    r"""BM25+: a term that occurs is worth at least something, however long the document.

    The saturated count of a term that occurs is raised by :math:`\delta / (k_1 + 1)`.

    Parameters
    ----------
    delta
        δ, 0 or more; with 0 it is BM25.
    k1, b, k3, idf
        As for `BM25`.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> BM25Plus().search(index, "blue").scores.round(3).tolist()
    [0.42, 0.381]

    References
    ----------
    Lv, Zhai: Lower-bounding term frequency normalization. CIKM 2011.
    """

    name: ClassVar[str] = "BM25+"
    aliases: ClassVar[tuple[str, ...]] = ("BM25Plus",)
    _kernels = term_kernels(_weight)

    delta: float = 1.0

    def _check(self) -> None:
        super()._check()
        self.expect(self.delta >= 0, "delta", "give a number of 0 or more")

    def _parameters(self) -> tuple[float, ...]:
        return (self.delta / (self.k1 + 1.0),)
