"""A page to search, compare, judge and explain rankings, served from this machine."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
