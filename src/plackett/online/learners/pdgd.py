"""Pairwise differentiable gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, kernel_from
from plackett.online._lists import best_first, draw_list, logistic, page_quality, scores_of
from plackett.online.learners.base import OnlineLearner

__all__ = ["PDGD"]

#: Lists drawn before the current order is shown, if lists must not be worse than a bound.
_TRIES = 20


@kernel
def pair_weight(strength, order, i, j, tails):
    """P(R*) / (P(R) + P(R*)), where R* is the list R with the documents at ranks i and j swapped.

    ``tails[r]`` is the sum of the strengths that are left at rank r; strengths are exp(score − highest).
    """
    if i > j:
        i, j = j, i
    high, low = strength[order[i]], strength[order[j]]
    log_ratio = 0.0
    for r in range(i + 1, j + 1):
        log_ratio += np.log(tails[r]) - np.log(max(tails[r] - low, 0.0) + high)
    return 1.0 / (1.0 + np.exp(-log_ratio))


def show_drawn(w, memory, X, rows, n, k, parameters, state, work, order, team):
    """A drawn list that is good enough (team 0), or the current order (team −1); ``score`` is the model's."""
    score(w, X, rows, n, parameters, work[0])  # type: ignore[name-defined]  # noqa: F821
    least = parameters[1]
    if least <= 0.0:
        return draw_list(work[0], n, k, state, work[1], order)
    ideal = np.empty(k, np.int64)
    team[:] = 0
    for _ in range(_TRIES):
        size = draw_list(work[0], n, k, state, work[1], order)
        if size == 0 or page_quality(work[0], n, order, size, work[1], ideal) >= least:
            return size
    team[:] = -1
    work[1, :n] = work[0, :n]
    return best_first(work[1], n, k, order)


def learn_pairs(w, memory, X, rows, n, k, parameters, state, work, order, team, clicks):
    """A step along the preferred pairs; ``score`` and ``follow`` are the model's."""
    last = -1
    for i in range(k):
        if clicks[i]:
            last = i
    if last < 0 or team[0] < 0:  # a list that was not drawn has no probability to correct by
        return
    scores, strength, tails, pull = work[0], work[1], work[2], work[3]
    score(w, X, rows, n, parameters, scores)  # type: ignore[name-defined]  # noqa: F821
    top = -np.inf
    for j in range(n):
        top = max(top, scores[j])
    rest = 0.0
    for j in range(n):
        strength[j] = np.exp(max(scores[j] - top, -600.0))  # never 0
        pull[j] = 0.0
        rest += strength[j]
    for i in range(k):
        rest -= strength[order[i]]
    rest = max(rest, 0.0)
    for i in range(k - 1, -1, -1):
        rest += strength[order[i]]
        tails[i] = rest
    least = parameters[1]
    ideal = np.empty(k, np.int64)
    swapped = np.empty(k, np.int64)
    for i in range(k):
        if not clicks[i]:
            continue
        for j in range(min(last + 2, k)):  # seen: down to one below the last click
            if clicks[j]:
                continue
            if least > 0.0:  # a swapped list that would not have been shown has probability 0
                swapped[:] = order[:k]
                swapped[i], swapped[j] = order[j], order[i]
                if page_quality(scores, n, swapped, k, work[4], ideal) < least:
                    continue
            ahead = logistic(scores[order[i]] - scores[order[j]])
            step = pair_weight(strength, order, i, j, tails) * ahead * (1.0 - ahead)
            pull[order[i]] += step
            pull[order[j]] -= step
    follow(w, X, rows, order, k, pull, parameters)  # type: ignore[name-defined]  # noqa: F821


@kernel
def follow_linear(w, X, rows, order, k, pull, parameters):
    """Σ pull_j x_j, times the learning rate."""
    for i in range(k):
        size = parameters[0] * pull[order[i]]
        if size != 0.0:
            row = rows[order[i]]
            for f in range(w.size):
                w[f] += size * X[row, f]


@dataclass(eq=False)
class DrawnPages(OnlineLearner):
    """A learner whose pages were drawn, or else say that they were not."""

    def _detail(self, team: np.ndarray, memory: np.ndarray) -> Any:
        return {"drawn": False} if (team < 0).any() else None

    def _use(self, detail: Any, size: int) -> np.ndarray:
        return np.full(size, 0 if detail is None else -1, np.int64)

    def _check_detail(self, detail: Any, size: int) -> None:
        if detail is not None and detail != {"drawn": False}:
            raise DataError(f"not the detail of a page of {type(self).__name__}: {str(detail)[:60]}")


show_pdgd = kernel_from(show_drawn, score=scores_of)
learn_pdgd = kernel_from(learn_pairs, score=scores_of, follow=follow_linear)


@dataclass(eq=False)
class PDGD(DrawnPages):
    """Pairwise differentiable gradient descent: lists are drawn, and clicked documents pull past seen ones.

    A list R is drawn from the Plackett–Luce model of the scores f. Of the documents down to one below the last click,
    each clicked k is preferred to each unclicked l, with the gradient

        ρ(k, l) · e^{f_k} e^{f_l} / (e^{f_k} + e^{f_l})² · (f'_k − f'_l),   ρ = P(R*) / (P(R) + P(R*)),

    where R* has k and l swapped. ρ takes the position bias out of the preference: a pair has the weights ρ and 1 − ρ
    in R and in R*. With a bound on exploration, lists are drawn until one is good enough; nothing is learned from a
    pair whose swapped list is not good enough, since P(R*) is 0. After 20 lists the current order is shown, and nothing
    is learned from the page, since it was not drawn.

    References
    ----------
    Oosterhuis, de Rijke: Differentiable unbiased online learning to rank. CIKM 2018.

    Examples
    --------
    >>> learner = PDGD(n_features=2, random_state=1)
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    >>> for _ in range(200):
    ...     page = learner.show(X)
    ...     _ = learner.learn(X, page, page.order == 1)  # users want the second document
    >>> learner.predict(X).argmax()
    np.int64(1)
    """

    show_kernel: ClassVar[Any] = show_pdgd
    learn_kernel: ClassVar[Any] = learn_pdgd
