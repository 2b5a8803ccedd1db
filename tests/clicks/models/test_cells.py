"""Counts of clicks and skips by pair and cell, against plain loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from plackett.clicks.log import ClickLog
from plackett.clicks.models._chain import ChainPages
from plackett.clicks.models.cells import (
    browsing_cells,
    count_browsing,
    count_cells,
    count_ranks,
    n_browsing_cells,
    rank_cells,
    rank_counts,
)


def a_log(weighted: bool, gaps: bool) -> ClickLog:
    rng = np.random.default_rng(7)
    n = 300
    lengths = rng.integers(0, 7, n)
    documents = np.concatenate([rng.permutation(12)[:k] for k in lengths])
    ranks = np.concatenate([np.sort(rng.permutation(9)[:k]) + 1 for k in lengths])
    return ClickLog.from_arrays(
        rng.integers(0, 25, n),
        documents,
        rng.integers(0, 3, documents.size) * (rng.random(documents.size) < 0.4),
        lengths=lengths,
        ranks=ranks if gaps else None,
        weight=rng.random(n) if weighted else None,
    )


def by_hand(log: ClickLog, cell: np.ndarray) -> tuple[Counter, Counter]:
    clicks, skips = Counter(), Counter()
    for row in range(log.n_rows):
        result = clicks if log.clicks[row] > 0 else skips
        result[int(log.pair[row]), int(cell[row])] += float(log.page_weight[log.page[row]])
    return clicks, skips


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("weighted", "gaps"), [(False, False), (True, True)])
def test_counts(weighted, gaps, n_jobs):
    log = a_log(weighted, gaps)
    m = log.longest
    cases = [
        (count_ranks(log, m, n_jobs), rank_cells(log, m), m),
        (count_ranks(log, 3, n_jobs), rank_cells(log, 3), 3),
        (count_browsing(log, m, n_jobs), browsing_cells(log, m), n_browsing_cells(m)),
        (count_cells(log, log.document, 12, n_jobs), log.document, 12),
    ]
    for counts, cell, n_cells in cases:
        clicks, skips = by_hand(log, cell)
        keys = list(zip(counts.pair.tolist(), counts.cell.tolist(), strict=True))
        assert len(set(keys)) == len(keys) and set(keys) == {*clicks, *skips}
        np.testing.assert_allclose(counts.clicks, [clicks[key] for key in keys])
        np.testing.assert_allclose(counts.skips, [skips[key] for key in keys])
        weight = log.row_weight
        np.testing.assert_allclose(counts.pair_shown, np.bincount(log.pair, weight))
        np.testing.assert_allclose(counts.pair_clicks, np.bincount(log.pair, weight * log.clicked))
        np.testing.assert_allclose(counts.cell_shown, np.bincount(cell, weight, minlength=n_cells))
        np.testing.assert_allclose(counts.cell_clicks, np.bincount(cell, weight * log.clicked, minlength=n_cells))


def test_rank_counts_are_sorted():
    pair, rank, clicks, shown = rank_counts(a_log(True, True))
    key = pair * 100 + rank
    assert (np.diff(key) > 0).all() and (clicks <= shown + 1e-12).all()


def test_a_log_remembers_counts_that_are_much_smaller():
    small = a_log(True, True)
    assert count_ranks(small, 3) is not count_ranks(small, 3)
    log = ClickLog.concat([small] * 12)
    counts = count_ranks(log, 3)
    assert count_ranks(log, 3) is counts
    assert count_ranks(log, 2).cell.max() == 1
    assert count_ranks(log.select(np.arange(log.n_pages)), 3) is not counts
    np.testing.assert_allclose(counts.pair_shown, np.bincount(log.pair, log.row_weight))


def test_pairs_are_numbered_query_by_query():
    log = a_log(False, False).select(np.arange(5, 200))  # some codes have no page any more
    pairs = dict.fromkeys(
        (int(log.query[page]), int(log.document[row]))
        for page in np.argsort(log.query, kind="stable")
        for row in range(log.offsets[page], log.offsets[page + 1])
    )
    assert list(zip(log.pair_query.tolist(), log.pair_document.tolist(), strict=True)) == list(pairs)
    number = {pair: i for i, pair in enumerate(pairs)}
    rows = zip(log.query[log.page].tolist(), log.document.tolist(), strict=True)
    assert log.pair.tolist() == [number[row] for row in rows]
    np.testing.assert_array_equal(log.by_query, np.argsort(log.query, kind="stable"))
    np.testing.assert_array_equal(np.diff(log.query_rows), np.bincount(log.query, log.lengths, minlength=log.n_queries))


@pytest.mark.parametrize("weighted", [False, True])
def test_pages_of_chains(weighted):
    log = a_log(weighted, True)
    pages = ChainPages.of(log, log.longest, 2)
    rows = np.concatenate([np.arange(log.offsets[p], log.offsets[p + 1]) for p in log.by_query])
    for name, whole in (("pair", log.pair), ("rank", log.rank - 1), ("clicked", log.clicked)):
        np.testing.assert_array_equal(getattr(pages, name), whole[rows])
    np.testing.assert_array_equal(pages.weight, log.page_weight[log.by_query])
    np.testing.assert_allclose(pages.pair_shown, np.bincount(log.pair, log.row_weight))
    np.testing.assert_allclose(pages.pair_clicks, np.bincount(log.pair, log.row_weight * log.clicked))
