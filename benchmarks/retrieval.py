"""Conventional models and a learned ranker over their scores on public collections, five-fold by query.

    python benchmarks/retrieval.py FOLDER [cranfield vaswani movies …] [--candidates 100] [--seed 0]

FOLDER has the unpacked collections. `plackett.experiment` trains every ranker on every feature list and every pool of
candidates; for each fold the three are chosen on the fold's validation queries, and only that choice sees the test
queries. All figures are over all judged queries, with lists of up to 1,000 documents: the re-ranked candidates, then
the rest of BM25's list. WikiQA has given candidates and a published split.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
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
from plackett.text.features.candidates import given_candidates
from plackett.text.features.feature_set import FeatureSet
from plackett.text.features.model import ModelFeature
from plackett.text.retrieval.base import Results, RetrievalModel
from plackett.text.retrieval.queries import Queries
from plackett.text.retrieval.reading import read_queries

#: Scores by query and document.
Run = dict[str, dict[str, float]]
MEASURES = ['nDCG(gain="linear")@10', "AP"]


class Collection(NamedTuple):
    """Documents, queries by id, labels by query and document, the field that models search, further features."""

    documents: list[Document]
    queries: dict[str, str]
    judgements: dict[str, dict[str, float]]
    field: str
    more: tuple[Any, ...] = ()
    #: Candidates by query, where the collection has its own.
    given: dict[str, list[str]] | None = None
    #: Queries to train on, to choose by and to test on; five folds if there is no published split.
    split: tuple[list[str], ...] | None = None


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


def time_magazine(folder: Path) -> Collection:
    """TIME: articles of 1963. Judgements number documents by position; three name documents that do not exist."""
    base = folder / "smart-adi-med-time/time"
    documents = list(read_smart(base / "TIME.ALL"))
    labels: dict[str, dict[str, float]] = {}
    for line in (base / "TIME.REL").read_text().splitlines():
        if line.strip():
            query, *found = line.split()
            labels[query] = {d: 1.0 for d in found if int(d) <= len(documents)}
    parts = re.split(r"\*FIND\s+(\d+)", (base / "TIME.QUE").read_text(encoding="latin-1").partition("*STOP")[0])
    queries = {n: " ".join(text.split()) for n, text in zip(parts[1::2], parts[2::2], strict=True)}
    return Collection(documents, queries, labels, "text")


def wikiqa(folder: Path) -> Collection:
    """Questions and the sentences of an article. Given candidates; the published split; questions that have both an
    answer and a wrong sentence, as published figures use.
    """
    documents, queries = [], {}
    labels: dict[str, dict[str, float]] = {}
    split: list[list[str]] = []
    for part in ("train", "dev", "test"):
        lines = (folder / f"wikiqa/WikiQA-{part}.txt").read_text(encoding="utf-8").splitlines()
        refs = (folder / f"wikiqa/WikiQA-{part}.ref").read_text().splitlines()
        for line, ref in zip(lines, refs, strict=True):
            question, sentence, label = line.split("\t")
            number, _, place, again = ref.split()
            if label != again:
                raise ValueError(f"{part}: the labels of question {number} disagree")
            qid, docid = f"{part} {number}", f"{part} {number} {place}"
            documents.append(Document(docid, {"text": sentence}))
            queries[qid] = question
            labels.setdefault(qid, {})[docid] = float(label)
        split.append([q for q, own in labels.items() if q.startswith(f"{part} ") and len({*own.values()}) == 2])
    kept = {q: labels[q] for own in split for q in own}
    given = {q: list(own) for q, own in kept.items()}
    return Collection(documents, {q: queries[q] for q in kept}, kept, "text", given=given, split=tuple(split))


COLLECTIONS: dict[str, Callable[[Path], Collection]] = {
    f.__name__: f for f in (cranfield, vaswani, movies, scifact, nfcorpus, adi, med, time_magazine, wikiqa)
}


def feature_lists(collection: Collection) -> dict[str, FeatureSet]:
    """The lists that validation chooses from, from small to large."""
    field = collection.field
    on = lambda *models: [ModelFeature(model=m, field=field) for m in models]  # noqa: E731
    base = on(BM25(), BM25(k1=0.9, b=0.4), BM25(k1=2.0, b=0.9), Dirichlet(mu=100), Dirichlet(mu=1000))
    base += on(JelinekMercer(weight=0.3), AbsoluteDiscount(), VectorSpace(), TFIDF(tf="log"), TFIDF(tf="length"))
    base += [*collection.more]
    feedback = on(RM3(), RM3(n_documents=5), RM3(model=Dirichlet(mu=100)), KLDivergence(model=Dirichlet(mu=100)))
    ranks = sorted({min(k, len(collection.documents) // 4) for k in (100, 200)})
    feedback += on(*(LSI(k=k) for k in ranks))
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


def rankers(seed: int) -> dict[str, Any]:
    """The rankers that validation chooses from."""
    trees = {"n_estimators": 150, "learning_rate": 0.05, "random_state": seed, "n_jobs": 1}
    return {
        "LambdaMART": pk.LambdaMART(num_leaves=7, min_child_samples=50, **trees),
        "RankSVM C=0.01": pk.RankSVM(C=0.01),
        "RankSVM C=1": pk.RankSVM(C=1.0),
        "ListNet": pk.ListNet(random_state=seed),
    }


class Choice(NamedTuple):
    """One ranker on one list of features and one pool of candidates: a value per fold, and all tested lists."""

    pool: str
    features: str
    ranker: str
    #: nDCG of the validation queries' lists, by fold.
    valid: list[float]
    #: The tested lists, by fold.
    runs: list[Run]


def learned(collection: Collection, index: Index, queries: Queries, base: Run, k: int, seed: int) -> list[Choice]:
    """Everything that validation chooses from: pools of candidates, lists of features, rankers."""
    pools: dict[str, Any] = {"BM25": [BM25()], "BM25 and RM3": [BM25(), RM3()]}
    if collection.given is not None:
        pools = {"given": collection.given}
    lists = feature_lists(collection)
    choices = []
    for pool, candidates in pools.items():
        widest = pk.extract(
            index,
            queries,
            lists["all"],
            judgements=collection.judgements,
            candidates=candidates,
            k=k,
            field=collection.field,
        )
        X = QueryNormalizer().fit_transform(np.nan_to_num(widest.X), qid=_qid(widest))
        views = {}
        for name, features in lists.items():
            columns = [lists["all"].names.index(n) for n in features.names]
            view = pk.RankingDataset.from_arrays(X[:, columns], widest.y, _qid(widest), docids=widest.docids)
            views[name] = folds_of(view, collection)
        found = pk.experiment(views, rankers(seed), MEASURES[:1], search=None, early_stopping=False, n_jobs=1)
        for name, folds in views.items():
            for ranker in found.rankers:
                cells = found.of(name, ranker)
                valid = []
                for fold, cell in zip(folds, cells, strict=True):
                    own = reranked(base, fold.valid, cell.valid_scores)
                    labels = {q: collection.judgements[q] for q in own}
                    valid.append(
                        pk.evaluate_run(labels, own, MEASURES[:1], preset="trec", complete=True).mean[MEASURES[0]]
                    )
                runs = [reranked(base, fold.test, cell.scores) for fold, cell in zip(folds, cells, strict=True)]
                choices.append(Choice(pool, name, ranker, valid, runs))
    return choices


def folds_of(data: Any, collection: Collection) -> list[Any]:
    """LETOR's rotation of five parts, or the published split."""
    if collection.split is None:
        return list(pk.letor_folds(data, 5))
    parts = [data.select(np.flatnonzero(np.isin(data.qids, own))) for own in collection.split]
    return [pk.Fold(*parts)]


