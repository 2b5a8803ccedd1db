"""Documents, queries and judgements from the docstrings of the standard library.

Queries and judgements are derived by a rule:

1. A document can be the source of a query if its first sentence has 4 to 25 words and at least 12 words follow it. Of
   all such documents, ordered by a hash of their ids, the first 400 whose query keeps at least three words are taken.
2. The query is the first sentence without stop words and without the words of the document's own name.
3. The sentence is taken out of its document, and out of every other document that has the same one: the words of the
   query are not in the document because the query was written with them.
4. Grade 3: the source, and documents that had the same first sentence. Grade 2: documents whose own first sentence has
   at least two thirds of the words of the query. Grade 1: documents that the source mentions or that mention it, and
   the class or module that it belongs to.

The smaller set was judged by hand by the project: ``judged.tsv``, and half of its queries by a second rater in the
workbench: ``judged-again.tsv``. There documents are complete.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

from plackett._base.errors import DataError
from plackett.datasets.collection import TextCollection
from plackett.text.document import Document, Link

N_QUERIES = 400
_KINDS = {"kind": "keyword", "module": "keyword", "parent": "keyword"}
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
#: Parts of a name: HTTPServer is HTTP and Server, read_text is read and text.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SENTENCE = re.compile(r"\A(.+?)(?:(?<![ie]\.[ge])[.!?](?=\s|\Z)|\n\s*\n|\Z)", re.DOTALL)
_MENTION = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z_]\w+(?=\(\))")
#: What many docstrings begin with: their own call, as in ``join(a, /, *p) -> path``.
_CALL = re.compile(r"\A[\w.]+\([^\n]*\)[^\n]*\n\s*")
_STOP_WORDS = (
    "a an and are as at be been but by can do does for from has have he if in into is it its may more most no not of "
    "on one only or other otherwise s same see should so such t that the their them then there these they this to two "
    "use used using via was when where which while who will with you your return returns given self args kwargs e g i"
)
_STOP = frozenset(_STOP_WORDS.split())


def derived() -> TextCollection:
    """Queries by the rule at the head of this file."""
    return _derived(sys.version_info[:3])


def judged() -> TextCollection:
    """The queries that were judged by hand."""
    return _judged(sys.version_info[:3], "judged.tsv")


def judged_again() -> TextCollection:
    """Those that a second rater judged in the workbench."""
    return _judged(sys.version_info[:3], "judged-again.tsv")


#: What `plackett.datasets.load` calls, by variant; the first is the default.
VARIANTS = {"derived": derived, "judged": judged, "judged-again": judged_again}


@lru_cache(1)
def _records(version: tuple[int, ...]) -> tuple[dict[str, Any], ...]:
    """What ``collect.py`` prints in an interpreter of its own."""
    script = files("plackett.datasets.pydocs").joinpath("collect.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-"], input=script.read_bytes(), capture_output=True, timeout=120, check=False
    )
    if done.returncode != 0:
        raise DataError(f"the documentation of Python could not be read: {done.stderr.decode(errors='replace')[-500:]}")
    return tuple(json.loads(line) for line in done.stdout.splitlines())


def summary(text: str) -> str:
    """The first sentence of a docstring, without the call that it may begin with."""
    sentence = _SENTENCE.match(_CALL.sub("", text))
    return " ".join(sentence.group(1).split()) if sentence else ""


def words(text: str) -> list[str]:
    """Words in lower case, names taken apart, without stop words."""
    parts = (part.lower() for word in _WORD.findall(text) for part in _PART.findall(word))
    return [part for part in parts if part not in _STOP and len(part) > 1]


def mentions(record: dict[str, Any], ids: set[str]) -> Iterator[str]:
    """Documents that a text mentions: full names, and calls of names of the same class or module."""
    for word in dict.fromkeys(_MENTION.findall(record["text"])):
        for path in (f"{record['parent']}.{word}", f"{record['module']}.{word}", word, f"builtins.{word}"):
            if path in ids:
                if path != record["id"]:
                    yield path
                break


def _document(record: dict[str, Any], ids: set[str], text: str) -> Document:
    name = " ".join(_PART.findall(record["id"]))
    fields = {
        "title": record["id"],
        "name": name.lower(),
        "signature": record["signature"],
        "text": text,
        "kind": record["kind"],
        "module": record["module"],
        "parent": record["parent"],
    }
    return Document(record["id"], fields, tuple(Link(target) for target in mentions(record, ids)))


def _parents(records: tuple[dict[str, Any], ...], ids: set[str]) -> dict[str, str]:
    return {record["id"]: record["parent"] for record in records if record["parent"] in ids}


@lru_cache(1)
def _derived(version: tuple[int, ...]) -> TextCollection:
    records = _records(version)
    ids = {record["id"] for record in records}
    first = {record["id"]: summary(record["text"]) for record in records}
    links: dict[str, set[str]] = {name: set() for name in ids}
    for record in records:
        for target in mentions(record, ids):
            links[record["id"]].add(target)
            links[target].add(record["id"])
    by_summary: dict[str, list[str]] = {}
    by_word: dict[str, set[str]] = {}
    for name, sentence in first.items():
        by_summary.setdefault(sentence, []).append(name)
        for word in set(words(sentence)):
            by_word.setdefault(word, set()).add(name)
    queries: dict[str, str] = {}
    judgements: dict[str, dict[str, float]] = {}
    taken: set[str] = set()
    for record in sorted(records, key=lambda r: hashlib.sha256(r["id"].encode()).digest()):
        name, sentence = record["id"], first[record["id"]]
        query = _query(record, sentence)
        if query is None or sentence in taken:
            continue
        taken.add(sentence)
        grades: dict[str, float] = dict.fromkeys(links[name], 1.0)
        if record["parent"] in ids:
            grades[record["parent"]] = 1.0
        counts: dict[str, int] = {}
        distinct = set(query)
        for word in distinct:
            for other in by_word.get(word, ()):
                counts[other] = counts.get(other, 0) + 1
        grades |= {other: 2.0 for other, count in counts.items() if 3 * count >= 2 * len(distinct)}
        grades |= dict.fromkeys(by_summary[sentence], 3.0)
        qid = f"p{len(queries) + 1:03d}"
        queries[qid] = " ".join(query)
        judgements[qid] = dict(sorted(grades.items()))
        if len(queries) == N_QUERIES:
            break
    documents = tuple(
        _document(r, ids, _without_summary(r["text"]) if first[r["id"]] in taken else r["text"]) for r in records
    )
    return TextCollection("pydocs", documents, queries, judgements, _parents(records, ids), _KINDS)


def _query(record: dict[str, Any], sentence: str) -> list[str] | None:
    """The query that a document is the source of; None if it is not one."""
    if not 4 <= len(sentence.split()) <= 25 or len(_WORD.findall(_without_summary(record["text"]))) < 12:
        return None
    own = set(words(record["id"]))
    query = [word for word in dict.fromkeys(words(sentence)) if word not in own]
    return query if len(query) >= 3 else None


def _without_summary(text: str) -> str:
    rest = _CALL.sub("", text)
    sentence = _SENTENCE.match(rest)
    return rest[sentence.end() :].lstrip(" .!?\n") if sentence else rest


@lru_cache(2)
def _judged(version: tuple[int, ...], file: str) -> TextCollection:
    records = _records(version)
    ids = {record["id"] for record in records}
    queries: dict[str, str] = {}
    judgements: dict[str, dict[str, float]] = {}
    lines = files("plackett.datasets.pydocs").joinpath(file).read_text("utf-8").splitlines()
    for line in lines:
        if not line or line.startswith("#"):
            continue
        qid, text, docid, grade = line.split("\t")
        queries[qid] = text
        if docid in ids:  # another version of Python may lack it
            judgements.setdefault(qid, {})[docid] = float(grade)
    documents = tuple(_document(record, ids, record["text"]) for record in records)
    return TextCollection("pydocs, judged by hand", documents, queries, judgements, _parents(records, ids), _KINDS)
