"""The largest number of pairs of a query, compared with the mean."""

from __future__ import annotations

from math import sqrt

from plackett._errors import DataError
from plackett._provenance import fulfils

__all__ = ["pair_share_bound"]


@fulfils("S-10", paper="Lan, Liu, Qin, Ma, Li 2008")
def pair_share_bound(queries: int, mean: float, deviation: float, *, delta: float = 0.05, slack: float = 0.0) -> float:
    r"""Bound of max n / mean n over r queries whose numbers of pairs have mean μ and deviation σ,

    .. math:: \frac{1 + (\sigma / \mu) \sqrt{r / \delta}}{1 - \varepsilon / \mu},

    which holds with probability 1 − δ where the mean of the sample is not below μ − ε (Chebyshev's inequality for each
    query, added up).

    >>> round(pair_share_bound(200, 100.0, 80.0), 4)
    51.5964
    """
    if queries < 1 or not mean > 0 or deviation < 0 or not 0 < delta < 1 or not 0 <= slack < mean:
        raise DataError("give queries >= 1, mean > 0, deviation >= 0, 0 < delta < 1 and 0 <= slack < mean")
    return (1.0 + deviation / mean * sqrt(queries / delta)) / (1.0 - slack / mean)
