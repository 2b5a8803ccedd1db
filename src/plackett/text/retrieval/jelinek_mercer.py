"""Query likelihood with Jelinek–Mercer smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.text.retrieval.base import term_kernels
from plackett.text.retrieval.language_model import LanguageModel, background
from plackett.text.retrieval.matches import Matches

__all__ = ["JelinekMercer"]


@kernel(inline=True)
def _weight(tf, length, unique, extra, a, b, c, p):  # type: ignore[no-untyped-def]
    return a * math.log(p[0] * tf / length + b) if tf > 0 else a * c


@dataclass(frozen=True, kw_only=True)
class JelinekMercer(LanguageModel):
    r"""Query likelihood with a mixture of document and collection (LMIR.JM).

    .. math:: p(t \mid d) = (1 - \lambda) \frac{\mathrm{tf}}{\mathrm{len}} + \lambda\, p(t \mid C)

    Parameters
    ----------
    weight
        λ, the weight of the collection, from 0 to 1. With 1 all documents are equal; with 0 a document that lacks a
        query term has a score of −∞.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> JelinekMercer(weight=0.5).search(index, "blue").scores.round(3).tolist()  # ln(1/3 + 3/10), ln(1/4 + 3/10)
    [-0.457, -0.598]

    References
    ----------
    Zhai, Lafferty: A study of smoothing methods for language models applied to ad hoc information retrieval. SIGIR
    2001.
    """

    name: ClassVar[str] = "LMIR.JM"
    aliases: ClassVar[tuple[str, ...]] = ("JelinekMercer", "JM")
    _kernels = term_kernels(_weight)

    weight: float = 0.5

    def _check(self) -> None:
        self.expect(0 <= self.weight <= 1, "weight", "give a share from 0 to 1")

    def _parameters(self) -> tuple[float, ...]:
        return (1.0 - self.weight,)

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        smooth = self.weight * background(matches)
        return matches.weights, smooth, np.log(smooth)
