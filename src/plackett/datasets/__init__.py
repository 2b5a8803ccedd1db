"""Public and synthetic datasets: `load`, `available`, `make_ranking`, `clustered_lists`, `site_lists`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._names.lazy import open_package

if TYPE_CHECKING:
    from plackett.datasets.generate import make_ranking as make_ranking
    from plackett.datasets.loading import available as available
    from plackett.datasets.loading import load as load
    from plackett.datasets.related import clustered_lists as clustered_lists
    from plackett.datasets.related import site_lists as site_lists

open_package(
    __name__,
    named={
        "available": "loading",
        "clustered_lists": "related",
        "load": "loading",
        "make_ranking": "generate",
        "site_lists": "related",
    },
)
