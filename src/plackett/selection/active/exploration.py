"""Which two documents to show first, to learn most from what users choose."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError

__all__ = ["explore"]


def _density(t: Any) -> Any:
    return np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)


def _normal(t: Any) -> Any:
    from scipy.special import ndtr

    return ndtr(t)


def expected_pair_loss(delta: Any, spread: Any) -> np.ndarray:
    r"""Mean of :math:`z^2\,1(z > 0)` for z normal with mean δ and deviation s: (δ² + s²)Φ(δ/s) + δ s φ(δ/s).

    >>> float(expected_pair_loss(-0.4, 1.3).round(6))
    0.503584
    """
    delta, spread = np.asarray(delta, np.float64), np.maximum(np.asarray(spread, np.float64), 1e-150)
    t = delta / spread
    return (delta**2 + spread**2) * _normal(t) + delta * spread * _density(t)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Normal beliefs about the relevance of the documents of one query.

    >>> Beliefs.prior(2).preferred(0, 1).mean.round(3).tolist()
    [0.461, -0.461]
    """

    mean: np.ndarray
    variance: np.ndarray

    @classmethod
    def prior(cls, n: int, *, mean: Any = 0.0, variance: float = 1.0) -> Beliefs:
        """The same variance for all."""
        return cls(np.broadcast_to(np.asarray(mean, np.float64), n).copy(), np.full(n, float(variance)))

    def preferred(self, winner: int, loser: int, *, noise: float = 1.0) -> Beliefs:
        """Beliefs after users preferred one document to another; no variance grows."""
        total = self.variance[winner] + self.variance[loser] + noise
        t = (self.mean[winner] - self.mean[loser]) / math.sqrt(total)
        v = float(_density(np.float64(t)) / max(float(_normal(np.float64(t))), 1e-300))
        shrink = v * (v + t)
        mean, variance = self.mean.copy(), self.variance.copy()
        for row, sign in ((winner, 1.0), (loser, -1.0)):
            mean[row] += sign * self.variance[row] / math.sqrt(total) * v
            variance[row] *= 1.0 - self.variance[row] / total * min(max(shrink, 0.0), 1.0)
        return Beliefs(mean, variance)

    def pair_losses(self, depth: float = 3.0) -> np.ndarray:
        """Expected loss of each pair under the ranking by mean: row above column; 0 below the diagonal of ranks."""
        order = np.argsort(-self.mean, kind="stable")
        m, var = self.mean[order], self.variance[order]
        loss = expected_pair_loss(m[None, :] - m[:, None], np.sqrt(var[None, :] + var[:, None]))
        loss = np.triu(np.exp(-np.arange(1, m.size + 1) / depth)[:, None] * loss, 1)
        out = np.empty_like(loss)
        out[np.ix_(order, order)] = loss
        return out


def _random(beliefs: Beliefs, depth: float, rng: np.random.Generator) -> tuple[int, int]:
    a, b = rng.choice(beliefs.mean.size, 2, replace=False)
    return int(a), int(b)


def _passive(beliefs: Beliefs, depth: float, rng: np.random.Generator) -> tuple[int, int]:
    a, b = np.argsort(-beliefs.mean, kind="stable")[:2]
    return int(a), int(b)


def _largest_pair(beliefs: Beliefs, depth: float, rng: np.random.Generator) -> tuple[int, int]:
    a, b = np.unravel_index(beliefs.pair_losses(depth).argmax(), (beliefs.mean.size,) * 2)
    return int(a), int(b)


def _largest_sum(beliefs: Beliefs, depth: float, rng: np.random.Generator) -> tuple[int, int]:
    loss = beliefs.pair_losses(depth)
    a, b = np.argsort(-(loss.sum(axis=0) + loss.sum(axis=1)), kind="stable")[:2]
    return int(a), int(b)


def _lookahead(beliefs: Beliefs, depth: float, rng: np.random.Generator) -> tuple[int, int]:
    now = beliefs.pair_losses(depth).sum()
    best, pair = -np.inf, (0, 1)
    for a in range(beliefs.mean.size):
        for b in range(a + 1, beliefs.mean.size):
            total = beliefs.variance[a] + beliefs.variance[b] + 1.0
            chance = float(_normal((beliefs.mean[a] - beliefs.mean[b]) / np.sqrt(total)))
            after = chance * beliefs.preferred(a, b).pair_losses(depth).sum()
            after += (1.0 - chance) * beliefs.preferred(b, a).pair_losses(depth).sum()
            if now - after > best:
                best, pair = now - after, (a, b)
    return pair


STRATEGIES: dict[str, Callable[[Beliefs, float, np.random.Generator], tuple[int, int]]] = {
    "passive": _passive,
    "random": _random,
    "largest-pair": _largest_pair,
    "lookahead": _lookahead,
    "largest-sum": _largest_sum,
}


def explore(
    beliefs: Beliefs, strategy: str = "largest-pair", *, depth: float = 3.0, random_state: Any = None
) -> np.ndarray:
    """Order in which to show the documents: two chosen ones first, the others by their expected relevance.

    Parameters
    ----------
    strategy
        ``"passive"``: the ranking as it is. ``"random"``: two at random. ``"largest-pair"``: the pair with the
        largest expected loss. ``"lookahead"``: the pair whose comparison is expected to lower the loss most (slow: all
        pairs). ``"largest-sum"``: the two documents with the largest sums of losses.
    depth
        How fast attention falls with the rank.

    Examples
    --------
    >>> beliefs = Beliefs(np.array([3.0, 2.0, 1.9, 0.0]), np.array([0.01, 0.01, 4.0, 0.01]))
    >>> explore(beliefs).tolist()
    [1, 2, 0, 3]

    References
    ----------
    Radlinski, Joachims: Active exploration for learning rankings from clickthrough data. KDD 2007.
    """
    choice("strategy", strategy, STRATEGIES)
    if beliefs.mean.size < 2:
        raise DataError("two documents or more are needed")
    pair = list(STRATEGIES[strategy](beliefs, depth, np.random.default_rng(random_state)))
    rest = np.argsort(-beliefs.mean, kind="stable")
    return np.concatenate((pair, rest[~np.isin(rest, pair)]))
