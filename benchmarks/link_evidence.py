"""Do links help to find articles of an encyclopaedia by their title or category?

    python benchmarks/link_evidence.py FOLDER

FOLDER has ``wikispeedia-light``. The first 300 characters of each article, which repeat title and subjects, are cut
off. A linear ranker is trained on the text features alone, and with link features, on the same five folds by query.
Measures are over the candidates: the union of the 100 best documents of BM25 and of RM3.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

import plackett as pk
from plackett.data.query_normalizer import QueryNormalizer
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


def _rows(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder / "wikispeedia-light"
    targets: dict[str, list[Link]] = {}
    for source, target in _rows(folder / "links.tsv"):
        targets.setdefault(source, []).append(Link(target))
    documents = []
    for line in (folder / "articles.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        documents.append(Document(record["id"], {"body": record["text"][300:]}, tuple(targets.get(record["id"], ()))))
    index = Index.build(documents)
    titles = [d.id for d in documents]
    chosen = np.random.default_rng(0).choice(titles, 400, replace=False).tolist()
    categories: dict[str, dict[str, float]] = {}
    for article, category in _rows(folder / "categories.tsv"):
        categories.setdefault(category.rpartition(".")[2], {})[article] = 1.0
    tasks = {
        "title": ({t: unquote(t).replace("_", " ") for t in chosen}, {t: {t: 1.0} for t in chosen}),
        "category": ({c: c.replace("_", " ") for c in categories}, categories),
    }
    features = FeatureSet([*TEXT, *LINKS])
    for task, (queries, labels) in tasks.items():
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
        print(f"\n{task}: {data.n_queries} queries")
        for name, result in found.items():
            print(f"  {name}: nDCG@10 {result.mean['nDCG@10']:.4f}, RR {result.mean['RR']:.4f}", flush=True)
        gain = pk.compare(data, {"text": scores["text"], "links": scores["text and links"]}, ["nDCG@10"], test="fisher")
        print(gain)


if __name__ == "__main__":
    main()
