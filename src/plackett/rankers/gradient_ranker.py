"""Any loss on any model."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from plackett._errors import LossError
from plackett.losses.base import Loss
from plackett.models.base import Model
from plackett.rankers.base import GradientTrained

__all__ = ["GradientRanker"]

#: Models by name, with the module that has each; a network is imported only where it is used.
MODELS = {
    "linear": ("plackett.models.linear", "Linear"),
    "trees": ("plackett.models.trees", "Trees"),
    "neural": ("plackett.models.neural", "Neural"),
}


@dataclass(kw_only=True, eq=False, repr=False)
class GradientRanker(GradientTrained):
    """A ranker made of any loss and any model.

    Parameters
    ----------
    loss
        Name of a loss (`plackett.losses()`), a loss object such as ``Lambda(measure="AP")``, or a user's own
        (`plackett.loss`).
    model
        ``"linear"``, ``"trees"``, ``"neural"``, or a model object such as ``Trees(num_leaves=63)``. Seed and threads of
        the ranker hold for a model given by name; a model object has its own.
    warm_start
        Go on from the last ``fit``.

    Examples
    --------
    >>> ranker = GradientRanker(loss="Exponential", model="linear")
    >>> ranker.fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]).rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])
    """

    ids: ClassVar[tuple[str, ...]] = ()

    loss: Any = "Logistic"
    model: Any = "linear"
    warm_start: bool = False

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        if isinstance(self.loss, Loss):
            return self.loss
        import plackett
        from plackett.losses.custom import REGISTERED

        known = plackett.losses() | REGISTERED
        if self.loss not in known:
            raise LossError(f"loss={self.loss!r}; the losses are {', '.join(known)}, or give a loss object")
        chosen = known[self.loss]
        return chosen if isinstance(chosen, Loss) else chosen()

    def make_model(self) -> Model:
        """The model to train."""
        if not isinstance(self.model, str):
            return self.model
        if self.model not in MODELS:
            raise LossError(f"model={self.model!r}; the models are {', '.join(MODELS)}, or give a model object")
        module, symbol = MODELS[self.model]
        return getattr(import_module(module), symbol)(random_state=self.random_state, n_jobs=self.n_jobs)

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Whether NaN features are missing values: as the model has it."""
        return getattr(self.make_model(), "allow_nan", False)
