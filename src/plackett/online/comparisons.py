"""Comparisons of rankers among simulated users: many pairs, many pages, all compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, kernel_from, over_queries
from plackett.data.dataset import RankingDataset
from plackett.online._lists import click, uniform
from plackett.online.interleaving.optimised import Optimised
from plackett.online.users import user_model

__all__ = ["simulate_comparisons"]

#: Of probabilistic interleaving.
_TAU = 3.0


def _pages(  # type: ignore[no-untyped-def]
    lo, hi, starts, seeds, pairs, top, sizes, plan_at, plan_rows, plan_gap, plan_cumulated, attraction, stop, look,
    right, wrong, leave, marks, stats,
):  # fmt: skip
    """Pages of each pair; ``make`` fills a page and what a click at each rank is worth, ``worth`` sums it up."""
    k, n_queries = top.shape[2], top.shape[1]
    page, every = np.empty(k, np.int64), np.arange(k)
    first, second, clicks = np.empty(k), np.empty(k), np.zeros(k, np.bool_)
    state = np.empty(1, np.uint64)
    for pair in range(lo, hi):
        state[0] = seeds[pair]
        t = 0
        sums = np.zeros((2, 3))
        for mark in range(marks.size):
            while t < marks[mark]:
                q = int(uniform(state) * n_queries)
                size = sizes[q]
                begin, end = plan_at[pair * n_queries + q], plan_at[pair * n_queries + q + 1]
                group = make(  # type: ignore[name-defined]  # noqa: F821
                    top[pairs[pair, 0], q], top[pairs[pair, 1], q], size, t, begin, end, plan_rows, plan_gap,
                    plan_cumulated, state, page, first, second,
                )  # fmt: skip
                click(page, every, size, attraction, stop, look, right, wrong, leave, state, clicks)
                value = worth(size, clicks, first, second)  # type: ignore[name-defined]  # noqa: F821
                sums[group, 0] += 1.0
                sums[group, 1] += value
                sums[group, 2] += value * value
                t += 1
            stats[pair, mark] = sums


@kernel
def _among(document, page, n):  # type: ignore[no-untyped-def]
    for i in range(n):  # noqa: SIM110 (kernels have no generators)
        if page[i] == document:
            return True
    return False


@kernel
def _rank(document, ranking, size):  # type: ignore[no-untyped-def]
    """From 1; 0 if it is not there."""
    for i in range(size):
        if ranking[i] == document:
            return i + 1
    return 0


@kernel
def _make_team_draft(a, b, size, t, begin, end, rows, gaps, cumulated, state, page, first, second):  # type: ignore[no-untyped-def]
    turn = False
    for i in range(size):
        turn = uniform(state) < 0.5 if i % 2 == 0 else not turn
        at = 0
        if turn:
            while _among(a[at], page, i):
                at += 1
            page[i], first[i] = a[at], 1.0
        else:
            while _among(b[at], page, i):
                at += 1
            page[i], first[i] = b[at], -1.0
    return 0


@kernel
def _make_balanced(a, b, size, t, begin, end, rows, gaps, cumulated, state, page, first, second):  # type: ignore[no-untyped-def]
    """The ranks of each document in both lists, for `_worth_balanced`."""
    n, begins = 0, uniform(state) < 0.5
    for depth in range(size):
        for turn in range(2):
            document = a[depth] if (turn == 0) == begins else b[depth]
            if n < size and not _among(document, page, n):
                page[n] = document
                n += 1
    for i in range(size):
        first[i], second[i] = _rank(page[i], a, size), _rank(page[i], b, size)
    return 0


@kernel
def _make_probabilistic(a, b, size, t, begin, end, rows, gaps, cumulated, state, page, first, second):  # type: ignore[no-untyped-def]
    pool, weight, n = np.empty(2 * size, np.int64), np.empty((2, 2 * size)), 0
    for i in range(2 * size):
        document = a[i] if i < size else b[i - size]
        if not _among(document, pool, n):
            pool[n] = document
            ranks = _rank(document, a, size), _rank(document, b, size)
            for r in range(2):
                weight[r, n] = (ranks[r] if ranks[r] > 0 else size + 1.0) ** -_TAU
            n += 1
    for i in range(size):
        total_a, total_b = weight[0, :n].sum(), weight[1, :n].sum()
        drawn = 0 if uniform(state) < 0.5 else 1
        left, best = uniform(state) * (total_a if drawn == 0 else total_b), -1
        for j in range(n):
            if weight[drawn, j] > 0.0:
                best = j
                left -= weight[drawn, j]
                if left < 0.0:
                    break
        p, q = weight[0, best] / total_a, weight[1, best] / total_b
        page[i], first[i] = pool[best], (p - q) / (p + q)
        weight[0, best] = weight[1, best] = 0.0
    return 0


@kernel
def _make_planned(a, b, size, t, begin, end, rows, gaps, cumulated, state, page, first, second):  # type: ignore[no-untyped-def]
    """A list of a plan that was made before."""
    u, at = uniform(state), begin
    while at < end - 1 and cumulated[at] <= u:
        at += 1
    for i in range(size):
        page[i], first[i] = rows[at, i], gaps[at, i]
    return 0


@kernel
def _make_ab(a, b, size, t, begin, end, rows, gaps, cumulated, state, page, first, second):  # type: ignore[no-untyped-def]
    """One ranker's own list."""
    group = t % 2
    for i in range(size):
        page[i], first[i] = (a[i] if group == 0 else b[i]), 1.0
    return group


