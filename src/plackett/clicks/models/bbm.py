"""The Bayesian browsing model: the browsing model with a full posterior of relevance, in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.log import ClickLog
from plackett.clicks.models._families import ExaminationModel
from plackett.clicks.models._grid import GRID, grid_moments, grid_weights
from plackett.clicks.models._prior import beta_interval
from plackett.clicks.models.base import clipped
from plackett.clicks.models.ubm import browsing_table

__all__ = ["BBM"]


@dataclass(kw_only=True, eq=False)
class BBM(ExaminationModel):
    r"""Bayesian browsing model: examination as in `UBM`, relevance with a uniform prior and its full posterior.

    .. math:: p(R_j \mid C) \propto R_j^{e_0} \prod_\ell (1 - \beta_\ell R_j)^{e_\ell}, \qquad
              \hat\beta_\ell = \min\Big(1, \frac{2\,\text{clicks}_\ell}{\text{clicks}_\ell + \text{skips}_\ell}\Big)

    with :math:`e_0` the clicks on document j and :math:`e_\ell` its skips in cell ℓ (last click above and distance).
    One pass of counts; posteriors are evaluated on a grid. The factor 2 is the mean of the uniform prior, and assumes
    that relevance does not depend on the rank: a good ranking inflates β at the top.

    Attributes
    ----------
    examination_
        :math:`\beta` of the cells; `table` has it as a table.

    References
    ----------
    Liu, Guo, Faloutsos: BBM: Bayesian browsing model from petabyte-scale data. KDD 2009.
    """

    name: ClassVar[str] = "BBM"
    _browsing: ClassVar[bool] = True
    _arrays: ClassVar[tuple[str, ...]] = ("examination_", "posterior_")

    prior: Any = None

    def _fit(self, log: ClickLog, verbose: bool) -> None:
        if self.prior is not None:
            raise DataError(f"prior={self.prior!r}; the prior of BBM is uniform: leave it at None")
        counts = self.pages_of(log)
        shown = np.maximum(counts.cell_shown, 1e-12)
        rate = np.where(counts.cell_shown > 0, 2.0 * counts.cell_clicks / shown, 1.0)
        self.examination_ = np.clip(rate, 1e-9, 1.0)
        self._counts = counts
        self.posterior_ = self._moments(0.95)
        self.attraction_ = clipped(self.posterior_[0])
        self.examined_ = self.shown_
        self.log_likelihoods_.append(self.log_likelihood(log))
        self.n_iter_ = 1

    def _unknown(self) -> float:
        return 0.5

    def _moments(self, level: float) -> np.ndarray:
        starts, cell, count, hits, table = self._evidence()
        return grid_moments(starts, cell, count, hits, table, level, self.n_jobs)

    def _evidence(self) -> Any:
        if not hasattr(self, "_counts"):
            raise DataError("the counts of the log are not kept in the file: fit the model again")
        counts, table = self._counts, np.log1p(-np.minimum(self.examination_[:, None] * GRID, 1 - 1e-12))
        return counts.starts, counts.cell, counts.skips, counts.pair_clicks, table

    def _posterior(self, level: float) -> np.ndarray:
        if hasattr(self, "_counts"):
            return self._moments(level)
        mean, variance, _, _ = self.posterior_
        return np.array([mean, variance, *beta_interval(mean, variance, level)])

    def density(self, query: Any, document: Any) -> np.ndarray:
        """Posterior of the relevance of one pair on 200 equal steps of [0, 1], as probabilities of the steps."""
        pair = int(self.pairs_.find([query], [document])[0])
        if pair < 0:
            return np.full(GRID.size, 1.0 / GRID.size)
        return grid_weights(pair, *self._evidence())

    def preference(self, query: Any, document: Any, other: Any) -> float:
        """Probability that one document of a query is more relevant than another."""
        first, second = self.density(query, document), self.density(query, other)
        below = np.cumsum(second) - second
        return float((first * (below + 0.5 * second)).sum())

    @property
    def table(self) -> np.ndarray:
        """Examination by last clicked rank (rows, 0 is none) and rank (columns)."""
        return browsing_table(self.examination_, self.n_ranks_)
