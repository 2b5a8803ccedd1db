"""Documents whose label would move the ranker most."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.selection.budget import checked_budget
from plackett.selection.candidates import Candidates
from plackett.selection.pools.base import best_of_each_query
from plackett.selection.result import Selection

__all__ = ["expected_change"]


def label_chances(scores: np.ndarray, labels: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """Probability of each grade given the score, by logistic regression on the judged rows; rows × grades."""
    known = labels >= 0
    if grades.size < 2:
        return np.ones((scores.size, grades.size))
    from sklearn.linear_model import LogisticRegression

    scale = max(float(scores[known].std()), 1e-12)
    model = LogisticRegression().fit(scores[known, None] / scale, np.searchsorted(grades, labels[known]))
    return model.predict_proba(scores[:, None] / scale)


def change_norms(
    x: np.ndarray, fx: np.ndarray, known: np.ndarray, fk: np.ndarray, yk: np.ndarray, grades: np.ndarray, loss: str
) -> np.ndarray:
    """Norm of the gradient of the pairs that each document would form, for each grade it might have.

    ``x`` and ``fx`` are features and scores of the documents, ``known``, ``fk`` and ``yk`` those of the judged ones
    of the query with their labels.
    """
    return believed_norms(x, fx, known, fk, (yk[:, None] == grades).astype(np.float64), loss)


def believed_norms(
    x: np.ndarray, fx: np.ndarray, others: np.ndarray, fo: np.ndarray, belief: np.ndarray, loss: str
) -> np.ndarray:
    """The same where the labels of the other documents are uncertain: ``belief``, others × grades, ascending.

    A pair counts with the probability that the other document has the lower (or higher) grade. Sums over the others
    are prefix sums along their scores. A document among the others forms no pair with itself.
    """
    order = np.argsort(fo, kind="stable")
    others, fo, belief = others[order], fo[order], belief[order]
    lower = np.cumsum(belief, axis=1) - belief
    higher = belief.sum(axis=1, keepdims=True) - lower - belief
    out = np.empty((len(x), belief.shape[1]))
    for g in range(belief.shape[1]):
        slope = np.zeros_like(x)
        for side, chance in ((1.0, lower[:, g]), (-1.0, higher[:, g])):  # it should be above these, below those
            some = chance > 0
            f, rows, weight = fo[some], others[some], chance[some]
            if not f.size:
                continue
            if loss == "hinge":
                n = np.concatenate(([0.0], np.cumsum(weight)))
                sums = np.concatenate((np.zeros((1, x.shape[1])), np.cumsum(weight[:, None] * rows, axis=0)))
                # inside the margin: f > fx − 1 of those below, f < fx + 1 of those above
                cut = np.searchsorted(f, fx - side, side="right" if side > 0 else "left")
                count = n[-1] - n[cut] if side > 0 else n[cut]
                total = sums[-1] - sums[cut] if side > 0 else sums[cut]
            else:
                shift = f.max() if side > 0 else f.min()
                weight = weight * np.exp(side * (f - shift))
                factor = np.exp(side * (shift - fx))
                count, total = factor * weight.sum(), np.outer(factor, weight @ rows)
            slope -= side * (count[:, None] * x - total)
        out[:, g] = np.linalg.norm(slope, axis=1)
    return out


def expected_change(
    data: RankingDataset, scores: Any, *, budget: int, members: Any = None, loss: str = "hinge"
) -> Selection:
    r"""Choose documents whose label is expected to change the current ranker most, without training it again.

    .. math:: score(x) = \sum_y P(y \mid x)\, \bigl\| \nabla_w D_y(w, x) \bigr\|

    :math:`D_y` is the loss of the pairs that x with label y would form with the judged documents of its query; P(y|x)
    comes from a logistic regression on the scores of the judged ones. A large change need not be for the better:
    compare with a random choice. Queries without judged documents have no pairs, and all their scores are 0.

    Parameters
    ----------
    data
        Documents, with label −1 where there is none yet.
    scores
        Scores of the current ranker.
    budget
        Number of pairs, spread evenly over the queries.
    members
        What the scores are a weighted sum of: the features (default), for a linear ranker, or the outputs of the weak
        rankers, rows × rankers, for a boosted one.
    loss
        ``"hinge"`` (Ranking SVM) or ``"exponential"`` (RankBoost).

    Examples
    --------
    >>> X = [[0.0], [1.0], [0.5], [9.0]]
    >>> data = RankingDataset.from_arrays(X, [0, 1, -1, -1])
    >>> expected_change(data, [0.0, 1.0, 0.5, 9.0], budget=1).frame["docid"].to_list()
    [2]

    References
    ----------
    Donmez, Carbonell: Optimizing estimated loss reduction for active sampling in rank learning. ICML 2008.
    """
    candidates = Candidates.from_dataset(data, scores)
    budget = checked_budget(budget, int(candidates.open.sum()))
    f, X, labels = checked_parts(data, candidates, scores, members, loss)
    judged = ~candidates.open
    grades = np.unique(labels[judged])
    chance = label_chances(f, labels, grades)
    priority = np.zeros(data.n_rows)
    for q in np.flatnonzero(candidates.count(judged)):
        rows = np.arange(data.offsets[q], data.offsets[q + 1])
        known, rest = rows[judged[rows]], rows[~judged[rows]]
        norms = change_norms(X[rest], f[rest], X[known], f[known], labels[known], grades, loss)
        priority[rest] = (chance[rest] * norms).sum(axis=1)
    chosen = best_of_each_query(candidates, priority, budget)
    unknown = np.full(data.n_rows, np.nan)
    return Selection.of(
        candidates,
        chosen,
        "expected_change",
        lambda row: f"its label would move the ranker by {priority[row]:.3g}",
        priority,
        unknown,
    )


def checked_parts(
    data: RankingDataset, candidates: Candidates, scores: Any, members: Any, loss: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, what they are a sum of, and labels with −1 for "not judged", checked."""
    choice("loss", loss, ("hinge", "exponential"))
    if candidates.open.all():
        raise DataError("no document is judged yet; choose the first ones at random, for example with UniformPool")
    if members is None and data.X is None:
        raise DataError("the dataset has no features; give what the scores are a sum of as members")
    X = np.asarray(data.dense() if members is None else members, np.float64)
    if X.shape[:1] != (data.n_rows,) or X.ndim != 2:
        raise DataError(f"members has shape {X.shape}, but the dataset has {data.n_rows} rows")
    if not np.isfinite(X).all():
        raise DataError("the expected change needs finite features; fill the missing ones in")
    return np.asarray(scores, np.float64), X, np.where(candidates.open, -1.0, candidates.labels)
