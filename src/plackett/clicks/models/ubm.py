"""The user browsing model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.clicks.models._families import ExaminationModel

__all__ = ["UBM"]


def browsing_table(examination: np.ndarray, n_ranks: int) -> np.ndarray:
    """Examination as a table: row t is the last clicked rank (0 for none), column i − 1 the rank i; NaN elsewhere."""
    table = np.full((n_ranks, n_ranks), np.nan)
    for t in range(n_ranks):
        first = t * (2 * n_ranks - t + 1) // 2
        table[t, t:] = examination[first : first + n_ranks - t]
    return table


@dataclass(kw_only=True, eq=False)
class UBM(ExaminationModel):
    r"""User browsing model: examination depends on the rank and on the last click above.

    .. math:: P(C_i = 1 \mid C_{<i}) = \gamma_{t,\,i-t}\, r_{d_i}

    with t the rank of the last click above i, 0 if there is none. Fitted by EM on counts per pair and cell (t, i − t).
    Only products are identified; :math:`\gamma_{0,1} = 1`.

    Attributes
    ----------
    examination_
        :math:`\gamma` of the cells; `table` has it as a table.

    References
    ----------
    Dupret, Piwowarski: A user browsing model to predict search engine click data from past observations. SIGIR 2008.
    """

    name: ClassVar[str] = "UBM"
    _browsing: ClassVar[bool] = True

    @property
    def table(self) -> np.ndarray:
        """Examination by last clicked rank (rows, 0 is none) and rank (columns)."""
        return browsing_table(self.examination_, self.n_ranks_)
