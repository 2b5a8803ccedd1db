"""Text, side by side: ``python benchmarks/text.py [analysis|index|search] [documents]``, or ``… features FOLDER``.

Documents are drawn: 15 to 60 words of a Zipf distribution without its most frequent ones, as after the removal of stop
words. Processor time is measured, with one thread. `analysis` compares with ``re`` and PyStemmer; `index` measures the
cost of indexing texts into a folder; `search` compares the best 100 documents of BM25 with tantivy and bm25s on the
same tokens (pip install tantivy bm25s). `features` measures how many query-document pairs a second get the 45 features
of LETOR's OHSUMED set, and with six proximity features as well, on the films of FOLDER/msrd-elastic: title, overview
and both; the candidates are the judged documents and the 80 best of BM25 of 2,000 queries.
"""

from __future__ import annotations

import re
import resource
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _common import print_table

VOCABULARY = 200_000
QUERIES = 1_000
K = 100


def draw(n_documents: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Offsets of the documents, and the numbers of their words."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(30, VOCABULARY + 30) ** 1.07
    lengths = rng.integers(15, 60, n_documents)
    words = np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random(int(lengths.sum())))
    return np.concatenate(([0], np.cumsum(lengths))), np.minimum(words, VOCABULARY - 1).astype(np.int32)


