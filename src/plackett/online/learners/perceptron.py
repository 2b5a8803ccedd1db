"""The ranking perceptron on clicks, as for advertisements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.online._lists import best_first, scores_of
from plackett.online.learners.base import OnlineLearner

__all__ = ["ClickPerceptron"]


@kernel
def show_perceptron(w, memory, X, rows, n, k, parameters, state, work, order, team):
    """The order of the model, without exploration."""
    scores_of(w, X, rows, n, parameters, work[0])
    return best_first(work[0], n, k, order)


@kernel
def learn_perceptron(w, memory, X, rows, n, k, parameters, state, work, order, team, clicks):
    """A step for each clicked document and each unclicked one above it that are not a margin apart."""
    scores, pull = work[0], work[1]
    scores_of(w, X, rows, n, parameters, scores)
    for i in range(k):
        pull[i] = 0.0
    for i in range(k):
        if clicks[i]:
            for j in range(i):
                if not clicks[j] and scores[order[i]] - scores[order[j]] <= parameters[2]:
                    pull[i] += 1.0
                    pull[j] -= 1.0
    for i in range(k):
        if pull[i] != 0.0:
            for f in range(w.size):
                w[f] += parameters[0] * pull[i] * X[rows[order[i]], f]


@dataclass(eq=False)
class ClickPerceptron(OnlineLearner):
    """Ranking perceptron: a clicked document is preferred to the unclicked ones above it.

    For each such pair whose scores differ by no more than the margin, w += learning_rate · (x_clicked − x_skipped); all
    pairs of a page are compared with the model before the page. There is no exploration: pages show the current order,
    as is usual for advertisements, where a worse page costs money. It needs users who read from the top.

    Parameters
    ----------
    margin
        Score difference above which a pair is left alone.

    References
    ----------
    Ciaramita, Murdock, Plachouras. 2008.

    Examples
    --------
    >>> learner = ClickPerceptron(n_features=2)
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> page = learner.show(X)
    >>> learner.learn(X, page, [False, True]).predict(X).tolist()
    [-0.1, 0.1]
    """

    show_kernel: ClassVar[Any] = show_perceptron
    learn_kernel: ClassVar[Any] = learn_perceptron

    margin: float = 0.0

    def parameters(self) -> np.ndarray:
        """Numbers that the kernels read."""
        return np.array([self.learning_rate, self.least, self.margin], np.float64)
