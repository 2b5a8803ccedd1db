"""Query likelihood with additive smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.text.retrieval.base import term_kernels
from plackett.text.retrieval.language_model import LanguageModel
from plackett.text.retrieval.matches import Matches

__all__ = ["AdditiveSmoothing"]


@kernel(inline=True)
def _weight(tf, length, unique, extra, a, b, c, p):  # type: ignore[no-untyped-def]
    return a * math.log((tf + p[0]) / (length + b))


@dataclass(frozen=True, kw_only=True)
class AdditiveSmoothing(LanguageModel):
    r"""Query likelihood with additive (Laplace) smoothing.

    .. math:: p(t \mid d) = \frac{\mathrm{tf} + a}{\mathrm{len} + a |V|}

    Parameters
    ----------
    amount
        a, the amount added to each count, above 0.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> AdditiveSmoothing(amount=1).search(index, "blue").scores.round(3).tolist()  # ln(3 / 6), ln(2 / 5)
    [-0.693, -0.916]

    References
    ----------
    Zhai, Lafferty: A study of smoothing methods for language models applied to ad hoc information retrieval. SIGIR
    2001.
    """

    name: ClassVar[str] = "LMIR.LAP"
    aliases: ClassVar[tuple[str, ...]] = ("AdditiveSmoothing", "Laplace")
    _kernels = term_kernels(_weight)

    amount: float = 0.1

    def _check(self) -> None:
        self.expect(self.amount > 0, "amount", "give a number above 0")

    def _parameters(self) -> tuple[float, ...]:
        return (self.amount,)

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        return matches.weights, np.full(matches.weights.size, self.amount * matches.collection.n_terms)
