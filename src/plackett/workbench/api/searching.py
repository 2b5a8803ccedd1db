"""Search, documents, explanations."""

from __future__ import annotations

import time
from typing import Annotated, Any

from plackett._base.errors import DataError
from plackett._base.version import __version__
from plackett.serve.http import RefusedError
from plackett.workbench.api.parameters import WHOLE, Action, Name, Names, Param, Text, action
from plackett.workbench.bench import SNAPSHOT, Workbench
from plackett.workbench.columns.base import Query, Ranked
from plackett.workbench.overlap import overlaps

#: Columns side by side, and documents of each whose snippets come with the answer; the page asks for others later.
_COLUMNS, _CARDS = 5, 20
Count = Annotated[int, Param(WHOLE, 1, 10_000)]


@action("GET", "/api/state")
def state(bench: Workbench) -> dict[str, Any]:
    """What there is: source, rankers, query sets, raters, snapshots."""
    source, sets = bench.source, bench.sets()
    return {
        "version": __version__,
        "source": {
            "kind": source.kind,
            "title": source.title,
            "documents": source.n_documents,
            "searchable": source.searchable,
            "fields": source.filterable,
        },
        "columns": [{"name": c.name, "kind": c.kind, "about": c.about} for c in source.columns.values()]
        + [
            {"name": SNAPSHOT + s.name, "kind": "snapshot", "about": f"{s.ranker} on {s.set_name}"}
            for s in bench.store.snapshots()
        ],
        "sets": [{"name": name, "queries": len(own)} for name, own in sets.items()],
        "raters": bench.store.raters(),
        "grades": list(source.grades),
        "store": bench.store.path,
    }


@action("GET", "/api/queries")
def queries(bench: Workbench, name: Name) -> dict[str, Any]:
    """The queries of a set, with how many documents are judged."""
    labels = bench.labels()
    rows = [
        {"qid": qid, "text": text, "judged": len(labels.get(qid, {}))} for qid, text in bench.query_set(name).items()
    ]
    return {"name": name, "queries": rows}


@action("GET", "/api/search")
def search(
    bench: Workbench,
    q: Text = "",
    qid: Name = "",
    columns: Names = (),
    k: Count = 20,
    filters: Text = "",
) -> dict[str, Any]:
    """The best documents of one to five rankers for a query, their overlap, and what is known about the documents."""
    start = time.perf_counter()
    query = bench.query(q, qid or None)
    names = list(dict.fromkeys(columns)) or list(bench.source.columns)[:2]
    if len(names) > _COLUMNS:
        raise RefusedError(422, f"{len(names)} columns; at most {_COLUMNS} fit side by side")
    lists: dict[str, Ranked] = {}
    shown = []
    for name in names:
        column = bench.column(name)
        entry: dict[str, Any] = {"name": name, "kind": column.kind, "error": None}
        before = time.perf_counter()
        try:
            lists[name] = column.rank(query, k, filters) if query.text or query.qid else Ranked([], [])
        except DataError as error:
            lists[name] = Ranked([], [])
            entry["error"] = str(error)
        entry |= {"ids": lists[name].ids, "scores": lists[name].scores}
        shown.append(entry | {"milliseconds": 1e3 * (time.perf_counter() - before)})
    first = dict.fromkeys(docid for own in lists.values() for docid in own.ids[:_CARDS])
    labels = bench.labels(qid=query.qid).get(query.qid, {}) if query.qid else {}
    return {
        "query": {"qid": query.qid, "text": query.text},
        "columns": shown,
        "cards": {card["id"]: card for card in bench.source.cards(list(first), query)},
        "labels": labels,
        "overlap": overlaps(lists) if len(lists) > 1 else [],
        "milliseconds": 1e3 * (time.perf_counter() - start),
    }


@action("GET", "/api/cards")
def cards(bench: Workbench, ids: Names, q: Text = "", qid: Name = "") -> dict[str, Any]:
    """Titles and snippets of documents."""
    query = bench.query(q, qid or None)
    return {"cards": {card["id"]: card for card in bench.source.cards(ids, query)}}


@action("GET", "/api/document")
def document(bench: Workbench, id: Text, q: Text = "", qid: Name = "") -> dict[str, Any]:
    """All of a document, the terms of the query in it, and what raters said."""
    query = bench.query(q, qid or None)
    judgements = (
        []
        if query.qid is None
        else [judgement for judgement in bench.store.judgements(query.qid) if judgement.docid == id]
    )
    return bench.source.document(id, query) | {
        "matches": bench.source.matches(id, query),
        "judgements": [
            {"rater": judgement.rater, "grade": judgement.grade, "note": judgement.note} for judgement in judgements
        ],
    }


@action("GET", "/api/explain")
def explain(
    bench: Workbench, column: Text, a: Text, b: Text = "", q: Text = "", qid: Name = "", k: Count = 100,
    filters: Text = "",
) -> dict[str, Any]:  # fmt: skip
    """Why a document has its score, or why it is above another one."""
    query = bench.query(q, qid or None)
    if a == b:
        raise RefusedError(422, "choose two different documents")
    explanation = bench.column(column).explain(query, a, b or None, k, filters)
    chosen = [docid for docid in (a, b) if docid]
    return explanation | {
        "a": a,
        "b": b or None,
        "column": column,
        "titles": {card["id"]: card["title"] for card in bench.source.cards(chosen, query)},
        "matches": {docid: bench.source.matches(docid, query) for docid in chosen},
        "ranks": _ranks(bench, column, query, chosen, k, filters),
    }


def _ranks(bench: Workbench, column: str, query: Query, ids: list[str], k: int, filters: str) -> dict[str, int | None]:
    ranked_ids = bench.column(column).rank(query, k, filters).ids
    return {docid: ranked_ids.index(docid) + 1 if docid in ranked_ids else None for docid in ids}


@action("POST", "/api/columns")
def add_column(bench: Workbench, ranker: Name) -> dict[str, Any]:
    """Add a retrieval model or a feature; files are named on the command line."""
    if "/" in ranker or "\\" in ranker or ranker.endswith((".plackett", ".txt", ".run", ".gz")):
        raise RefusedError(422, "files are named on the command line, with --ranker")
    if len(bench.source.columns) >= 50:
        raise RefusedError(422, "there are 50 rankers already")
    from pathlib import Path

    if Path(ranker).exists():
        raise RefusedError(422, "files are named on the command line, with --ranker")
    return {"name": bench.source.add(ranker).name}


#: What the page can ask.
ACTIONS: list[Action] = [state, queries, search, cards, document, explain, add_column]
