"""Subtopic retrieval by maximal marginal relevance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.text.index.index import Index
from plackett.text.retrieval.novelty import GreedyModel, scaled, similarities

__all__ = ["MarginalRelevance"]


@dataclass(frozen=True, kw_only=True)
class MarginalRelevance(GreedyModel):
    r"""Maximal marginal relevance (MMR): relevant documents that differ from those above them.

    .. math:: \arg\max_d \; \lambda\, s(q, d) - (1 - \lambda) \max_{d' \in S} \cos(d, d')

    Relevance scores are scaled to [0, 1] per query, the best to 1; S are the documents chosen so far.

    Parameters
    ----------
    model
        Model of relevance.
    depth
        Number of documents that are re-ranked.
    trade_off
        λ, from 0 (only novelty) to 1 (the model's ranking).

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> texts = ["jaguar car engine", "jaguar car engine speed", "jaguar cat forest"]
    >>> index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    >>> MarginalRelevance(trade_off=0.3).search(index, "jaguar engine").documents.tolist()
    [0, 2, 1]

    References
    ----------
    Carbonell, Goldstein: The use of MMR, diversity-based reranking for reordering documents and producing summaries.
    SIGIR 1998.
    Zhai, Cohen, Lafferty: Beyond independent relevance: methods and evaluation metrics for subtopic retrieval. SIGIR
    2003.
    """

    name: ClassVar[str] = "MarginalRelevance"
    aliases: ClassVar[tuple[str, ...]] = ("MMR",)
    _ids: ClassVar[tuple[str, ...]] = ("conv.diversity",)
    paper: ClassVar[str] = "Carbonell, Goldstein 1998"

    trade_off: float = 0.7

    def _check(self) -> None:
        super()._check()
        self.expect(0 <= self.trade_off <= 1, "trade_off", "give a share from 0 to 1")

    def _choose(self, index: Index, field: str | None, documents: np.ndarray, scores: np.ndarray) -> np.ndarray:
        relevance, cosine = self.trade_off * scaled(scores), similarities(index, field, documents)
        nearest = np.zeros(documents.size)
        out = np.full(documents.size, np.nan)
        for _ in range(documents.size):
            value = np.where(np.isnan(out), relevance - (1.0 - self.trade_off) * nearest, -np.inf)
            chosen = int(np.argmax(value))
            out[chosen] = value[chosen]
            nearest = np.maximum(nearest, cosine[chosen])
        return out
