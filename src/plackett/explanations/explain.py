"""Explain how a ranker orders the documents of a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._base.time_limit import check_time
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.estimators import last_step, of_own_steps
from plackett.data.required import check_dataset
from plackett.explanations.explanation import Explanation, Score
from plackett.explanations.sampling import BATCH_ROWS, draw_orders, sampled_contributions, standard_error
from plackett.scorers.scoring import Scoring

__all__ = ["explain"]

#: Maximum number of background documents for sampling, and of documents that provide values for `to_pass`.
_BACKGROUND = 1000
#: Documents that are explained at once where the form is exact.
_AT_ONCE = 64
#: The same for the values with a list-aware model, for which each value costs the scores of a whole list.
_LIST_AWARE_VALUES = 100


def explain(
    ranker: Any,
    data: RankingDataset,
    qid: Any = None,
    *,
    documents: Sequence[Any] | None = None,
    background: RankingDataset | None = None,
    n_orders: int = 64,
    random_state: int = 0,
) -> Explanation:
    r"""Explain the scores of a query's documents by the contributions of the features.

    The contributions of a document are Shapley values: with the base they add up to its score. For linear models and
    sums of one function per feature (such as RankBoost) they are exact: the feature's term minus its mean
    over the background. For trees they are LightGBM's TreeSHAP, exact with respect to the training documents in each
    node. For all others, including list-aware models, they are estimated with ``n_orders`` orders of the features,
    the same ones for all documents of the query, and come with a standard error.

    Parameters
    ----------
    ranker
        A fitted ranker, or a pipeline of plackett's own transformers and a ranker: the explanation is then of the
        features after these.
    data
        The dataset that has the query.
    qid
        Which query; None if there is only one.
    documents
        Which of its documents are explained, by their ids, or by their positions from 0 if the data have none; None
        for all. The scores are those in the whole list.
    background
        Documents to compare with, for linear, additive and sampled contributions. None uses those of the query: a
        contribution then shows how the feature sets the document apart from the others in the list.
    n_orders
        Number of orders to sample, for models without an exact form.
    random_state
        Seed of the sampling.

    References
    ----------
    Lundberg, Lee: A unified approach to interpreting model predictions. NIPS 2017.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]], [0, 1, 2], [7, 7, 7])
    >>> explanation = explain(pk.rankers.ListNet().fit(data), data, 7)
    >>> explanation.method, explanation.pair(2, 0)["feature"][0]
    ('linear', '1')
    """
    check_dataset(data)
    if background is not None:
        check_dataset(background, "background")
    if of_own_steps(ranker):
        for _, step in ranker.steps[:-1]:
            data = step.transform(data)
            background = None if background is None else step.transform(background)
        ranker = last_step(ranker)
    ranker = _checked(ranker)
    data = ranker.columns_in.aligned(data)
    background = None if background is None else ranker.columns_in.aligned(background)
    whole("n_orders", n_orders, least=1)
    query = _query(data, qid)
    names = [str(j + 1) for j in range(data.n_features)] if data.feature_names is None else list(data.feature_names)
    dense, score = _dense(query.X), _scorer(ranker, query)
    around = dense if background is None else _dense(background.X)
    if around.shape[1] != dense.shape[1] or around.shape[0] == 0:
        raise DataError(f"background has shape {around.shape}; give documents with {dense.shape[1]} features")
    rng = np.random.default_rng(random_state)
    if around.shape[0] > _BACKGROUND:
        around = around[np.sort(rng.choice(around.shape[0], _BACKGROUND, replace=False))]
    names_of = list(range(query.n_rows)) if query.docids is None else query.docids.tolist()
    chosen = _chosen(names_of, documents)
    scores = ranker.predict(query)[chosen]
    most = min(data.n_rows, _LIST_AWARE_VALUES if ranker.scorer_.list_aware else _BACKGROUND)
    everything = _dense(data.X[np.sort(rng.choice(data.n_rows, most, replace=False))])
    rows = dense[chosen]
    common: dict[str, Any] = {
        "qid": query.qids[0],
        "documents": [names_of[i] for i in chosen],
        "feature_names": names,
        "X": rows,
        "scores": scores,
        "categories": getattr(ranker, "categories_", {}),
        "_score": lambda i, versions, of: score(int(chosen[i]), versions, int(chosen[of])),
        "_seen": np.concatenate([everything, dense]),
    }
    exact = []
    for begin in range(0, len(rows), _AT_ONCE):
        check_time()
        exact.append(ranker.scorer_.relative_contributions(rows[begin : begin + _AT_ONCE], around))
        if exact[0] is None:
            break
    if exact and exact[0] is not None:
        values = np.concatenate([part.values for part in exact])
        return Explanation(
            **common, contributions=values, base=np.full(scores.size, exact[0].base), method=exact[0].method
        )
    orders, starts = draw_orders(around, n_orders, rng)
    draws = np.array([sampled_contributions(_of(score, i), dense[i], orders, starts) for i in chosen.tolist()])
    parts = draws.mean(axis=1)
    return Explanation(
        **common,
        contributions=parts,
        base=scores - parts.sum(axis=1),
        method="sampling",
        standard_error=np.array([standard_error(of_document) for of_document in draws]),
        _draws=draws.astype(np.float32),
    )


def _of(score: Score, i: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda rows: score(i, rows, i)


def _checked(ranker: Any) -> Any:
    if not isinstance(ranker, Scoring):
        raise DataError(
            f"explain needs a fitted plackett ranker, not a {type(ranker).__name__}; for a pipeline with steps of "
            "other libraries give the last step, and the data as transformed by the previous steps"
        )
    ranker.check_fitted()
    return ranker


def _query(data: RankingDataset, qid: Any) -> RankingDataset:
    if qid is None:
        if data.n_queries != 1:
            raise DataError(f"the data have {data.n_queries} queries; choose one with qid=…")
        return data
    numbers = np.flatnonzero(np.array(data.qids.tolist(), dtype=str) == str(qid))  # the command line has ids as text
    if numbers.size == 0:
        raise DataError(f"the data have no query {qid!r}; the first ones are {data.qids[:3].tolist()}")
    return data.select(numbers[:1])


def _dense(X: Any) -> np.ndarray:
    return np.asarray(dense(X))


def _chosen(documents: list[Any], wanted: Sequence[Any] | None) -> np.ndarray:
    """Positions of documents."""
    if wanted is None:
        return np.arange(len(documents))
    at = {document: i for i, document in enumerate(documents)}
    unknown = [document for document in wanted if document not in at]
    if unknown or not len(wanted):
        raise DataError(
            f"documents: {repr(unknown[0])[:60] + ' is none of the query' if unknown else 'give at least one'}; it has "
            f"{len(documents)}, the first ones {documents[:3]}"
        )
    return np.array([at[document] for document in wanted])


def _scorer(ranker: Any, query: RankingDataset) -> Score:
    """Scores with versions of the i-th document; in a list-aware model, each in its own copy of the list.

    Copies keep the relations of the list, and the features of its query; so many are made at a time that they have
    about as many rows as are scored at once otherwise.
    """
    bare = replace(query, X=np.zeros((query.n_rows, 0), np.float32), y=None, preferences=None, comments=None)

    def alone(i: int, rows: np.ndarray, of: int) -> np.ndarray:
        check_time()
        if of != i:
            return np.full(len(rows), ranker.score_rows(query)[of])
        offsets, facts = np.array([0, len(rows)]), query.query_features
        versions = RankingDataset(X=rows, y=None, offsets=offsets, qids=query.qids, query_features=facts)
        return ranker.score_rows(versions)

    def in_list(i: int, rows: np.ndarray, of: int) -> np.ndarray:
        some = max(1, BATCH_ROWS // query.n_rows)
        return np.concatenate([together(i, rows[at : at + some], of) for at in range(0, len(rows), some)])

    def together(i: int, rows: np.ndarray, of: int) -> np.ndarray:
        check_time()
        n = query.n_rows
        lists = np.tile(_dense(query.X), (len(rows), 1))
        lists[np.arange(len(rows)) * n + i] = rows
        copies = bare.select(np.zeros(len(rows), np.int64))
        versions = replace(copies, X=lists, qids=np.arange(len(rows)))
        return ranker.score_rows(versions)[np.arange(len(rows)) * n + of]

    return in_list if ranker.scorer_.list_aware else alone
