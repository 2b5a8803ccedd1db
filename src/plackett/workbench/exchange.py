"""Judgements and queries as files: qrels, CSV, LETOR."""

from __future__ import annotations

import csv
import io
import itertools
import tempfile
from pathlib import Path
from typing import NamedTuple

from plackett._base.errors import DataError
from plackett._files.spreadsheet import harmless, original
from plackett.data.letor.write import write_letor
from plackett.text.retrieval.reading import read_queries
from plackett.workbench.bench import Workbench

#: Names that the columns of a CSV file may have.
_NAMES = {
    "qid": ("qid", "query_id", "query id", "q_id", "topic"),
    "text": ("query", "text", "query_text", "title"),
    "docid": ("docid", "doc_id", "document", "doc", "id", "docno", "document_id"),
    "grade": ("grade", "label", "rating", "relevance", "rel", "judgement", "judgment"),
    "rater": ("rater", "judge", "user", "annotator"),
    "note": ("note", "notes", "comment"),
}


Entry = tuple[str, str, str, float | None, str | None]


class QuerySet(NamedTuple):
    """Queries by id, judgements (query, document, grade), and the ids that were made up because the file has none."""

    queries: dict[str, str]
    judged: list[tuple[str, str, float]]
    numbered: frozenset[str] = frozenset()


def read_judgements(text: str, name: str, rater: str) -> list[Entry]:
    r"""Rater, query, document, grade and note of each line of a qrels or CSV file.

    The grade is None where there is only a note, and the note is None where the file has none.

    >>> read_judgements("q1 0 d1 2", "qrels", "ann")
    [('ann', 'q1', 'd1', 2.0, None)]
    """
    if "\x00" in text:
        raise DataError(f"{name}: this is not a text file")
    text = text.removeprefix("\ufeff")
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    entries: list[Entry] = []
    if "," in first or ("\t" in first and len(first.split()) != 4):
        for number, row in _table(text, name, ("qid", "docid", "grade")):
            note = original(row["note"]) or None
            grade = None if not row["grade"] and note else _grade(row["grade"], name, number)
            entries.append((original(row["rater"]) or rater, row["qid"], row["docid"], grade, note))
        return [entry for entry in entries if entry[3] is None or entry[3] >= 0]
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if not fields or line.startswith("#"):
            continue
        if len(fields) != 4:
            raise DataError(f"{name}:{number}: expected 'query iteration document label', found {line!r:.80}")
        grade = _grade(fields[3], name, number)
        if grade >= 0:  # below 0 is not judged
            entries.append((rater, fields[0], fields[2], grade, None))
    return entries


def _grade(text: str, name: str, number: int) -> float:
    try:
        value = float(text)
    except ValueError:
        raise DataError(f"{name}:{number}: the grade is {text!r:.40}; expected a number") from None
    if not -100 <= value <= 100:
        raise DataError(f"{name}:{number}: the grade is {text!r:.40}; expected a number up to 100")
    return value


