"""What learning to rank is used for: the frame of an application, recommendation, advertising, pages of several blocks.

>>> from plackett.applications import Ratings
>>> Ratings.from_arrays(["ann", "ann", "bob"], ["tea", "rye", "tea"], [5, 2, 4])
Ratings(3 ratings, 2 users, 2 items)
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
