"""Scorers, the predictors of fitted rankers: plain arrays in, scores out."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
