"""Public and synthetic datasets: `load`, `available`, `make_ranking`."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
