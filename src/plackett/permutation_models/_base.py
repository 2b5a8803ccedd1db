"""Shared by the permutation models: scikit-learn's interface, and `fit` on the class as well as on an object."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError
from plackett._base.estimator import Estimator, not_fitted


class also_on_class:
    """A method that fits its object; called on the class, it fits a new object.

    ``PlackettLuce(prior=(2, 1)).fit(orders)`` and ``PlackettLuce.fit(orders, prior=(2, 1))`` are the same, except
    that the latter also has its attributes without an underscore.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is not None:
            return self.method.__get__(instance, owner)

        @wraps(self.method)
        def fit(data: Any, *, weights: Any = None, **parameters: Any) -> Any:
            if "sample_weight" in inspect.signature(self.method).parameters:
                extra = {"sample_weight": parameters.pop("sample_weight", weights)}
            else:
                extra = {}
            return self.method(owner(**parameters), data, **extra)._remembered()

        return fit


class PermutationModel(Estimator):
    """Base of the permutation models: parameters in the constructor, fitted attributes with a trailing underscore."""

    #: The parameters that define the model and can be given instead of fitted; the first has one entry per item.
    model_parameters: ClassVar[tuple[str, ...]]
    _n_items: Any

    def _remembered(self) -> Self:
        """The model, with the fitted values also as its parameters."""
        for name in self.model_parameters:
            setattr(self, name, getattr(self, f"{name}_"))
        return self

    def _fitted(self, name: str) -> Any:
        """A fitted attribute."""
        try:
            return self.__dict__[name]
        except KeyError:
            given = " and ".join(f"{part}=…" for part in self.model_parameters)
            raise not_fitted(
                f"this {type(self).__name__} is not fitted: call fit first, or give {given} if known"
            ) from None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor; ``n_items`` as given."""
        return super().get_params(deep) | {"n_items": self._n_items}

    def set_params(self, **params: Any) -> Self:
        """Change parameters. Fitted values are discarded."""
        if not params:
            return self
        for name in params:
            if name not in self.get_params():
                known = ", ".join(self.get_params())
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {known}")
        changed = self.get_params() | params
        self.__dict__.clear()
        self.__init__(**changed)  # type: ignore[misc]
        return self

    def mode(self, k: int | None = None) -> np.ndarray:
        """The most probable order, or its first k ranks."""
        raise NotImplementedError

    def log_prob(self, orders: Any) -> np.ndarray:
        """Log-probability of each order."""
        raise NotImplementedError

    def score(self, orders: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log-probability of an order, which scikit-learn's searches maximise. ``y`` is not used."""
        log_probs = self.log_prob(orders)
        return float(np.average(log_probs, weights=sample_weight)) if log_probs.size else 0.0

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Parameters that are not at their defaults; for a fitted model also the items, best first."""
        defaults = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        given = [(name, value) for name, value in self.get_params().items() if _differs(value, defaults[name])]
        text = f"{type(self).__name__}({', '.join(f'{name}={_short(value)}' for name, value in given)})"
        fitted = f"{self.model_parameters[0]}_" in self.__dict__
        if not fitted or any(name == self.model_parameters[0] for name, _ in given):
            return text
        first = [str(item) for item in self.mode(5)]
        more = ", …" if self.n_items > len(first) else ""
        return f"<{text} fitted to {self.n_items} items, best first {', '.join(first)}{more}>"

    @property
    def n_items(self) -> int:
        """Number of items of the model; before `fit`, the number given."""
        known = self.__dict__.get(f"{self.model_parameters[0]}_")
        return self._n_items if known is None else known.size


def _differs(value: Any, default: Any) -> bool:
    return isinstance(value, np.ndarray) or (value is not default and value != default)


def _short(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    return np.array2string(value, precision=4, threshold=8, edgeitems=3, separator=", ", suppress_small=True)


def as_scores(scores: Any) -> np.ndarray:
    """Finite scores, one per item; an array stays the same object, as scikit-learn's `clone` requires."""
    try:
        array = np.asarray(scores, float)
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    if array.ndim != 1 or not np.isfinite(array).all():
        raise DataError("scores must be one finite number per item")
    return array
