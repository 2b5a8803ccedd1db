"""Arrays that nobody writes to: those of datasets and logs, and those that kernels get together with them.

Numba compiles a kernel once more for an array that can be written to.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def read_only(array: np.ndarray) -> np.ndarray:
    """View that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def hold_read_only(record: Any) -> None:
    """Replace the arrays of a frozen dataclass by views that cannot be written to."""
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray) and value.flags.writeable:
            object.__setattr__(record, field.name, read_only(value))
