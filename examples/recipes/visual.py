"""Re-ranking by content: the first results of a text search teach what relevant pictures look like.

    python examples/recipes/visual.py [RESULTS]

re-ranks the results in a file of NumPy (.npz) with the arrays ``scores`` and ``embeddings``, and prints their numbers,
the best first; without a file, shows what it does to a made-up search.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.base import clone

from plackett import DataError, RankingDataset


def rerank_by_content(
    scores: Any,
    embeddings: Any,
    qid: Any = None,
    *,
    weight: float = 0.5,
    ranker: Any = None,
    labelled: float = 0.5,
    n_dimensions: int | None = 32,
    n_folds: int = 5,
    random_state: int | np.random.Generator | None = 0,
) -> np.ndarray:
    r"""Re-rank the results of a text search by what they look like, without any judgement.

    The order of the first search serves as judgements: its best results are taken as relevant and its worst ones as
    not. For each query

    1. the items are dealt out to folds,
    2. for each fold a ranker is trained on the labelled items of the *other* folds, on the dimensions of the embedding
       that separate the two groups best there, and scores the fold,
    3. the scores of each model are standardised over the items of the query, as models of different folds have
       different scales,
    4. the result is :math:`w\,z(\text{text}) + (1 - w)\,z(\text{content})`.

    No item is scored by a model that saw its label. A list of fewer than ``2 n_folds`` items keeps its text scores.

    Parameters
    ----------
    scores
        Scores of the first search.
    embeddings
        A row of numbers for each item: of a picture, a sound, a text.
    qid
        Query of each item; by default they are all of one query.
    weight
        Share of the text score, from 0 to 1; at 1 the order stays as it is.
    ranker
        Any ranker; by default ``RankSVM(C=0.01)``.
    labelled
        Share of the items that are taken as examples, half of them the best and half the worst.
    n_dimensions
        Dimensions that are kept; None keeps all.
    n_folds
        Number of folds.
    random_state
        For the folds.

    Returns
    -------
    The new scores, in the order of the items, with mean 0 and variance near 1 for each query.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> relevant = np.arange(60) % 3 == 0
    >>> pictures = rng.normal(size=(60, 8)) + 2.0 * relevant[:, None]
    >>> text = relevant + rng.normal(size=60)
    >>> new = rerank_by_content(text, pictures)
    >>> best = lambda scores: int(relevant[np.argsort(-scores)[:10]].sum())
    >>> best(text), best(new)
    (5, 10)

    References
    ----------
    Yang, Hsu: Online reranking via ordinal informative concepts for context fusion in concept detection and video
    search. IEEE Transactions on Circuits and Systems for Video Technology 19 (2009).
    """
    scores, X = np.asarray(scores, np.float64), np.asarray(embeddings, np.float64)
    if scores.ndim != 1 or X.ndim != 2 or X.shape[0] != scores.size:
        raise DataError(f"scores have shape {scores.shape} and embeddings {X.shape}; give one row for each score")
    for name, values in {"scores": scores, "embeddings": X}.items():
        if not np.isfinite(values).all():
            raise DataError(f"{name} have values that are missing or infinite")
    if not 0 <= weight <= 1 or not 0 < labelled <= 1:
        raise DataError(f"weight={weight}, labelled={labelled}; both are shares from 0 to 1, and labelled is above 0")
    if n_folds < 2 or (n_dimensions is not None and n_dimensions < 1):
        raise DataError(f"n_folds={n_folds}, n_dimensions={n_dimensions}; give at least 2 folds and 1 dimension")
    query = np.zeros(scores.size, np.int64) if qid is None else np.unique(np.asarray(qid), return_inverse=True)[1]
    if query.shape != scores.shape:
        raise DataError(f"qid has shape {query.shape} and scores {scores.shape}")
    if ranker is None:
        from plackett.rankers import RankSVM

        ranker = RankSVM(C=0.01)
    rng = np.random.default_rng(random_state)
    result = np.empty_like(scores)
    order = np.argsort(query, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(query))[:-1]) if order.size else []:
        text = _standardised(scores[rows])
        fold = rng.permutation(rows.size) % n_folds
        content = _content(text, X[rows], fold, ranker, labelled, n_dimensions) if rows.size >= 2 * n_folds else text
        result[rows] = weight * text + (1.0 - weight) * content
    return result


def _content(
    text: np.ndarray, X: np.ndarray, fold: np.ndarray, ranker: Any, labelled: float, n_dimensions: int | None
) -> np.ndarray:
    """Scores by models that were trained on the other folds."""
    side = max(round(labelled * text.size / 2), 1)
    ordered = np.argsort(-text, kind="stable")
    label = np.full(text.size, -1)
    label[ordered[-side:]] = 0
    label[ordered[:side]] = 1
    scale = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    result = np.empty_like(text)
    for held in range(int(fold.max()) + 1):
        rows = np.flatnonzero((fold != held) & (label >= 0))
        y = label[rows]
        both = np.unique(y).size == 2
        gap = np.abs(X[rows[y == 1]].mean(axis=0) - X[rows[y == 0]].mean(axis=0)) if both else np.zeros(X.shape[1])
        if not gap.any():  # nothing to learn
            result[fold == held] = text[fold == held]
            continue
        kept = np.argsort(-gap, kind="stable")[:n_dimensions]
        model = clone(ranker).fit(RankingDataset.from_arrays(X[np.ix_(rows, kept)], y, np.zeros(rows.size)))
        result[fold == held] = _standardised(np.asarray(model.predict(X[:, kept])))[fold == held]
    return result


def _standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std()
    return (values - values.mean()) / (spread if spread > 0 else 1.0)


def main() -> None:
    """Re-rank results by content."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("results", nargs="?", help="a .npz file with the arrays scores and embeddings")
    file = parser.parse_args().results
    if file:
        with np.load(file, allow_pickle=False) as saved:
            scores = rerank_by_content(saved["scores"], saved["embeddings"])
        print(*np.argsort(-scores, kind="stable").tolist(), sep="\n")
        return
    rng = np.random.default_rng(0)
    relevant = np.arange(90) % 3 == 0
    pictures, text = rng.normal(size=(90, 16)) + 2.0 * relevant[:, None], relevant + rng.normal(size=90)
    for name, scores in {"by their texts": text, "re-ranked": rerank_by_content(text, pictures)}.items():
        print(f"{name}: {relevant[np.argsort(-scores)[:20]].sum()} of the first 20 pictures are relevant")


if __name__ == "__main__":
    main()