def spell() -> list[str]:
    """A word of syllables for each number; frequent ones are short."""
    syllables = [a + b for a in "bcdfghklmnprstvz" for b in "aeiou"]
    base = len(syllables)

    def word(n: int) -> str:
        return syllables[n % base] + (word(n // base - 1) if n >= base else "")

    return [word(n) for n in range(VOCABULARY)]


def texts(offsets: np.ndarray, words: np.ndarray) -> Iterator[str]:
    """The documents as text, one by one."""
    names = np.array(spell(), object)
    for a, b in pairwise(offsets):
        yield " ".join(names[words[a:b]])


def analysis(n_documents: int) -> None:
    """Tokens per second against ``re`` and PyStemmer."""
    import Stemmer

    from plackett.text.analysis import STOP_WORDS, Analyzer
    from plackett.text.index.terms import TermTable

    given = list(texts(*draw(n_documents)))
    size = sum(map(len, given)) / 1e6
    TermTable(Analyzer()).stream(given[:10])
    start = time.process_time()
    table = TermTable(Analyzer())
    for i in range(0, len(given), 2_000):
        table.stream(given[i : i + 2_000])
    ours = time.process_time() - start
    stem, stop, find = Stemmer.Stemmer("english"), set(STOP_WORDS["english"]), re.compile(r"\w+").findall
    start = time.process_time()
    for text in given:
        stem.stemWords([word for word in find(unicodedata.normalize("NFKC", text).lower()) if word not in stop])
    theirs = time.process_time() - start
    print_table("Analysis", {"plackett": size / ours, "re + PyStemmer": size / theirs}, "MB/s")


def index(n_documents: int) -> None:
    """Time and memory of an index in a folder, the drawing of the texts not counted."""
    from plackett.text import Document, Index

    drawing = 0.0

    def documents() -> Iterator[Document]:
        nonlocal drawing
        source = enumerate(texts(*draw(n_documents)))
        while True:
            start = time.process_time()
            found = next(source, None)
            drawing += time.process_time() - start
            if found is None:
                return
            yield Document(str(found[0]), {"body": found[1]})

    with tempfile.TemporaryDirectory() as folder:
        start, wall = time.process_time(), time.perf_counter()
        built = Index.create(Path(folder) / "index", documents(), verbose=True)
        used, wall = time.process_time() - start - drawing, time.perf_counter() - wall - drawing
        size = sum(path.stat().st_size for path in (Path(folder) / "index").iterdir()) / 1e6
        field = built.field()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{n_documents} documents, {field.total_length} terms: {used:.1f} s of processor time, {wall:.1f} s")
        print(f"{n_documents / used:.0f} documents per second; at most {peak:.2f} GB of memory; {size:.0f} MB of files")


def search(n_documents: int) -> None:
    """Milliseconds per query of the best 100 documents by BM25."""
    import bm25s
    import tantivy
    from bm25s.tokenization import Tokenized

    from plackett.text.index.field import Field, TermStream
    from plackett.text.index.terms import number_by_order
    from plackett.text.search.top_k import bm25_impacts, top_k

    offsets, words = draw(n_documents)
    names = spell()
    start = time.process_time()
    field = Field.from_stream("body", *number_by_order(names, [TermStream(offsets, words)]))
    build = {"plackett": time.process_time() - start}
    terms = [field.term(t) for t in range(field.n_terms)]
    rng = np.random.default_rng(1)
    queries = []
    for document in rng.integers(0, n_documents, QUERIES):
        inside = field.stream.terms[offsets[document] : offsets[document + 1]]
        queries.append(np.unique(rng.choice(inside, rng.integers(2, 7))))
    asked = [[terms[t] for t in query] for query in queries]

    start = time.process_time()
    impacts = bm25_impacts(field)
    impacts.need(np.arange(field.n_terms))
    build["plackett"] += time.process_time() - start
    top_k(impacts, queries[0], np.ones(queries[0].size), K)

    def ours(query: list[str]) -> tuple[np.ndarray, np.ndarray]:
        return top_k(impacts, field.term_ids(query), np.ones(len(query)), K)

    start = time.process_time()
    peer = bm25s.BM25(k1=1.2, b=0.75, method="lucene", backend="numba")
    corpus = [field.stream.terms[a:b].tolist() for a, b in pairwise(offsets)]
    peer.index(Tokenized(ids=corpus, vocab={term: i for i, term in enumerate(terms)}), show_progress=False)
    build["bm25s"] = time.process_time() - start
    del corpus

    start = time.process_time()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="whitespace", index_option="freq")
    schema = builder.build()
    engine = tantivy.Index(schema)
    writer = engine.writer(500_000_000, 1)
    for text in texts(offsets, words):
        writer.add_document(tantivy.Document(body=text))
    writer.commit()
    writer.wait_merging_threads()
    engine.reload()
    build["tantivy"] = time.process_time() - start
    searcher = engine.searcher()

    def tantivy_query(query: list[str]) -> object:
        either = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", term)) for term in query]
        return searcher.search(tantivy.Query.boolean_query(either), K, count=False)

    def bm25s_all() -> object:
        return peer.retrieve(asked, k=K, n_threads=1, show_progress=False)

    bm25s_all()
    times: dict[str, list[float]] = {"plackett": [], "tantivy": [], "bm25s": []}
    for _ in range(3):
        for name, call in (("plackett", ours), ("tantivy", tantivy_query)):
            start = time.process_time()
            for query in asked:
                call(query)
            times[name].append((time.process_time() - start) / QUERIES * 1e3)
        start = time.process_time()
        found = bm25s_all()
        times["bm25s"].append((time.process_time() - start) / QUERIES * 1e3)
    worst = max(
        float(np.abs(score / (found.scores[q][: score.size] * 2.2) - 1).max())
        for q, query in enumerate(asked)
        for score in [ours(query)[1]]
    )
    each = []
    for query in asked:
        start = time.perf_counter_ns()
        ours(query)
        each.append((time.perf_counter_ns() - start) / 1e6)
    mean = {name: min(values) for name, values in times.items()}
    postings = int(field.document_frequency[np.concatenate(queries)].sum() / QUERIES)
    print_table(f"Best 100 of {n_documents} documents, {postings} postings a query", mean, "ms", larger_is_better=False)
    print_table("Building", build, "s", larger_is_better=False)
    print(f"plackett: median {np.median(each):.3f} ms, 99th percentile {np.percentile(each, 99):.3f} ms (wall)")
    print(f"largest relative difference from bm25s × (k1 + 1): {worst:.1e}")


def features(folder: Path) -> None:
    """Pairs per second of one core, and whether the values are those of the models."""
    from retrieval import movies

    from plackett.text import BM25, Document, Index
    from plackett.text.features.candidates import candidates_of, given_candidates, union
    from plackett.text.features.feature_set import FeatureSet
    from plackett.text.features.letor import ohsumed_features
    from plackett.text.retrieval.queries import Queries

    films = movies(folder, 2_000)
    documents = [Document(d.id, {n: d.fields[n] for n in ("title", "overview")}) for d in films.documents]
    built = Index.build(documents, combine={"all": ["title", "overview"]})
    queries = Queries(films.queries, built.analyzer)
    offsets, found = union(
        [candidates_of(built, queries, BM25(), 80, None), given_candidates(built, queries, films.judgements)]
    )
    letor = ohsumed_features(("title", "overview", "all"))
    near = [
        {"proximity": name, "field": "all"}
        for name in ("minimum_distance", "cover", "ordered", "unordered", "first", "matched")
    ]
    speed = {}
    for label, chosen in (("45 features", FeatureSet(letor)), ("and 6 of proximity", FeatureSet([*letor, *near]))):
        chosen.matrix(built, queries, offsets, found, n_jobs=1)
        times = []
        for _ in range(5):
            start = time.process_time()
            matrix = chosen.matrix(built, queries, offsets, found, n_jobs=1)
            times.append(time.process_time() - start)
        speed[label] = found.size / min(times)
    for j, feature in enumerate(letor):
        if hasattr(feature, "model") and feature.transform == "none":
            alone = feature.model.scores(built, queries, offsets, found, field=feature.field, n_jobs=1)
            if not np.array_equal(matrix[:, j], alone.astype(np.float32), equal_nan=True):
                raise SystemExit(f"{feature.title}: the values are not those of the model")
    print_table(f"Features of {found.size} pairs, {len(queries)} queries, one core", speed, "pairs/s")


if __name__ == "__main__":
    parts = {"analysis": analysis, "index": index, "search": search}
    name = [*sys.argv[1:2], "search"][0]
    if name == "features":
        features(Path(sys.argv[2]))
    else:
        parts[name](int([*sys.argv[2:3], "100000"][0]))
