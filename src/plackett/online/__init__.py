"""On live traffic: interleaving, sequential tests, simulated users, rankers that learn from clicks, and their state.

>>> from plackett.online import interleave
>>> interleave([["a", "b"], ["b", "c"]], k=2, seed="session 17").documents
['a', 'b']
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
