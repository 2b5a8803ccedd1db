"""Query likelihood with absolute discounting."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from plackett._kernels.kernel import kernel
from plackett.text.retrieval.base import term_kernels
from plackett.text.retrieval.language_model import LanguageModel

__all__ = ["AbsoluteDiscount"]


@kernel(inline=True)
def _weight(tf, length, unique, extra, a, b, c, p):
    if length == 0:
        return a * math.log(b)
    return a * math.log((max(tf - p[0], 0.0) + p[0] * unique * b) / length)


@dataclass(frozen=True, kw_only=True)
class AbsoluteDiscount(LanguageModel):
    r"""Query likelihood with absolute discounting (LMIR.ABS).

    .. math:: p(t \mid d) = \frac{\max(\mathrm{tf} - \delta, 0)}{\mathrm{len}}
              + \frac{\delta\, u}{\mathrm{len}}\, p(t \mid C)

    u is the number of distinct terms of the document. An empty document has the collection's probabilities.

    Parameters
    ----------
    delta
        δ, the amount subtracted from each count, from 0 to 1.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> AbsoluteDiscount(delta=0.5).search(index, "blue").scores.round(3).tolist()  # ln(2.1 / 3), ln(1.1 / 2)
    [-0.357, -0.598]

    References
    ----------
    Zhai, Lafferty: A study of smoothing methods for language models applied to ad hoc information retrieval. SIGIR
    2001.
    """

    name: ClassVar[str] = "LMIR.ABS"
    aliases: ClassVar[tuple[str, ...]] = ("AbsoluteDiscount", "ABS")
    _kernels = term_kernels(_weight)

    delta: float = 0.7

    def _check(self) -> None:
        self.expect(0 <= self.delta <= 1, "delta", "give a number from 0 to 1")

    def _parameters(self) -> tuple[float, ...]:
        return (self.delta,)
