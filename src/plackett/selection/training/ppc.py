"""Pairwise preference consistency: pairs, documents and queries whose preferences point the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.judgements import to_pairwise
from plackett.data.preferences import Preferences
from plackett.selection.budget import checked_budget

__all__ = ["consistent_documents", "consistent_pairs", "consistent_queries", "preference_consistency"]


def query_directions(data: RankingDataset) -> np.ndarray:
    r"""Mean difference of the features of each query's pairs, queries × features; zeros for a query without pairs.

    .. math:: \frac1{\tilde m_q} \sum_{u \succ v} (x_u - x_v) = \frac1{\tilde m_q} \sum_u (n_<(u) - n_>(u))\, x_u

    with :math:`n_<` and :math:`n_>` the numbers of documents of the query with a smaller and a larger label: pairs are
    not enumerated.
    """
    labels, query = data.labels, data.query_of_row
    judged = labels >= 0
    order = np.lexsort((labels, query, ~judged))[: int(judged.sum())]
    y, q = labels[order], query[order]
    row = np.arange(order.size)
    start = np.searchsorted(q, q)
    stop = np.searchsorted(q, q, side="right")
    new = np.ones(order.size, bool)
    new[1:] = (y[1:] != y[:-1]) | (q[1:] != q[:-1])
    first = np.maximum.accumulate(np.where(new, row, 0))
    block = np.cumsum(new) - 1
    last = np.append(np.flatnonzero(new)[1:], order.size)[block]
    below, above = first - start, stop - last
    n_pairs = np.bincount(q, below, minlength=data.n_queries)
    X = data.dense().astype(np.float64)
    total = np.zeros((data.n_queries, X.shape[1]))
    np.add.at(total, q, (below - above)[:, None] * X[order])
    return np.divide(total, n_pairs[:, None], out=np.zeros_like(total), where=n_pairs[:, None] > 0)


def preference_consistency(data: RankingDataset) -> float:
    r"""Pairwise preference consistency: how far the pairs of all queries point in the same direction.

    .. math:: PPC = \sum_{q, q'} \frac1{\tilde m_q \tilde m_{q'}} \sum_{u \succ v} \sum_{u' \succ v'}
              \langle x_u - x_v, x_{u'} - x_{v'} \rangle = \Bigl\| \sum_q d_q \Bigr\|^2

    with :math:`d_q` of `query_directions`. Features should be on one scale. Queries without pairs are left out.

    References
    ----------
    Geng, Qin, Liu, Cheng, Li: Selecting optimal training data for learning to rank. Information Processing and
    Management 47, 2011.

    Examples
    --------
    >>> same = RankingDataset.from_arrays([[0.0], [1.0], [0.0], [1.0]], [0, 1, 0, 1], [0, 0, 1, 1])
    >>> preference_consistency(same), preference_consistency(same.replace(y=np.array([0.0, 1, 1, 0])))
    (4.0, 0.0)
    """
    return float(np.square(query_directions(data).sum(axis=0)).sum())


@dataclass(frozen=True, eq=False)
class ConsistentPairs:
    """Result of `consistent_pairs`: pairs (winner, loser), which are kept, their common direction, the objective."""

    pairs: np.ndarray
    chosen: np.ndarray
    direction: np.ndarray
    objective: float


def consistent_pairs(
    data: RankingDataset, *, reward: float = 0.0, n_restarts: int = 4, max_iter: int = 100, random_state: Any = 0
) -> ConsistentPairs:
    r"""Choose pairs that agree with each other: maximise :math:`\|R\omega\|^2 + \mu^2 (e^\top\omega)^2` over 0/1 ω.

    R has the columns :math:`(x_u - x_v)/\tilde m_q`. The objective is :math:`\|\tilde R \omega\|^2` with one row more,
    and its maximum is :math:`\max_{\|v\|=1} (\sum_p [(\tilde R^\top v)_p]_+)^2`: choosing the pairs on the positive
    side of v, and v along the sum of the chosen pairs, in turn, never lowers it. It starts from the left singular
    vectors of :math:`\tilde R` and from random directions. A step takes one pass over the pairs and one over the
    documents; no matrix of pairs × features is formed. The result is a local maximum, the best of all starts.

    Parameters
    ----------
    reward
        μ: what each further pair is worth. Large values keep all pairs.

    References
    ----------
    Geng, Qin, Liu, Cheng, Li: Selecting optimal training data for learning to rank. Information Processing and
    Management 47, 2011.
    """
    number("reward", reward, least=0)
    preferences: Preferences = to_pairwise(data)
    pairs = np.column_stack((preferences.winner, preferences.loser))
    if not len(pairs):
        raise DataError("the dataset has no pairs: in every query all labels are equal")
    winner, loser = pairs.T
    query = data.query_of_row[winner]
    size = np.bincount(query, minlength=data.n_queries)[query].astype(np.float64)
    X = data.dense().astype(np.float64)

    def projected(v: np.ndarray) -> np.ndarray:
        score = X @ v[:-1]
        return (score[winner] - score[loser]) / size + reward * v[-1]

    def total_of(chosen: np.ndarray) -> np.ndarray:
        weight = 1.0 / size[chosen]
        share = np.bincount(winner[chosen], weight, data.n_rows) - np.bincount(loser[chosen], weight, data.n_rows)
        return np.append(share @ X, reward * np.count_nonzero(chosen))

    rng = np.random.default_rng(random_state)
    everything = total_of(np.ones(len(pairs), bool))
    _, vectors = np.linalg.eigh(_second_moments(X, winner, loser, size, everything, reward))
    starts = [everything, *vectors.T, *(-vectors.T), *rng.normal(size=(n_restarts, everything.size))]
    best: tuple[float, np.ndarray] = (-1.0, np.zeros(len(pairs), bool))
    for v in starts:
        value = -1.0
        chosen = best[1]
        for _ in range(max_iter):
            chosen = projected(v) > 0
            total = total_of(chosen)
            new = float(total @ total)
            if new <= value * (1 + 1e-12):
                break
            value, v = new, total
        if value > best[0]:
            best = value, chosen
    total = total_of(best[1])
    norm = float(np.linalg.norm(total))
    return ConsistentPairs(pairs, best[1], total / norm if norm > 0 else total, float(total @ total))


def _second_moments(
    X: np.ndarray, winner: np.ndarray, loser: np.ndarray, size: np.ndarray, total: np.ndarray, reward: float
) -> np.ndarray:
    r""":math:`\tilde R \tilde R^\top`, from the Laplacian of the graph of pairs."""
    from scipy.sparse import coo_array

    weight = size**-2.0
    n = len(X)
    degree = np.bincount(winner, weight, n) + np.bincount(loser, weight, n)
    half = X.T @ (coo_array((weight, (winner, loser)), shape=(n, n)).tocsr() @ X)
    out = np.empty((total.size, total.size))
    out[:-1, :-1] = X.T @ (degree[:, None] * X) - half - half.T
    out[-1] = out[:, -1] = reward * total
    out[-1, -1] = reward**2 * winner.size
    return out


def consistent_documents(data: RankingDataset, pairs: ConsistentPairs, *, threshold: float = 0.5) -> np.ndarray:
    r"""Weight of each document in the chosen pairs; train on those above the threshold.

    :math:`\min_\alpha \sum_{u,v} (\alpha_u \alpha_v - \omega_{uv})^2` with real α is solved by the leading eigenvector
    of the symmetric matrix of a query's chosen pairs, :math:`\alpha = \sqrt{\lambda_1}\,v_1`, found by power iteration
    over the list of pairs. Documents that are in no chosen pair get 0.

    Parameters
    ----------
    pairs
        What `consistent_pairs` returned.
    threshold
        Weights below this are set to 0.

    References
    ----------
    Geng, Qin, Liu, Cheng, Li: Selecting optimal training data for learning to rank. Information Processing and
    Management 47, 2011.

    Examples
    --------
    >>> star = RankingDataset.from_arrays([[1.0], [0.0], [0.0], [0.0]], [1, 0, 0, 0])
    >>> pairs = ConsistentPairs(np.array([[0, 1], [0, 2]]), np.array([True, True]), np.ones(1), 1.0)
    >>> consistent_documents(star, pairs, threshold=0).round(4).tolist()
    [0.8409, 0.5946, 0.5946, 0.0]
    """
    kept = pairs.pairs[pairs.chosen]
    query, n_queries = data.query_of_row, data.n_queries
    v = np.zeros(data.n_rows)
    v[kept.ravel()] = 1.0

    def product(v: np.ndarray) -> np.ndarray:
        return np.bincount(kept[:, 0], v[kept[:, 1]], minlength=v.size) + np.bincount(
            kept[:, 1], v[kept[:, 0]], minlength=v.size
        )

    def norm(v: np.ndarray) -> np.ndarray:
        return np.sqrt(np.bincount(query, v * v, minlength=n_queries))

    v /= np.maximum(norm(v), 1e-300)[query]
    value = np.zeros(n_queries)
    for _ in range(1000):
        # one more on the diagonal: the graph of winners and losers has eigenvalues of both signs
        new = product(v) + v
        size = norm(new)
        new /= np.maximum(size, 1e-300)[query]
        moved = float(np.abs(new - v).max(initial=0.0))
        v, value = new, size - 1.0
        if moved < 1e-10:
            break
    alpha = np.sqrt(np.maximum(value, 0.0))[query] * v
    return np.where(alpha >= threshold, alpha, 0.0)


def consistent_queries(data: RankingDataset, budget: int) -> np.ndarray:
    """Numbers of the queries that agree most with the direction of all queries together, best first.

    >>> X = [[0.0], [1.0], [0.0], [1.0], [0.0], [1.0]]
    >>> data = RankingDataset.from_arrays(X, [0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 2, 2])
    >>> consistent_queries(data, 2).tolist()
    [0, 2]

    References
    ----------
    Geng, Qin, Liu, Cheng, Li: Selecting optimal training data for learning to rank. Information Processing and
    Management 47, 2011.
    """
    budget = checked_budget(budget, data.n_queries, "queries")
    direction = query_directions(data)
    return np.argsort(-(direction @ direction.sum(axis=0)), kind="stable")[:budget]
