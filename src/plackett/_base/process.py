"""Whether this process runs one command, or belongs to a user of the library."""

from __future__ import annotations

import os

_ours = False


def own_process() -> None:
    """Tell that this process was started for one command, before anything else of plackett is imported."""
    global _ours
    _ours = True
    # OpenBLAS reads it when NumPy is imported: threads that wait sleep after 2^10 cycles, not 2^26, during which they
    # keep a core busy. Matrix products are as fast, and a short command takes a third less processor time.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "10")


def is_own_process() -> bool:
    """Whether this process was started for one command, so that nobody else uses our classes, NumPy or Numba in it."""
    return _ours
