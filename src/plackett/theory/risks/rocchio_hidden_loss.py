"""The loss on which Rocchio's feedback takes one gradient step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.data.arguments import array

__all__ = ["rocchio_hidden_loss"]


class RocchioLoss(NamedTuple):
    """Value and gradient of the hidden loss at some weights."""

    value: float
    gradient: np.ndarray


def rocchio_hidden_loss(
    weights: Any, relevant: Any, others: Any, *, alpha: float = 1.0, beta: float = 0.75, gamma: float = 0.15
) -> RocchioLoss:
    r"""Loss :math:`\frac{1 - \alpha}{2} \lVert w \rVert^2 - \beta\, w \cdot \bar x^+ + \gamma\, w \cdot \bar x^-`.

    One gradient step of length 1 from the query vector q is Rocchio's formula
    :math:`\alpha q + \beta \bar x^+ - \gamma \bar x^-`: a pointwise method that does not go to the minimum, which would
    forget the query.

    Parameters
    ----------
    weights
        w, a vector of terms.
    relevant, others
        Vectors of the documents with positive and with negative feedback, a row each.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 2.5.1.

    Examples
    --------
    >>> q = np.array([1.0, 0.0])
    >>> (q - rocchio_hidden_loss(q, [[0.0, 1.0]], [[1.0, 0.0]]).gradient).tolist()
    [0.85, 0.75]
    """
    w = array("weights", weights)
    for name, value in (("alpha", alpha), ("beta", beta), ("gamma", gamma)):
        number(name, value)
    good, bad = _vectors("relevant", relevant, w.size), _vectors("others", others, w.size)
    up = good.mean(axis=0) if good.shape[0] else np.zeros(w.size)
    down = bad.mean(axis=0) if bad.shape[0] else np.zeros(w.size)
    pull = gamma * down - beta * up
    return RocchioLoss(float((1.0 - alpha) / 2.0 * w @ w + w @ pull), (1.0 - alpha) * w + pull)


def _vectors(name: str, documents: Any, n_terms: int) -> np.ndarray:
    """The vectors of documents as a table; no documents are a table without rows."""
    table = array(name, documents, None, empty=True)
    if not table.size:
        return np.empty((0, n_terms))
    if table.ndim != 2 or table.shape[1] != n_terms:
        raise DataError(f"{name} has shape {table.shape}; give a row per document with {n_terms} terms")
    return table
