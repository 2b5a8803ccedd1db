"""Query sets, their evaluation, and snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from plackett._base.errors import DataError
from plackett.evaluation.compare_evaluations import compare_evaluations
from plackett.evaluation.evaluate_run import evaluate_run
from plackett.measures.language import parse_all
from plackett.serve.http import RefusedError
from plackett.workbench.api.parameters import TEXTS, WHOLE, Action, Content, Name, Param, Text, action
from plackett.workbench.bench import GIVEN, SNAPSHOT, Workbench
from plackett.workbench.exchange import read_query_set

#: What is measured unless the page asks for something else.
MEASURES = ("nDCG@10", "AP", "RR", "P@5")
_MOST_COLUMNS = 12
Few = Annotated[Sequence[str], Param(TEXTS, longest=_MOST_COLUMNS)]
Depth = Annotated[int | None, Param(WHOLE, 1, 1_000, optional=True)]
#: Ranks up to which lists of an index are measured and kept; runs and datasets are lists already, and are taken whole.
_INDEX, _WHOLE = 100, 1_000_000


@action("POST", "/api/sets/import")
def import_set(
    bench: Workbench, name: Name, text: Content, file: Text = "", rater: Name = "imported", author: Name = ""
) -> dict[str, Any]:
    """Add queries (and judgements of a rater, if there are any) from the text of a file; the author can undo those."""
    name = " ".join(name.split())
    if not name or name == GIVEN:
        raise RefusedError(422, f"choose a name other than {name!r} for the set")
    imported = read_query_set(text, file or "the text")
    queries = {qid: _clean(query_text) for qid, query_text in imported.queries.items()}
    without_id = [qid for qid in queries if qid in imported.numbered]
    ids = {qid: _clean(qid) for qid in queries} | dict(
        zip(without_id, bench.ids_of([queries[qid] for qid in without_id]), strict=True)
    )
    named = {ids[qid]: query_text for qid, query_text in queries.items()}
    note = _shared(bench, name, named)
    bench.store.add_queries(name, named)
    entries = [(rater or "imported", ids[qid], docid, grade, None) for qid, docid, grade in imported.judged]
    count = bench.store.judge_all(entries, " ".join(author.split()) or rater or "imported")
    return {"name": name, "queries": len(named), "judgements": count, "note": note}


def _shared(bench: Workbench, name: str, queries: Mapping[str, str]) -> str:
    """A warning if another set has the same ids with other texts: judgements belong to ids."""
    for other, own in bench.sets().items():
        both = [q for q, text in queries.items() if other != name and q not in (text, own.get(q, q)) and own[q] != text]
        if both:
            return (
                f"The set {other!r} has {both[0]!r:.60} with another text (ids like this: {len(both)}). Judgements "
                "belong to ids: both queries have the same. If that is wrong, remove the set and give it other ids."
            )
    return ""


def _clean(text: str) -> str:
    return " ".join(text.replace("\x00", " ").split())


@action("POST", "/api/sets/remove")
def remove_set(bench: Workbench, name: Name) -> dict[str, Any]:
    """Remove a query set; judgements stay."""
    return {"removed": bench.store.remove_set(name)}


@action("GET", "/api/evaluate")
def evaluate(
    bench: Workbench,
    set: Name,
    columns: Few = (),
    measures: Few = MEASURES,
    depth: Depth = None,
) -> dict[str, Any]:
    """Measures of each query for each ranker or snapshot, means, and which differences are significant.

    Lists are measured up to rank ``depth``: by default all of them for runs and datasets, 100 or the largest cut-off of
    a measure for an index, and no deeper than the snapshots compared.
    """
    names = list(dict.fromkeys(columns)) or list(bench.source.columns)[:_MOST_COLUMNS]
    parsed = parse_all(measures or MEASURES)
    queries, labels = bench.query_set(set), bench.labels()
    judged = {qid: labels[qid] for qid in queries if labels.get(qid)}
    answer: dict[str, Any] = {
        "columns": names,
        "measures": [str(measure) for measure in parsed],
        "judged": len(judged),
        "unjudged": len(queries) - len(judged),
        "depth": depth,
        "rows": [],
        "means": {},
        "pairs": [],
        "note": "",
        "warnings": [],
    }
    if not judged:
        return answer | {"note": "No query of this set has a judgement. Judge some documents, or import judgements."}
    depth = depth or _depth(bench, names, parsed)
    answer["depth"] = depth if depth < _WHOLE else None
    answer["warnings"] = _flattered(bench, names, judged)
    runs = {name: bench.run(name, set, depth) for name in names}
    evaluations = {name: evaluate_run(judged, run, parsed, complete=True) for name, run in runs.items()}
    qids = [str(qid) for qid in evaluations[names[0]].qids.tolist()]
    answer["means"] = {
        name: {m: _number(v) for m, v in evaluation.mean.items()} for name, evaluation in evaluations.items()
    }
    for i, qid in enumerate(qids):
        values = {
            name: {m: _number(own[i]) for m, own in evaluation.values.items()}
            for name, evaluation in evaluations.items()
        }
        unseen = {name: sum(d not in judged[qid] for d in list(runs[name].get(qid, {}))[:10]) for name in names}
        answer["rows"].append({"qid": qid, "text": queries[qid], "values": values, "unjudged": unseen})
    if len(names) > 1:
        try:
            compared = compare_evaluations(evaluations)
        except (DataError, ValueError) as error:
            return answer | {"note": str(error)}
        keys = ("measure", "a", "b", "difference", "low", "high", "p", "p_corrected", "significant", "better")
        for row in compared.pairs.to_dicts():
            counts = {key: int(row[key]) for key in ("wins", "ties", "losses")}
            answer["pairs"].append({key: _plain(row[key]) for key in keys} | counts)
        answer["note"] = f"> names rankers that are significantly worse (p ≤ 0.05, {compared.test_name()})."
    return answer


def _depth(bench: Workbench, names: Sequence[str], measures: Sequence[Any]) -> int:
    cuts = [cut for m in measures if isinstance(cut := getattr(m, m.cutoff, None), int)]
    most = min(max([_INDEX, *cuts]), 1_000) if bench.source.searchable else _WHOLE
    return min([most, *(one.depth for one in bench.store.snapshots() if SNAPSHOT + one.name in names)])


def _flattered(bench: Workbench, names: Sequence[str], judged: Mapping[str, Any]) -> list[str]:
    """Rankers that are measured on queries that they were trained on."""
    warnings = []
    for name in names:
        known = len(bench.column(name).trained_on.intersection(judged)) if name in bench.source.columns else 0
        if known:
            warnings.append(
                f"{name} was trained on {known} of these {len(judged)} queries: its figures here are too good. Its "
                "report has cross-validated ones; another query set shows what it learned."
            )
    return warnings


def _plain(value: Any) -> Any:
    return _number(value) if isinstance(value, (float, np.floating)) else value


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


@action("GET", "/api/snapshots")
def snapshots(bench: Workbench) -> dict[str, Any]:
    """All snapshots."""
    return {"snapshots": [one._asdict() for one in bench.store.snapshots()]}


@action("POST", "/api/snapshots")
def add_snapshot(bench: Workbench, name: Name, column: Text, set: Name, depth: Depth = None) -> dict[str, Any]:
    """Freeze the results of a ranker on a query set: 100 documents of an index, 1000 of runs and datasets, or depth."""
    depth = depth or (_INDEX if bench.source.searchable else 1_000)
    name = " ".join(name.split())
    if not name:
        raise RefusedError(422, "give the snapshot a name")
    if column.startswith(SNAPSHOT):
        raise RefusedError(422, "this is a snapshot already")
    snapshot = bench.store.add_snapshot(name, column, set, depth, bench.run(column, set, depth))
    return {"snapshot": snapshot._asdict()}


@action("POST", "/api/snapshots/remove")
def remove_snapshot(bench: Workbench, name: Name) -> dict[str, Any]:
    """Remove a snapshot."""
    return {"removed": bench.store.remove_snapshot(name)}


#: What the page can ask.
ACTIONS: list[Action] = [import_set, remove_set, evaluate, snapshots, add_snapshot, remove_snapshot]
