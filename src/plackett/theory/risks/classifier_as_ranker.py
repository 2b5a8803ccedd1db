"""A classifier used as a ranker."""

from __future__ import annotations

from plackett._base.arguments import number
from plackett.theory.risks.conventions import tie_cost

__all__ = ["classification_error", "ranking_error_of_classifier"]


def ranking_error_of_classifier(fnr: float, fpr: float, tie: str = "none") -> float:
    r"""Pairwise error of ranking by the 0/1 output of a classifier.

    A positive document is below a negative one with probability :math:`\text{FNR}\cdot\text{FPR}`, which is at most
    :math:`\min(\text{FNR}, \text{FPR})` and so at most the classification error, whatever the share of positives. The
    claim depends on how ties count: with half a loss the error is :math:`(\text{FNR} + \text{FPR})/2`, which may be
    more. And the converse is false: a perfect ranker with a bad threshold is a bad classifier.

    Parameters
    ----------
    fnr, fpr
        Share of positives classified as negative, and of negatives as positive.
    tie
        What a pair of equal scores counts as: ``"none"`` 0, ``"half"`` ½, ``"loss"`` 1.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.

    Examples
    --------
    >>> round(ranking_error_of_classifier(0.3, 0.2), 6), round(ranking_error_of_classifier(0.3, 0.2, "half"), 6)
    (0.06, 0.25)
    """
    cost = tie_cost(tie)
    _check_share("fnr", fnr)
    _check_share("fpr", fpr)
    tied = (1.0 - fnr) * fpr + fnr * (1.0 - fpr)
    return fnr * fpr + cost * tied


def classification_error(fnr: float, fpr: float, prior: float) -> float:
    """Error of a classifier where the share ``prior`` of the documents is positive.

    >>> round(classification_error(0.3, 0.2, 0.4), 6)
    0.24

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.
    """
    _check_share("fnr", fnr)
    _check_share("fpr", fpr)
    _check_share("prior", prior)
    return prior * fnr + (1.0 - prior) * fpr


def _check_share(name: str, value: float) -> None:
    number(name, value, least=0.0, most=1.0)
