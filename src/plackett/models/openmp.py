"""The waiting threads that LightGBM leaves behind."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache

__all__ = ["dismiss_waiting_threads"]

_SOFT = 1  # omp_pause_soft: threads end, settings stay


def dismiss_waiting_threads() -> None:
    """End the OpenMP threads that wait for the next work of the calling thread; the next work starts them again.

    After each of its parallel loops LightGBM's threads spin for some milliseconds in case there is more. Gradients and
    measures, which come in between, would share the cores with them: gradients take a third less time without. Ending
    them takes some 0.1 ms. Does nothing where LightGBM does not use GNU's OpenMP.
    """
    pause = _pause()
    if pause is not None:
        pause(_SOFT)


@cache
def _pause() -> Callable[[int], int] | None:
    try:
        library = ctypes.CDLL("libgomp.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)  # the one in use, or none
        return library.omp_pause_resource_all
    except (OSError, AttributeError):  # another system's OpenMP, or GNU's from before 2019
        return None
