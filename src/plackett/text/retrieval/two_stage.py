"""Query likelihood with two-stage smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from plackett._kernels.kernel import kernel
from plackett.text.retrieval.base import term_kernels
from plackett.text.retrieval.language_model import LanguageModel

__all__ = ["TwoStage"]


@kernel(inline=True)
def _weight(tf, length, unique, extra, a, b, c, p):
    size = length + p[0]
    inner = (tf + p[0] * b) / size if size > 0.0 else 0.0
    return a * math.log((1.0 - p[1]) * inner + p[1] * b)


@dataclass(frozen=True, kw_only=True)
class TwoStage(LanguageModel):
    r"""Query likelihood with two-stage smoothing: a Dirichlet prior, then a mixture with the collection.

    .. math:: p(t \mid d) = (1 - \lambda) \frac{\mathrm{tf} + \mu\, p(t \mid C)}{\mathrm{len} + \mu}
              + \lambda\, p(t \mid C)

    The prior explains terms that the document lacks, the mixture common words of the query. With λ = 0 it is
    `Dirichlet`, with μ = 0 `JelinekMercer`.

    Parameters
    ----------
    mu
        μ, 0 or more.
    weight
        λ, from 0 to 1.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> TwoStage(mu=10, weight=0).search(index, "blue").scores.round(3).tolist()
    [-0.486, -0.539]

    References
    ----------
    Zhai, Lafferty: Two-stage language models for information retrieval. SIGIR 2002.
    """

    name: ClassVar[str] = "TwoStage"
    _kernels = term_kernels(_weight)

    mu: float = 1000.0
    weight: float = 0.1

    def _check(self) -> None:
        self.expect(self.mu >= 0, "mu", "give a number of 0 or more")
        self.expect(0 <= self.weight <= 1, "weight", "give a share from 0 to 1")

    def _parameters(self) -> tuple[float, ...]:
        return self.mu, self.weight
