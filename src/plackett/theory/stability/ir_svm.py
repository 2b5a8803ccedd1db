"""Stability of IR-SVM."""

from __future__ import annotations

from plackett._base.arguments import positive

__all__ = ["ir_svm_query_stability"]


def ir_svm_query_stability(queries: float, penalty: float, kappa: float = 1.0) -> float:
    r"""Query-level stability :math:`\tau = 4\kappa^2 / (\lambda r)` of IR-SVM, whatever the numbers of pairs.

    Parameters
    ----------
    queries
        r, those with pairs.
    penalty, kappa
        λ of (mean over queries of the mean hinge) + λ‖f‖², which is ``IRSVM(C=1 / (2 λ r), loss="hinge")``; κ with
        κ² ≥ K(x, x).

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.

    Examples
    --------
    >>> ir_svm_query_stability(200, 0.1)
    0.2
    """
    positive(queries=queries, penalty=penalty, kappa=kappa)
    return 4.0 * kappa**2 / (penalty * queries)
