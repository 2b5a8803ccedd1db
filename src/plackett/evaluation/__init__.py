"""How good is a ranking: evaluation, comparison, significance, risk. Needs data and measures only."""

from __future__ import annotations

from plackett._lazy import open_package

open_package(__name__)
