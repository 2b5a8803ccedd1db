"""Rank aggregation: one ranking from several, one method per file. ``plackett.aggregation()`` returns all by name.

>>> from plackett.aggregation import Borda, RankLists
>>> lists = RankLists.from_orders([["a", "b", "c"], ["b", "a", "c"], ["b", "c", "a"]])
>>> Borda().order(lists)
['b', 'a', 'c']
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__, "aggregation")