def best_of(choices: list[Choice]) -> tuple[Run, Counter[str]]:
    """In each fold the choice that is best on its validation queries: its tested lists, and how often it won."""
    run: Run = {}
    picked: Counter[str] = Counter()
    for fold in range(len(choices[0].valid)):
        best = max(choices, key=lambda choice: choice.valid[fold])
        picked[f"{best.ranker} on {best.features}, candidates of {best.pool}"] += 1
        run |= best.runs[fold]
    return run, picked


def _qid(data: Any) -> np.ndarray:
    return np.repeat(data.qids, np.diff(data.offsets))


def reranked(base: Run, data: Any, scores: np.ndarray) -> Run:
    """Candidates of the queries of a dataset by their scores, then the rest of a run in its order."""
    run: Run = {}
    for qid, a, b in zip(data.qids, data.offsets[:-1], data.offsets[1:], strict=True):
        ranked = dict(zip(data.docids[a:b], scores[a:b].tolist(), strict=True))
        low = min(ranked.values())
        rest = [d for d in base[qid] if d not in ranked]
        run[qid] = {**ranked, **{d: low - 1.0 - i for i, d in enumerate(rest)}}
    return run


def searched(model: RetrievalModel, collection: Collection, index: Index, queries: Queries) -> Run:
    """Lists of a model: up to 1,000 documents, or the given candidates in order."""
    if collection.given is None:
        return model.search(index, queries, 1000, field=collection.field).run(queries, index)
    offsets, documents = given_candidates(index, queries, collection.given)
    scores = model.scores(index, queries, offsets, documents, field=collection.field)
    return Results(offsets, documents, scores).run(queries, index)


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
        "LSI": LSI(k=min(100, index.n_documents // 2)),
        "sequential dependence": SequentialDependence(model=Dirichlet()),
        "RM3": RM3(),
    }
    runs = {label: searched(model, collection, index, queries) for label, model in models.items()}
    choices = learned(collection, index, queries, runs["BM25"], k, seed)
    runs["learned"], picked = best_of(choices)
    for features in dict.fromkeys(choice.features for choice in choices):
        runs[f"learned from {features}"] = best_of([c for c in choices if c.features == features])[0]
    tested = set(collection.split[2]) if collection.split else set(asked)
    truth = {q: labels[q] for q in asked if q in tested}
    print(f"\n## {name}: {index.n_documents} documents, {len(truth)} queries\n")
    per_query = {}
    print("| model | nDCG@10 | MAP | RR |\n|---|---|---|---|")
    for label, run in runs.items():
        own = {q: documents for q, documents in run.items() if q in tested}
        found = pk.evaluate_run(truth, own, [*MEASURES, "RR"], preset="trec", complete=True)  # no hits count as 0
        per_query[label] = found.per_query.sort("qid")[MEASURES[0]].to_numpy()
        print(f"| {label} | " + " | ".join(f"{found.mean[m]:.4f}" for m in (*MEASURES, "RR")) + " |")
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
