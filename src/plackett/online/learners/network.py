"""Pairwise differentiable gradient descent with a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._kernels.kernel import kernel, kernel_from
from plackett.online._lists import logistic
from plackett.online.learners.pdgd import DrawnPages, learn_pairs, show_drawn

__all__ = ["NetworkPDGD"]


@kernel
def _layer(w, x, hidden, out):
    """Outputs of the units. The weights are those of each feature to all units, then offsets, then output weights."""
    for h in range(hidden):
        out[h] = w[x.size * hidden + h]
    for f in range(x.size):
        if x[f] != 0.0:
            for h in range(hidden):
                out[h] += w[f * hidden + h] * x[f]
    for h in range(hidden):
        out[h] = logistic(out[h])


@kernel
def score_network(w, X, rows, n, parameters, out):
    """Scores of a network with one hidden layer."""
    hidden, last = int(parameters[2]), w.size - int(parameters[2])
    units = np.empty(hidden)
    for j in range(n):
        _layer(w, X[rows[j]], hidden, units)
        s = 0.0
        for h in range(hidden):
            s += w[last + h] * units[h]
        out[j] = s


@kernel
def follow_network(w, X, rows, order, k, pull, parameters):
    """Σ pull_j ∇f(x_j), times the learning rate."""
    hidden, d, last = int(parameters[2]), X.shape[1], w.size - int(parameters[2])
    step, units = np.zeros(w.size), np.empty(hidden)
    for i in range(k):
        size = parameters[0] * pull[order[i]]
        if size == 0.0:
            continue
        x = X[rows[order[i]]]
        _layer(w, x, hidden, units)
        for h in range(hidden):
            step[last + h] += size * units[h]
            units[h] = size * w[last + h] * units[h] * (1.0 - units[h])  # from here on, back through the unit
            step[hidden * d + h] += units[h]
        for f in range(d):
            if x[f] != 0.0:
                for h in range(hidden):
                    step[f * hidden + h] += units[h] * x[f]
    for f in range(w.size):
        w[f] += step[f]


@dataclass(eq=False)
class NetworkPDGD(DrawnPages):
    """Pairwise differentiable gradient descent (`PDGD`) for a network with one layer of sigmoid units.

    The score is f(x) = Σ_h v_h σ(w_hᵀx + b_h). Lists, pairs and their weights are those of `PDGD`; the step follows the
    gradient of f. A network can learn what no linear model can, but needs more clicks: in the first thousands of pages
    the linear learner is as good or better.

    Parameters
    ----------
    hidden
        Units in the layer.

    References
    ----------
    Oosterhuis, de Rijke: Differentiable unbiased online learning to rank. CIKM 2018.

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

    show_kernel: ClassVar[Any] = kernel_from(show_drawn, score=score_network)
    learn_kernel: ClassVar[Any] = kernel_from(learn_pairs, score=score_network, follow=follow_network)
    score_kernel: ClassVar[Any] = score_network

    hidden: int = 64

    def __post_init__(self) -> None:
        whole("hidden", self.hidden, least=1)
        super().__post_init__()

    def parameters(self) -> np.ndarray:
        """Numbers that the kernels read."""
        return np.array([self.learning_rate, self.least, self.hidden], np.float64)

    def new_weights(self) -> np.ndarray:
        """Random weights, from the seed: units must differ from each other."""
        d, hidden = self.n_features, self.hidden
        rng = np.random.default_rng(self.random_state)
        inner = rng.uniform(-1, 1, (d, hidden)) * 4 * np.sqrt(6 / (d + hidden))
        offsets = -inner.sum(axis=0) / 2  # units change where features of 0 to 1 are
        return np.concatenate([inner.ravel(), offsets, rng.uniform(-1, 1, hidden) * np.sqrt(6 / (hidden + 1))])
