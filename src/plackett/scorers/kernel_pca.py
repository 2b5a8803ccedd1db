"""Kernels, and kernel principal components of the documents of one list."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plackett._base.errors import DataError

__all__ = ["kernel_matrix"]


def _linear(a: np.ndarray, b: np.ndarray, parameter: float) -> np.ndarray:
    return a @ b.T


def _polynomial(a: np.ndarray, b: np.ndarray, parameter: float) -> np.ndarray:
    return (a @ b.T / max(a.shape[1], 1) + 1.0) ** parameter


def _squares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.maximum((a**2).sum(axis=1)[:, None] - 2.0 * a @ b.T + (b**2).sum(axis=1), 0.0)


def _rbf(a: np.ndarray, b: np.ndarray, parameter: float) -> np.ndarray:
    """The width is ``parameter`` times the median distance of the list b."""
    far = _squares(b, b)
    upper = far[np.triu_indices(len(b), 1)]
    width = parameter**2 * (float(np.median(upper)) if upper.size else 1.0)
    return np.exp(-_squares(a, b) / (2.0 * width if width > 0 else 1.0))


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Non-negative cosines."""
    first, second = (np.sqrt((m**2).sum(axis=1, keepdims=True)) for m in (a, b))
    return np.maximum((a / np.where(first > 0, first, 1.0)) @ (b / np.where(second > 0, second, 1.0)).T, 0.0)


def _diffusion(a: np.ndarray, b: np.ndarray, parameter: float) -> np.ndarray:
    """exp(−β L) on the cosine graph of the list b; a document outside has the mean row of its neighbours there."""
    graph = _cosines(b, b)
    np.fill_diagonal(graph, 0.0)
    degree = graph.sum(axis=1)
    root = np.where(degree > 0, 1.0 / np.sqrt(np.where(degree > 0, degree, 1.0)), 0.0)
    laplacian = np.diag((degree > 0).astype(float)) - root[:, None] * graph * root
    values, vectors = np.linalg.eigh((laplacian + laplacian.T) / 2.0)
    inside = (vectors * np.exp(-parameter * values)) @ vectors.T
    if a is b:
        return inside
    near = _cosines(a, b)
    total = near.sum(axis=1, keepdims=True)
    return np.where(total > 0, near / np.where(total > 0, total, 1.0), 1.0 / len(b)) @ inside


#: Kernels by name, with their usual parameter: degree, width relative to the median distance, diffusion time.
KERNELS: dict[str, tuple[Callable[[np.ndarray, np.ndarray, float], np.ndarray], float]] = {
    "linear": (_linear, 1.0),
    "polynomial": (_polynomial, 2.0),
    "rbf": (_rbf, 1.0),
    "diffusion": (_diffusion, 1.0),
}


def kernel_matrix(name: str, a: np.ndarray, b: np.ndarray | None = None, parameter: float | None = None) -> np.ndarray:
    r"""Similarities of documents a to the documents b of a list; of the list to itself without ``b``.

    Parameters
    ----------
    name
        ``"linear"``, ``"polynomial"`` (parameter: the degree, 2), ``"rbf"`` (width relative to the median distance of
        the list, 1) or ``"diffusion"`` (time β of the diffusion :math:`e^{-\beta L}` on the graph of cosines, 1).
    a, b
        Documents, one per row.
    parameter
        See above; None for the usual value.

    References
    ----------
    Duh, Kirchhoff: Learning to rank with partially-labeled data. SIGIR 2008.

    Examples
    --------
    >>> kernel_matrix("polynomial", np.array([[0.0], [1.0]])).tolist()
    [[1.0, 1.0], [1.0, 4.0]]
    """
    if name not in KERNELS:
        raise DataError(f"unknown kernel {name!r}; the kernels are {', '.join(KERNELS)}")
    function, usual = KERNELS[name]
    a = np.asarray(a, np.float64)
    return function(a, a if b is None else np.asarray(b, np.float64), usual if parameter is None else parameter)


def kernel_components(
    name: str, documents: np.ndarray, others: np.ndarray, n: int, parameter: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Kernel principal components of a list: those of its documents, and the projections of other documents on them.

    All documents are centred on the list. Components without variance are 0; signs are fixed.
    """
    m = len(documents)
    kernel = kernel_matrix(name, documents, None, parameter)
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    values, vectors = np.linalg.eigh((centred + centred.T) / 2.0)
    values, vectors = values[::-1][:n], vectors[:, ::-1][:, :n]
    good = values > 1e-9 * max(float(values[0]) if values.size else 0.0, 1e-300)
    scaled = np.where(good, vectors / np.sqrt(np.where(good, values, 1.0)), 0.0)
    largest = np.abs(scaled).argmax(axis=0)
    scaled = scaled * np.where(scaled[largest, np.arange(scaled.shape[1])] < 0, -1.0, 1.0)
    cross = kernel_matrix(name, others, documents, parameter) - kernel.mean(axis=0)
    cross = cross - cross.mean(axis=1, keepdims=True)
    own, projected = np.zeros((m, n)), np.zeros((len(others), n))
    own[:, : scaled.shape[1]], projected[:, : scaled.shape[1]] = centred @ scaled, cross @ scaled
    return own, projected
