"""Sentences that answer the questions of WikiQA: word overlap, translation, and a linear ranker on all features.

    python benchmarks/answers.py FOLDER

FOLDER has WikiQA's ``.txt`` files. Measures are over the filtered test questions, as in published figures. The loss and
the penalty of the ranker were chosen on the dev part.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import plackett as pk

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "recipes"))
from answers import AnswerFeatures, read_answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    train = read_answers(folder / "WikiQA-train.txt")
    features = AnswerFeatures(position=True)  # the order of the sentences on the page
    ranker = pk.GradientRanker(loss="QuerySoftmax", model=pk.Linear(alpha=1e-2)).fit(features.fit_transform(train))
    for part in ("dev", "test"):
        data = features.transform(read_answers(folder / f"WikiQA-{part}.txt").filtered())
        scores = {name: data.X[:, features.names.index(name)] for name in ("overlap", "idf overlap", "translation")}
        scores["ranker"] = ranker.predict(data)
        for published in ("CNN", "CNN-Cnt"):
            run = folder / "emnlp-table" / f"WikiQA.{published}.{part}.rank"
            if run.exists():
                rows = np.loadtxt(run, usecols=(0, 2, 4))
                known = {(int(question), int(place)): score for question, place, score in rows}
                query = np.repeat(data.qids, np.diff(data.offsets))
                scores[published] = np.array([known[int(q), int(d)] for q, d in zip(query, data.docids, strict=True)])
        print(f"{part}: {data.n_queries} questions, {data.n_rows} sentences")
        print(pk.compare(data, scores, ["AP", "RR"], baseline="ranker"))


if __name__ == "__main__":
    main()
