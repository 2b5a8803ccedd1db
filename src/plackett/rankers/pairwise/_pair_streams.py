"""Stochastic subgradient steps on pairs that are drawn one at a time, with weights of features or of documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.losses.pairwise.drawn_pairs import DrawnPairs
from plackett.scorers.base import Scorer
from plackett.scorers.kernel import KernelScorer, KernelSpace
from plackett.scorers.linear import LinearScorer

#: Pairs whose differences are formed at a time.
_AT_ONCE = 4096
#: Maximum number of documents per call with a kernel; the kernel matrix then takes 200 MB.
_MOST_DOCUMENTS = 5000
#: Places in the state of training: steps so far, the largest margin, with a kernel the squared length of the weights.
STEPS, LARGEST, LENGTH = range(3)


@dataclass
class Stream:
    """State of training: weights, their mean, and how far it is."""

    rng: np.random.Generator
    scale: np.ndarray
    #: The numbers at `STEPS`, `LARGEST` and `LENGTH`.
    state: np.ndarray = field(default_factory=lambda: np.zeros(3))
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    mean: np.ndarray = field(default_factory=lambda: np.empty(0))

    def steps_on(
        self, data: RankingDataset, alpha: float, margin: float | str, normalize: bool
    ) -> Callable[[int], None]:
        """A function that takes a number of steps on these data."""
        raise NotImplementedError

    def scorer(self) -> Scorer:
        """Scores with the mean of the weights."""
        raise NotImplementedError


@dataclass
class LinearStream(Stream):
    """Weights of scaled features."""

    def steps_on(
        self, data: RankingDataset, alpha: float, margin: float | str, normalize: bool
    ) -> Callable[[int], None]:
        """A function that takes a number of steps on these data."""
        pairs = DrawnPairs(data, margin, normalize)

        def take(steps: int) -> None:
            for start in range(0, 0 if pairs.empty else steps, _AT_ONCE):
                winner, loser, wanted = pairs.draw(min(_AT_ONCE, steps - start), self.rng)
                difference = data.X[winner] - data.X[loser]
                difference = dense(difference)
                _linear_steps(difference / self.scale, wanted, alpha, self.state, self.weights, self.mean)

        return take

    def scorer(self) -> LinearScorer:
        """Scores with the mean of the weights."""
        return LinearScorer((self.mean / self.scale)[:, None], np.zeros(1))


@dataclass
class KernelStream(Stream):
    """Coefficients of the documents of violated pairs."""

    space: KernelSpace = field(kw_only=True)
    support: np.ndarray = field(kw_only=True)

    def steps_on(
        self, data: RankingDataset, alpha: float, margin: float | str, normalize: bool
    ) -> Callable[[int], None]:
        """A function that takes a number of steps on these data."""
        if data.n_rows > _MOST_DOCUMENTS:
            raise DataError(
                f"{data.n_rows} documents at once, but with a kernel at most {_MOST_DOCUMENTS} can be; give them in "
                "parts to partial_fit, or use KernelRankSVM(n_components=…)"
            )
        pairs = DrawnPairs(data, margin, normalize)
        used = (self.weights != 0) | (self.mean != 0)
        old = self.support[used]
        new = self.space.scaled(data.X)
        self.support = np.vstack([old, new])
        self.weights, self.mean = (np.append(v[used], np.zeros(data.n_rows)) for v in (self.weights, self.mean))
        scores = np.zeros(data.n_rows)
        if len(old):
            scores += (self.space.kernel(data.X, old) * self.weights[: len(old)]).sum(axis=1)
        K = self.space.kernel(data.X, new)

        def take(steps: int) -> None:
            if not pairs.empty:
                drawn = pairs.draw(steps, self.rng)
                _kernel_steps(K, *drawn, len(old), alpha, self.state, scores, self.weights, self.mean)

        return take

    def scorer(self) -> KernelScorer:
        """Scores with the mean of the coefficients."""
        used = self.mean != 0
        return self.space.scorer(self.support[used], self.mean[used])


@kernel
def _linear_steps(differences, margin, alpha, state, weights, mean):
    """One step for each row of differences."""
    d = weights.size
    for p in range(differences.shape[0]):
        state[STEPS] += 1.0
        state[LARGEST] = max(state[LARGEST], margin[p])
        x = differences[p]
        ahead = 0.0
        for j in range(d):
            ahead += weights[j] * x[j]
        shrink = 1.0 - 1.0 / state[STEPS]
        move = 1.0 / (alpha * state[STEPS]) if ahead < margin[p] else 0.0
        square = 0.0
        for j in range(d):
            weights[j] = shrink * weights[j] + move * x[j]
            square += weights[j] * weights[j]
        radius = np.sqrt(state[LARGEST] / alpha)
        inside = radius / np.sqrt(square) if square > radius * radius else 1.0
        share = 2.0 / (state[STEPS] + 1.0)
        for j in range(d):
            weights[j] *= inside
            mean[j] += share * (weights[j] - mean[j])


@kernel
def _kernel_steps(K, winner, loser, margin, first, alpha, state, scores, weights, mean):
    """The same with coefficients; those of the documents of K begin at ``first``, and their scores are kept."""
    for p in range(winner.size):
        u = winner[p]
        v = loser[p]
        state[STEPS] += 1.0
        state[LARGEST] = max(state[LARGEST], margin[p])
        ahead = scores[u] - scores[v]
        shrink = 1.0 - 1.0 / state[STEPS]
        move = 1.0 / (alpha * state[STEPS]) if ahead < margin[p] else 0.0
        bend = max(K[u, u] + K[v, v] - 2.0 * K[u, v], 0.0)
        square = shrink * shrink * state[LENGTH] + 2.0 * shrink * move * ahead + move * move * bend
        radius = np.sqrt(state[LARGEST] / alpha)
        inside = radius / np.sqrt(square) if square > radius * radius else 1.0
        state[LENGTH] = inside * inside * square
        for i in range(scores.size):
            scores[i] = inside * (shrink * scores[i] + move * (K[u, i] - K[v, i]))
        for i in range(weights.size):
            weights[i] *= inside * shrink
        weights[first + u] += inside * move
        weights[first + v] -= inside * move
        share = 2.0 / (state[STEPS] + 1.0)
        for i in range(weights.size):
            mean[i] += share * (weights[i] - mean[i])