def _table(text: str, name: str, needed: tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
    """Rows of a CSV file with our names, and their line numbers."""
    header = text.lstrip().partition("\n")[0]
    # lines end where CSV says so: notes may have line breaks, ids other separators
    reader = csv.reader(
        io.StringIO(text.lstrip("\r\n"), newline=""), delimiter="\t" if "\t" in header and "," not in header else ","
    )
    rows = []
    try:
        titles = [title.strip().lower() for title in next(reader, [])]
        column_of = {key: next((titles.index(t) for t in known if t in titles), None) for key, known in _NAMES.items()}
        for key in needed:
            if column_of[key] is None:
                raise DataError(f"{name}:1: no column {' or '.join(_NAMES[key][:3])}; the columns are {titles!r:.200}")
        for row in reader:
            if row:
                own = {k: row[at].strip() if at is not None and at < len(row) else "" for k, at in column_of.items()}
                rows.append((reader.line_num, own))
    except csv.Error as error:
        raise DataError(f"{name}:{reader.line_num}: {error}") from None
    return rows


def read_query_set(text: str, name: str) -> QuerySet:
    """Queries by id from text (a query per line, or id, tab, text), JSON lines, TREC topics, CSV or qrels.

    Qrels, and CSV with documents and grades, also have judgements; the ids of qrels serve as texts.
    """
    lines = [line for line in text.removeprefix("\ufeff").splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise DataError(f"{name}: there is nothing in it")
    titles = [title.strip().lower() for title in next(csv.reader(lines[:1]), [])]
    if len(titles) > 1 and any(title in _NAMES["qid"] + _NAMES["text"] for title in titles):
        return _from_csv(lines, name)
    if all(_is_qrels(line.split()) for line in lines[:50]) and "\t" not in lines[0]:
        judged = [(q, docid, grade) for _, q, docid, grade, _ in read_judgements(text, name, "") if grade is not None]
        return QuerySet({qid: qid for qid, _, _ in judged}, judged)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "queries.txt")
        path.write_text(text, encoding="utf-8")
        try:
            queries = read_queries(path)
        except DataError as error:
            raise DataError(str(error).replace(str(path), name)) from None
    return QuerySet(queries, [], frozenset() if _has_ids(text) else frozenset(queries))


def _has_ids(text: str) -> bool:
    """Whether `read_queries` finds ids in a file: JSON, topics, SMART, or lines with tabs."""
    start = text.removeprefix("\ufeff").lstrip()[:200]
    return "\t" in text or start.startswith(("{", ".I")) or "<top>" in start.lower()


def _is_qrels(fields: list[str]) -> bool:
    """Query, iteration, document, label; ``best films of 2023`` is not one."""
    return len(fields) == 4 and _is_number(fields[3]) and (fields[1] == "Q0" or _is_number(fields[1]))


def _from_csv(lines: list[str], name: str) -> QuerySet:
    queries: dict[str, str] = {}
    judged = []
    rows = _table("\n".join(lines), name, ())
    named = {row["qid"] for _, row in rows}
    free = (qid for n in itertools.count(1) if (qid := str(n)) not in named)
    id_of: dict[str, str] = {}
    for number, row in rows:
        text = row["text"] or row["qid"]
        if not text:
            raise DataError(f"{name}:{number}: a query without text")
        if not row["qid"] and text not in id_of:
            id_of[text] = next(free)
        qid = row["qid"] or id_of[text]
        queries[qid] = text
        if row["docid"] and row["grade"]:
            judged.append((qid, row["docid"], _grade(row["grade"], name, number)))
    return QuerySet(queries, [entry for entry in judged if entry[2] >= 0], frozenset(id_of.values()))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# ------------------------------------------------------------------------------------------------------------- export


def _as_qrels(bench: Workbench, rater: str | None) -> tuple[str, str]:
    lines = []
    for qid, own in bench.labels(rater).items():
        for docid, label in own.items():
            if any(c.isspace() for c in qid + docid) or not qid or not docid:
                raise DataError(f"{qid!r}, {docid!r}: qrels cannot hold ids with blanks; export CSV")
            lines.append(f"{qid} 0 {docid} {label:g}\n")
    return "".join(lines), "text/plain; charset=utf-8"


def _as_csv(bench: Workbench, rater: str | None) -> tuple[str, str]:
    import polars as pl

    texts = {qid: text for own in bench.sets().values() for qid, text in own.items()}
    rows = [
        {
            "qid": one.qid,
            "query": texts.get(one.qid, ""),
            "docid": one.docid,
            "grade": "" if one.grade is None else f"{one.grade:g}",
            "rater": one.rater,
            "note": one.note,
            "time": f"{one.time:.3f}",
        }
        for one in bench.store.judgements(rater=rater)
        if one.grade is not None or one.note
    ]
    names = ("qid", "query", "docid", "grade", "rater", "note", "time")
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String))
    # what people wrote must not run in a spreadsheet; ids stay as they are, to be read back
    table = table.with_columns(harmless(table.select("query", "rater", "note")))
    return table.write_csv(), "text/csv; charset=utf-8"


def _as_letor(bench: Workbench, rater: str | None) -> tuple[str, str]:
    queries = {qid: text for own in bench.sets().values() for qid, text in own.items()}
    data = bench.source.training_data(queries, bench.labels(rater), [], judged_only=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "judged.txt")
        write_letor(data, path)
        names = data.feature_names if data.feature_names is not None else []
        head = "".join(f"# {number}: {name}\n" for number, name in enumerate(names, 1))
        return head + path.read_text("utf-8"), "text/plain; charset=utf-8"


#: By the ending of the file: what makes its text and its media type.
EXPORTS = {"qrels": _as_qrels, "csv": _as_csv, "letor": _as_letor}
