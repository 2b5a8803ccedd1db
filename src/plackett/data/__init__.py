"""Data: datasets, readers and writers, judgements, splits and normalisation."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
