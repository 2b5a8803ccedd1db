"""The position-based model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.clicks.models._families import ExaminationModel

__all__ = ["PBM"]


@dataclass(kw_only=True, eq=False)
class PBM(ExaminationModel):
    r"""Position-based model: a document is clicked if it is examined, which depends on its rank, and attractive.

    .. math:: P(C_i = 1) = \theta_i\, r_{d_i}

    Fitted by EM on counts per pair and rank, so that a pass does not depend on the number of pages. Only products
    :math:`\theta_i r_d` are identified; the examination of the first rank is 1. Documents that are always shown at one
    rank leave even the ratios open: `plackett.clicks.profile_log` says how many move.

    Attributes
    ----------
    examination_
        :math:`\theta` of each rank, relative to the first.

    Examples
    --------
    >>> import numpy as np
    >>> from plackett.clicks import ClickLog
    >>> rng = np.random.default_rng(0)
    >>> pages = rng.permuted(np.tile(np.arange(4), (20_000, 1)), axis=1)
    >>> look, r = np.array([1.0, 0.5, 0.3, 0.2]), np.array([0.8, 0.5, 0.3, 0.1])
    >>> log = ClickLog.from_arrays(np.zeros(20_000, int), pages, rng.random(pages.shape) < look * r[pages])
    >>> PBM().fit(log).examination_.round(1).tolist()
    [1.0, 0.5, 0.3, 0.2]

    References
    ----------
    Craswell, Zoeter, Taylor, Ramsey: An experimental comparison of click position-bias models. WSDM 2008.
    """

    name: ClassVar[str] = "PBM"
