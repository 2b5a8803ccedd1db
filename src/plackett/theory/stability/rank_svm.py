"""Stability of Ranking SVM."""

from __future__ import annotations

from math import sqrt
from typing import Any

from plackett._base.arguments import positive
from plackett._base.errors import DataError
from plackett.data.arguments import array

__all__ = ["hinge_loss_bound", "rank_svm_document_stability", "rank_svm_query_stability"]


def rank_svm_document_stability(documents: float, penalty: float, kappa: float = 1.0, slope: float = 1.0) -> float:
    r"""Document-level stability :math:`\beta = 16 \sigma^2 \kappa^2 / (\lambda m)` of a convex pair loss of slope σ.

    The loss of a pair changes by at most this much if one of m training documents is replaced. The hinge of Ranking SVM
    and the logistic loss have slope 1.

    Parameters
    ----------
    documents
        m, of the document framework: all documents are paired with each other.
    penalty, kappa
        λ of mean loss + λ‖f‖², and κ with κ² ≥ K(x, x): the length of the longest feature vector.

    References
    ----------
    Agarwal, Niyogi: Stability and generalization of bipartite ranking algorithms. COLT 2005.

    Examples
    --------
    >>> rank_svm_document_stability(10_000, 0.1)
    0.016
    """
    positive(documents=documents, penalty=penalty, kappa=kappa, slope=slope)
    return 16.0 * slope**2 * kappa**2 / (penalty * documents)


def rank_svm_query_stability(n_pairs: Any, penalty: float, kappa: float = 1.0) -> float:
    r"""Query-level stability :math:`\tau = \frac{4\kappa^2}{\lambda r} \frac{\max_i n_i}{\frac1r \sum_i n_i}`.

    It lies between :math:`4\kappa^2/(\lambda r)`, where all queries have the same number of pairs, and
    :math:`4\kappa^2/\lambda`, where one has all of them. The book misses the 1/r under the sum.

    Parameters
    ----------
    n_pairs
        Number of pairs of each query; queries without pairs do not count.
    penalty, kappa
        λ of (mean hinge over all pairs) + λ‖f‖², which is ``RankSVM(C=1 / (2 λ N), loss="hinge")`` for N pairs; κ.

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.

    Examples
    --------
    >>> rank_svm_query_stability([10, 10, 10, 10], 0.5), rank_svm_query_stability([37, 1, 1, 1], 0.5)
    (2.0, 7.4)
    """
    n = array("n_pairs", n_pairs, least=0.0)
    n = n[n > 0]
    if not n.size:
        raise DataError("n_pairs are all 0: without pairs there is nothing to train on")
    positive(penalty=penalty, kappa=kappa)
    return float(4.0 * kappa**2 / (penalty * n.size) * n.max() / n.mean())


def hinge_loss_bound(penalty: float, kappa: float = 1.0) -> float:
    r"""Largest hinge loss of a pair, :math:`1 + 2 \kappa / \sqrt\lambda`.

    The objective mean hinge + λ‖f‖² is 1 at f = 0, so its minimiser has :math:`\lVert f \rVert \le 1/\sqrt\lambda`.

    >>> round(hinge_loss_bound(0.1), 7)
    7.3245553

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.
    """
    positive(penalty=penalty, kappa=kappa)
    return 1.0 + 2.0 * kappa / sqrt(penalty)
