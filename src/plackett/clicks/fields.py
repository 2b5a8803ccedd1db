"""What a click log has for each row and for each page, declared once for everything that copies or stores it."""

from __future__ import annotations

from typing import Any

import numpy as np

#: The largest rank: many sums are arrays over the ranks, and a larger number is hardly a rank.
MAX_RANK = 10_000

#: Optional arrays with one entry per row, and with one per page: their types.
ROWS: dict[str, Any] = {
    "click_order": np.int32,
    "dwell": np.float32,
    "actions": np.float32,
    "propensities": np.float64,
    "conditional_propensities": np.float64,
    "ranks": np.int32,
}
PAGES: dict[str, Any] = {"users": np.uint64, "times": np.float64, "ranker": np.int32, "weight": np.float64}
#: All arrays of numbers of a log, and its arrays of ids.
NUMBERS: dict[str, Any] = {"offsets": np.int64, "query": np.int32, "document": np.int32, "clicks": np.int32}
NUMBERS |= ROWS | PAGES
IDS = ("queries", "documents", "rankers")
