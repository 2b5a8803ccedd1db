"""Sub-packages whose names are imported on first use, and which return all their items when called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from plackett._names.catalogue import items, public_names
from plackett._names.nearest import suggestion

#: What the file of a package itself imports, and completion does not offer.
_IMPORTED = {"TYPE_CHECKING", "annotations", "open_package"}


def open_package(
    package: str, kind: str | None = None, *, everything: Callable[[], dict[str, Any]] | None = None
) -> None:
    """Make the public names of a sub-package its attributes, imported when first used.

    ``plackett.measures`` is a package and, as the interface promises, ``plackett.measures()`` returns every measure by
    name.

    Python's way to do so is a class of its own for the module (*Customizing module attribute access* in its reference):
    a module's functions ``__getattr__`` and ``__dir__`` would make its names lazy, but it could not be called, and a
    file named like its function, such as ``evaluation/evaluate.py``, would hide it.

    Parameters
    ----------
    kind
        Kind of the items that a call returns; without it the package cannot be called.
    everything
        What a call returns, if not the items of the kind.
    """
    of_kind = [] if kind is None else items(kind)
    known = {item.name: item for item in of_kind} | public_names(package.removeprefix("plackett."))
    public = sorted(name for name in known if name.isidentifier())

    class Package(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name not in known:
                raise AttributeError(f"module {package!r} has no attribute {name!r}{suggestion(name, public)}")
            module = import_module(known[name].module)
            # `nDCG` is an object of its module; `plackett.losses.ListNet` is another name of a class
            return vars(module).get(name) or known[name].load()

        def __setattr__(self, name: str, new: Any) -> None:
            # a module that is called like its function must not hide it: `plackett.evaluation.evaluate` is the function
            if not (isinstance(new, ModuleType) and name in known):
                super().__setattr__(name, new)

        def __dir__(self) -> list[str]:
            return sorted({*public, *super().__dir__()} - _IMPORTED)

        def __call__(self) -> dict[str, Any]:
            if everything is not None:
                return everything()
            if kind is None:
                raise TypeError(f"module {package!r} is not callable")
            return {item.name: item.load() for item in of_kind}

    module = sys.modules[package]
    module.__dict__["__all__"] = public  # for `from package import *`
    module.__class__ = Package
