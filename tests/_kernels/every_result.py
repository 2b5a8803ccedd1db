"""Scores of every ranker, values and derivatives of every loss, every measure: one line each, equal to the bit or not.

Run by `test_first_process.py`, once with nothing compiled and once more: python every_result.py PART …
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np

import plackett
from plackett.testing import losses, measures, rankers


def of_measures() -> Iterator[tuple[Any, Iterable[np.ndarray]]]:
    """Values per query, for every rule of ties."""
    data, scores = measures.random_lists(np.random.default_rng(0), (7, 1, 5, 40, 2, 3))
    for measure in plackett.measures().values():
        for variant in measures.variants(measure):
            yield variant, (measures.per_query(variant(ties=ties), data, scores) for ties in measures.TIES)


def of_losses() -> Iterator[tuple[Any, Iterable[np.ndarray]]]:
    """Values per query, gradients and curvatures."""
    for cls in plackett.losses().values():
        for loss in losses.variants(cls):
            rng = np.random.default_rng(0)
            data = losses.lists(rng, (7, 1, 5, 40, 2, 3))
            yield loss, losses.evaluate(loss, data, losses.random_scores(loss, data, rng))


#: Rankers whose own solvers reorder sums (``fastmath``), for the quick tests; those of the others are in their losses.
#: A new ranker is covered without being named: `of_rankers` fits all that there are (``make test-first``).
OWN_SOLVERS = ("FRank", "OnlineRankSVM", "PRank", "PermuRank", "RankBoost", "RankSVM", "RankingPerceptron", "SVMNDCG")


def of_own_solvers() -> Iterator[tuple[Any, Iterable[np.ndarray]]]:
    """As `of_rankers`, of a few."""
    return of_rankers(OWN_SOLVERS)


def of_rankers(names: Iterable[str] = ()) -> Iterator[tuple[Any, Iterable[np.ndarray]]]:
    """Scores of the documents that a ranker was trained with and of others; of all rankers if none is named."""
    X, y, qid = rankers.easy_task(n_features=6)
    more = rankers.easy_task(1, n_features=6)
    every = plackett.rankers()
    for cls in [every[name] for name in names or every]:
        for make in rankers.variants(cls):
            fitted = make().fit(X, y, qid=qid)
            yield make, (fitted.predict(X, qid=qid), fitted.predict(more[0], qid=more[2]))


PARTS = {"measures": of_measures, "losses": of_losses, "own_solvers": of_own_solvers, "rankers": of_rankers}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for part in sys.argv[1:]:
        for subject, arrays in PARTS[part]():
            digest = blake2b(b"".join(np.ascontiguousarray(each).tobytes() for each in arrays), digest_size=10)
            print(part, digest.hexdigest(), subject, flush=True)
