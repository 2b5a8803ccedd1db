"""Rank aggregation by the Plackett–Luce model with a Gamma prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists

__all__ = ["BayesianPlackettLuce"]


@dataclass(frozen=True, kw_only=True)
class BayesianPlackettLuce(Aggregation):
    r"""Bayesian Plackett–Luce: every list draws its documents one by one, by strengths with a Gamma prior.

    .. math:: P(\sigma \mid v) = \prod_i \frac{v_{\sigma(i)}}{\sum_{j \ge i} v_{\sigma(j)}}, \qquad
              v \sim \mathrm{Gamma}(a, b)

    The score is the logarithm of the most probable strength, by minorisation–maximisation, or with ``samples`` the
    posterior mean of the logarithm, by Gibbs sampling with exponential waiting times. Tied documents are each drawn
    against their ties and all below.

    Parameters
    ----------
    prior
        (a, b), with a > 1 and b > 0. With few lists the strengths stay close together; only their ratios matter.
    samples
        0: most probable strengths; otherwise the number of Gibbs sweeps, after a fifth as many for burn-in.
    unranked
        ``"below"``: a list was drawn from all documents of the query, and those it lacks were left over;
        ``"unknown"``: only from its own.
    max_iter, tol
        Maximum number of steps, and the largest change of a log-strength at which to stop.
    random_state
        Seed of the sampling.

    Examples
    --------
    >>> lists = RankLists.from_orders([["a", "b", "c"], ["b", "a"], ["a", "c"]])
    >>> BayesianPlackettLuce().order(lists)
    ['a', 'b', 'c']

    References
    ----------
    Guiver, Snelson: Bayesian inference for Plackett–Luce ranking models. ICML 2009. Caron, Doucet: Efficient Bayesian
    inference for generalized Bradley–Terry models. Journal of Computational and Graphical Statistics 2012.
    """

    name: ClassVar[str] = "BayesianPlackettLuce"
    aliases: ClassVar[tuple[str, ...]] = ("PlackettLuce", "Luce")

    prior: tuple[float, float] = (2.0, 1.0)
    samples: int = 0
    unranked: str = "below"
    max_iter: int = 1000
    tol: float = 1e-9
    random_state: int = 0

    def __post_init__(self) -> None:
        a, b = self.prior
        if not (a > 1 and b > 0):
            raise DataError(f"BayesianPlackettLuce: prior={self.prior}; give (a, b) with a > 1 and b > 0")
        whole("BayesianPlackettLuce: samples", self.samples, least=0)

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        lists.places(self.unranked)  # rejects a wrong name
        out = np.empty(lists.n_rows)
        before, upto = lists.places()
        shape, rate = float(self.prior[0]), float(self.prior[1])
        everything = self.unranked == "below"
        common = (lists.offsets, before, upto, weights, everything, shape, rate)
        if self.samples:
            over_queries(_gibbs, *common, self.samples, self.random_state, out, n_jobs=n_jobs)
        else:
            over_queries(_maximise, *common, self.max_iter, self.tol, out, n_jobs=n_jobs)
        return out


@kernel
def _choices(n, listed, start, everything):
    """How many documents were left to draw from, after those before ``start``."""
    return (n if everything else listed) - start


@kernel
def _in_order(before, a, n, m, order):
    """The documents of a list by position, ties in the order of the rows; returns how many it has."""
    listed = 0
    for i in range(n):
        order[i] = -1
    for i in range(n):
        position = before[a + i, m]
        if position >= 0:
            while order[position] >= 0:
                position += 1
            order[position] = i
            listed += 1
    return listed


@kernel
def _count_wins(before, a, n, weights, everything, order, wins):
    wins[:n] = 0.0
    for m in range(weights.size):
        listed = _in_order(before, a, n, m, order)
        for position in range(listed):
            i = order[position]
            if _choices(n, listed, before[a + i, m], everything) > 1:
                wins[i] += weights[m]


@kernel
def _exposures(before, upto, a, n, weights, everything, v, waiting, order, rest, out):
    """Σ over the draws that a document took part in of w/(strength of all that did), or of a waiting time with it."""
    out[:n] = 0.0
    for m in range(weights.size):
        listed = _in_order(before, a, n, m, order)
        if weights[m] == 0.0 or listed == 0:
            continue
        rest[listed] = 0.0
        if everything:
            for i in range(n):
                rest[listed] += v[i] if before[a + i, m] < 0 else 0.0
        for position in range(listed - 1, -1, -1):
            rest[position] = rest[position + 1] + v[order[position]]
        exposure = 0.0
        position = 0
        while position < listed:
            end = upto[a + order[position], m]
            if _choices(n, listed, position, everything) > 1:
                drawn = weights[m] * (end - position)
                exposure += (np.random.standard_gamma(drawn) if waiting else drawn) / rest[position]  # noqa: NPY002
            for tied in range(position, end):
                out[order[tied]] += exposure
            position = end
        if everything:
            for i in range(n):
                if before[a + i, m] < 0:
                    out[i] += exposure


@kernel
def _maximise(lo, hi, offsets, before, upto, weights, everything, shape, rate, max_iter, tol, out):
    n_max = longest(lo, hi, offsets)
    order = np.empty(n_max, np.int64)
    rest = np.empty(n_max + 1, np.float64)
    wins = np.empty(n_max, np.float64)
    exposure = np.empty(n_max, np.float64)
    v = np.empty(n_max, np.float64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        _count_wins(before, a, n, weights, everything, order, wins)
        v[:n] = 1.0
        for _ in range(max_iter):
            _exposures(before, upto, a, n, weights, everything, v, False, order, rest, exposure)
            total = 0.0
            for i in range(n):
                exposure[i] = (shape - 1.0 + wins[i]) / (rate + exposure[i])
                total += exposure[i]
            level = (shape - 1.0) * n / (rate * total)  # the optimum; small steps would take long to find it
            moved = 0.0
            for i in range(n):
                new = exposure[i] * level
                moved = max(moved, abs(np.log(new / v[i])))
                v[i] = new
            if moved <= tol:
                break
        for i in range(n):
            out[a + i] = np.log(v[i])


@kernel
def _gibbs(lo, hi, offsets, before, upto, weights, everything, shape, rate, samples, seed, out):
    n_max = longest(lo, hi, offsets)
    order = np.empty(n_max, np.int64)
    rest = np.empty(n_max + 1, np.float64)
    wins = np.empty(n_max, np.float64)
    waits = np.empty(n_max, np.float64)
    v = np.empty(n_max, np.float64)
    for q in range(lo, hi):
        # Numba's generator for this thread, reseeded for every query, so that draws depend only on its lists
        np.random.seed(seed)  # noqa: NPY002
        a = offsets[q]
        n = offsets[q + 1] - a
        _count_wins(before, a, n, weights, everything, order, wins)
        v[:n] = 1.0
        out[a : a + n] = 0.0
        idle = samples // 5
        for sweep in range(idle + samples):
            _exposures(before, upto, a, n, weights, everything, v, True, order, rest, waits)
            for i in range(n):
                v[i] = max(np.random.standard_gamma(shape + wins[i]) / (rate + waits[i]), 1e-300)  # noqa: NPY002
                if sweep >= idle:
                    out[a + i] += np.log(v[i]) / samples
