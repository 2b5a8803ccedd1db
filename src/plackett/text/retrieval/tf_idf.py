"""Sums of TF-IDF weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett.text.index.field import Field
from plackett.text.retrieval.base import TermKernels, TermModel
from plackett.text.retrieval.idf import IDF
from plackett.text.retrieval.matches import Matches
from plackett.text.retrieval.term_frequency import TF, largest_counts

__all__ = ["TFIDF"]


@dataclass(frozen=True, kw_only=True)
class TFIDF(TermModel):
    r"""Sum of TF-IDF weights of the query terms.

    .. math:: \sum_{t \in q} \mathrm{qtf} \cdot \mathrm{tf}(t, d)\, \mathrm{idf}(t)

    Parameters
    ----------
    tf
        ``"raw"`` count, ``"log"`` 1 + ln tf, ``"length"`` tf / len, ``"max"`` tf / largest count of the document,
        ``"augmented"`` ½ + ½ tf / largest, ``"binary"``, ``"log1p"`` ln(1 + tf), ``"log1p-length"`` ln(1 + tf / len).
    idf
        ``"log"`` ln(N / n), ``"smooth"`` ln((N + 1) / (n + 1)) + 1, ``"rsj"``, ``"lucene"`` (see `BM25`) or ``"none"``.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> TFIDF().search(index, "blue whale").scores.round(3).tolist()  # ln 2 + 2 ln 1, ln 1
    [0.693, 0.0]

    References
    ----------
    Salton, Buckley: Term-weighting approaches in automatic text retrieval. Information Processing & Management 24,
    1988.
    """

    name: ClassVar[str] = "TF-IDF"
    aliases: ClassVar[tuple[str, ...]] = ("TFIDF",)

    tf: str = "raw"
    idf: str = "log"

    def _check(self) -> None:
        choice("tf", self.tf, TF)
        choice("idf", self.idf, IDF)

    @property
    def _kernels(self) -> TermKernels:  # type: ignore[override]
        return TF[self.tf].plain

    @property
    def _reads_documents(self) -> bool:
        return TF[self.tf].reads_largest

    def _per_document(self, field: Field) -> np.ndarray:
        return largest_counts(field)

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        return (matches.weights * IDF[self.idf](matches.document_frequency, matches.collection.n_documents),)
