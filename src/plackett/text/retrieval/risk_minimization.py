"""Risk minimisation: documents in the order of least expected loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.text.index.field import Field
from plackett.text.retrieval.novelty import GreedyModel, new_share

__all__ = ["RiskMinimization"]


@dataclass(frozen=True, kw_only=True)
class RiskMinimization(GreedyModel):
    r"""Risk minimisation with novelty: at each rank the document with the least expected loss, given those above it.

    .. math:: \arg\max_d \; P(R \mid d)\, \bigl(c_{\mathrm{bad}} - c_{\mathrm{old}} (1 - P(N \mid d, S))\bigr)

    A document that is not relevant costs :math:`c_{\mathrm{bad}}`, one that is relevant but says nothing new costs
    :math:`c_{\mathrm{old}}`. P(R) is the model's score in units of its best one; P(N) is the share of the document that
    the collection explains better than the documents chosen so far (a two-component mixture, fitted by EM). With
    :math:`c_{\mathrm{old}} = 0` it is the model's ranking: the probability ranking principle.

    Parameters
    ----------
    model
        Model of relevance.
    depth
        Number of documents that are re-ranked.
    old_cost
        :math:`c_{\mathrm{old}}`, from 0 to 1, in units of :math:`c_{\mathrm{bad}}`.

    Examples
    --------
    >>> from plackett.text import Document, Index, JelinekMercer
    >>> texts = ["jaguar car engine", "jaguar car engine", "jaguar engine forest cat", "fish"]
    >>> index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    >>> RiskMinimization(old_cost=0.9, model=JelinekMercer()).search(index, "jaguar").documents.tolist()
    [0, 2, 1]

    References
    ----------
    Lafferty, Zhai: Document language models, query models, and risk minimization for information retrieval. SIGIR 2001.
    Zhai, Lafferty: A risk minimization framework for information retrieval. Information Processing & Management 42,
    2006.
    """

    name: ClassVar[str] = "RiskMinimization"

    old_cost: float = 0.5

    def _check(self) -> None:
        super()._check()
        self.expect(0 <= self.old_cost <= 1, "old_cost", "give a cost from 0 to 1")

    def _choose(
        self, field: Field, offsets: np.ndarray, documents: np.ndarray, relevance: np.ndarray, n_jobs: int | None
    ) -> np.ndarray:
        out = np.empty(documents.size)
        background = field.collection_frequency / max(field.total_length, 1)
        over_queries(
            _least_risk,
            offsets,
            documents,
            relevance,
            *field.forward,
            field.lengths,
            background,
            self.old_cost,
            out,
            n_jobs=n_jobs,
            rows_per_thread=200,
        )
        return out


@kernel
def _least_risk(  # type: ignore[no-untyped-def]
    lo, hi, offsets, documents, relevance, starts, terms, counts, lengths, background, old_cost, out
):
    old = np.zeros(background.size)
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        n = last - first
        novelty, open_ = np.ones(n), np.ones(n, np.bool_)
        for size in range(1, n + 1):
            chosen, best = -1, -np.inf
            for i in range(n):
                value = relevance[first + i] * (1.0 - old_cost * (1.0 - novelty[i]))
                if open_[i] and (chosen < 0 or value > best):
                    chosen, best = i, value
            open_[chosen] = False
            out[first + chosen] = best
            if old_cost == 0.0 or size == n:
                continue
            d = documents[first + chosen]
            for e in range(starts[d], starts[d + 1]):
                old[terms[e]] += counts[e] / max(lengths[d], 1)
            for i in range(n):
                if open_[i]:
                    d = documents[first + i]
                    a, b = starts[d], starts[d + 1]
                    novelty[i] = min(novelty[i], new_share(terms[a:b], counts[a:b], background, old, size))
        for i in range(first, last):
            for e in range(starts[documents[i]], starts[documents[i] + 1]):
                old[terms[e]] = 0.0
