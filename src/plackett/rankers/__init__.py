"""Rankers: named algorithms as scikit-learn estimators, one per file. ``plackett.rankers()`` gives them all by name."""

from __future__ import annotations

from plackett._lazy import open_package

open_package(__name__, "ranker", {"Ranker": "base"}, lambda item, cls: cls)
