"""Risk minimisation: documents in the order of least expected loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.text.index.index import Index
from plackett.text.retrieval.mixture import feedback_counts
from plackett.text.retrieval.novelty import GreedyModel, new_share, scaled

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
    _ids: ClassVar[tuple[str, ...]] = ("conv.risk_min",)
    paper: ClassVar[str] = "Lafferty, Zhai 2001"

    old_cost: float = 0.5

    def _check(self) -> None:
        super()._check()
        self.expect(0 <= self.old_cost <= 1, "old_cost", "give a cost from 0 to 1")

    def _choose(self, index: Index, field: str | None, documents: np.ndarray, scores: np.ndarray) -> np.ndarray:
        relevance = scaled(scores)
        _, counts, background = feedback_counts(index.field(field), documents)
        novelty = np.ones(documents.size)
        old = np.zeros(background.size)
        out = np.full(documents.size, np.nan)
        for size in range(1, documents.size + 1):
            value = np.where(np.isnan(out), relevance * (1.0 - self.old_cost * (1.0 - novelty)), -np.inf)
            chosen = int(np.argmax(value))
            out[chosen] = value[chosen]
            if self.old_cost == 0 or size == documents.size:
                continue
            old += counts[chosen] / max(counts[chosen].sum(), 1.0)
            for d in np.flatnonzero(np.isnan(out)):
                novelty[d] = min(novelty[d], new_share(counts[d], background, old / size))
        return out
