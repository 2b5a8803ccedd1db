"""Numba's compiler without Python's collector of cycles, which takes an eighth of the time and frees little."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from numba.core.compiler import Compiler


class QuietCompiler(Compiler):
    """The compiler of kernels, Numba's option ``pipeline_class``."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile a function, and within it those that it calls."""
        enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if enabled:
                gc.enable()
