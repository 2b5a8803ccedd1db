"""Data in shards, on the processes of one machine or on the machines of a Dask cluster."""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(
    __name__,
    named={
        "DaskShards": "dask",
        "LocalShards": "local",
        "SerialShards": "serial",
        "Shards": "shards",
        "evaluate": "evaluation",
        "feature_statistics": "statistics",
        "fit_click_model": "click_models",
        "fit_linear": "linear",
        "fit_trees": "trees",
        "fit_xgboost": "xgboost_trees",
    },
)
