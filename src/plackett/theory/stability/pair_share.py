"""The largest number of pairs of a query, compared with the mean."""

from __future__ import annotations

from math import sqrt

from plackett._base.arguments import number, probability

__all__ = ["pair_share_bound"]


def pair_share_bound(queries: int, mean: float, deviation: float, *, delta: float = 0.05, slack: float = 0.0) -> float:
    r"""Bound of max n / mean n over r queries whose numbers of pairs have mean μ and deviation σ,

    .. math:: \frac{1 + (\sigma / \mu) \sqrt{r / \delta}}{1 - \varepsilon / \mu},

    which holds with probability 1 − δ where the mean of the sample is not below μ − ε (Chebyshev's inequality for each
    query, added up).

    >>> round(pair_share_bound(200, 100.0, 80.0), 4)
    51.5964

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.
    """
    number("queries", queries, least=1)
    number("mean", mean, above=0.0)
    number("deviation", deviation, least=0.0)
    probability("delta", delta)
    number("slack", slack, least=0.0, below=mean)
    return (1.0 + deviation / mean * sqrt(queries / delta)) / (1.0 - slack / mean)
