"""What to label next, whether judges agree, and what to train on. One algorithm per file.

>>> from plackett.selection import DepthPool
>>> runs = [{"q": {"x": 3.0, "y": 2.0, "z": 1.0}}, {"q": {"y": 9.0, "w": 5.0, "x": 1.0}}]
>>> DepthPool().select(runs, budget=2).frame.select("qid", "docid", "reason").rows()
[('q', 'x', 'rank 1 in 1 of 2 runs'), ('q', 'y', 'rank 1 in 1 of 2 runs')]
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
