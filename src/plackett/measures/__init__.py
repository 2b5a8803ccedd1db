"""Measures of ranking quality, one per file. ``plackett.measures()`` returns them all by name.

>>> from plackett.measures import nDCG
>>> nDCG @ 10
nDCG@10
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._names.lazy import open_package

if TYPE_CHECKING:
    from plackett.measures.base import Measure


def _all() -> dict[str, Measure]:
    from plackett.measures.language import all_measures

    return all_measures()


open_package(__name__, "measure", everything=_all)  # user-defined measures too
