"""What a model is: hyper-parameters that, given a loss and data, train a scorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol

from plackett.data.dataset import RankingDataset
from plackett.scorers.base import Scorer
from plackett.solvers.monitor import Monitor

if TYPE_CHECKING:
    from plackett.losses.base import Loss

__all__ = ["Model"]


class Model(Protocol):
    """A family of scoring functions with its way of training: a dataclass of hyper-parameters with this method."""

    #: Whether NaN features are missing values to it; otherwise they are refused before they reach it.
    allow_nan: ClassVar[bool]

    def train(self, loss: Loss, data: RankingDataset, monitor: Monitor, start: Scorer | None) -> Scorer:
        """Minimise the loss on the data, beginning with ``start`` where one is given."""
