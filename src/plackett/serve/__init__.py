"""A scoring service: saved models behind HTTP, with the protocols that platforms already speak."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
