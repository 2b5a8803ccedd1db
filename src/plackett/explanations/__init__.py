"""Explanations of rankings: feature contributions, reasons for pairs, and changes that would alter the order."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