@kernel
def _worth_added(size, clicks, first, second):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(size):
        if clicks[i]:
            total += first[i]
    return total


@kernel
def _worth_first(size, clicks, first, second):  # type: ignore[no-untyped-def]
    """1 / rank of the first click."""
    for i in range(size):
        if clicks[i]:
            return 1.0 / (i + 1.0)
    return 0.0


@kernel
def _worth_balanced(size, clicks, first, second):  # type: ignore[no-untyped-def]
    lowest = -1
    for i in range(size):
        if clicks[i]:
            lowest = i
    if lowest < 0:
        return 0.0
    depth = np.inf
    for rank in (first[lowest], second[lowest]):
        if rank > 0:
            depth = min(depth, rank)
    total = 0.0
    for i in range(size):
        if clicks[i]:
            total += (0 < first[i] <= depth) - 1.0 * (0 < second[i] <= depth)
    return total


_METHODS: dict[str, tuple[Any, Any]] = {
    "team-draft": (_make_team_draft, _worth_added),
    "balanced": (_make_balanced, _worth_balanced),
    "probabilistic": (_make_probabilistic, _worth_added),
    "optimised": (_make_planned, _worth_added),
    "A/B, clicks": (_make_ab, _worth_added),
    "A/B, first click": (_make_ab, _worth_first),
}


