"""Clicks: logs of result pages, click models, labels, propensities and the value of a ranker that was never shown.

>>> from plackett.clicks import ClickLog
>>> log = ClickLog.from_arrays(["jaguar", "jaguar"], [["cat", "car"], ["car", "cat"]], [[1, 0], [0, 1]])
>>> log
ClickLog(2 pages, 4 rows, 1 queries, 2 pairs, 2 clicks)
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
