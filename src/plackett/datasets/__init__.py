"""Public and synthetic datasets: `load`, `available`, `make_ranking`, `clustered_lists`, `site_lists`."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
