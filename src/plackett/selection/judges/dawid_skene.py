"""A model of judges and items: how each judge errs, and what the label of each item probably is."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._kernels.kernel import kernel
from plackett.selection.judges.ratings import JudgeRatings

__all__ = ["dawid_skene"]


@dataclass(frozen=True, eq=False)
class JudgeModel:
    """Result of `dawid_skene`.

    Attributes
    ----------
    grades
        The grades, ascending.
    posterior
        Probability of each grade for each item, items × grades.
    confusion
        Probability that a judge gives a grade to an item of a true grade, judges × true × given.
    share
        Share of the items with each true grade.
    objective
        Log posterior after each iteration; it never falls.
    """

    grades: np.ndarray
    posterior: np.ndarray
    confusion: np.ndarray
    share: np.ndarray
    objective: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """The most probable grade of each item."""
        return self.grades[self.posterior.argmax(axis=1)]

    @property
    def mean(self) -> np.ndarray:
        """The expected grade of each item."""
        return self.posterior @ self.grades

    @property
    def accuracy(self) -> np.ndarray:
        """Probability that each judge is right, over items as they occur."""
        return np.einsum("k,jkk->j", self.share, self.confusion)


def dawid_skene(
    ratings: Any,
    *,
    ordinal: bool = True,
    strength: float = 1.0,
    decay: float = 0.3,
    max_iter: int = 500,
    tol: float = 1e-7,
) -> JudgeModel:
    r"""Fit confusion tables of judges and true grades of items together, by expectation maximisation.

    An item has grade t with probability :math:`p_t`; judge j then says l with probability :math:`\theta_{jtl}`. Rows of
    :math:`\theta` have Dirichlet priors. With ``ordinal`` their pseudo-counts are :math:`s\,d^{|t-l|}`, steps counted
    between neighbouring grades: errors by one grade are expected more than errors by two, which keeps estimates for
    judges with few labels reasonable. Otherwise they are s/10 on every cell and s more on the diagonal. EM starts from
    the shares of the labels of each item, so the result does not depend on a seed.

    Parameters
    ----------
    ratings
        `JudgeRatings`, or what they are made of: labels, items × judges.
    strength, decay
        s and d; a small s is nearly maximum likelihood.

    Examples
    --------
    >>> model = dawid_skene([[0, 0, 1], [1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    >>> model.labels.tolist(), bool(model.accuracy[2] < model.accuracy[0])
    ([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], True)

    References
    ----------
    Dawid, Skene: Maximum likelihood estimation of observer error-rates using EM. Applied Statistics 28, 1979.
    """
    if not strength > 0 or not 0 < decay < 1:
        raise DataError(f"strength must be above 0 and decay between 0 and 1, got {strength!r} and {decay!r}")
    checked = JudgeRatings.of(ratings)
    codes, k = checked.codes, checked.grades.size
    if (codes < 0).all(axis=1).any():
        raise DataError(f"item {int((codes < 0).all(axis=1).argmax()) + 1} has no label")
    item, judge = np.nonzero(codes >= 0)
    given = codes[item, judge]
    n_judges = codes.shape[1]
    steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    prior = strength * (decay**steps if ordinal else 0.1 + (steps == 0))
    posterior = checked.counts / checked.counts.sum(axis=1, keepdims=True)
    objective: list[float] = []
    for _ in range(max_iter):
        share = (posterior.sum(axis=0) + 1e-9) / (len(codes) + k * 1e-9)
        confusion = np.tile(prior, (n_judges, 1, 1))
        _count(item, judge, given, posterior, confusion)
        confusion /= confusion.sum(axis=2, keepdims=True)
        table = np.log(confusion)
        posterior = np.tile(np.log(share), (len(codes), 1))
        _add(item, judge, given, table, posterior)
        peak = posterior.max(axis=1, keepdims=True)
        total = np.log(np.exp(posterior - peak).sum(axis=1, keepdims=True)) + peak
        posterior = np.exp(posterior - total)
        objective.append(float(total.sum() + (prior * table).sum() + 1e-9 * np.log(share).sum()))
        if len(objective) > 1 and objective[-1] - objective[-2] <= tol * (abs(objective[-1]) + 1.0):
            break
    else:
        warnings.warn(
            f"the judges' tables still changed after {max_iter} steps; raise max_iter", PlackettWarning, stacklevel=2
        )
    return JudgeModel(checked.grades, posterior, confusion, share, np.array(objective))


@kernel
def _count(item, judge, given, posterior, confusion):  # type: ignore[no-untyped-def]
    for r in range(item.size):
        for t in range(posterior.shape[1]):
            confusion[judge[r], t, given[r]] += posterior[item[r], t]


@kernel
def _add(item, judge, given, table, posterior):  # type: ignore[no-untyped-def]
    for r in range(item.size):
        for t in range(posterior.shape[1]):
            posterior[item[r], t] += table[judge[r], t, given[r]]
