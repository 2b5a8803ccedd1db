"""Print the documentation of the standard library as JSON lines. A script of its own: it imports nothing but Python.

It runs in a fresh interpreter without site packages, so that the result depends on the Python version and the platform
alone, and nothing that it imports stays in the process that wants the documents.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

#: Modules with effects (a browser, a window, printed verse), tests, and parts that are for other programs.
SKIPPED = re.compile(
    r"(antigravity|this|idlelib|test|tests|lib2to3|turtledemo|turtle|__phello__|__hello__|ensurepip|pydoc_data|tkinter"
    r"|__main__|distutils|venv|msilib|winreg|winsound|posix|nt|posixpath|ntpath|genericpath|curses\.has_key|ctypes\.test|sqlite3\.test"
    r"|unittest\.test|encodings\.\w+|multiprocessing\.(popen|resource|dummy)\w*|xml\.etree\.cElementTree)(\.|$)"
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
#: Shorter texts say nothing that could be searched for.
_SHORTEST = 20


def modules() -> Iterator[str]:
    """Names of the public modules and their public submodules, sorted."""
    names = {name for name in sys.stdlib_module_names if not name.startswith("_")}
    for name in sorted(names):
        if SKIPPED.match(name):
            continue
        yield name
        if name == "os":
            yield "os.path"  # whatever it is called on this platform
        try:
            package = importlib.import_module(name)
        except Exception:
            continue
        for entry in sorted(pkgutil.iter_modules(getattr(package, "__path__", []), f"{name}."), key=lambda e: e.name):
            parts = entry.name.split(".")
            if not any(part.startswith("_") for part in parts) and not SKIPPED.match(entry.name):
                yield entry.name


def text_of(value: Any) -> str:
    """The docstring of an object itself, not of its class or of what it inherits from."""
    try:
        own = value.__doc__
    except Exception:
        return ""
    if not isinstance(own, str) or (not isinstance(value, type) and own == type(value).__doc__):
        return ""
    return _ADDRESS.sub("", inspect.cleandoc(own)).strip()


def signature_of(value: Any) -> str:
    """The signature as text, without addresses of objects."""
    try:
        return _ADDRESS.sub("", str(inspect.signature(value)))[:300]
    except (ValueError, TypeError, NameError, AttributeError):
        return ""


def record(path: str, name: str, kind: str, module: str, parent: str, value: Any, text: str) -> dict[str, str]:
    """A document."""
    return {
        "id": path,
        "name": name,
        "kind": kind,
        "module": module,
        "parent": parent,
        "text": text,
        "signature": signature_of(value) if kind != "module" else "",
    }


def kind_of(value: Any) -> str | None:
    """What an object is, or None if it is data."""
    if inspect.isclass(value):
        return "class"
    if inspect.isroutine(value):
        return "function"
    return None


def members(module: str, loaded: Any) -> Iterator[tuple[dict[str, str], Any]]:
    """Documents of the functions and classes that a module defines, and of their methods."""
    named = getattr(loaded, "__all__", None)
    names = sorted(set(named) if named else {n for n in vars(loaded) if not n.startswith("_")})
    for name in names:
        if not isinstance(name, str) or name.startswith("_"):
            continue
        try:
            value = getattr(loaded, name)
        except Exception:
            continue
        kind = kind_of(value)
        home = getattr(value, "__module__", None)
        if kind is None or (not named and home not in (module, f"_{module}", None)):
            continue
        text = text_of(value)
        if len(text) >= _SHORTEST:
            yield record(f"{module}.{name}", name, kind, module, module, value, text), value
        if kind == "class":
            for part in sorted(vars(value)):
                method = vars(value)[part]
                if part.startswith("_") or not (inspect.isroutine(method) or isinstance(method, property)):
                    continue
                inner = getattr(method, "__func__", method)
                text = text_of(inner)
                if len(text) >= _SHORTEST:
                    path = f"{module}.{name}.{part}"
                    yield record(path, f"{name}.{part}", "method", module, f"{module}.{name}", inner, text), inner


def collect() -> list[dict[str, str]]:
    """All documents in the order of their ids; an object that several modules offer is taken once."""
    records: dict[str, dict[str, str]] = {}
    homes: dict[int, str] = {}
    for module in modules():
        try:
            loaded = importlib.import_module(module)
        except Exception:
            continue  # a module of another platform
        text = text_of(loaded)
        if len(text) >= _SHORTEST:
            records[module] = record(module, module, "module", module, module.rpartition(".")[0], loaded, text)
        for entry, value in members(module, loaded):
            before = homes.get(id(value))
            own = getattr(value, "__module__", None) == module
            if before is not None and before in records and not own:
                continue
            if before is not None and own:
                records.pop(before, None)
            homes[id(value)] = entry["id"]
            keep.append(value)
            records[entry["id"]] = entry
    return [records[name] for name in sorted(records)]


#: Objects seen: their ids are compared, so they must live on.
keep: list[Any] = []

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        documents = collect()
    for document in documents:
        print(json.dumps(document, ensure_ascii=True))
