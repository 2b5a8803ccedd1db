"""Any loss on any model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar

from plackett._base.errors import LossError
from plackett._base.search_space import SearchSpace
from plackett._names.catalogue import find
from plackett.losses.base import Loss
from plackett.models.base import Model, check_model
from plackett.rankers.base import GradientTrained

__all__ = ["GradientRanker"]


@dataclass(kw_only=True, eq=False, repr=False)
class GradientRanker(GradientTrained):
    """A ranker made of any loss and any model.

    Parameters
    ----------
    loss
        Name of a loss (`plackett.losses()`), a loss object such as ``Lambda(measure="AP")``, or a user's own
        (`plackett.loss`).
    model
        ``"linear"``, ``"trees"``, ``"oblivious"``, ``"neural"``, or a model object such as ``Trees(num_leaves=63)``.
        A model given by name uses the seed and threads of the ranker; a model object has its own.
    warm_start
        Continue from the last ``fit``.

    Examples
    --------
    >>> ranker = GradientRanker(loss="Exponential", model="linear")
    >>> ranker.fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]).rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])
    """

    search_space: ClassVar[SearchSpace] = {
        "loss": ("Logistic", "ListNet", "Lambda", "Square"),
        "model": ("linear", "trees"),
    }

    effort: ClassVar[str | None] = None  # that of the model, which may be searched over

    loss: Any = "Logistic"
    model: Any = "linear"
    warm_start: bool = False

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        if isinstance(self.loss, Loss):
            return self.loss
        from plackett.losses.custom import REGISTERED

        if not isinstance(self.loss, str):
            raise LossError(f"loss={self.loss!r:.80}; give the name of a loss, or a loss")
        return REGISTERED[self.loss] if self.loss in REGISTERED else class_named("loss", self.loss)()

    def make_model(self) -> Model:
        """The model to train."""
        model = self.model
        if isinstance(model, str):
            model = class_named("model", model)(random_state=self.random_state, n_jobs=self.n_jobs)
        check_model(model)
        categories = getattr(self, "categories_", None)
        if not categories or not hasattr(model, "categorical_features"):
            return model
        return replace(model, categorical_features=(*(model.categorical_features or ()), *categories))

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Delegates to the model, which has the parameter."""
        model: Any = self.make_model()
        name = getattr(model, "effort", None)
        return {} if name is None else {"model": replace(model, **{name: rounds})}

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Whether NaN features are treated as missing values; decided by the model."""
        return self.make_model().allow_nan


def class_named(kind: str, name: str) -> Any:
    """Class of the loss or model of this name; only its own module is imported."""
    item = find(kind, str(name), error=LossError)
    return getattr(import_module(item.module), item.symbol)
