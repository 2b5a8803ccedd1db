"""LightGBM and Numba without libraries that they look for and that our use of them does not need: a faster start."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from types import ModuleType

#: What LightGBM imports if it is installed; training on a dataset of ours needs none of it.
_NOT_NEEDED = ("sklearn", "pandas", "dask", "distributed", "matplotlib", "graphviz")

#: Numba asks at the start whether SciPy has this, and again, properly, when a kernel multiplies matrices.
_BLAS = "scipy.linalg.cython_blas"

_ours = False


def own_process() -> None:
    """Tell that this process was started for one command, and that nobody else uses NumPy, LightGBM or Numba in it."""
    global _ours
    _ours = True
    # OpenBLAS reads it when NumPy is imported: threads that wait sleep after 2^10 cycles, not 2^26, during which they
    # keep a core busy. Matrix products are as fast, and a short command takes a third less processor time.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "10")


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


def numba_alone() -> None:
    """Import what Numba compiles with, but not SciPy's linear algebra: half of the time."""
    if not _ours or _BLAS in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    sys.modules[_BLAS] = ModuleType(_BLAS)
    collects = gc.isenabled()
    gc.disable()
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules[_BLAS]
        if collects:
            gc.enable()
