"""Similarity of texts as a relation: rankers with and without it on public collections, five-fold by query.

    python benchmarks/relations.py FOLDER [cranfield vaswani]

FOLDER has the unpacked collections. The 100 best documents of BM25 are re-ranked by term models alone (no feedback is
among the features); the relation is the cosine of TF-IDF vectors for the ten nearest documents of the list. Strengths
are chosen on the training queries.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from retrieval import cranfield, vaswani
from sklearn.feature_extraction.text import TfidfVectorizer

import plackett as pk
from plackett.evaluation.significance.fisher import fisher
from plackett.text import BM25, Index

FEATURES = [{"model": name, "fields": ["text"]} for name in ("BM25", "TFIDF", "Dirichlet", "JelinekMercer")]
MEASURES = ('nDCG(gain="linear")@10', "AP")


def rankers() -> dict[str, pk.rankers.Ranker]:
    """What is compared; the first is the reference."""
    return {
        "linear ranker alone": pk.RelationalFeedback(beta=0.0),
        "RelationalFeedback": pk.RelationalFeedback(),
        "RelationalFeedback(LambdaMART)": pk.RelationalFeedback(base="LambdaMART(n_estimators=50)"),
        "LambdaMART alone": pk.RelationalFeedback(base="LambdaMART(n_estimators=50)", beta=0.0),
        "RelationalRankSVM": pk.RelationalRankSVM(base=pk.RankSVM(C=1e-4)),
        "ContinuousCRF": pk.ContinuousCRF(base="LinearRegression"),
    }


def prepared(collection) -> pk.RankingDataset:
    """Features, labels and the relation of a collection."""
    index = Index.build(collection.documents)
    data = pk.extract(index, collection.queries, FEATURES, judgements=collection.judgements, candidates=BM25(), k=100,
                      field=collection.field)  # fmt: skip
    texts = {document.id: " ".join(map(str, document.fields.values())) for document in collection.documents}
    names = [str(name) for name in data.docids]
    vectors = TfidfVectorizer(stop_words="english", sublinear_tf=True).fit(texts.values())
    table = vectors.transform([texts[name] for name in names])
    data = pk.QueryNormalizer().fit_transform(data)
    return data.replace(relations={"similarity": pk.Neighbours(k=10, scale="none")(data, table)})


def main(folder: str, names: list[str]) -> None:
    """Print a table for each collection."""
    for name in names or ["cranfield", "vaswani"]:
        data = prepared({"cranfield": cranfield, "vaswani": vaswani}[name](Path(folder)))
        order = np.random.default_rng(0).permutation(data.n_queries)
        scores: dict[str, np.ndarray] = {}
        started = time.process_time()
        strengths: dict[str, list[float]] = {}
        for fold in range(5):
            held_out = np.sort(order[fold::5])
            train, test = data.select(np.setdiff1d(order, held_out)), data.select(held_out)
            rows = np.flatnonzero(np.isin(data.query_of_row, held_out))
            for method, ranker in rankers().items():
                fitted = ranker.fit(train)
                scores.setdefault(method, np.empty(data.n_rows))[rows] = fitted.predict(test)
                strengths.setdefault(method, []).append(float(np.ravel(getattr(fitted, "beta_", 0.0))[0]))
        print(f"{name}: {data.n_queries} queries, {time.process_time() - started:.0f} s of CPU")
        first: dict[str, np.ndarray] = {}
        for method, found in scores.items():
            values = dict(zip(MEASURES, pk.evaluate(data, found, list(MEASURES)).values.values(), strict=True))
            first = first or values
            words = [f"{v.mean():.4f} (p {fisher(v, first[m]).pvalue:.4f})" for m, v in values.items()]
            print(f"| {method} | {' | '.join(words)} | {strengths[method]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
