"""Rankers: algorithms as scikit-learn estimators, one per file. ``plackett.rankers()`` returns them all by name."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__, "ranker")
