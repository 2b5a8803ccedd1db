"""Format numbers for readers."""

from __future__ import annotations

import math

import numpy as np


def fixed(value: float | None, digits: int = 4) -> str:
    """A number with fixed decimals; a dash for None."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def signed(value: float | None, digits: int = 4) -> str:
    """The same with a sign.

    >>> signed(0.25, 2), signed(-0.25, 2)
    ('+0.25', '−0.25')
    """
    return "–" if value is None or not math.isfinite(value) else f"{value:+.{digits}f}".replace("-", "−")


def p_value(p: float | None) -> str:
    """A p-value with its name.

    >>> p_value(0.03217), p_value(1e-7)
    ('p = 0.032', 'p < 0.0001')
    """
    if p is None:
        return "no test"
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def seconds(value: float) -> str:
    """A time with a suitable unit.

    >>> seconds(0.0123), seconds(4.2), seconds(780)
    ('12 ms', '4.2 s', '13 min')
    """
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    if value < 1:
        return f"{value * 1e3:.2g} ms" if value < 0.01 else f"{value * 1e3:.0f} ms"
    if value < 120:
        return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def short(value: float) -> str:
    """Four significant digits."""
    return f"{value:.4g}".replace("-", "−")


def tidy(values: np.ndarray, digits: int = 5) -> list[float | None]:
    """Numbers for JSON, rounded to some significant digits; NaN and infinity become None."""
    return [float(f"{v:.{digits}g}") if math.isfinite(v) else None for v in np.asarray(values, np.float64).tolist()]
