"""The operations of formulas: exactly what each gives, for every pair of numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel

#: Results are cut off at ±LIMIT; a product or quotient of two such numbers is finite, so nothing overflows.
LIMIT = 1e100
#: exp of more than this is cut off.
_LOG_LIMIT = math.log(LIMIT)


class Operation(NamedTuple):
    """Name, number of arguments, and how the operation is written and defined."""

    name: str
    arity: int
    definition: str


#: Saved models store indices into this tuple, so add new operations only at the end.
OPERATIONS = (
    Operation("+", 2, "a + b"),
    Operation("-", 2, "a − b"),
    Operation("*", 2, "a · b"),
    Operation("/", 2, "a / b, and 1 where b = 0"),
    Operation("max", 2, "the larger of a and b"),
    Operation("min", 2, "the smaller of a and b"),
    Operation("log", 1, "ln |a|, and 0 where a = 0"),
    Operation("sqrt", 1, "√|a|"),
    Operation("exp", 1, "e^a"),
    Operation("neg", 1, "−a"),
    Operation("abs", 1, "|a|"),
)

#: Index of each operation by name.
BY_NAME = {operation.name: number for number, operation in enumerate(OPERATIONS)}


def operation_numbers(names: tuple[str, ...]) -> list[int]:
    """Indices of operations given by name, in the order of `OPERATIONS` and without duplicates.

    >>> operation_numbers(("*", "+"))
    [0, 2]
    """
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        raise DataError(f"functions has {unknown[0]!r}; the functions are {', '.join(BY_NAME)}")
    if not names:
        raise DataError(f"functions is empty; choose from {', '.join(BY_NAME)}")
    return sorted({BY_NAME[name] for name in names})


@kernel(inline=True)
def _cut(value):
    return -LIMIT if value < -LIMIT else (LIMIT if value > LIMIT else value)  # NaN stays


@kernel
def apply(operation, a, b, out):
    """Apply an operation to whole vectors; operations with one argument ignore ``b``.

    ``out`` must not overlap ``a`` or ``b``: loops over overlapping vectors are not vectorised.
    """
    n = out.size
    if operation == 0:
        for i in range(n):
            out[i] = _cut(a[i] + b[i])
    elif operation == 1:
        for i in range(n):
            out[i] = _cut(a[i] - b[i])
    elif operation == 2:
        for i in range(n):
            out[i] = _cut(a[i] * b[i])
    elif operation == 3:
        for i in range(n):
            out[i] = 1.0 if b[i] == 0.0 else _cut(a[i] / b[i])
    elif operation == 4:
        for i in range(n):
            out[i] = a[i] if a[i] > b[i] or a[i] != a[i] else b[i]
    elif operation == 5:
        for i in range(n):
            out[i] = a[i] if a[i] < b[i] or a[i] != a[i] else b[i]
    elif operation == 6:
        for i in range(n):
            out[i] = 0.0 if a[i] == 0.0 else _cut(np.log(abs(a[i])))
    elif operation == 7:
        for i in range(n):
            out[i] = _cut(np.sqrt(abs(a[i])))
    elif operation == 8:
        for i in range(n):
            out[i] = LIMIT if a[i] >= _LOG_LIMIT else np.exp(a[i])
    elif operation == 9:
        for i in range(n):
            out[i] = -a[i]
    else:
        for i in range(n):
            out[i] = abs(a[i])
