"""Subtopic retrieval by maximal marginal relevance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.text.index.field import Field
from plackett.text.retrieval.novelty import GreedyModel
from plackett.text.retrieval.vector_space import unit_vectors

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

    trade_off: float = 0.7

    def _check(self) -> None:
        super()._check()
        self.expect(0 <= self.trade_off <= 1, "trade_off", "give a share from 0 to 1")

    def _choose(
        self, field: Field, offsets: np.ndarray, documents: np.ndarray, relevance: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        vectors, out = unit_vectors(field), np.empty(documents.size)
        over_queries(
            _most_marginal,
            offsets,
            documents,
            relevance,
            vectors.indptr,
            vectors.indices,
            vectors.data,
            vectors.shape[1],
            self.trade_off,
            out,
            n_jobs=n_jobs,
            rows_per_thread=1000,
        )
        return out


@kernel
def _most_marginal(lo, hi, offsets, documents, relevance, starts, terms, values, n_terms, trade_off, out):
    last_chosen = np.zeros(n_terms)
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        n = last - first
        nearest, open_ = np.zeros(n), np.ones(n, np.bool_)
        for _ in range(n):
            chosen, best = -1, -np.inf
            for i in range(n):
                value = trade_off * relevance[first + i] - (1.0 - trade_off) * nearest[i]
                if open_[i] and (chosen < 0 or value > best):
                    chosen, best = i, value
            open_[chosen] = False
            out[first + chosen] = best
            d = documents[first + chosen]
            for e in range(starts[d], starts[d + 1]):
                last_chosen[terms[e]] = values[e]
            for i in range(n):
                if open_[i]:
                    cosine = 0.0
                    other = documents[first + i]
                    for e in range(starts[other], starts[other + 1]):
                        cosine += values[e] * last_chosen[terms[e]]
                    nearest[i] = max(nearest[i], cosine)
            for e in range(starts[d], starts[d + 1]):
                last_chosen[terms[e]] = 0.0
