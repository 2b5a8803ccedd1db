"""Judgements: recording, undoing, what comes next, agreement, import and export."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from plackett.serve.http import RefusedError
from plackett.workbench.agreement import agreement
from plackett.workbench.api.parameters import WHOLE, Action, Content, Grade, Name, Names, Note, Param, Text, action
from plackett.workbench.bench import Workbench
from plackett.workbench.columns.base import Query
from plackett.workbench.exchange import read_judgements
from plackett.workbench.pooling import STRATEGIES, Pooled, pool
from plackett.workbench.store import Judgement

Depth = Annotated[int, Param(WHOLE, 1, 100)]


@action("POST", "/api/judge")
def judge(
    bench: Workbench, rater: Name, docid: Text, grade: Grade = None, qid: Name = "", q: Text = "", note: Note = None
) -> dict[str, Any]:
    """Record a grade (null takes it back) and a note; the answer comes when it is on disk."""
    query = bench.saved_query(q, qid or None)
    judgement = bench.store.judge(_rater(rater), str(query.qid), _docid(docid), grade, note)
    return {"judgement": judgement._asdict(), "query": query._asdict(), "label": _label(bench, judgement)}


@action("POST", "/api/note")
def write_note(bench: Workbench, rater: Name, docid: Text, qid: Name, note: Note) -> dict[str, Any]:
    """Record a note; the grade stays, even one given in another window."""
    return {"judgement": bench.store.note(_rater(rater), qid, _docid(docid), note or "")._asdict()}


def _label(bench: Workbench, judgement: Judgement) -> float | None:
    """The label that counts for the document of a judgement now: that of all raters, or else that of the file."""
    return bench.labels(qid=judgement.qid).get(judgement.qid, {}).get(judgement.docid)


@action("POST", "/api/undo")
def undo(bench: Workbench, rater: Name) -> dict[str, Any]:
    """Undo the last change of a rater; an import is one change."""
    lines = bench.store.undo_change(_rater(rater))
    if not lines:
        return {"undone": None, "current": None, "label": None, "count": 0}
    undone = lines[0]
    current = [one for one in bench.store.judgements(undone.qid, undone.rater) if one.docid == undone.docid]
    now = current[0]._asdict() if current else None
    return {"undone": undone._asdict(), "current": now, "label": _label(bench, undone), "count": len(lines)}


@action("GET", "/api/pool")
def pooled(
    bench: Workbench, set: Name, qid: Name, rater: Name = "", strategy: Name = "depth", depth: Depth = 10,
    columns: Names = (),
) -> dict[str, Any]:  # fmt: skip
    """The documents of a query that are worth judging, with the rater's grades, and relevant ones outside the pool."""
    queries = bench.query_set(set)
    if qid not in queries:
        raise RefusedError(404, f"the set {set!r} has no query {qid!r}")
    candidates = _pool(_runs(bench, set, columns), qid, strategy, depth)
    query = Query(qid, queries[qid])
    mine = {one.docid: one for one in bench.store.judgements(qid, _rater(rater))} if rater.strip() else {}
    labels = bench.labels(qid=qid).get(qid, {})
    missing = [docid for docid, label in labels.items() if label > 0 and docid not in {p.docid for p in candidates}]
    shown = [*candidates, *(Pooled(docid, {}, 0.0) for docid in missing)]
    cards = {card["id"]: card for card in bench.source.cards([p.docid for p in shown], query)}
    return {
        "query": {"qid": qid, "text": queries[qid]},
        "documents": [
            cards[p.docid]
            | {"ranks": p.ranks, "priority": p.priority, "missing": not p.ranks}
            | {"grade": mine[p.docid].grade if p.docid in mine else None}
            | {"note": mine[p.docid].note if p.docid in mine else "", "label": labels.get(p.docid)}
            for p in shown
        ],
    }


@action("GET", "/api/next")
def following(
    bench: Workbench, set: Name, rater: Name, strategy: Name = "depth", depth: Depth = 10, columns: Names = (),
) -> dict[str, Any]:  # fmt: skip
    """The queries of a set by what is left to judge for a rater: the one that matters most first."""
    graded = {(one.qid, one.docid) for one in bench.store.judgements(rater=_rater(rater)) if one.grade is not None}
    rows: list[dict[str, Any]] = []
    runs = _runs(bench, set, columns)
    for qid, text in bench.query_set(set).items():
        candidates = _pool(runs, qid, strategy, depth)
        open_ones = [p for p in candidates if (qid, p.docid) not in graded]
        worth = max((p.priority for p in open_ones), default=0.0)
        rows.append({"qid": qid, "text": text, "left": len(open_ones), "pool": len(candidates), "worth": worth})
    order = sorted(rows, key=lambda row: -row["worth"]) if strategy == "disagreement" else rows
    first = next((row["qid"] for row in order if row["left"]), None)
    return {"next": first, "queries": rows, "left": sum(row["left"] for row in rows)}


def _runs(bench: Workbench, set_name: str, columns: Names) -> dict[str, dict[str, dict[str, float]]]:
    return {name: bench.run(name, set_name, 100) for name in columns or list(bench.source.columns)}


def _pool(runs: Mapping[str, Mapping[str, Any]], qid: str, strategy: str, depth: int) -> list[Pooled]:
    if strategy not in STRATEGIES:
        raise RefusedError(422, f"strategy is {strategy!r}; give one of {', '.join(STRATEGIES)}")
    return pool({name: list(run[qid]) for name, run in runs.items()}, depth, strategy)


@action("GET", "/api/agreement")
def agreed(bench: Workbench) -> dict[str, Any]:
    """Agreement of the raters, and where they differ."""
    answer = agreement(bench.store.judgements())
    texts = {qid: text for own in bench.sets().values() for qid, text in own.items()}
    answer["conflicts"] = [c | {"text": texts.get(c["qid"], c["qid"])} for c in answer["conflicts"][:500]]
    return answer | {"raters": bench.store.raters()}


@action("GET", "/api/missing")
def missing(bench: Workbench, set: Name, columns: Names = (), depth: Depth = 20) -> dict[str, Any]:
    """Relevant documents that are missing from the top of the rankers' lists, by query."""
    runs = _runs(bench, set, columns)
    labels = bench.labels()
    rows: list[dict[str, Any]] = []
    for qid, text in bench.query_set(set).items():
        relevant = {docid: label for docid, label in labels.get(qid, {}).items() if label > 0}
        first = {name: list(run.get(qid, {}))[:depth] for name, run in runs.items()} if relevant else {}
        for docid, label in relevant.items():
            absent = [name for name, own in first.items() if docid not in own]
            if absent:
                rows.append({"qid": qid, "text": text, "docid": docid, "label": label, "absent": absent})
    rows.sort(key=lambda row: (-row["label"], -len(row["absent"])))
    return {"missing": rows[:1000], "total": len(rows)}


@action("POST", "/api/judgements/import")
def imported(bench: Workbench, rater: Name, text: Content, name: Text = "") -> dict[str, Any]:
    """Read judgements from the text of a qrels or CSV file, as those of a rater."""
    entries = read_judgements(text, name or "the file", _rater(rater))
    bench.store.judge_all(entries, _rater(rater))
    return {"judgements": sum(grade is not None for _, _, _, grade, _ in entries)}


def _rater(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise RefusedError(422, "a judgement needs the name of its rater")
    return name


def _docid(docid: str) -> str:
    if not docid.strip():
        raise RefusedError(422, "a judgement needs the id of its document")
    return docid


#: What the page can ask.
ACTIONS: list[Action] = [judge, write_note, undo, pooled, following, agreed, missing, imported]
