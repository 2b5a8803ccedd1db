"""Numbers of any form, which the parser of lines left open: many digits, exponents, missing values, and other text.

They are read by a kernel of their own, because it is long and most files have no such numbers: it need not be compiled.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.data.letor import faults as fault
from plackett.data.letor.floats import INFINITE, LONG, MISSING, OK, PYTHON, read_number
from plackett.data.letor.tokens import NOWHERE, ends, fail


def read_open(
    text: np.ndarray, open_values: np.ndarray, y: np.ndarray, values: np.ndarray, state: np.ndarray
) -> tuple[int, int] | None:
    """Read the numbers that were left open; returns position and kind of an error, if any.

    The first bad number is noted in the state: it comes before any error noted there already.
    """
    left = _read_numbers(text, open_values, y, values, state) if len(open_values) else 0
    for start, end, index in open_values[:left].tolist():
        number = float(text[start:end].tobytes())
        with np.errstate(over="ignore"):
            single = np.float32(number)
        if index < 0:
            if np.isinf(number):
                return start, fault.LABEL_INFINITE
            y[-1 - index] = number
        elif np.isinf(single):
            return start, fault.VALUE_INFINITE
        else:
            values[index] = single
    return None


@kernel
def _read_numbers(buf, open_values, y, values, state):
    """Read the numbers. Those that only Python can read exactly are moved to the front; returns how many."""
    left = 0
    for i in range(open_values.shape[0]):
        at = open_values[i, 0]
        index = open_values[i, 2]
        label = index < 0
        status, value, end = read_number(buf, at)
        if not ends(buf[end]):
            fail(state, fault.LABEL if label else fault.VALUE, at)
            return left
        single = np.float32(value)
        if status > MISSING or (label and status == MISSING):
            fail(state, _number_fault(status, label), at)
            return left
        if status == OK and not label and np.isinf(single):
            fail(state, fault.VALUE_INFINITE, at)
            return left
        if label:
            y[-1 - index] = value
        elif index != NOWHERE:
            values[index] = single
        if status == PYTHON and index != NOWHERE:
            open_values[left, 0] = at
            open_values[left, 1] = end
            open_values[left, 2] = index
            left += 1
    return left


@kernel
def _number_fault(status, label):
    if status == MISSING:
        return fault.LABEL_MISSING
    if status == INFINITE:
        return fault.LABEL_INFINITE if label else fault.VALUE_INFINITE
    if status == LONG:
        return fault.LABEL_LONG if label else fault.VALUE_LONG
    return fault.LABEL if label else fault.VALUE
