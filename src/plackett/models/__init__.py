"""Scoring models that any loss can train: linear, tree ensembles, neural networks."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
