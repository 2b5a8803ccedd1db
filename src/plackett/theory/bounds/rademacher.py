"""Rademacher averages: how well a class of functions can fit random signs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import DataError
from plackett.data.arguments import array

__all__ = ["kernel_rademacher", "linear_rademacher", "linear_rademacher_bound", "rademacher_average"]

#: Up to this many points, all signs are tried.
_EXACT = 16

#: The norm dual to that of the ball of the weights.
_DUAL: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "l2": lambda sums: np.sqrt(np.square(sums).sum(axis=1)),
    "l1": lambda sums: np.abs(sums).max(axis=1),
}


def _signs(n: int, n_draws: int | None, random_state: Any) -> np.ndarray:
    """All signs of n points, or draws of them, each with its opposite."""
    if n_draws is not None:
        number("n_draws", n_draws, least=2)
    if n_draws is None and n <= _EXACT:
        return np.array(list(product((-1.0, 1.0), repeat=n)))
    half = np.random.default_rng(random_state).choice([-1.0, 1.0], ((n_draws or 2000) // 2, n))
    return np.concatenate([half, -half])


def _points(table: Any, radius: float, factor: float, name: str = "X") -> np.ndarray:
    """A table with a row per point, after a check of the two factors."""
    number("radius", radius, least=0.0)
    number("factor", factor, above=0.0)
    return array(name, table, 2)


def rademacher_average(
    outputs: Any, *, n_draws: int | None = None, random_state: Any = 0, factor: float = 1.0
) -> float:
    r"""Empirical Rademacher average :math:`E_\sigma \sup_g \frac1n \sum_i \sigma_i g(z_i)` of finitely many functions.

    Parameters
    ----------
    outputs
        A row per function, a column per point.
    n_draws
        How many signs to draw, in opposite pairs; None tries all of them for up to 16 points and draws 2000 beyond.
    factor
        2 for the definition with 2/n.

    References
    ----------
    Bartlett, Mendelson: Rademacher and Gaussian complexities: risk bounds and structural results. JMLR 2002.

    Examples
    --------
    A single function cannot follow the signs; all functions with values ±1 can:

    >>> rademacher_average([[1.0, -1.0, 1.0]])
    0.0
    >>> rademacher_average([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    1.0
    """
    table = array("outputs", outputs, 2)
    number("factor", factor, above=0.0)
    signs = _signs(table.shape[1], n_draws, random_state)
    return float(factor * (signs @ table.T).max(axis=1).mean() / table.shape[1])


def linear_rademacher(
    X: Any,
    radius: float = 1.0,
    *,
    ball: str = "l2",
    n_draws: int | None = None,
    random_state: Any = 0,
    factor: float = 1.0,
) -> float:
    r"""Empirical Rademacher average of :math:`\{w \cdot x : \lVert w \rVert \le B\}`, which is
    :math:`\frac Bn E_\sigma \lVert \sum_i \sigma_i x_i \rVert` with the dual norm.

    Parameters
    ----------
    radius
        B.
    ball
        ``"l2"`` or ``"l1"``: the norm of the weights.

    References
    ----------
    Bartlett, Mendelson: Rademacher and Gaussian complexities: risk bounds and structural results. JMLR 2002.

    Examples
    --------
    >>> linear_rademacher([[3.0, 4.0]], radius=2.0)
    10.0
    """
    table = _points(X, radius, factor)
    choice("ball", ball, _DUAL)
    signs = _signs(table.shape[0], n_draws, random_state)
    return float(factor * radius * _DUAL[ball](signs @ table).mean() / table.shape[0])


def linear_rademacher_bound(X: Any, radius: float = 1.0, *, factor: float = 1.0) -> float:
    r"""Bound :math:`\frac Bn (\sum_i \lVert x_i \rVert^2)^{1/2}` of the average of linear functions of length B.

    With the longest x of length M it is at most :math:`BM/\sqrt n`.

    >>> linear_rademacher_bound([[3.0, 4.0], [0.0, 0.0]])
    2.5

    References
    ----------
    Bartlett, Mendelson: Rademacher and Gaussian complexities: risk bounds and structural results. JMLR 2002.
    """
    table = _points(X, radius, factor)
    return float(factor * radius * np.sqrt(np.square(table).sum()) / table.shape[0])


def kernel_rademacher(
    K: Any, radius: float = 1.0, *, n_draws: int | None = None, random_state: Any = 0, factor: float = 1.0
) -> tuple[float, float]:
    r"""Average :math:`\frac\Lambda n E (\sigma^\top K \sigma)^{1/2}` of the functions of norm Λ of a kernel, and its
    bound :math:`\Lambda \sqrt{\operatorname{tr} K} / n`. K must be symmetric and positive semidefinite.

    >>> average, bound = kernel_rademacher([[1.0, 1.0], [1.0, 1.0]])
    >>> average, round(bound, 4)
    (0.5, 0.7071)

    References
    ----------
    Bartlett, Mendelson: Rademacher and Gaussian complexities: risk bounds and structural results. JMLR 2002.
    """
    table = _points(K, radius, factor, "K")
    n = table.shape[0]
    if table.shape != (n, n):
        raise DataError(f"K has shape {table.shape}; give the square table of the kernel")
    slack = 1e-8 * max(1.0, float(np.abs(table).max()))
    if not np.allclose(table, table.T, rtol=0.0, atol=slack):
        raise DataError("K is not symmetric: it is not the table of a kernel")
    if (lowest := float(np.linalg.eigvalsh(table)[0])) < -n * slack:
        raise DataError(f"K has the eigenvalue {lowest:.4g}; the table of a kernel has none below 0")
    signs = _signs(n, n_draws, random_state)
    squares = np.maximum(((signs @ table) * signs).sum(axis=1), 0.0)
    return float(factor * radius * np.sqrt(squares).mean() / n), float(factor * radius * np.sqrt(np.trace(table)) / n)
