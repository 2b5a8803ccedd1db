"""Base class of models: hyper-parameters that, given a loss and data, train a scorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.scorers.base import Scorer
from plackett.solvers.monitor import Monitor

if TYPE_CHECKING:
    from plackett.losses.base import Loss


class Model(Protocol):
    """A family of scoring functions and how to train it: a dataclass of hyper-parameters with a `train` method."""

    #: Whether NaN features are treated as missing values; otherwise they are rejected before training.
    allow_nan: ClassVar[bool]

    def train(self, loss: Loss, data: RankingDataset, monitor: Monitor, start: Scorer | None) -> Scorer:
        """Minimise the loss on the data, starting from ``start`` if given."""


def check_model(model: Any) -> None:
    """Reject what is not a model."""
    if not hasattr(model, "train"):
        raise LossError(f"model={model!r:.80}; give a model, such as plackett.Trees()")
