"""Which pairs of positions count in the ranking loss, and how much."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.data.arguments import array
from plackett.theory.risks.preference_losses import Emphasis

__all__ = ["emphasis_axioms", "partite_emphasis", "top_k_emphasis"]


def top_k_emphasis(k: int) -> Emphasis:
    """Weight 1 for pairs with a document that is truly among the first k, 0 for the others.

    >>> top_k_emphasis(2)(np.array([1, 3]), np.array([5, 4])).tolist()
    [1.0, 0.0]

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010.
    """
    number("k", k, least=1)
    return lambda i, j: (((i <= k) | (j <= k)) & (i != j)).astype(np.float64)


def partite_emphasis(labels: Any) -> Emphasis:
    r"""Weight of pairs from different classes of a list,

    .. math:: \omega(i, j) = [c(i) \ne c(j)]\,\frac{n (n - 1)}{2 \sum_{a < b} m_a m_b},

    with m_a documents of class a and c(i) the class of the i-th document in the true order. The loss is then the share
    of the pairs from different classes that are misordered; for two classes it is 1 − AUC.

    Parameters
    ----------
    labels
        Labels of the list; equal ones are a class.

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010.

    Examples
    --------
    >>> from plackett.theory.risks.preference_losses import ranking_loss
    >>> y = [2, 1, 0, 0]
    >>> round(ranking_loss([1, 0, 2, 3], y, partite_emphasis(y)), 4)  # one of five pairs
    0.2
    """
    classes = np.sort(array("labels", labels))[::-1]
    n = classes.size
    sizes = np.unique(classes, return_counts=True)[1]
    pairs = (n * n - float((sizes**2).sum())) / 2.0
    if pairs == 0:
        raise DataError("all labels are equal: there is no pair to weigh")
    return lambda i, j: (classes[i - 1] != classes[j - 1]) * (n * (n - 1) / (2.0 * pairs))


class EmphasisAxioms(NamedTuple):
    """Which of the three conditions an emphasis function meets; all are needed for the guarantees."""

    symmetric: bool
    monotone: bool
    triangle: bool


def emphasis_axioms(emphasis: Emphasis, n: int) -> EmphasisAxioms:
    """Check a weight of pairs of positions on lists of n documents.

    Symmetry: ω(i, j) = ω(j, i). Monotonicity: ω(i, j) ≤ ω(i, k) where j lies between i and k. Triangle inequality:
    ω(i, j) ≤ ω(i, k) + ω(k, j).

    >>> emphasis_axioms(top_k_emphasis(3), 7)
    EmphasisAxioms(symmetric=True, monotone=True, triangle=True)
    >>> emphasis_axioms(lambda i, j: (i - j) ** 2, 5)  # two short ways are less than a long one
    EmphasisAxioms(symmetric=True, monotone=True, triangle=False)

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010.
    """
    number("n", n, least=1)
    i, j = np.indices((n, n)) + 1
    w = np.array(emphasis(i.ravel(), j.ravel()), np.float64).reshape(n, n)
    np.fill_diagonal(w, 0.0)  # no document is paired with itself
    array("emphasis", w, 2)
    a, b, c = np.indices((n, n, n))
    between = (np.minimum(a, c) < b) & (b < np.maximum(a, c))
    slack = 1e-12 * max(1.0, float(np.abs(w).max(initial=0.0)))
    return EmphasisAxioms(
        bool(np.allclose(w, w.T, rtol=0, atol=slack)),
        bool((w[a, b] <= w[a, c] + slack)[between].all()),
        bool((w[a, b] <= w[a, c] + w[c, b] + slack).all()),
    )
