"""The embedded collection: documents of the running Python, and a rule for queries that does not cheat."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import plackett as pk
from plackett.datasets.pydocs.build import _records, summary, words
from plackett.selection.judges.cohen import cohen_kappa


@pytest.fixture(scope="module")
def docs():
    return pk.datasets.load("pydocs")


def test_documents_are_those_of_the_interpreter(docs):
    import json.decoder

    result = {document.id: document for document in docs.documents}
    assert len(result) > 4000 and list(result) == sorted(result)
    assert result["json.dumps"].fields["signature"].startswith("(obj, *, skipkeys=False")
    assert result["json.decoder.JSONDecoder.decode"].fields["parent"] == "json.decoder.JSONDecoder"
    assert docs.parents["json.dumps"] == "json" and "os.path.join" in result
    assert not any(re.search(r" at 0x[0-9a-f]{6}", d.fields["signature"] + d.fields["text"]) for d in docs.documents)
    ids = set(result)
    assert all(link.target in ids and link.target != d.id for d in docs.documents for link in d.links)
    full = {d.id: d for d in pk.datasets.load("pydocs", variant="judged").documents}
    assert full["json.loads"].fields["text"].split() == json.loads.__doc__.split()


def test_same_interpreter_gives_the_same_documents(docs):
    from plackett.datasets.pydocs import collect

    again = subprocess.run([sys.executable, "-I", "-S", collect.__file__], capture_output=True, check=True)
    lines = again.stdout.splitlines()
    assert tuple(json.loads(line) for line in lines) == _records(sys.version_info[:3])


def test_words_of_a_query_are_out_of_the_document_they_came_from(docs):
    records = {record["id"]: record for record in _records(sys.version_info[:3])}
    result = {document.id: document for document in docs.documents}
    assert len(docs.queries) == 400
    for qid, text in docs.queries.items():
        sources = [docid for docid, grade in docs.judgements[qid].items() if grade == 3]
        assert sources
        for docid in sources:
            sentence = summary(records[docid]["text"])
            assert set(text.split()) <= set(words(sentence))  # written with this sentence …
            assert sentence not in " ".join(result[docid].fields["text"].split())  # … which is not there any more
        assert len(text.split()) >= 3


def test_grades_follow_the_rule(docs):
    records = {record["id"]: record for record in _records(sys.version_info[:3])}
    first = {docid: set(words(summary(record["text"]))) for docid, record in records.items()}
    linked = {d.id: {link.target for link in d.links} for d in docs.documents}
    for qid in list(docs.queries)[::40]:  # every document is looked at
        query = set(docs.queries[qid].split())
        grades = docs.judgements[qid]
        (source, *_) = [docid for docid, grade in grades.items() if grade == 3]
        for docid in records:
            share = len(query & first[docid]) / len(query)
            if grades.get(docid) == 2:
                assert share >= 2 / 3
            elif docid not in grades:
                assert share < 2 / 3 and records[source]["parent"] != docid
        ones = {docid for docid, grade in grades.items() if grade == 1}
        sources = {docid for docid, grade in grades.items() if grade == 3}
        near = {t for s in sources for t in linked[s]} | {d for d, own in linked.items() if own & sources}
        assert ones <= near | {records[s]["parent"] for s in sources}


def test_judged_queries_name_documents_that_exist():
    result = pk.datasets.load("pydocs", variant="judged")
    ids = {document.id for document in result.documents}
    assert len(result.queries) == 40 and set(result.judgements) == set(result.queries)
    assert {docid for own in result.judgements.values() for docid in own} <= ids
    assert all(max(own.values()) == 3 for own in result.judgements.values())


def test_second_rater_agrees_with_the_first_as_documented():
    first = pk.datasets.load("pydocs", variant="judged")
    second = pk.datasets.load("pydocs", variant="judged-again")
    assert len(second.queries) == 20 and second.queries.items() <= first.queries.items()
    ids = {document.id for document in second.documents}
    assert {docid for own in second.judgements.values() for docid in own} <= ids
    both = [
        (first.judgements[qid][docid], grade)
        for qid, own in second.judgements.items()
        for docid, grade in own.items()
        if docid in first.judgements[qid]
    ]
    assert max(abs(a - b) for a, b in both) == 1
    if sys.version_info[:2] == (3, 11):  # other versions lack some of the documents
        assert len(both) == 191
        assert cohen_kappa(*zip(*both, strict=True), weights="quadratic") == pytest.approx(0.895, abs=5e-4)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"variant": "x"}, "no variant 'x'"), ({"fold": 1}, "no fold"), ({"part": "test"}, "no part")],
)
def test_what_the_collection_has_not_is_said(options, said):
    with pytest.raises(pk.DataError, match=said):
        pk.datasets.load("pydocs", **options)
