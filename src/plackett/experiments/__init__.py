"""Experiments: protocol, tuning, cells and resuming, the report."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
