"""LightGBM without the libraries that only its estimators for scikit-learn and Dask need: a second less to start."""

from __future__ import annotations

import sys
from importlib import import_module

__all__ = ["is_own_process", "lightgbm_alone", "own_process"]

#: What LightGBM imports if it is installed; training on a dataset of ours needs none of it.
_NOT_NEEDED = ("sklearn", "pandas", "dask", "distributed", "matplotlib", "graphviz")

_ours = False


def own_process() -> None:
    """Tell that this process was started for one command, and that nobody else uses LightGBM in it."""
    global _ours
    _ours = True


def is_own_process() -> bool:
    """Whether this process was started for one command."""
    return _ours


def lightgbm_alone() -> None:
    """Import LightGBM as if the other libraries were not installed. They stay importable for everybody else."""
    if not _ours or "lightgbm" in sys.modules:
        return
    hidden = [name for name in _NOT_NEEDED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        import_module("lightgbm")
    finally:
        for name in hidden:
            del sys.modules[name]
