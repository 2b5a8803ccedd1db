"""Models and scores in the file formats of other tools."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
