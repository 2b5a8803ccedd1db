"""Importance sampling by the prior of average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.selection.budget import proportional, share
from plackett.selection.candidates import Candidates
from plackett.selection.pools.base import Choice, Pool

__all__ = ["APPriorPool"]


def ap_prior(candidates: Candidates) -> np.ndarray:
    r"""Mean over the runs of the weight that average precision puts on a document's rank.

    .. math:: p(r) = \frac{1}{2N}\Bigl(1 + \frac1r + \frac1{r+1} + \dots + \frac1N\Bigr)

    sums to 1 over the N documents of a list; a run that lacks the document gives 0.

    >>> one = Candidates.from_runs([{"q": {"a": 4, "b": 3, "c": 2, "d": 1}}])
    >>> ap_prior(one).round(6).tolist()
    [0.385417, 0.260417, 0.197917, 0.15625]
    """
    length = candidates.length
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, max(int(length.max(initial=1)), 1) + 1))))
    n = length[:, candidates.query_of_row]
    rank = candidates.rank
    prior = (1.0 + harmonic[n] - harmonic[np.maximum(rank, 1) - 1]) / (2.0 * np.maximum(n, 1))
    return np.where(rank > 0, prior, 0.0).mean(axis=0)


def strata(prior: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Strata for a sample of n documents: number of each document's stratum, and sample size of each stratum.

    Documents whose share of the mass is worth a whole draw are taken for certain. The others, by descending prior,
    are cut into strata of about equal mass with at least two draws each, so that every pair of documents has a
    chance; strata with the same sampling rate are joined.

    >>> member, size = strata(np.array([8.0, 1, 1, 1, 1]), 3)
    >>> member.tolist(), size.tolist()
    ([0, 1, 1, 1, 1], [1, 2])
    """
    order = np.argsort(-prior, kind="stable")
    mass = prior[order]
    if n == mass.size:
        return np.zeros(n, np.int64), np.array([n])
    tail = np.cumsum(mass[::-1])[::-1]
    certain = 0
    while certain < n and (n - certain) * mass[certain] >= tail[certain]:
        certain += 1
    if n - certain == 1 and certain:  # a single draw leaves pairs without a chance
        certain -= 1
    left, rest = n - certain, mass[certain:]
    member = np.zeros(mass.size, np.int64)
    size = [certain] if certain else []
    if left:
        n_strata = max(1, left // 2)
        before = np.cumsum(rest) - rest
        cut = np.minimum((before / rest.sum() * n_strata).astype(np.int64), n_strata - 1)
        number = np.unique(cut, return_inverse=True)[1]
        high = np.bincount(number)
        if (low := np.minimum(2, high)).sum() > left:
            number, high, low = np.zeros(rest.size, np.int64), np.array([rest.size]), np.array([min(2, left)])
        draws = proportional(left, np.bincount(number, rest), low, high)
        rates = draws / high
        joined = np.unique(rates, return_inverse=True)[1]
        everything = certain > 0 and rates.max() == 1.0
        member[certain:] = joined[number] + len(size)
        size += np.bincount(joined, draws).astype(np.int64).tolist()
        if everything:  # a stratum that is taken whole belongs to the certain ones
            member[member == joined.max() + 1] = 0
            size[0] += size.pop()
    out = np.empty(mass.size, np.int64)
    out[order] = member
    return out, np.asarray(size, np.int64)


@dataclass(frozen=True)
class APPriorPool(Pool):
    """Sample that prefers documents that matter to average precision: what statAP needs.

    Documents are drawn with about the probability of `ap_prior`, by stratified sampling with fixed sizes, so that the
    budget is met exactly and the inclusion probability of each document, n_s/N_s of its stratum, is known. A stratum
    of a query is recognised by its rate: no two have the same.

    Examples
    --------
    >>> run = {"q": {f"d{i}": -i for i in range(20)}}
    >>> chosen = APPriorPool().select([run], budget=6).frame
    >>> chosen.height, round(sum(1 / chosen["inclusion"]))
    (6, 20)

    References
    ----------
    Aslam, Pavlu, Yilmaz: A statistical method for system evaluation using incomplete judgments. SIGIR 2006.
    """

    name: ClassVar[str] = "statap"
    aliases: ClassVar[tuple[str, ...]] = ("ap-prior",)

    def choose(self, candidates: Candidates, budget: int, rng: np.random.Generator) -> Choice:
        """Choose ``budget`` of the open rows."""
        prior = ap_prior(candidates)
        quota = share(budget, candidates.count(candidates.open))
        inclusion = np.zeros(candidates.n_rows)
        chosen = []
        for q in np.flatnonzero(quota):
            rows = np.arange(candidates.offsets[q], candidates.offsets[q + 1])
            rows = rows[candidates.open[rows]]
            member, size = strata(prior[rows], int(quota[q]))
            inclusion[rows] = (size / np.bincount(member))[member]
            order = np.lexsort((rng.random(rows.size), member))
            position = np.arange(rows.size) - np.searchsorted(member[order], member[order])
            chosen.append(rows[order[position < size[member[order]]]])

        def reason(row: int) -> str:
            return f"drawn with probability {inclusion[row]:.3g} by the weight of its ranks in average precision"

        return Choice(np.concatenate(chosen), prior, inclusion, reason)
