"""Joachims' rules: preferences between documents of a page, read from what was clicked and what was passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett._names.nearest import hint
from plackett.clicks.log import ClickLog
from plackett.data._tables import id_series

if TYPE_CHECKING:
    import polars as pl

    from plackett.data.dataset import RankingDataset
    from plackett.data.preferences import Preferences

__all__ = ["click_preferences"]

#: Names of the rules, in the order of their numbers in the kernel.
RULES = ("skip-above", "last-click-skip-above", "earlier-click", "skip-previous", "no-click-next")


@kernel
def _pairs(lo, hi, offsets, clicked, order, rule, counts, winner, loser):  # type: ignore[no-untyped-def]
    """Pairs of rows of each page; with an empty ``winner`` they are only counted."""
    write = winner.size > 0
    for page in range(lo, hi):
        a = offsets[page]
        b = offsets[page + 1]
        at = counts[page]
        n = 0
        last = -1
        for row in range(a, b):
            if clicked[row] and (last < 0 or order[row] >= order[last]):
                last = row
        for i in range(a, b):
            if not clicked[i] or (rule == 1 and i != last):
                continue
            first = a
            end = i
            if rule == 2:
                end = b
            elif rule == 3:
                first = max(a, i - 1)
            elif rule == 4:
                first = i + 1
                end = min(b, i + 2)
            for j in range(first, end):
                if rule == 2:
                    if not clicked[j] or order[j] >= order[i]:
                        continue
                elif clicked[j]:
                    continue
                if write:
                    winner[at + n] = i
                    loser[at + n] = j
                n += 1
        if not write:
            counts[page] = n


def click_preferences(log: ClickLog, rule: str = "skip-above", *, min_pages: float = 1.0) -> pl.DataFrame:
    """Preferences of documents of each query by one of Joachims' rules: query, winner, loser, weight.

    Parameters
    ----------
    rule
        ``"skip-above"``: a clicked document before those above it that were not clicked. ``"last-click-skip-above"``:
        only for the last click of a page (by time if known, else the lowest). ``"earlier-click"``: a document clicked
        later before one clicked earlier (needs ``click_order``). ``"skip-previous"``: a clicked document before the one
        right above it, if that was not clicked. ``"no-click-next"``: before the one right below it.
    min_pages
        Pairs on fewer pages are left out. ``weight`` is the number of pages. Pages may contradict each other: then both
        directions are there.

    Examples
    --------
    >>> log = ClickLog.from_arrays(["q"], [["a", "b", "c"]], [[0, 0, 1]])
    >>> click_preferences(log).rows()
    [('q', 'c', 'a', 1.0), ('q', 'c', 'b', 1.0)]

    References
    ----------
    Joachims, Granka, Pan, Hembrooke, Gay: Accurately interpreting clickthrough data as implicit feedback. SIGIR 2005.
    """
    import polars as pl

    if rule not in RULES:
        raise DataError(f"unknown rule {rule!r}; {hint(rule, RULES, 'the rules are')}")
    if rule == "earlier-click" and log.click_order is None:
        raise DataError("the rule 'earlier-click' needs the order of the clicks (click_order); the log has none")
    order = log.rank if log.click_order is None else log.click_order
    counts, none = np.zeros(log.n_pages, np.int64), np.zeros(0, np.int64)
    arguments = log.offsets, log.clicked, order, RULES.index(rule)
    over_queries(_pairs, *arguments, counts, none, none)
    starts = np.concatenate(([0], np.cumsum(counts)))
    winner, loser = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int64)
    if starts[-1]:
        over_queries(_pairs, *arguments, starts[:-1].copy(), winner, loser)
    frame = pl.DataFrame(
        {
            "query": log.query[log.page[winner]],
            "winner": log.document[winner],
            "loser": log.document[loser],
            "weight": log.page_weight[log.page[winner]],
        }
    )
    frame = frame.group_by("query", "winner", "loser", maintain_order=True).agg(pl.col("weight").sum())
    frame = frame.filter(pl.col("weight") >= min_pages)
    documents = id_series("document", log.documents)
    return frame.select(
        id_series("query", log.queries).gather(frame["query"]),
        documents.gather(frame["winner"]).alias("winner"),
        documents.gather(frame["loser"]).alias("loser"),
        "weight",
    )


def dataset_preferences(pairs: Any, data: RankingDataset) -> tuple[RankingDataset, int]:
    """A dataset with preferences from a frame of pairs, and how many pairs have a document that it does not have.

    Every ranker that learns from preferences takes the dataset.
    """
    from plackett.clicks._codes import codes
    from plackett.clicks.pairs import PairTable
    from plackett.data.grouping import ids_array
    from plackett.data.preferences import Preferences

    names = np.arange(data.n_rows) if data.docids is None else data.docids
    code, ids = codes(names, "docids")
    table = PairTable(data.qids, ids, data.query_of_row.astype(np.int32), code)
    query = ids_array(pairs["query"].to_numpy(), "query")
    rows = [table.find(query, ids_array(pairs[side].to_numpy(), side)) for side in ("winner", "loser")]
    known = (rows[0] >= 0) & (rows[1] >= 0)
    preferences: Preferences = Preferences(
        rows[0][known], rows[1][known], None, pairs["weight"].to_numpy()[known].astype(np.float64)
    ).regrouped(None, data.offsets)
    return data.replace(preferences=preferences), int((~known).sum())
