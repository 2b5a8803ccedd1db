"""Estimators that are scikit-learn's once scikit-learn is imported, and that work without it before.

Importing scikit-learn takes longer than loading a model and scoring with it. So the base classes here bring the few
things a ranker needs to be made, read and printed. As soon as something imports scikit-learn, `derives_from` replaces
their bases by scikit-learn's own classes, once and for all: from then on, rankers are `BaseEstimator`s as if they had
been defined that way. Nothing outside scikit-learn can tell the difference, and scikit-learn never sees the classes
before.

Why not something plainer: inheriting from `BaseEstimator` costs its import (over a second) in every process that only
loads and predicts; `BaseEstimator` is not an abstract class with which ours could be registered; and since version 1.7
scikit-learn requires the real base class (tags, metadata routing, HTML), so that looking like one is not enough. The
replacement happens inside the import lock of ``sklearn.base``, after its code has run and before anybody can use it. A
failed import leaves everything waiting, and a reload changes nothing.
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

#: Classes that wait for a module, by its name.
_waiting: dict[str, list[tuple[type, tuple[str, ...]]]] = {}


def derives_from(module: str, *names: str) -> Callable[[type], type]:
    """A class decorator: from the import of ``module`` on, the bases of the class are the classes of these names.

    The class needs a base other than `object`, which is replaced; Python allows no other change.
    """

    def decorate(cls: type) -> type:
        if module in sys.modules:
            _rebase(cls, import_module(module), names)  # waits where another thread is importing it
        else:
            _waiting.setdefault(module, []).append((cls, names))
        return cls

    return decorate


def _rebase(cls: type, module: ModuleType, names: tuple[str, ...]) -> None:
    cls.__bases__ = tuple(getattr(module, name) for name in names)
    for defined in _family(cls):  # what the new bases do when a class is defined
        super(cls, defined).__init_subclass__()  # type: ignore[arg-type]


def _family(cls: type) -> Iterator[type]:
    """The class and all that derive from it, parents first."""
    family: dict[type, None] = {cls: None}
    waiting: list[type] = [cls]
    while waiting:
        child: type
        for child in waiting.pop(0).__subclasses__():
            if child not in family:
                family[child] = None
                waiting.append(child)
    return iter(sorted(family, key=lambda each: len(each.__mro__)))


class _Imports(MetaPathFinder):
    """Takes part in imports to notice those that classes wait for."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The usual finding of a module, with one more step after it is run."""
        if fullname not in _waiting:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_rebase(module: ModuleType) -> None:
                run(module)
                for cls, names in _waiting.pop(fullname, ()):
                    _rebase(cls, module, names)

            spec.loader.exec_module = run_and_rebase  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _Imports())


class Parameters:
    """The parameters of the constructor, read, changed and printed as scikit-learn does."""

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

    def __getattr__(self, name: str) -> Any:
        # what else an estimator of scikit-learn has: its import replaces this class
        if name.startswith(("get_", "set_", "_repr_", "__sklearn_")):
            import_module("sklearn.base")
            return getattr(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, TransformerMixin

    class Estimator(BaseEstimator):
        """As below."""

    class Transformer(TransformerMixin, BaseEstimator):
        """As below."""

else:

    @derives_from("sklearn.base", "BaseEstimator")
    class Estimator(Parameters):
        """scikit-learn's `BaseEstimator`, without importing it."""

    @derives_from("sklearn.base", "TransformerMixin", "BaseEstimator")
    class Transformer(Parameters):
        """scikit-learn's `TransformerMixin` and `BaseEstimator`, without importing them."""


def clone(estimator: Any) -> Any:
    """scikit-learn's `clone`: a new estimator with the same parameters and nothing learned."""
    if "sklearn.base" in sys.modules or not isinstance(estimator, (Estimator, Transformer)):
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