@cache
def _kernel_for(method: str) -> Any:
    make, worth = _METHODS[method]
    return kernel_from(_pages, make=make, worth=worth)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Result of `simulate_comparisons`; arrays have a row per pair and a column per mark.

    Attributes
    ----------
    marks
        Number of pages at each mark.
    mean, deviation
        By method: mean preference for the first ranker of each pair, and the standard deviation of one page. For
        A/B tests the difference of the clicks per page, or of 1 / rank of the first click, and the deviation of one
        page of either group.
    """

    marks: np.ndarray
    mean: dict[str, np.ndarray]
    deviation: dict[str, np.ndarray]

    def agreement(self, difference: Any) -> dict[str, np.ndarray]:
        """Share of the pairs whose mean has the sign of a true difference, at each mark; ties count half."""
        sign = np.sign(np.asarray(difference, np.float64))[:, None]
        return {name: (1 + np.sign(mean) * sign).mean(axis=0) / 2 for name, mean in self.mean.items()}

    def pages_needed(self, method: str, *, alpha: float = 0.05, power: float = 0.8) -> np.ndarray:
        """Pages for a test of this level and power, for each pair by its effect at the last mark; ∞ without one."""
        from statistics import NormalDist

        quantiles = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
        groups = 4.0 if method.startswith("A/B") else 1.0  # two groups of half of the pages
        effect, deviation = np.abs(self.mean[method][:, -1]), self.deviation[method][:, -1]
        ratio = np.divide(deviation, effect, out=np.full(effect.shape, np.inf), where=effect > 0)
        return groups * (quantiles * ratio) ** 2


def simulate_comparisons(
    data: RankingDataset,
    scores: Any,
    pairs: Any,
    *,
    users: Any = "navigational",
    methods: Sequence[str] = tuple(_METHODS),
    k: int = 10,
    pages: int = 10_000,
    marks: int = 10,
    most_lists: int = 32,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Comparisons:
    """Compare pairs of rankers on simulated pages, by each way of interleaving and by an A/B test.

    A page draws a query, makes the list and draws the clicks. Every pair and method has pages of its own, which depend
    on ``random_state`` and the pair alone.

    Parameters
    ----------
    data
        Judged queries.
    scores
        One row per ranker, one score per document.
    pairs
        Numbers of two rankers each.
    users
        See `user_model`.
    methods
        team-draft, balanced, probabilistic, optimised; "A/B, clicks" (per page) and "A/B, first click" (1 / rank, 0
        without a click), each with half of the pages for either ranker.
    k
        Documents shown.
    pages, marks
        Pages of each pair and method, and the number of marks, logarithmically spaced, at which results are kept.
    most_lists
        Of `Optimised`, which solves a linear program for every pair and query.

    Examples
    --------
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=20, docs_per_query=12, random_state=0)
    >>> rankers = [data.labels, -data.labels]
    >>> simulated = simulate_comparisons(data, rankers, [(0, 1)], methods=["team-draft"], pages=2000)
    >>> float(simulated.mean["team-draft"][0, -1]) > 0.3  # the first one is better
    True
    """
    scores, pairs = np.atleast_2d(np.asarray(scores, np.float64)), np.asarray(pairs, np.int64).reshape(-1, 2)
    if scores.shape[1] != data.n_rows or not np.isfinite(scores).all():
        raise DataError(f"scores have shape {scores.shape}; rows of {data.n_rows} finite numbers were expected")
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < len(scores):
        raise DataError(f"pairs name ranker {int(pairs.max())}; there are {len(scores)}")
    unknown = [name for name in methods if name not in _METHODS]
    if unknown or pages < 2 or marks < 1 or k < 1:
        raise DataError(
            f"methods={list(methods)}, pages={pages}, marks={marks}, k={k}: methods are {', '.join(_METHODS)}; "
            "there are at least 2 pages, 1 mark and 1 document"
        )
    model = user_model(users, data, k)
    sizes = np.minimum(np.diff(data.offsets), k).astype(np.int64)
    top = _tops(data, scores, sizes, k)
    at = np.unique(np.geomspace(min(100, pages), pages, marks).round().astype(np.int64))
    at[-1] = pages
    seeds = np.random.SeedSequence(random_state).generate_state(len(pairs), np.uint64)
    nothing = np.zeros(len(pairs) * len(sizes) + 1, np.int64), np.zeros((1, k), np.int64), np.zeros((1, k)), np.zeros(1)
    mean, deviation = {}, {}
    for number, name in enumerate(methods):
        plans = _plans(top, sizes, pairs, most_lists) if name == "optimised" else nothing
        stats = np.zeros((len(pairs), at.size, 2, 3))
        over_queries(
            _kernel_for(name), np.arange(len(pairs) + 1), seeds + np.uint64(number), pairs, top, sizes, *plans,
            model.attraction, model.stop, model.look, model.right, model.wrong, float(model.leave), at, stats,
            n_jobs=n_jobs, rows_per_thread=1,
        )  # fmt: skip
        n, total, squares = np.moveaxis(stats, -1, 0)
        averages = total / np.maximum(n, 1)
        variance = squares / np.maximum(n, 1) - averages**2
        used = 2 if name.startswith("A/B") else 1
        mean[name] = averages[..., 0] - averages[..., 1] if used == 2 else averages[..., 0]
        deviation[name] = np.sqrt(np.maximum(variance[..., :used].mean(axis=-1), 0.0))
    return Comparisons(at, mean, deviation)


def _tops(data: RankingDataset, scores: np.ndarray, sizes: np.ndarray, k: int) -> np.ndarray:
    """Rows of the first k documents by ranker and query; −1 beyond the end."""
    query = np.repeat(np.arange(data.n_queries), np.diff(data.offsets))
    top = np.full((len(scores), data.n_queries, k), -1, np.int64)
    wanted = np.arange(k) < sizes[:, None]
    at = (np.asarray(data.offsets[:-1])[:, None] + np.arange(k))[wanted]
    for ranker, each in enumerate(scores):
        top[ranker][wanted] = np.lexsort((-each, query))[at]
    return top


def _plans(top: np.ndarray, sizes: np.ndarray, pairs: np.ndarray, most: int) -> tuple[np.ndarray, ...]:
    """The lists of `Optimised` for every pair and query, with the first ranker's credit less the second's."""
    method, k = Optimised(most_lists=most), top.shape[2]
    starts, rows, gaps, cumulated = [0], [], [], []
    for first, second in pairs:
        for q, size in enumerate(sizes):
            lists = [top[first, q, :size].tolist(), top[second, q, :size].tolist()]
            plan = method.plan(lists, int(size))
            pool = np.array(list(dict.fromkeys(lists[0] + lists[1])), np.int64)
            credit = plan.credit[plan.lists] - plan.residual
            kept = plan.probability > 1e-12
            padding = ((0, 0), (0, k - size))
            rows.append(np.pad(pool[plan.lists[kept]], padding))
            gaps.append(np.pad((credit[..., 0] - credit[..., 1])[kept], padding))
            cumulated.append(np.cumsum(plan.probability[kept]))
            starts.append(starts[-1] + int(kept.sum()))
    return np.array(starts, np.int64), np.concatenate(rows), np.concatenate(gaps), np.concatenate(cumulated)
