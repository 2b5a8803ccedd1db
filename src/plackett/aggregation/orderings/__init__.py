"""Orders built from preferences between pairs of documents, one method per file. ``orderings()`` returns all by name.

>>> from plackett.aggregation.orderings import SortByDegree
>>> SortByDegree().order([[0.5, 0.9, 0.2], [0.1, 0.5, 0.4], [0.8, 0.6, 0.5]]).tolist()
[2, 0, 1]
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__, "ordering")
