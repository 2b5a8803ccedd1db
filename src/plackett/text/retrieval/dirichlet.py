"""Query likelihood with Dirichlet smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.text.retrieval.base import term_kernels
from plackett.text.retrieval.language_model import LanguageModel, background
from plackett.text.retrieval.matches import Matches

__all__ = ["Dirichlet"]


@kernel(inline=True)
def _weight(tf, length, unique, extra, a, b, c, p):  # type: ignore[no-untyped-def]
    return a * math.log((tf + b) / (length + p[0]))


@dataclass(frozen=True, kw_only=True)
class Dirichlet(LanguageModel):
    r"""Query likelihood with a Dirichlet prior (LMIR.DIR).

    .. math:: p(t \mid d) = \frac{\mathrm{tf} + \mu\, p(t \mid C)}{\mathrm{len} + \mu}

    Parameters
    ----------
    mu
        μ, the size of the prior in terms, above 0. Short texts need less.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> Dirichlet(mu=10).search(index, "blue").scores.round(3).tolist()  # ln(8 / 13), ln(7 / 12)
    [-0.486, -0.539]

    References
    ----------
    Zhai, Lafferty: A study of smoothing methods for language models applied to ad hoc information retrieval. SIGIR
    2001.
    """

    name: ClassVar[str] = "LMIR.DIR"
    aliases: ClassVar[tuple[str, ...]] = ("Dirichlet", "DIR")
    _kernels = term_kernels(_weight)

    mu: float = 1000.0

    def _check(self) -> None:
        self.expect(self.mu > 0, "mu", "give a number above 0")

    def _parameters(self) -> tuple[float, ...]:
        return (self.mu,)

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        return matches.weights, self.mu * background(matches)
