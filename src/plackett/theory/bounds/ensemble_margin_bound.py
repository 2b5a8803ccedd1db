"""Bound on the risk of an ensemble of weak rankers by its margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import number, probability
from plackett._base.errors import DataError
from plackett.data.arguments import array
from plackett.theory.bounds.rankboost_bounds import empirical_margin_loss
from plackett.theory.bounds.ranking_margin import ensemble_margins

__all__ = ["ensemble_margin_bound"]


@dataclass(frozen=True)
class EnsembleMarginBound:
    """The bound and its three parts.

    Attributes
    ----------
    margin_loss
        Share of the pairs whose normalised margin is at most ρ.
    complexity
        The term for the complexity of the weak rankers.
    confidence
        The term for the sample size and δ.
    """

    margin_loss: float
    complexity: float
    confidence: float

    @property
    def bound(self) -> float:
        """Bound on the probability that a new pair is misordered; vacuous if 1 or more."""
        return self.margin_loss + self.complexity + self.confidence


def ensemble_margin_bound(
    differences: Any,
    alphas: Any,
    rho: float,
    *,
    complexity: float | tuple[float, float] | None = None,
    n_rankers: int | None = None,
    delta: float = 0.05,
    empirical: bool = False,
) -> EnsembleMarginBound:
    r"""Margin bound for an ensemble :math:`f = \sum_t \alpha_t h_t`: Corollary 10.4 of Mohri et al.

    With probability 1 − δ over m independent pairs, for all ensembles of weak rankers out of H,

    .. math:: R(f) \le \hat R_\rho\Big(\frac{f}{\lVert\alpha\rVert_1}\Big)
        + \frac2\rho \big(\mathfrak R_m^{D_1}(H) + \mathfrak R_m^{D_2}(H)\big) + \sqrt{\frac{\log(1/\delta)}{2m}}

    with the Rademacher complexities of H on the first and on the second documents of the pairs. The complexity is that
    of the weak rankers, not of the ensembles: the number of rounds does not appear.

    Parameters
    ----------
    differences
        :math:`d_{it} = h_t(u_i) - h_t(v_i)` for pair i, of which u should be before v, and round t; the weak rankers
        have values in 0..1.
    alphas
        Weight of each round, not all 0.
    rho
        Margin above 0; it must be chosen before the pairs are seen.
    complexity
        Rademacher complexity of H on first and second documents: two numbers, or one for both.
    n_rankers
        Instead: number of weak rankers that differ on m documents, for Massart's bound :math:`\sqrt{2 \log N / m}`.
        There are at most 2 d (m + 1) thresholds on d features.
    delta
        Probability that the bound fails.
    empirical
        Whether the complexities are those of the sample; the last term is then :math:`3\sqrt{\log(2/\delta)/(2m)}`.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.

    Examples
    --------
    >>> bound = ensemble_margin_bound([[1, 1], [1, 0]] * 5000, [3.0, 1.0], 0.5, n_rankers=100)
    >>> bound.margin_loss, round(bound.complexity, 4), round(bound.confidence, 4)
    (0.0, 0.2428, 0.0122)
    """
    # weak rankers have values in 0..1
    d = array("differences", differences, 2, least=-1.0, most=1.0)
    margins, norm = ensemble_margins(d, alphas)
    if norm == 0:
        raise DataError("alphas must not all be 0: an ensemble of nothing has no margin")
    number("rho", rho, above=0.0)
    probability("delta", delta)
    if (complexity is None) == (n_rankers is None):
        raise DataError("give the complexity of the weak rankers, or their number with n_rankers")
    m = d.shape[0]
    if n_rankers is not None:
        complexity = float(np.sqrt(2.0 * np.log(number("n_rankers", n_rankers, least=1)) / m))
    both = array("complexity", complexity, None, least=0.0)
    if both.shape not in ((), (2,)):
        raise DataError(f"complexity has shape {both.shape}; give one number for both documents of a pair, or two")
    first, second = np.broadcast_to(both, 2)
    factor, tails = (3.0, 2.0) if empirical else (1.0, 1.0)
    confidence = factor * np.sqrt(np.log(tails / delta) / (2.0 * m))
    return EnsembleMarginBound(
        empirical_margin_loss(margins / norm, rho), float(2.0 / rho * (first + second)), float(confidence)
    )
