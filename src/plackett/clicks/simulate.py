"""Logs of simulated users: a logging ranker shows lists of judged documents, users with known habits click."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.randomness import mix
from plackett._kernels.scratch import longest
from plackett.clicks._codes import codes
from plackett.clicks.log import ClickLog
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of

__all__ = ["CascadeUsers", "PositionUsers", "TrustUsers", "simulate_log"]


@dataclass(frozen=True)
class SimulatedUsers:
    """Users with known habits, the base of the others.

    Parameters
    ----------
    noise
        Probability that a document with the lowest grade attracts, once it was examined; a document with the highest
        grade attracts with ``1 − miss``, and those between by their gain 2^y − 1.
    miss
        Probability that a document with the highest grade does not attract.
    """

    noise: float = 0.1
    miss: float = 0.0

    def attraction(self, grades: np.ndarray, highest: float) -> np.ndarray:
        """Probability that a document of each grade is clicked when examined."""
        gain = (np.exp2(np.maximum(grades, 0.0)) - 1) / max(np.exp2(highest) - 1, 1e-12)
        return self.noise + (1.0 - self.miss - self.noise) * gain

    def examination(self, n: int) -> np.ndarray:
        """Probability that the ranks 1 to n are examined, where it depends on the rank alone."""
        raise DataError(f"{type(self).__name__}: examination depends on the documents above")

    def draw(self, attraction: np.ndarray, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        """Clicks on each row of a log."""
        raise NotImplementedError


@dataclass(frozen=True)
class PositionUsers(SimulatedUsers):
    """Users who examine rank i with probability 1 / i^strength, whatever is there."""

    strength: float = 1.0

    def examination(self, n: int) -> np.ndarray:
        """Probability that the ranks 1 to n are examined."""
        return np.arange(1, n + 1.0) ** -self.strength

    def draw(self, attraction: np.ndarray, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        """Clicks on each row of a log."""
        look = self.examination(log.longest)[log.rank - 1]
        return rng.random(log.n_rows) < look * attraction


@dataclass(frozen=True)
class TrustUsers(PositionUsers):
    """Users who also trust high ranks: there they take bad documents for good ones more often.

    An examined document that attracts is clicked with probability ``.98 − (i + 1)/100``, one that does not with
    ``trust / i`` (Agarwal, Wang, Li, Bendersky, Najork 2019).
    """

    trust: float = 0.65

    def click_rates(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Probability of a click on an examined document at ranks 1 to n that attracts, and that does not."""
        i = np.arange(1, n + 1.0)
        return np.maximum(0.98 - (i + 1) / 100, 0.0), self.trust / i

    def draw(self, attraction: np.ndarray, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        """Clicks on each row of a log."""
        right, wrong = self.click_rates(log.longest)
        at = log.rank - 1
        rate = right[at] * attraction + wrong[at] * (1.0 - attraction)
        return rng.random(log.n_rows) < self.examination(log.longest)[at] * rate


@dataclass(frozen=True)
class CascadeUsers(SimulatedUsers):
    """Users who read from the top, and stop when satisfied or tired (dynamic Bayesian network).

    Parameters
    ----------
    go_on
        Probability of reading on after a document that did not satisfy.
    satisfaction
        Probability that a clicked document of the highest grade satisfies; others in proportion to their attraction.
    """

    go_on: float = 0.9
    satisfaction: float = 0.7

    def draw(self, attraction: np.ndarray, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        """Clicks on each row of a log."""
        clicks = np.zeros(log.n_rows, bool)
        reading = np.ones(log.n_pages, bool)
        draws = rng.random((3, log.n_rows))
        for i in range(int(log.lengths.max(initial=0))):
            pages = np.flatnonzero(reading & (log.lengths > i))
            rows = log.offsets[pages] + i
            hit = draws[0, rows] < attraction[rows]
            clicks[rows] = hit
            done = hit & (draws[1, rows] < self.satisfaction * attraction[rows])
            reading[pages] = ~done & (draws[2, rows] < self.go_on)
        return clicks


@kernel
def _uniform(seed, counter):
    return (np.float64(mix(seed ^ mix(np.uint64(counter))) >> np.uint64(11)) + 0.5) * 2.0**-53


@kernel
def _draw_lists(lo, hi, starts, query, offsets, levels, strengths, totals, seed, rows, chance):
    """Plackett–Luce lists by Gumbel noise: the top of each page, and each document's probability given those above."""
    k_max = longest(lo, hi, starts)
    keys = np.empty(k_max + 1)
    best = np.empty(k_max + 1, np.int64)
    for page in range(lo, hi):
        a = offsets[query[page]]
        n = offsets[query[page] + 1] - a
        k = starts[page + 1] - starts[page]
        base = np.uint64(page) << np.uint64(24)
        size = 0
        for j in range(n):
            key = levels[a + j] - np.log(-np.log(_uniform(seed, base + np.uint64(j))))
            if size == k and not key > keys[k - 1]:
                continue
            i = size if size < k else k - 1  # the best so far, in order; among equal ones the first comes first
            size = min(size + 1, k)
            while i > 0 and key > keys[i - 1]:
                keys[i] = keys[i - 1]
                best[i] = best[i - 1]
                i -= 1
            keys[i] = key
            best[i] = j
        total = totals[query[page]]
        for i in range(k):
            row = starts[page] + i
            strength = strengths[a + best[i]]
            rows[row] = a + best[i]
            chance[row] = min(1.0, strength / max(total, strength))
            total -= strength


@kernel
def _strengths(lo, hi, offsets, scores, scale, levels, strengths, totals):
    """Logarithms of the strengths of the documents, at most 0, the strengths, and their sum for each query."""
    for q in range(lo, hi):
        top = -np.inf
        for row in range(offsets[q], offsets[q + 1]):
            top = max(top, scores[row] * scale)
        for row in range(offsets[q], offsets[q + 1]):
            levels[row] = scores[row] * scale - top
            strengths[row] = np.exp(levels[row])
            totals[q] += strengths[row]


def simulate_log(
    data: RankingDataset,
    scores: Any = None,
    *,
    n_pages: int = 10_000,
    k: int = 10,
    users: SimulatedUsers | None = None,
    temperature: float = 0.0,
    query_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ClickLog:
    """Simulate a click log on judged documents.

    Parameters
    ----------
    data
        Documents with grades. Documents of the log are called by ``data.docids``, or by their row number.
    scores
        Scores of the logging ranker; None shows the documents in random order.
    n_pages
        Number of result pages; queries are drawn at random.
    k
        Documents per page.
    users
        Habits of the users; `PositionUsers` by default.
    temperature
        0 shows the documents in order of score. Above 0 the lists are drawn from a Plackett–Luce model with strengths
        exp(score / temperature), and the log has ``conditional_propensities``.
    query_weight
        How often each query is asked, in proportion; equally often by default.

    Examples
    --------
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=20, docs_per_query=12, random_state=0)
    >>> log = simulate_log(data, data.X[:, 0], n_pages=1000, random_state=0)
    >>> log.n_pages, log.n_rows, log.n_queries
    (1000, 10000, 20)
    """
    rng = np.random.default_rng(random_state)
    shown = ShownPages.draw(
        data, scores, rng, n_pages=n_pages, k=k, temperature=temperature, query_weight=query_weight, n_jobs=n_jobs
    )
    return shown.clicked(users or PositionUsers(), rng)


@dataclass(frozen=True)
class ShownPages:
    """Pages without clicks yet: several kinds of users may see the same ones."""

    log: ClickLog
    #: Row of the dataset of each row of the log.
    rows: np.ndarray
    data: RankingDataset

    @classmethod
    def draw(
        cls,
        data: RankingDataset,
        scores: Any,
        rng: np.random.Generator,
        *,
        n_pages: int,
        k: int = 10,
        temperature: float = 0.0,
        query_weight: Any = None,
        n_jobs: int | None = None,
    ) -> ShownPages:
        """Pages of a logging ranker; see `simulate_log`."""
        if temperature < 0:
            raise DataError(f"temperature={temperature}; give 0 for a fixed order, or a positive number")
        scores = None if scores is None else scores_of(data, scores)
        share = None if query_weight is None else np.asarray(query_weight, np.float64)
        query = rng.choice(data.n_queries, n_pages, p=None if share is None else share / share.sum()).astype(np.int32)
        sizes = np.minimum(np.diff(data.offsets)[query], k)
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        random_order = scores is None or temperature > 0
        if random_order:
            rows, chance = np.empty(offsets[-1], np.int64), np.ones(offsets[-1])
            level = np.zeros(data.n_rows) if scores is None else scores
            scale = 0.0 if scores is None else 1.0 / temperature
            seed = np.uint64(rng.integers(2**63))
            strengths = np.empty(data.n_rows), np.empty(data.n_rows), np.zeros(data.n_queries)
            over_queries(_strengths, data.offsets, level, scale, *strengths, n_jobs=n_jobs)
            over_queries(_draw_lists, offsets, query, data.offsets, *strengths, seed, rows, chance, n_jobs=n_jobs)
        else:
            qid = np.repeat(np.arange(data.n_queries), np.diff(data.offsets))
            order = np.lexsort((-scores, qid))
            rows = order[np.repeat(data.offsets[query] - offsets[:-1], sizes) + np.arange(offsets[-1])]
        names = np.arange(data.n_rows) if data.docids is None else data.docids
        code, documents = codes(names, "docids")
        log = ClickLog(
            offsets=offsets,
            query=query,
            document=code[rows],
            clicks=np.zeros(offsets[-1], np.int32),
            queries=np.asarray(data.qids),
            documents=documents,
            conditional_propensities=chance if random_order else None,
            propensities=None if random_order and scores is not None else _fixed(random_order, data, query, sizes),
        )
        return cls(log, rows, data)

    def clicked(self, users: SimulatedUsers, rng: np.random.Generator) -> ClickLog:
        """The pages with clicks of these users."""
        labels = self.data.labels
        attraction = users.attraction(labels, float(labels.max(initial=0.0)))[self.rows]
        return replace(self.log, clicks=users.draw(attraction, self.log, rng).astype(np.int32)).checked()


def _fixed(random_order: bool, data: RankingDataset, query: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Chance of each document at its rank: one in all documents of the query, or certainty."""
    chance = 1.0 / np.diff(data.offsets)[query] if random_order else np.ones(query.size)
    return np.repeat(chance, sizes)
