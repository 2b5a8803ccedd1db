"""The two families of click models: by cells, and from the top down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.clicks.log import ClickLog
from plackett.clicks.models._chain import ChainPages, ChainSums, chain_conditional, chain_marginal, chain_pass
from plackett.clicks.models.base import ClickModel, clipped
from plackett.clicks.models.cells import (
    CellCounts,
    browsing_cell,
    browsing_cells,
    count_browsing,
    count_ranks,
    n_browsing_cells,
    rank_cells,
)
from plackett.clicks.models.statistics import Sums, Totals

#: Most ranks of models with a parameter per rank and last click.
MAX_BROWSED = 300

# ---------------------------------------------------------------------------------------------------------- examination


@kernel
def _examination_pass(lo, hi, part_entries, part_pairs, counts, attraction, examination, by_pair, by_cell, likelihood):
    starts, cell, clicks, skips = counts
    examined, informed = by_pair
    for part in range(lo, hi):
        total = 0.0
        chance = 1.0
        for p in range(part_pairs[part], part_pairs[part + 1]):
            r = attraction[p]
            seen = 0.0
            sure = 0.0
            for i in range(starts[p], starts[p + 1]):
                c = cell[i]
                skipped = skips[i]
                expected = clicks[i]
                if skipped > 0.0:
                    look = examination[c]
                    miss = 1.0 - look * r
                    part_seen = look * (1.0 - r) / miss
                    if skipped == 1.0:
                        chance *= miss
                    elif skipped == 2.0:
                        chance *= miss * miss
                    elif skipped == 3.0:
                        chance *= miss * miss * miss
                    else:
                        total += skipped * np.log(miss)
                    if chance < 1e-200:
                        total += np.log(chance)
                        chance = 1.0
                    expected += skipped * part_seen
                    sure += skipped * part_seen * part_seen
                seen += expected
                by_cell[part, c] += expected
            examined[p] = seen
            informed[p] = sure
        likelihood[part] = total + np.log(chance)


@dataclass(kw_only=True, eq=False)
class ExaminationModel(ClickModel):
    """Models with click probability attraction × examination of a cell; cells by rank or by rank and last click.

    Only products are identified: the examination of the first cell is 1.
    """

    _arrays: ClassVar[tuple[str, ...]] = ("examination_",)
    _shared: ClassVar[tuple[str, ...]] = ("examination_",)
    needs_moves: ClassVar[bool] = True
    #: Whether the cell depends on the last click.
    _browsing: ClassVar[bool] = False

    def _n_cells(self) -> int:
        if not self._browsing:
            return self.n_ranks_
        if self.n_ranks_ > MAX_BROWSED:
            raise DataError(
                f"{self.name} has a parameter per pair of ranks, for at most {MAX_BROWSED} ranks; the log has "
                f"{self.n_ranks_}. Leave the lower ones out (log.truncate({MAX_BROWSED}), --top {MAX_BROWSED})"
            )
        return n_browsing_cells(self.n_ranks_)

    def _cells(self, log: ClickLog) -> np.ndarray:
        return (browsing_cells if self._browsing else rank_cells)(log, self.n_ranks_)

    def pages_of(self, log: ClickLog) -> CellCounts:
        """What passes over the log need."""
        self._n_cells()  # refuses too many ranks
        return (count_browsing if self._browsing else count_ranks)(log, self.n_ranks_, self.n_jobs)

    def _start(self, totals: Totals) -> None:
        shown, clicks = totals.cell_shown, totals.cell_clicks
        rate = clicks.sum() / max(shown.sum(), 1e-12)
        self._cell_shown, self._reference = shown, int(np.argmax(shown > 0))
        look = (clicks + 1.0) / (shown + 1.0 / max(rate, 1e-9))
        self.examination_ = np.clip(look / look[self._reference], 0.05, 0.95)
        self.examination_[self._reference] = 1.0
        self.attraction_ = clipped((self.clicks_ + 1.0) / (self.shown_ * 0.7 + 2.0))

    def expectations(self, pages: CellCounts) -> Sums:
        """Expectation step for a log or a part of it."""
        part_pairs, part_entries = pages.parts
        n_parts = part_pairs.size - 1
        examined, informed = np.empty(pages.pair_clicks.size), np.empty(pages.pair_clicks.size)
        by_cell, likelihood = np.zeros((n_parts, pages.cell_shown.size)), np.zeros(n_parts)
        over_queries(
            _examination_pass,
            part_entries,
            part_pairs,
            (pages.starts, pages.cell, pages.clicks, pages.skips),
            self.attraction_,
            self.examination_,
            (examined, informed),
            by_cell,
            likelihood,
            n_jobs=self.n_jobs,
        )
        value = float(likelihood.sum())
        value += float((pages.pair_clicks * np.log(self.attraction_)).sum())
        value += float((pages.cell_clicks * np.log(np.maximum(self.examination_, 1e-300))).sum())
        return Sums(value, {"examined": examined, "informed": informed}, {"looked": by_cell.sum(axis=0)})

    def _maximise(self, sums: Sums) -> None:
        self.informed_ = sums.pairs["informed"]
        self._attract(sums.pairs["examined"])
        shown = self._cell_shown
        look = np.where(shown > 0, sums.shared["looked"] / np.maximum(shown, 1e-12), self.examination_)
        self.examination_ = np.clip(look, 1e-9, 1.0)
        self.examination_[self._reference] = 1.0

    def _rates(self, log: ClickLog) -> np.ndarray:
        return self.attraction(log)[log.pair]

    def conditional_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, given what was clicked above it."""
        return self._rates(log) * self.examination_[self._cells(log)]

    def click_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, before any click of the page is known."""
        if not self._browsing:
            return self.conditional_probabilities(log)
        return _browsing_marginal(log, self._rates(log), self.examination_, self.n_ranks_)

    def _draw(self, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        rates, draws = self._rates(log), rng.random(log.n_rows)
        if not self._browsing:
            return draws < rates * self.examination_[rank_cells(log, self.n_ranks_)]
        clicks = np.zeros(log.n_rows, bool)
        over_queries(_browsing_draw, log.offsets, log.rank, rates, self.examination_, self.n_ranks_, draws, clicks)
        return clicks

    def _check_restored(self) -> None:
        if self.examination_.shape != (self._n_cells(),):
            raise DataError(f"examination_ has shape {self.examination_.shape} for {self.n_ranks_} ranks")


@kernel
def _marginal(lo, hi, offsets, rank, rates, examination, n_ranks, out):
    chance = np.empty(longest(lo, hi, offsets) + 1)  # of the last click being at each row so far; entry 0 is none
    for page in range(lo, hi):
        a = offsets[page]
        chance[0] = 1.0
        for i in range(offsets[page + 1] - a):
            total = 0.0
            for t in range(i + 1):
                last = 0 if t == 0 else rank[a + t - 1]
                hit = rates[a + i] * examination[browsing_cell(last, rank[a + i], n_ranks)]
                total += chance[t] * hit
                chance[t] *= 1.0 - hit
            chance[i + 1] = total
            out[a + i] = total


def _browsing_marginal(log: ClickLog, rates: np.ndarray, examination: np.ndarray, n_ranks: int) -> np.ndarray:
    out = np.empty(log.n_rows)
    over_queries(_marginal, log.offsets, log.rank, rates, examination, n_ranks, out)
    return out


@kernel
def _browsing_draw(lo, hi, offsets, rank, rates, examination, n_ranks, draws, out):
    for page in range(lo, hi):
        last = 0
        for row in range(offsets[page], offsets[page + 1]):
            if draws[row] < rates[row] * examination[browsing_cell(last, rank[row], n_ranks)]:
                out[row] = True
                last = rank[row]


# ---------------------------------------------------------------------------------------------------------------- chain


@dataclass(kw_only=True, eq=False)
class ChainModel(ClickModel):
    """Models of users who read from the top down, and may stop after each document."""

    def _stop(self) -> np.ndarray:
        """Probability that a click on each pair ends the reading for good."""
        return np.zeros(self.attraction_.size)

    def _unknown_stop(self) -> float:
        return 0.0

    def _skip_go(self) -> np.ndarray:
        """Probability of reading on after a skip at each rank."""
        return np.ones(self.n_ranks_)

    def _click_go(self) -> np.ndarray:
        """Probability of reading on after a click at each rank that did not end it."""
        return np.ones(self.n_ranks_)

    def pages_of(self, log: ClickLog) -> ChainPages:
        """What passes over the log need."""
        return ChainPages.of(log, self.n_ranks_, self.n_jobs)

    def _chain_sums(self, pages: ChainPages) -> ChainSums:
        return chain_pass(pages, self.attraction_, self._stop(), self._skip_go(), self._click_go(), self.n_jobs)

    def expectations(self, pages: ChainPages) -> Sums:
        """Expectation step for a log or a part of it."""
        sums = self._chain_sums(pages)
        by_pair = ("examined", "informed", "clicks", "gone_on", "stop_score", "stop_information")
        return Sums(sums.log_likelihood, {name: getattr(sums, name) for name in by_pair}, {"ranks": sums.ranks})

    def _start(self, totals: Totals) -> None:
        self.attraction_ = clipped((self.clicks_ + 1.0) / (self.shown_ * 0.7 + 2.0))

    def _row_rates(self, log: ClickLog) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rank = rank_cells(log, self.n_ranks_)
        stop = self._of_pairs(self._stop(), log, self._unknown_stop())[log.pair]
        return self.attraction(log)[log.pair], self._skip_go()[rank], self._click_go()[rank] * (1.0 - stop)

    def conditional_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, given what was clicked above it."""
        self.check_fitted()
        return chain_conditional(log, *self._row_rates(log))

    def click_probabilities(self, log: ClickLog) -> np.ndarray:
        """Probability of a click on each row, before any click of the page is known."""
        self.check_fitted()
        return chain_marginal(log, *self._row_rates(log))

    def _draw(self, log: ClickLog, rng: np.random.Generator) -> np.ndarray:
        return chain_draw(log, *self._row_rates(log), rng)


@kernel
def _chain_draw(lo, hi, offsets, attraction, skip_go, click_go, draws, out):
    for page in range(lo, hi):
        for row in range(offsets[page], offsets[page + 1]):
            hit = draws[0, row] < attraction[row]
            out[row] = hit
            if draws[1, row] >= (click_go[row] if hit else skip_go[row]):
                break


def chain_draw(
    log: ClickLog, attraction: np.ndarray, skip_go: np.ndarray, click_go: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw clicks; the arguments are per row."""
    clicks = np.zeros(log.n_rows, bool)
    over_queries(_chain_draw, log.offsets, attraction, skip_go, click_go, rng.random((2, log.n_rows)), clicks)
    return clicks
