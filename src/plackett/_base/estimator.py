"""The base classes of rankers and transformers: scikit-learn's, except in a process of the command line.

Importing scikit-learn takes longer than loading a model and scoring with it, or training a small one. A command that
was started to do just that (`plackett._base.process`) never hands our estimators to scikit-learn, so there they have a
base class of our own with the few things that commands use. Everywhere else they are plain `BaseEstimator`s. The choice
is made once, when this module is imported. In a command's process a ranker is no instance of scikit-learn's classes.
"""

from __future__ import annotations

import copy
import inspect
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Self

from plackett._base.process import is_own_process


class Parameters:
    """The parameters of the constructor, read, changed and printed as scikit-learn's `BaseEstimator` does."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with ``deep``, also those of parameters that are estimators, as ``outer__inner``."""
        params: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{inner}": each for inner, each in value.get_params().items()}
            params[name] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters, also those of parameters that are estimators (``outer__inner``)."""
        known = self.get_params() if params else {}
        inner: dict[str, dict[str, Any]] = defaultdict(dict)
        for key, value in params.items():
            name, nested, rest = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: "
                    f"{self._get_param_names()!r}."
                )
            if nested:
                inner[name][rest] = value
            else:
                setattr(self, name, value)
                known[name] = value
        for name, values in inner.items():
            known[name].set_params(**values)
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The parameters that are not at their defaults."""
        defaults = inspect.signature(type(self)).parameters
        given = self.get_params(deep=False)
        changed = [f"{name}={value!r}" for name, value in given.items() if repr(value) != repr(defaults[name].default)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn's functions ask of any estimator; subclasses change it."""
        from sklearn.utils import Tags, TargetTags, TransformerTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), transformer_tags=TransformerTags())


if TYPE_CHECKING or not is_own_process():
    from sklearn.base import BaseEstimator as Estimator
    from sklearn.base import TransformerMixin, clone

    class Transformer(TransformerMixin, Estimator):
        """Base class of transformers."""

else:
    Estimator = Transformer = Parameters

    def clone(estimator: Any) -> Any:
        """A new estimator with the same parameters and nothing learned."""
        if not isinstance(estimator, Parameters):
            from sklearn.base import clone

            return clone(estimator)
        return type(estimator)(**{name: _copied(value) for name, value in estimator.get_params(deep=False).items()})


def _copied(value: Any) -> Any:
    """A parameter of a clone."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)([_copied(each) for each in value])
    if hasattr(value, "get_params") and not isinstance(value, type):
        return clone(value)
    return copy.deepcopy(value)


def not_fitted(message: str) -> Exception:
    """scikit-learn's `NotFittedError`, to be raised."""
    from sklearn.exceptions import NotFittedError

    return NotFittedError(message)
