"""Stability of listwise losses with a penalty."""

from __future__ import annotations

from collections.abc import Callable

from plackett._base.arguments import number, positive
from plackett._base.errors import DataError

__all__ = ["listwise_query_stability"]

#: The largest sum of the absolute slopes of a loss by the scores of a list of m documents.
_SLOPES: dict[str, Callable[[int], float]] = {"ListMLE": lambda m: 2.0 * (m - 1), "ListNet": lambda m: 2.0}


def listwise_query_stability(
    queries: float, documents: int, penalty: float, kappa: float = 1.0, loss: str | float = "ListMLE"
) -> float:
    r"""Query-level stability :math:`\tau = G^2 \kappa^2 / (\lambda r)` of a convex listwise loss with
    :math:`\sum_j |\partial L / \partial s_j| \le G`, minimised as mean loss + λ‖f‖².

    Parameters
    ----------
    documents
        Largest number of documents of a query, m.
    loss
        ``"ListMLE"`` (G = 2(m − 1)), ``"ListNet"`` (G = 2), or G.

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.
    Bousquet, Elisseeff: Stability and generalization. JMLR 2002.

    Examples
    --------
    >>> listwise_query_stability(20, 5, 0.05), listwise_query_stability(20, 5, 0.05, loss="ListNet")
    (64.0, 4.0)
    """
    positive(queries=queries, penalty=penalty, kappa=kappa)
    number("documents", documents, least=1)
    if isinstance(loss, str) and loss not in _SLOPES:
        raise DataError(f"loss={loss!r}; give one of {', '.join(map(repr, _SLOPES))}, or the bound of its slopes")
    slopes = _SLOPES[loss](documents) if isinstance(loss, str) else number("loss", loss, least=0.0)
    return slopes**2 * kappa**2 / (penalty * queries)
