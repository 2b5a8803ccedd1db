"""Explanations of rankers as the page shows them."""

from __future__ import annotations

from typing import Any

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.explanations.explain import explain
from plackett.workbench.columns.base import part

#: Changes shown that would make a document pass another.
_CHANGES = 8


def explained(ranker: Any, data: RankingDataset, qid: Any, first: str, second: str | None) -> dict[str, Any]:
    """Contributions of the features to a score or to a difference, and what would change the order."""
    explanation = explain(ranker, data, qid, n_orders=16)
    names = [str(name) for name in explanation.documents]
    documents = {}
    for docid in (first, second):
        if docid is not None and docid not in names:
            raise DataError(f"document {docid!r} is not among the {len(names)} candidates of the query")
        documents[docid] = explanation.documents[names.index(docid)] if docid is not None else None
    scores = [float(explanation.scores[names.index(docid)]) for docid in (first, second) if docid is not None]
    if second is None:
        rows = explanation.document(documents[first]).to_dicts()
        parts = [part(row["feature"], row["contribution"], value=row["value"]) for row in rows]
        return {"method": explanation.method, "parts": parts, "changes": [], "scores": scores}
    rows = explanation.pair(documents[first], documents[second]).to_dicts()
    parts = [part(row["feature"], row["contribution"], value=row["above"], other=row["below"]) for row in rows]
    upper, lower = (first, second) if scores[0] >= scores[1] else (second, first)
    ways = explanation.to_pass(documents[lower], documents[upper]).head(_CHANGES).to_dicts()
    return {"method": explanation.method, "parts": parts, "changes": ways, "lower": lower, "scores": scores}
