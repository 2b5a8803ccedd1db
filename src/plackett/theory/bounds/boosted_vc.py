"""VC dimension of boosted weak rankers."""

from __future__ import annotations

from math import e, log2

from plackett._base.arguments import number

__all__ = ["boosted_vc"]


def boosted_vc(vc: float, rounds: int) -> float:
    r"""Substitute for the VC dimension of an ensemble of T weak rankers of VC dimension V,

    .. math:: V' = 2 (V + 1)(T + 1) \log_2(e (T + 1)).

    >>> round(boosted_vc(2, 5), 6), round(boosted_vc(1, 10), 6)
    (144.995671, 215.693573)

    References
    ----------
    Freund, Iyer, Schapire, Singer: An efficient boosting algorithm for combining preferences. JMLR 2003.
    """
    number("vc", vc, least=0.0)
    number("rounds", rounds, least=0.0)
    return 2.0 * (vc + 1) * (rounds + 1) * log2(e * (rounds + 1))
