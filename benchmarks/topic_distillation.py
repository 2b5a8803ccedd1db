"""Topic distillation: do links and trees lift the pages that others lead to? Rankers with and without them.

    python benchmarks/topic_distillation.py FOLDER [wikispeedia pydocs]

FOLDER has ``wikispeedia-light``; the documentation of Python's standard library is made on the spot. The 100 best
documents of BM25 are re-ranked by term models alone, in five folds by query. A pair of the relation is (page, parent):
the page that it links to, an article of a broader category, or the class or module that it belongs to. Strengths are
chosen on the training queries. Where labels were derived from links or trees, only what was not is relevant.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from link_evidence import _rows
from link_evidence import wikispeedia as articles

import plackett as pk
from plackett.evaluation.significance.fisher import fisher
from plackett.graph.links import LinkGraph
from plackett.text import BM25, Index

MODELS = ("BM25", "TFIDF", "Dirichlet", "JelinekMercer")
MEASURES = ("nDCG@10", "RR")


def rankers() -> dict[str, pk.rankers.Ranker]:
    """What is compared; the first is the reference."""
    return {
        "linear ranker alone": pk.TopicDistillation(beta=0.0),
        "ScorePropagation": pk.ScorePropagation(),
        "TopicDistillation": pk.TopicDistillation(),
        "TopicDistillation, exact": pk.TopicDistillation(exact=True),
        "RelationalRankSVM": pk.RelationalRankSVM(base=pk.RankSVM(C=1e-3), task="distillation", relation="parent"),
        "ContinuousCRF": pk.ContinuousCRF(base="LinearRegression", similar=(), parents=("parent",)),
        "TopicDistillation(LambdaMART)": pk.TopicDistillation(base="LambdaMART(n_estimators=50)"),
        "LambdaMART alone": pk.TopicDistillation(base="LambdaMART(n_estimators=50)", beta=0.0),
    }


#: Name of a task, the data, and the relations to try.
Task = tuple[str, pk.RankingDataset, dict[str, pk.Relation]]


def wikispeedia(folder: Path) -> Iterator[Task]:
    """Articles by title, with links and with the tree of categories; articles by category, with links."""
    root = folder / "wikispeedia-light"
    index, tasks = articles(root)
    graph = LinkGraph.from_edges(_rows(root / "links.tsv"), self_links=False)
    categories: dict[str, list[str]] = {}
    for article, category in _rows(root / "categories.tsv"):
        categories.setdefault(article, []).append(category)
    for task, (queries, labels) in tasks.items():
        data = extracted(index, queries, labels, "body")
        found = {"links": pk.link_relation(data, graph)}
        if task == "articles by title":  # the labels of the other task are the categories
            found["categories"] = broader(data, categories)
        yield f"wikispeedia, {task}", data, found


def broader(data: pk.RankingDataset, categories: dict[str, list[str]]) -> pk.Relation:
    """Pairs (article, article of a category above its own), in each list."""
    pairs = []
    for first, last in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        members: dict[str, list[int]] = {}
        for i in range(first, last):
            for category in categories.get(str(data.docids[i]), ()):
                members.setdefault(category, []).append(i)
        for category, below in members.items():
            above, _, _ = category.rpartition(".")
            while above:
                pairs += [(i, j) for i in below for j in members.get(above, ()) if i != j]
                above = above.rpartition(".")[0]
    return pk.Relation.from_pairs(sorted(set(pairs))).regrouped(None, data.offsets)


def pydocs(folder: Path) -> Iterator[Task]:
    """Documents by their first sentence (only they are relevant), those with parts; and judgements by hand."""
    derived, judged = pk.datasets.load("pydocs"), pk.datasets.load("pydocs", variant="judged")
    sources = {q: {d: 1.0 for d, grade in grades.items() if grade == 3} for q, grades in derived.judgements.items()}
    whole = set(derived.parents.values())
    entries = {q: grades for q, grades in sources.items() if whole & grades.keys()}
    for name, collection, judgements in (
        ("by first sentence", derived, sources),
        ("modules and classes by first sentence", derived, entries),
        ("judged by hand", judged, judged.judgements),
    ):
        queries = {q: collection.queries[q] for q in judgements}
        data = extracted(collection.index(), queries, judgements, "text")
        graph = LinkGraph.from_edges([(d.id, link.target) for d in collection.documents for link in d.links],
                                     self_links=False)  # fmt: skip
        tree = LinkGraph.from_edges(list(collection.parents.items()))
        found = {"tree": pk.link_relation(data, tree), "mentions": pk.link_relation(data, graph)}
        yield f"pydocs, {name}", data, found


def extracted(index: Index, queries, labels, field: str) -> pk.RankingDataset:
    """Candidates with features, scaled within each list."""
    features = [{"model": name, "fields": [field]} for name in MODELS]
    data = pk.extract(index, queries, features, judgements=labels, candidates=BM25(), k=100, field=field)
    return pk.QueryNormalizer().fit_transform(data)


def compare(data: pk.RankingDataset) -> None:
    """Print a row for each ranker."""
    order = np.random.default_rng(0).permutation(data.n_queries)
    scores: dict[str, np.ndarray] = {}
    strengths: dict[str, list[float]] = {}
    for fold in range(5):
        held_out = np.sort(order[fold::5])
        train, test = data.select(np.setdiff1d(order, held_out)), data.select(held_out)
        rows = np.flatnonzero(np.isin(data.query_of_row, held_out))
        for method, ranker in rankers().items():
            fitted = ranker.fit(train)
            scores.setdefault(method, np.empty(data.n_rows))[rows] = fitted.predict(test)
            strengths.setdefault(method, []).append(getattr(fitted, "beta_", None))
    first: dict[str, np.ndarray] = {}
    for method, found in scores.items():
        values = dict(zip(MEASURES, pk.evaluate(data, found, list(MEASURES)).values.values(), strict=True))
        first = first or values
        words = [f"{v.mean():.4f} (p {fisher(v, first[m]).pvalue:.4f})" for m, v in values.items()]
        print(f"| {method} | {' | '.join(words)} | {strengths[method]}", flush=True)


def main(folder: str, names: list[str]) -> None:
    """Print a table for each task and relation."""
    for name in names or list(COLLECTIONS):
        for task, data, relations in COLLECTIONS[name](Path(folder)):
            for kind, relation in relations.items():
                started = time.process_time()
                print(f"{task}, {kind}: {data.n_queries} queries, {data.n_rows} documents, {len(relation)} pairs")
                compare(data.replace(relations={"parent": relation}))
                print(f"{time.process_time() - started:.0f} s of CPU", flush=True)


COLLECTIONS = {f.__name__: f for f in (wikispeedia, pydocs)}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
