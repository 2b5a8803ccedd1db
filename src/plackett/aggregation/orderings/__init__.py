"""Orders built from preferences between pairs of documents, one method per file. ``orderings()`` returns all by name.

>>> from plackett.aggregation.orderings import SortByDegree
>>> SortByDegree().order([[0.5, 0.9, 0.2], [0.1, 0.5, 0.4], [0.8, 0.6, 0.5]]).tolist()
[2, 0, 1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._names.lazy import open_package

if TYPE_CHECKING:
    from plackett.aggregation.orderings.base import Ordering as Ordering
    from plackett.aggregation.orderings.exact_order import ExactOrder as ExactOrder
    from plackett.aggregation.orderings.greedy_order import GreedyOrder as GreedyOrder
    from plackett.aggregation.orderings.named import find_ordering as find_ordering
    from plackett.aggregation.orderings.preference import agreement as agreement
    from plackett.aggregation.orderings.preference import symmetrised as symmetrised
    from plackett.aggregation.orderings.quicksort import QuickSort as QuickSort
    from plackett.aggregation.orderings.sort_by_degree import SortByDegree as SortByDegree

open_package(
    __name__,
    "ordering",
    named={"Ordering": "base", "agreement": "preference", "symmetrised": "preference", "find_ordering": "named"},
)
