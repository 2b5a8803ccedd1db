"""Do links help to find articles of an encyclopaedia by title or category, and entry pages of a site by name?

    python benchmarks/link_evidence.py FOLDER [wikispeedia hollins]

FOLDER has ``wikispeedia-light`` and ``web-hollins``. The first 300 characters of each article, which repeat title and
subjects, are cut off; of the site only addresses and links are known. A linear ranker is trained on the text features
alone, and with link features, on the same five folds by query. Measures are over the candidates: the union of the 100
best documents of BM25 and of RM3.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

import plackett as pk
from plackett.data.query_normalizer import QueryNormalizer
from plackett.graph.urls import url_type
from plackett.text import BM25, RM3, Dirichlet, Document, Index, Link, Propagated
from plackett.text.features.feature_set import FeatureSet

TEXT: list[Any] = [BM25(), Dirichlet(mu=300), RM3(), {"length": "body"}]
LINKS: list[Any] = [
    {"links": "pagerank", "transform": "log"},
    {"links": "inlinks", "transform": "log1p"},
    {"links": "authority", "transform": "sqrt"},
    {"links": "hub", "transform": "sqrt"},
    Propagated(along="in", steps=1),
    Propagated(along="uniform-out", steps=1),
]


#: Texts of queries and labels.
Task = tuple[dict[str, str], dict[str, dict[str, float]]]


def _rows(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]


def wikispeedia(folder: Path) -> tuple[Index, dict[str, Task]]:
    """Articles of an encyclopaedia: by title, and by category."""
    targets: dict[str, list[Link]] = {}
    for source, target in _rows(folder / "links.tsv"):
        targets.setdefault(source, []).append(Link(target))
    documents = []
    for line in (folder / "articles.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        documents.append(Document(record["id"], {"body": record["text"][300:]}, tuple(targets.get(record["id"], ()))))
    titles = [d.id for d in documents]
    chosen = np.random.default_rng(0).choice(titles, 400, replace=False).tolist()
    categories: dict[str, dict[str, float]] = {}
    for article, category in _rows(folder / "categories.tsv"):
        categories.setdefault(category.rpartition(".")[2], {})[article] = 1.0
    return Index.build(documents), {
        "articles by title": ({t: unquote(t).replace("_", " ") for t in chosen}, {t: {t: 1.0} for t in chosen}),
        "articles by category": ({c: c.replace("_", " ") for c in categories}, categories),
    }


def hollins(folder: Path) -> tuple[Index, dict[str, Task]]:
    """Pages of a university's site, known by the words of their addresses: the entry page of a directory by its name.

    A directory counts if it has an entry page and at least three other pages below it.
    """
    lines = (folder / "pages.txt").read_text(encoding="latin-1").splitlines()[1:]
    urls = dict(line.split() for line in lines if line.strip())
    targets: dict[str, list[Link]] = {}
    for line in (folder / "edges.txt").read_text().splitlines()[1:]:
        source, target = line.split()
        targets.setdefault(source, []).append(Link(target))
    words = {n: " ".join(re.findall(r"[a-z]+", urlsplit(url).path.lower())) for n, url in urls.items()}
    documents = [Document(n, {"body": words[n] or "home"}, tuple(targets.get(n, ()))) for n in urls]
    entry: dict[str, dict[str, float]] = {}
    inside = Counter(name for text in words.values() for name in set(text.split()))
    for number, kind in zip(urls, url_type(urls.values()), strict=True):
        names = words[number].split()
        if kind in ("subroot", "path") and names:
            name = [w for w in names if w not in ("index", "default", "htm", "html", "asp")][-1:]
            if name and inside[name[0]] > 3:
                entry.setdefault(name[0], {})[number] = 1.0
    return Index.build(documents), {"entry pages by directory": ({name: name for name in entry}, entry)}


def compare(index: Index, queries: dict[str, str], labels: dict[str, dict[str, float]]) -> None:
    """A linear ranker on text features, and on text and link features."""
    features = FeatureSet([*TEXT, *LINKS])
    data = pk.extract(index, queries, features, judgements=labels, candidates=[BM25(), RM3()], k=100)
    qid = np.repeat(data.qids, np.diff(data.offsets))
    X = QueryNormalizer().fit_transform(np.nan_to_num(data.X), qid=qid)
    row = {key: i for i, key in enumerate(zip(qid, data.docids, strict=True))}
    scores = {name: np.empty(len(X)) for name in ("text", "text and links")}
    for fold in pk.letor_folds(data, 5):
        own = [
            np.array([row[key] for key in zip(np.repeat(p.qids, np.diff(p.offsets)), p.docids, strict=True)])
            for p in (fold.train, fold.test)
        ]
        for name, width in (("text", len(TEXT)), ("text and links", len(features))):
            ranker = pk.RankSVM(C=0.1).fit(X[own[0]][:, :width], data.y[own[0]], qid=qid[own[0]])
            scores[name][own[1]] = ranker.predict(X[own[1]][:, :width])
    found = {"BM25": pk.evaluate(data, data.X[:, 0], ["nDCG@10", "RR"])}
    found |= {name: pk.evaluate(data, values, ["nDCG@10", "RR"]) for name, values in scores.items()}
    print(f"  {data.n_queries} queries")
    for name, result in found.items():
        print(f"  {name}: nDCG@10 {result.mean['nDCG@10']:.4f}, RR {result.mean['RR']:.4f}", flush=True)
    print(pk.compare(data, {"text": scores["text"], "links": scores["text and links"]}, ["nDCG@10"], test="fisher"))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("collections", nargs="*", default=list(COLLECTIONS))
    options = parser.parse_args()
    for name in options.collections:
        index, tasks = COLLECTIONS[name](options.folder / FOLDERS[name])
        for task, (queries, labels) in tasks.items():
            print(f"\n{name}, {task}")
            compare(index, queries, labels)


COLLECTIONS = {f.__name__: f for f in (wikispeedia, hollins)}
FOLDERS = {"wikispeedia": "wikispeedia-light", "hollins": "web-hollins"}


if __name__ == "__main__":
    main()
