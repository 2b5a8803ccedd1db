"""Public and synthetic datasets: `load`, `available`, `make_ranking`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._names.lazy import open_package

if TYPE_CHECKING:
    from plackett.datasets.generate import make_ranking as make_ranking
    from plackett.datasets.loading import available as available
    from plackett.datasets.loading import load as load

open_package(__name__, named={"available": "loading", "load": "loading", "make_ranking": "generate"})
