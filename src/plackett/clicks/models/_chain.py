"""Models of users who read from the top down: one kernel for the cascade, DCM, CCM, DBN and their kin.

A document is clicked with probability r when examined. After a skip at rank i the user reads on with probability
``skip_go[i]``, after a click with ``click_go[i] · (1 − stop[pair])``; once stopped, nothing more is examined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.clicks._codes import TOUCHED
from plackett.clicks.log import ClickLog
from plackett.clicks.models.log_parts import part_starts

#: Sums per rank: skips that could be followed by another row, those that were, and the same for clicks.
SKIPS, SKIPS_GONE_ON, CLICKS, CLICKS_GONE_ON = range(4)


@dataclass(frozen=True)
class ChainPages:
    """Pages sorted by query, so that threads work on pairs of their own."""

    offsets: np.ndarray
    pair: np.ndarray
    rank: np.ndarray
    clicked: np.ndarray
    weight: np.ndarray
    part_pages: np.ndarray
    part_rows: np.ndarray
    pair_shown: np.ndarray
    pair_clicks: np.ndarray
    n_pairs: int
    n_ranks: int

    @classmethod
    def of(cls, log: ClickLog, n_ranks: int, n_jobs: int | None = None) -> ChainPages:
        """Pages of a log."""
        order, n_pages, n_pairs = log.by_query, log.n_pages, log.n_pairs
        offsets = np.concatenate(([0], np.cumsum(log.lengths[order])))
        part_queries, part_rows = part_starts(log.query_rows)
        pair, rank = np.empty(log.n_rows, np.int32), np.empty(log.n_rows, np.int32)
        clicked, weight = np.empty(log.n_rows, bool), np.empty(n_pages)
        shown, clicks = np.zeros(n_pairs), np.zeros(n_pairs)
        over_queries(
            _gather_pages,
            part_rows,
            log.query_pages[part_queries],
            (order, log.offsets, log.pair, log.rank, log.clicked, log.page_weight),
            (pair, rank, clicked, weight),
            (shown, clicks),
            n_jobs=n_jobs,
        )
        return cls(
            offsets=offsets,
            pair=pair,
            rank=rank,
            clicked=clicked,
            weight=weight,
            part_pages=log.query_pages[part_queries],
            part_rows=part_rows,
            pair_shown=shown,
            pair_clicks=clicks,
            n_pairs=n_pairs,
            n_ranks=n_ranks,
        )


@kernel
def _gather_pages(lo, hi, part_rows, part_pages, pages, out, by_pair):
    order, offsets, pair, rank, clicked, weight = pages
    out_pair, out_rank, out_clicked, out_weight = out
    shown, clicks = by_pair
    n = part_rows[lo]
    end = part_pages[hi]
    ahead = 0
    for at in range(part_pages[lo], end):
        if at % TOUCHED == 0:
            for i in range(at, min(at + TOUCHED, end)):
                a = offsets[order[i]]
                b = offsets[order[i] + 1] - 1
                if a <= b:
                    ahead += pair[a] + pair[b] + rank[a] + rank[b] + clicked[a] + clicked[b]
        page = order[at]
        w = weight[page]
        out_weight[at] = w
        for row in range(offsets[page], offsets[page + 1]):
            p = pair[row]
            out_pair[n] = p
            out_rank[n] = rank[row] - 1
            out_clicked[n] = clicked[row]
            shown[p] += w
            if clicked[row]:
                clicks[p] += w
            n += 1
    return ahead


@dataclass(frozen=True)
class ChainSums:
    """Sums of one pass: everything that the M steps of the models need."""

    #: Expected examinations of each pair.
    examined: np.ndarray
    #: The same for skips alone, with squared probabilities: what was really learned of a pair.
    informed: np.ndarray
    #: Clicks on each pair above the last row, and how many of them are expected to have been followed by reading on.
    clicks: np.ndarray
    gone_on: np.ndarray
    #: First derivative of the log-likelihood by the stop probability of each pair, and the information about it.
    stop_score: np.ndarray
    stop_information: np.ndarray
    #: Sums per rank, see `SKIPS` and the others; shape (4, ranks).
    ranks: np.ndarray
    log_likelihood: float


@kernel
def _chain_pass(lo, hi, part_rows, pages, rates, by_pair, by_rank, likelihood):
    """Forward and backward over each page, with all sums.

    It is long because what is above the last click, the click itself and what is below it share a page's running
    probabilities: cut in three, each part would hand on a dozen numbers.
    """
    part_pages, offsets, pair, rank, clicked, weight = pages
    attraction, stop, skip_go, click_go = rates
    examined, informed, clicks, gone_on, score, information = by_pair
    tail = np.empty(longest(part_pages[lo], part_pages[hi], offsets) + 2)
    for part in range(lo, hi):
        ranks = by_rank[part]
        total = 0.0
        for page in range(part_pages[part], part_pages[part + 1]):
            a = offsets[page]
            n = offsets[page + 1] - a
            w = weight[page]
            last = n - 1
            while last >= 0 and not clicked[a + last]:
                last -= 1
            tail[n] = 1.0  # nothing below the list
            for i in range(n - 1, last, -1):
                go = skip_go[rank[a + i]]
                tail[i] = (1.0 - attraction[pair[a + i]]) * (1.0 - go + go * tail[i + 1])
            chance = 1.0
            for i in range(last):
                p = pair[a + i]
                r = rank[a + i]
                examined[p] += w
                if clicked[a + i]:
                    go = click_go[r] * (1.0 - stop[p])
                    chance *= attraction[p] * go
                    clicks[p] += w
                    gone_on[p] += w
                    slope = 1.0 / (1.0 - stop[p])
                    score[p] -= w * slope
                    information[p] += w * slope * slope
                    ranks[2, r] += w
                    ranks[3, r] += w
                else:
                    chance *= (1.0 - attraction[p]) * skip_go[r]
                    informed[p] += w
                    ranks[0, r] += w
                    ranks[1, r] += w
                if chance < 1e-200:
                    total += w * np.log(max(chance, 1e-300))
                    chance = 1.0
            reading = 1.0
            if last >= 0:
                p = pair[a + last]
                r = rank[a + last]
                examined[p] += w
                go = click_go[r] * (1.0 - stop[p])
                end = 1.0 - go + go * tail[last + 1]
                chance *= attraction[p] * end
                reading = go * tail[last + 1] / max(end, 1e-300)
                if last < n - 1:
                    clicks[p] += w
                    gone_on[p] += w * reading
                    slope = click_go[r] * (1.0 - tail[last + 1]) / max(end, 1e-300)
                    score[p] += w * slope
                    information[p] += w * slope * slope
                    ranks[2, r] += w
                    ranks[3, r] += w * reading
            elif n > 0:
                chance *= tail[0]
            for i in range(last + 1, n):
                p = pair[a + i]
                r = rank[a + i]
                examined[p] += w * reading
                informed[p] += w * reading * reading
                if i < n - 1:
                    go = skip_go[r]
                    onward = go * tail[i + 1] / max(1.0 - go + go * tail[i + 1], 1e-300)
                    ranks[0, r] += w * reading
                    reading *= onward
                    ranks[1, r] += w * reading
            total += w * np.log(max(chance, 1e-300))
        likelihood[part] = total


def chain_pass(
    pages: ChainPages,
    attraction: np.ndarray,
    stop: np.ndarray,
    skip_go: np.ndarray,
    click_go: np.ndarray,
    n_jobs: int | None = None,
) -> ChainSums:
    """Expectations of one pass over the pages."""
    by_pair: Any = tuple(np.zeros(pages.n_pairs) for _ in range(6))
    n_parts = pages.part_rows.size - 1
    by_rank, likelihood = np.zeros((n_parts, 4, pages.n_ranks)), np.zeros(n_parts)
    over_queries(
        _chain_pass,
        pages.part_rows,
        (pages.part_pages, pages.offsets, pages.pair, pages.rank, pages.clicked, pages.weight),
        (attraction, stop, skip_go, click_go),
        by_pair,
        by_rank,
        likelihood,
        n_jobs=n_jobs,
    )
    sums: list[Any] = [*by_pair, by_rank.sum(axis=0), float(likelihood.sum())]
    return ChainSums(*sums)


@kernel
def _chain_conditional(lo, hi, offsets, attraction, skip_go, click_go, clicked, out):
    for page in range(lo, hi):
        reading = 1.0
        for row in range(offsets[page], offsets[page + 1]):
            r = attraction[row]
            out[row] = reading * r
            if clicked[row]:
                reading = click_go[row]
            else:
                reading *= (1.0 - r) * skip_go[row] / max(1.0 - reading * r, 1e-300)


@kernel
def _chain_marginal(lo, hi, offsets, attraction, skip_go, click_go, out):
    for page in range(lo, hi):
        reading = 1.0
        for row in range(offsets[page], offsets[page + 1]):
            r = attraction[row]
            out[row] = reading * r
            reading *= r * click_go[row] + (1.0 - r) * skip_go[row]


def chain_conditional(log: ClickLog, attraction: np.ndarray, skip_go: np.ndarray, click_go: np.ndarray) -> np.ndarray:
    """Probability of a click on each row given the clicks above it; the arguments are per row."""
    out = np.empty(log.n_rows)
    over_queries(_chain_conditional, log.offsets, attraction, skip_go, click_go, log.clicked, out)
    return out


def chain_marginal(log: ClickLog, attraction: np.ndarray, skip_go: np.ndarray, click_go: np.ndarray) -> np.ndarray:
    """Probability of a click on each row before any click is seen; the arguments are per row."""
    out = np.empty(log.n_rows)
    over_queries(_chain_marginal, log.offsets, attraction, skip_go, click_go, out)
    return out
