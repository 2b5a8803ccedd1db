"""Rankers: algorithms as scikit-learn estimators, one per file. ``plackett.rankers()`` returns them all by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._names.lazy import open_package

if TYPE_CHECKING:
    from plackett.rankers.base import Ranker as Ranker

open_package(__name__, "ranker", named={"Ranker": "base"})
