"""Pairwise differentiable gradient descent with a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett._kernel import REASSOC, kernel, kernel_from
from plackett.online._lists import logistic
from plackett.online.learners.base import OnlineLearner
from plackett.online.learners.pdgd import learn_pairs, show_drawn

__all__ = ["NetworkPDGD"]


@kernel(fastmath=REASSOC)
def _unit_value(w, x, h, d, hidden):  # type: ignore[no-untyped-def]
    """Output of hidden unit h; the weights are the rows of the units, then their offsets, then the output weights."""
    z = w[hidden * d + h]
    for f in range(d):
        z += w[h * d + f] * x[f]
    return logistic(z)


@kernel
def score_network(w, X, rows, n, parameters, out):  # type: ignore[no-untyped-def]
    hidden, d = int(parameters[2]), X.shape[1]
    last = hidden * (d + 1)
    for j in range(n):
        s, x = 0.0, X[rows[j]]
        for h in range(hidden):
            s += w[last + h] * _unit_value(w, x, h, d, hidden)
        out[j] = s


@kernel
def follow_network(w, X, rows, order, k, pull, parameters):  # type: ignore[no-untyped-def]
    """Σ pull_j ∇f(x_j), times the learning rate."""
    hidden, d = int(parameters[2]), X.shape[1]
    last = hidden * (d + 1)
    step = np.zeros(w.size)
    for i in range(k):
        size = parameters[0] * pull[order[i]]
        if size == 0.0:
            continue
        x = X[rows[order[i]]]
        for h in range(hidden):
            a = _unit_value(w, x, h, d, hidden)
            step[last + h] += size * a
            back = size * w[last + h] * a * (1.0 - a)
            step[hidden * d + h] += back
            for f in range(d):
                step[h * d + f] += back * x[f]
    for f in range(w.size):
        w[f] += step[f]


@dataclass(eq=False)
class NetworkPDGD(OnlineLearner):
    """Pairwise differentiable gradient descent (`PDGD`) for a network with one layer of sigmoid units.

    The score is f(x) = Σ_h v_h σ(w_hᵀx + b_h). Lists, pairs and their weights are those of `PDGD`; the step follows the
    gradient of f. A network can learn what no linear model can, but needs more clicks: in the first thousands of pages
    the linear learner is better.

    Parameters
    ----------
    hidden
        Units in the layer.

    Examples
    --------
    Users want documents in the middle of the range, which no linear score can put first:

    >>> learner = NetworkPDGD(n_features=1, hidden=8, k=3, learning_rate=1.0, random_state=1)
    >>> X = np.array([[0.0], [0.5], [1.0]])
    >>> for _ in range(3000):
    ...     page = learner.show(X)
    ...     _ = learner.learn(X, page, page.order == 1)
    >>> learner.predict(X).argmax()
    np.int64(1)
    """

    _ids: ClassVar[tuple[str, ...]] = ("online.pdgd",)
    paper: ClassVar[str] = "Oosterhuis, de Rijke 2018"
    _show: ClassVar[Any] = kernel_from(show_drawn, score=score_network)
    _learn: ClassVar[Any] = kernel_from(learn_pairs, score=score_network, follow=follow_network)
    _score: ClassVar[Any] = score_network

    hidden: int = 64

    def __post_init__(self) -> None:
        if self.hidden < 1:
            raise DataError(f"hidden={self.hidden}; give at least one unit")
        super().__post_init__()

    def parameters(self) -> np.ndarray:
        """Numbers that the kernels read."""
        return np.array([self.learning_rate, self.least, self.hidden], np.float64)

    def new_weights(self) -> np.ndarray:
        """Random weights, from the seed: units must differ from each other."""
        d, hidden = self.n_features, self.hidden
        rng = np.random.default_rng(self.random_state)
        inner = rng.uniform(-1, 1, (hidden, d)) * 4 * np.sqrt(6 / (d + hidden))
        offsets = -inner.mean(axis=1) * d / 2  # units change where features of 0 to 1 are
        return np.concatenate([inner.ravel(), offsets, rng.uniform(-1, 1, hidden) * np.sqrt(6 / (hidden + 1))])
