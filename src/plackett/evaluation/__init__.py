"""Evaluation of rankings: measures, comparison, significance, risk. Needs only data and measures."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
