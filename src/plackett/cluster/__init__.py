"""Data in shards, on the processes of one machine or on the machines of a Dask cluster."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
