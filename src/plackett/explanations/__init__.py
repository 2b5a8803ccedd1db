"""Why documents are ranked as they are: contributions of features, reasons for pairs, what would change the order."""

from __future__ import annotations

from plackett._lazy import open_package

open_package(__name__)
