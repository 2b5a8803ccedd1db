"""Conventional models and a learned ranker over their scores on public collections, five-fold by query.

    python benchmarks/retrieval.py FOLDER [cranfield vaswani movies …] [--candidates 100] [--seed 0]

FOLDER has the unpacked collections. For each fold the feature list and the ranker are chosen on the fold's validation
queries; only the chosen one sees the test queries. All figures are over all judged queries, with lists of up to 1,000
documents: the re-ranked candidates, then the rest of BM25's list.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import plackett as pk
from plackett.data.query_normalizer import QueryNormalizer
from plackett.text import (
    BM25,
    BM25F,
    LSI,
    RM3,
    TFIDF,
    AbsoluteDiscount,
    Dirichlet,
    Document,
    Index,
    JelinekMercer,
    KLDivergence,
    SequentialDependence,
    VectorSpace,
)
from plackett.text.documents.smart import read_smart
from plackett.text.documents.trec import read_trec
from plackett.text.features.feature_set import FeatureSet
from plackett.text.features.model import ModelFeature
from plackett.text.retrieval.queries import Queries
from plackett.text.retrieval.reading import read_queries

MEASURES = ['nDCG(gain="linear")@10', "AP"]


class Collection(NamedTuple):
    """Documents, queries by id, labels by query and document, the field that models search, further features."""

    documents: list[Document]
    queries: dict[str, str]
    judgements: dict[str, dict[str, float]]
    field: str
    more: tuple[Any, ...] = ()


def _qrels(path: Path, query: int, document: int, label: int | None, skip: int = 0) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for line in path.read_text().splitlines()[skip:]:
        words = line.split()
        if len(words) > max(query, document, label or 0):
            found.setdefault(words[query], {})[words[document]] = 1.0 if label is None else float(words[label])
    return found


def cranfield(folder: Path) -> Collection:
    """Grades 1 (best) to 4 become 4 to 1; −1 becomes 1. Queries are numbered by position."""
    raw = _qrels(folder / "cranfield/cranqrel", 0, 1, 2)
    labels = {q: {d: 5 - g if g > 0 else 1.0 for d, g in own.items()} for q, own in raw.items()}
    queries = {str(i): text for i, text in enumerate(read_queries(folder / "cranfield/cran.qry").values(), 1)}
    more = ({"model": "BM25", "fields": ["title", "all"]}, {"length": "title"})
    return Collection(list(read_smart(folder / "cranfield/cran.all.1400")), queries, labels, "text", more)


def vaswani(folder: Path) -> Collection:
    """NPL abstracts."""
    labels = _qrels(folder / "vaswani_npl/qrels", 0, 2, 3)
    documents = list(read_trec(folder / "vaswani_npl/corpus/doc-text.trec"))
    return Collection(documents, read_queries(folder / "vaswani_npl/query-text.trec"), labels, "text")


def movies(folder: Path, n_queries: int = 600) -> Collection:
    """Films with titles, overviews, cast and popularity; a sample of the queries."""
    names = ("title", "overview", "director", "actors", "characters", "tags", "genres")
    documents = []
    with gzip.open(folder / "msrd-elastic/movies-corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            film = json.loads(line)
            fields = {
                name: " ".join(film[name]) if isinstance(film[name], list) else film[name] or "" for name in names
            }
            documents.append(
                Document(film["id"], fields | {n: film[n] for n in ("votes", "rating", "popularity", "year")})
            )
    queries: dict[str, str] = {}
    labels: dict[str, dict[str, float]] = {}
    with gzip.open(folder / "msrd-elastic/movies-judgments.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            qid, text, docid, grade = line.rstrip("\n").split("\t")
            queries[qid] = text
            labels.setdefault(qid, {})[docid] = float(grade)
    able = sorted(q for q in queries if max(labels[q].values()) > 0)
    chosen = np.random.default_rng(0).choice(able, min(n_queries, len(able)), replace=False).tolist()
    more = [
        {"model": "BM25", "fields": list(names)},
        {"model": "LMIR.DIR", "mu": 50, "fields": ["title", "overview"]},
        BM25F(weights={"title": 4.0, "overview": 1.0, "actors": 2.0, "characters": 1.0, "director": 1.0}),
        {"proximity": "ordered", "field": "title"},
        {"length": "title"},
        *({"attribute": n, "transform": "log1p"} for n in ("votes", "popularity")),
        {"attribute": "rating"},
        {"attribute": "year"},
    ]
    return Collection(documents, {q: queries[q] for q in chosen}, {q: labels[q] for q in chosen}, "all", tuple(more))


def scifact(folder: Path) -> Collection:
    """Claims and abstracts; the queries of the test split."""
    documents = []
    for line in (folder / "scifact/corpus.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        documents.append(Document(record["_id"], {"title": record["title"], "text": record["text"]}))
    labels = _qrels(folder / "scifact/qrels/test.tsv", 0, 1, 2, skip=1)
    queries = read_queries(folder / "scifact/queries.jsonl")
    return Collection(documents, {q: queries[q] for q in labels}, labels, "all", ({"model": "BM25", "field": "title"},))


def nfcorpus(folder: Path) -> Collection:
    """Titles of health articles as queries; the test split."""
    lines = (folder / "nfcorpus/docs.tsv").read_text(encoding="utf-8").splitlines()
    documents = [Document(docid, {"text": text}) for docid, _, text in (line.partition("\t") for line in lines)]
    labels = _qrels(folder / "nfcorpus/test.2-1-0.qrel", 0, 2, 3)
    queries = read_queries(folder / "nfcorpus/test.titles.queries")
    return Collection(documents, {q: queries[q] for q in labels if q in queries}, labels, "text")


def adi(folder: Path) -> Collection:
    """ADI."""
    base = folder / "smart-adi-med-time/adi"
    labels = _qrels(base / "ADI.REL", 0, 1, None)
    return Collection(list(read_smart(base / "ADI.ALL")), read_queries(base / "ADI.QRY"), labels, "text")


def med(folder: Path) -> Collection:
    """Medline."""
    base = folder / "smart-adi-med-time/med"
    labels = _qrels(base / "MED.REL", 0, 2, 3)
    return Collection(list(read_smart(base / "MED.ALL")), read_queries(base / "MED.QRY"), labels, "text")


COLLECTIONS: dict[str, Callable[[Path], Collection]] = {
    f.__name__: f for f in (cranfield, vaswani, movies, scifact, nfcorpus, adi, med)
}


def feature_lists(collection: Collection) -> dict[str, FeatureSet]:
    """The lists that validation chooses from, from small to large."""
    field = collection.field
    on = lambda *models: [ModelFeature(model=m, field=field) for m in models]  # noqa: E731
    base = on(BM25(), BM25(k1=0.9, b=0.4), BM25(k1=2.0, b=0.9), Dirichlet(mu=100), Dirichlet(mu=1000))
    base += on(JelinekMercer(weight=0.3), AbsoluteDiscount(), VectorSpace(), TFIDF(tf="log"), TFIDF(tf="length"))
    base += [*collection.more]
    feedback = on(RM3(), RM3(n_documents=5), RM3(model=Dirichlet(mu=100)), KLDivergence(model=Dirichlet(mu=100)))
    feedback += on(LSI(k=100), LSI(k=200))
    place = [
        {"proximity": name, "field": field}
        for name in ("minimum_distance", "cover", "ordered", "unordered", "first", "matched")
    ]
    place += on(SequentialDependence(model=Dirichlet(mu=100)))
    about = [{"length": field}, *({"query": name, "field": field} for name in ("length", "idf_sum", "idf_max"))]
    return {
        "models": FeatureSet(base),
        "models and feedback": FeatureSet([*base, *feedback]),
        "all": FeatureSet([*base, *feedback, *place, *about]),
    }


def rankers(seed: int) -> dict[str, Callable[[], Any]]:
    """The rankers that validation chooses from."""
    trees = {"n_estimators": 150, "learning_rate": 0.05, "random_state": seed, "n_jobs": 1}
    return {
        "LambdaMART": lambda: pk.LambdaMART(num_leaves=7, min_child_samples=50, **trees),
        "RankSVM C=0.01": lambda: pk.RankSVM(C=0.01),
        "RankSVM C=1": lambda: pk.RankSVM(C=1.0),
        "ListNet": lambda: pk.ListNet(),
    }


def learned(
    collection: Collection, index: Index, queries: Queries, k: int, seed: int
) -> tuple[dict[str, np.ndarray], Counter[str], Any]:
    """Scores of the candidates by models that have not seen their queries, of the list and ranker chosen on validation
    queries (``"learned"``) and of the ranker chosen for each list alone; what was chosen; the dataset.
    """
    pool = [BM25(), RM3()]
    lists = feature_lists(collection)
    widest = pk.extract(
        index, queries, lists["all"], judgements=collection.judgements, candidates=pool, k=k, field=collection.field
    )
    columns = {name: [lists["all"].names.index(n) for n in features.names] for name, features in lists.items()}
    scores = {name: np.empty(len(widest.X)) for name in ("learned", *columns)}
    picked: Counter[str] = Counter()
    row = {(q, d): i for i, (q, d) in enumerate(zip(_qid(widest), widest.docids, strict=True))}
    X = QueryNormalizer().fit_transform(np.nan_to_num(widest.X), qid=_qid(widest))
    for fold in pk.letor_folds(widest, 5):
        parts = {}
        for part in ("train", "valid", "test"):
            data = getattr(fold, part)
            parts[part] = data, np.array([row[key] for key in zip(_qid(data), data.docids, strict=True)])
        best: dict[str, tuple[float, Any]] = {}
        for list_name, use in columns.items():
            for name, make in rankers(seed).items():
                train, rows = parts["train"]
                ranker = make().fit(X[rows][:, use], train.y, qid=_qid(train))
                valid, own = parts["valid"]
                value = pk.evaluate(valid, ranker.predict(X[own][:, use]), MEASURES[:1]).mean[MEASURES[0]]
                for key in (list_name, "learned"):
                    if value > best.get(key, (-1.0, None))[0]:
                        best[key] = value, (f"{name} on {list_name}", use, ranker)
        picked[best["learned"][1][0]] += 1
        own = parts["test"][1]
        for key, (_, (_, use, ranker)) in best.items():
            scores[key][own] = ranker.predict(X[own][:, use])
    return scores, picked, widest


def _qid(data: Any) -> np.ndarray:
    return np.repeat(data.qids, np.diff(data.offsets))


def reranked(base: dict[str, dict[str, float]], data: Any, scores: np.ndarray) -> dict[str, dict[str, float]]:
    """Candidates by their scores, then the rest of a run in its order."""
    ends = zip(data.qids, data.offsets[:-1], data.offsets[1:], strict=True)
    first = {q: dict(zip(data.docids[a:b], scores[a:b], strict=True)) for q, a, b in ends}
    run = {}
    for qid, own in base.items():
        ranked = first.get(qid, {})
        low = min(ranked.values(), default=0.0)
        rest = [d for d in own if d not in ranked]
        run[qid] = {**ranked, **{d: low - 1.0 - i for i, d in enumerate(rest)}}
    return run


def study(name: str, folder: Path, k: int, seed: int) -> None:
    """The table of one collection."""
    start = time.process_time()
    collection = COLLECTIONS[name](folder)
    index = Index.build(collection.documents)
    labels = collection.judgements
    asked = {q: text for q, text in collection.queries.items() if q in labels}
    queries = Queries(asked, index.analyzer)
    models = {
        "BM25": BM25(),
        "LMIR.DIR": Dirichlet(),
        "LMIR.JM": JelinekMercer(),
        "vector space": VectorSpace(),
        "LSI": LSI(),
        "sequential dependence": SequentialDependence(model=Dirichlet()),
        "RM3": RM3(),
    }
    runs = {
        label: model.search(index, queries, 1000, field=collection.field).run(queries, index)
        for label, model in models.items()
    }
    scores, picked, data = learned(collection, index, queries, k, seed)
    for key, values in scores.items():
        label = key if key == "learned" else f"learned from {key}"
        runs[label] = reranked(runs["BM25"], data, values)
    print(f"\n## {name}: {index.n_documents} documents, {len(queries)} queries\n")
    per_query = {}
    print("| model | nDCG@10 | MAP |\n|---|---|---|")
    for label, run in runs.items():
        found = pk.evaluate_run(labels, run, MEASURES, preset="trec")
        per_query[label] = found.per_query.sort("qid")[MEASURES[0]].to_numpy()
        print(f"| {label} | {found.mean[MEASURES[0]]:.4f} | {found.mean['AP']:.4f} |")
    for other in ("BM25", "RM3"):
        difference = per_query["learned"] - per_query[other]
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (10_000, difference.size))
        p = float((np.abs((signs * difference).mean(axis=1)) >= abs(difference.mean()) - 1e-12).mean())
        print(f"\nlearned − {other}: {difference.mean():+.4f}, randomisation test p = {p:.4f}")
    print(f"\nchosen on validation queries: {dict(picked)}; CPU {time.process_time() - start:.0f} s", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("collections", nargs="*", default=["cranfield", "vaswani", "movies"])
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in options.collections:
        study(name, options.folder, options.candidates, options.seed)


if __name__ == "__main__":
    main()
