"""Public datasets and made-up ones: `load`, `available`, `make_ranking`."""

from __future__ import annotations

from plackett.datasets.generate import make_ranking
from plackett.datasets.loading import available, load

__all__ = ["available", "load", "make_ranking"]
