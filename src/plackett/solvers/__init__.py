"""Optimisers, quadratic programs and searches that rankers share."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
