"""Sums of logarithms of scaled counts, as LETOR's features have them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.text.retrieval.base import TermModel, term_kernels
from plackett.text.retrieval.idf import IDF
from plackett.text.retrieval.matches import Matches

__all__ = ["ScaledLog"]


@kernel(inline=True)
def _weight(tf, length, unique, extra, a, b, c, p):
    return a * math.log(1.0 + b * tf / length)


@dataclass(frozen=True, kw_only=True)
class ScaledLog(TermModel):
    r"""Sum over query terms of :math:`\log(1 + c_t\, \mathrm{tf} / \mathrm{len})`.

    Parameters
    ----------
    scale
        :math:`c_t`: ``"idf"`` for ln(N / n), ``"cf"`` for N divided by the collection frequency.

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.
    """

    name: ClassVar[str] = "ScaledLog"
    _kernels = term_kernels(_weight)

    scale: str = "idf"

    def _check(self) -> None:
        self.expect(self.scale in ("idf", "cf"), "scale", "give 'idf' or 'cf'")

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        n = matches.collection.n_documents
        if self.scale == "cf":
            return matches.weights, n / np.maximum(matches.collection_frequency, 1.0)
        return matches.weights, IDF["log"](matches.document_frequency, n)
