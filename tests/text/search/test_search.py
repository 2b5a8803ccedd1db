"""Search against plain loops over the tokens."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from plackett import DataError
from plackett.text import BM25, Analyzer, Document, Index, Queries, search
from plackett.text.index.columns import strings
from plackett.text.index.field import Field, TermStream
from plackett.text.search.query import parse
from plackett.text.search.snippets import snippet
from plackett.text.search.top_k import bm25_impacts, top_k

PLAIN = Analyzer(stop_words=("the",), stemmer=None)
WORDS = ["the", "a", "b", "c", "d", "e"]


def collection(n=60, seed=0):
    draw = random.Random(seed)

    def text():
        return " ".join(draw.choices(WORDS, k=draw.randrange(8)))

    return [
        Document(
            str(i),
            {
                "title": text(),
                "body": text(),
                "year": draw.choice((1990, 1995.5, 2000, None)),
                "day": draw.choice(("2020-01-31", "2020-02-01T12:00:00", "2021-06-15", None)),
                "tag": draw.choice(("red", "blue sky")),
            },
        )
        for i in range(n)
    ]


DOCUMENTS = collection()
INDEX = Index.build(DOCUMENTS, analyzer=PLAIN, kinds={"tag": "keyword", "day": "date"})


def naive_bm25(tokens, query, k1=1.2, b=0.75):
    """Scores of all documents, term by term."""
    n, average = len(tokens), sum(map(len, tokens)) / len(tokens)
    scores = []
    for document in tokens:
        total = 0.0
        for term in query:
            df, tf = sum(term in other for other in tokens), document.count(term)
            if tf:
                idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
                total += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(document) / average))
        scores.append(total)
    return scores


def both(document):
    return PLAIN.tokens(document.fields["title"]) + PLAIN.tokens(document.fields["body"])


@pytest.mark.parametrize("query", ["a", "a b", "b b e", "the", "zzz", "a zzz c"])
@pytest.mark.parametrize("k", [1, 7, 100])
def test_bm25_equals_the_formula(query, k):
    expected = naive_bm25([both(document) for document in DOCUMENTS], PLAIN.tokens(query))
    order = sorted((i for i, s in enumerate(expected) if s > 0), key=lambda i: (-round(expected[i], 5), i))[:k]
    hits = search(INDEX, query, k)
    assert [hit.score for hit in hits] == pytest.approx([expected[i] for i in order], rel=1e-5)
    assert [hit.number for hit in hits] == order
    for hit in hits:
        assert sum(part.weight for part in hit.explain()) == pytest.approx(hit.score, rel=1e-5)
        assert {part.term: part.count for part in hit.explain()} == {
            t: both(DOCUMENTS[hit.number]).count(t)
            for t in set(PLAIN.tokens(query))
            if t in both(DOCUMENTS[hit.number])
        }


def test_other_parameters_and_fields():
    titles = [PLAIN.tokens(document.fields["title"]) for document in DOCUMENTS]
    expected = naive_bm25(titles, ["a", "b"], k1=0.5, b=0.2)
    hits = search(INDEX, "a b", 100, field="title", k1=0.5, b=0.2)
    assert {hit.number: hit.score for hit in hits} == pytest.approx(
        {i: score for i, score in enumerate(expected) if score > 0}, rel=1e-5
    )
    added = np.add(expected, naive_bm25([PLAIN.tokens(d.fields["body"]) for d in DOCUMENTS], ["c"], 0.5, 0.2))
    hits = search(INDEX, "title:a title:b body:c", 100, k1=0.5, b=0.2)
    assert {hit.number: hit.score for hit in hits} == pytest.approx(
        {i: score for i, score in enumerate(added) if score > 0}, rel=1e-5
    )


def large_field(n_documents, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 4, n_documents)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    terms = np.minimum(rng.geometric(0.3, offsets[-1]) - 1, 29).astype(np.int32)
    return Field.from_stream("x", strings([b"%02d" % i for i in range(30)]), TermStream(offsets, terms))


@pytest.mark.parametrize("query", [[0], [0, 1, 2, 3], [12, 13], [29, 0], [25, 25]])
@pytest.mark.parametrize("masked", [False, True])
def test_windows_and_ties_equal_a_full_sort(query, masked):
    """More documents than a window, dense and sparse terms, very many ties."""
    field = large_field(70_000)
    rng = np.random.default_rng(1)
    impacts = bm25_impacts(field)
    factors = rng.integers(1, 3, len(query)).astype(float)
    allowed = rng.random(field.n_documents) < 0.3 if masked else None
    total = np.zeros(field.n_documents, np.float32)
    impacts.need(np.array(query))
    for term, factor in zip(query, factors, strict=True):
        a, b = field.postings.offsets[term : term + 2]
        total[field.postings.documents[a:b]] += np.float32(factor) * impacts.weights[a:b]
    if masked:
        total[~allowed] = 0
    order = np.lexsort((np.arange(total.size), -total))
    for k in (1, 100, 5_000):
        expected = order[:k][total[order[:k]] > 0]
        documents, scores = top_k(impacts, np.array(query), factors, k, allowed)
        np.testing.assert_array_equal(documents, expected)
        np.testing.assert_array_equal(scores, total[expected])


def has(word, field=None):
    def check(document):
        names = ("title", "body") if field is None else (field,)
        return any(word in PLAIN.tokens(document.fields[name]) for name in names)

    return check


def phrase(words, field=None):
    def inside(text):
        given = [word if word != "the" else None for word in text.split()]
        return any(
            all(w is None or given[i + j] == w for j, w in enumerate(words)) for i in range(len(given) - len(words) + 1)
        )

    return lambda d: any(inside(d.fields[name]) for name in (("title", "body") if field is None else (field,)))


def year(test):
    return lambda document: document.fields["year"] is not None and test(document.fields["year"])


CASES = [
    ("a b", lambda d: has("a")(d) or has("b")(d)),
    ("+a b", has("a")),
    ("+a +b -c", lambda d: has("a")(d) and has("b")(d) and not has("c")(d)),
    ("a AND b", lambda d: has("a")(d) and has("b")(d)),
    ("a AND b OR c AND NOT d", lambda d: (has("a")(d) and has("b")(d)) or (has("c")(d) and not has("d")(d))),
    ("a AND (b OR c)", lambda d: has("a")(d) and (has("b")(d) or has("c")(d))),
    ("NOT a", lambda d: not has("a")(d)),
    ("-a", lambda d: not has("a")(d)),
    ("title:a AND body:b", lambda d: has("a", "title")(d) and has("b", "body")(d)),
    ('"a b"', phrase(["a", "b"])),
    ('"b a b"', phrase(["b", "a", "b"])),
    ('"a the b"', phrase(["a", None, "b"])),
    ('"the a"', phrase(["a"])),
    ('title:"a b" OR body:"c d"', lambda d: phrase(["a", "b"], "title")(d) or phrase(["c", "d"], "body")(d)),
    ('a -"a b"', lambda d: has("a")(d) and not phrase(["a", "b"])(d)),
    ("year:1990", year(lambda y: y == 1990)),
    ("year:=1990", year(lambda y: y == 1990)),
    ("year:>1990", year(lambda y: y > 1990)),
    ("year:<=1995.5", year(lambda y: y <= 1995.5)),
    ("year:1991..1999", year(lambda y: 1991 <= y <= 1999)),
    ("year:..1990", year(lambda y: y <= 1990)),
    ("year:1991..", year(lambda y: y >= 1991)),
    ("a year:>=2000", lambda d: has("a")(d) and year(lambda y: y >= 2000)(d)),
    ("a (year:1990 OR year:2000)", lambda d: has("a")(d) and year(lambda y: y in (1990, 2000))(d)),
    ("-year:>=2000 a", lambda d: has("a")(d) and not year(lambda y: y >= 2000)(d)),
    ("tag:red a", lambda d: has("a")(d) and d.fields["tag"] == "red"),
    ('tag:"blue sky"', lambda d: d.fields["tag"] == "blue sky"),
    ("day:2020", lambda d: (d.fields["day"] or "").startswith("2020")),
    ("day:2020-01-31", lambda d: d.fields["day"] == "2020-01-31"),
    ("day:>2020-01", lambda d: d.fields["day"] is not None and d.fields["day"] >= "2020-02"),
    ("day:<=2020-02-01", lambda d: d.fields["day"] is not None and d.fields["day"] < "2020-02-02"),
    ("day:<2020-02-01T12", lambda d: d.fields["day"] == "2020-01-31"),
    ("day:2020-02..2021", lambda d: d.fields["day"] is not None and d.fields["day"] >= "2020-02"),
    ("10:30 a", has("a")),
    ("http://x.org/y a", has("a")),
    ("title:a..b", lambda d: has("a", "title")(d) or has("b", "title")(d)),
    ("", lambda d: False),
]


@pytest.mark.parametrize(("query", "matches"), CASES)
def test_queries_find_what_they_say(query, matches):
    expected = {i for i, document in enumerate(DOCUMENTS) if matches(document)}
    hits = search(INDEX, query, len(DOCUMENTS))
    assert {hit.number for hit in hits} == expected
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    if query not in ("10:30 a", "http://x.org/y a"):
        assert set(np.flatnonzero(parse(query, INDEX).mask(INDEX))) == expected


def test_filters_beside_the_query():
    expected = [hit for hit in search(INDEX, "a b", 60) if DOCUMENTS[hit.number].fields["year"] == 2000]
    result = search(INDEX, "a b", 60, filters="year:2000")
    assert [(h.number, h.score) for h in result] == [(h.number, h.score) for h in expected]
    assert search(INDEX, 'a b" (', 5, plain=True) == search(INDEX, "a b", 5)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ('a "b c', "column 3: the quotation mark is not closed"),
        ("a (b", "column 3: the parenthesis is not closed"),
        ("a (b) )", "column 7: a closing parenthesis without an opening one"),
        ("a AND", "column 6: a word or a parenthesis is missing before the end"),
        ("a OR OR b", "column 6: a word or a parenthesis is missing before 'OR'"),
        ("titel:a", r"column 1: the index has no field 'titel'; did you mean title"),
        ("a nofield:b", r"column 3: the index has no field 'nofield'; it has all, body, day, tag, title, year"),
        ('a nofield:"b c"', "column 3: the index has no field 'nofield'"),
        ("a nofield:>=1990", "column 3: the index has no field 'nofield'"),
        ("a year:many", "column 3: 'many' is not a number, but 'year' holds numbers; write it as 1990"),
        ("a year:nan", "column 3: 'nan' is not a number"),
        ("a year:1_999", "column 3: '1_999' is not a number"),
        ("year:1990..1980", "column 1: 1990..1980 is empty; write the smaller bound first"),
        ("day:>=now", "column 1: 'now' is not a date"),  # NumPy reads these
        ("day:NaT", "column 1: 'NaT' is not a date"),
        ("day:20240531", "column 1: '20240531' is not a date"),
        ("day:>31.5.", r"column 1: '31\.5\.' is not a date, but 'day' holds dates; write it as 2024-05-31"),
        ("a tag:>b", "column 3: 'tag' holds keyword; ranges such as >=1990 are of numbers and dates"),
        ("a title:>=2020-01-01", r"column 3: 'title' holds text; ranges .* again with kinds={'title': 'date'}"),
        ("title:1990..2000", "column 1: 'title' holds text; ranges"),
        ("title:..2000", "column 1: 'title' holds text; ranges"),
        ("+-a", "a sign belongs in front of a word"),
        ("(" * 60 + "a" + ")" * 60, "column 51: more than 50 parentheses"),
        ("NOT " * 60 + "a", "column 201: more than 50 times NOT"),
    ],
)
def test_bad_queries_say_where(query, message):
    with pytest.raises(DataError, match=message):
        search(INDEX, query)


def test_queries_of_strangers():
    """Random characters of the language: an answer or an error of ours."""
    draw = random.Random(0)
    pieces = [
        "a",
        "b",
        '"',
        "(",
        ")",
        " ",
        "+",
        "-",
        ":",
        "AND",
        "OR ",
        " NOT ",
        "year",
        "title",
        "..",
        ">",
        "=",
        "é",
        "2",
    ]
    outcomes = Counter()
    for _ in range(2_000):
        query = "".join(draw.choices(pieces, k=draw.randrange(12)))
        try:
            search(INDEX, query, 3)
            outcomes["answered"] += 1
        except DataError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 300


def test_chinese_is_found_by_pairs():
    index = Index.build([Document("1", {"x": "東京都庁"}), Document("2", {"x": "京都"}), Document("3", {"x": "東京"})])
    assert [hit.id for hit in search(index, "東京", 5)] == ["3", "1"]
    assert {hit.id for hit in search(index, '"京都"', 5)} == {"1", "2"}
    assert {hit.id for hit in search(index, '"東京都"', 5)} == {"1"}


def test_snippet_skips_fields_that_are_shown_anyway():
    index = Index.build([Document("a", {"title": "Blue whale, blue whale", "body": "It is a whale that sings."})])
    (hit,) = search(index, "blue whale")
    assert hit.snippet() == "**Blue whale**, **blue whale**"
    assert hit.snippet(skip=("title",)) == "It is a **whale** that sings."
    assert hit.snippet(skip=("title", "body")) == ""


def test_snippets_show_the_best_part():
    text = (
        "Wings lift. "
        + "Nothing here at all. " * 20
        + "The lift of wings in a slipstream is large. "
        + "Nothing. " * 30
    )
    result = snippet(text, Analyzer(), {"slipstream": 3.0, "wing": 1.0, "lift": 1.0}, words=12)
    assert "The **lift** of **wings** in a **slipstream** is large." in result
    assert result.startswith("… ") and result.endswith(" …")
    assert snippet("Wings", Analyzer(), {"wing": 1.0}) == "**Wings**"
    assert snippet("nothing here", Analyzer(), {"wing": 1.0}) == "nothing here"
    assert snippet("", Analyzer(), {"wing": 1.0}) == ""
    assert snippet("東京都 x", Analyzer(), ["東京"], marks=("<b>", "</b>")) == "<b>東京</b>都 x"
    hit = search(INDEX, "title:a", 1)[0]
    assert "**a**" in hit.snippet()


def test_nothing_to_search():
    empty = Index.build([])
    with pytest.raises(DataError, match="no text field"):
        search(empty, "a")
    with pytest.raises(DataError, match="k=0; give a whole number of 1 or more"):
        search(INDEX, "a", 0)


@pytest.mark.parametrize(("k1", "b", "k3"), [(1.2, 0.75, None), (0.5, 0.2, 3.0)])
def test_the_model_and_search_are_one(k1, b, k3):
    """BM25 as a model gives what `search` gives, query by query, number for number."""
    queries = ["a", "a b", "b c e", "the zzz", "c d e a b"]
    result = BM25(k1=k1, b=b, k3=k3).search(INDEX, queries, 9)
    for q, query in enumerate(queries):
        documents, scores = result.of(q)
        expected = search(INDEX, query, 9, k1=k1, b=b)
        assert documents.tolist() == [hit.number for hit in expected]
        assert scores.tolist() == [hit.score for hit in expected]
    repeated = BM25(k1=k1, b=b, k3=k3).search(INDEX, ["a a b"], 60)
    slow = super(BM25, BM25(k1=k1, b=b, k3=k3)).search_terms(
        INDEX.field(), Queries(["a a b"], INDEX.analyzer).terms(INDEX.field()), 60
    )
    assert repeated.documents.tolist() == slow.documents.tolist()
    np.testing.assert_allclose(repeated.scores, slow.scores, rtol=1e-6)


def test_weights_of_few_settings_are_kept():
    field = large_field(500)
    for k1 in np.linspace(0.1, 2, 12):
        bm25_impacts(field, float(k1))
    assert len(field.kept) == 4
    assert bm25_impacts(field, 2.0) is bm25_impacts(field, 2.0)
