"""Everything a cell's result depends on, as one hash: a result is reused only if nothing has changed."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import json
import platform
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett._base.search_space import Integer, Real
from plackett.data.dataset import RankingDataset
from plackett.experiments.cells.source_stamp import source_stamp
from plackett.experiments.contestants import THREAD_PARAMETERS, Contestant
from plackett.measures.base import Measure
from plackett.scorers.plain_values import to_plain

if TYPE_CHECKING:
    from plackett.experiments.cells.cell import Cell

#: Increased when cells give different results although nothing else has changed.
PROTOCOL_VERSION = 1
#: Parameters that do not affect results.
_IDLE = (*THREAD_PARAMETERS, "verbose")
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm", "torch")


def identity(contestant: Contestant, select: Measure, protocol: dict[str, Any]) -> dict[str, Any]:
    """What a result depends on besides the data: the ranker with its parameters and its source, search and versions.

    Threads and verbosity are left out, since results do not depend on them. So are the reported measures, which are
    recomputed from the scores.
    """
    from plackett._base.version import __version__

    space = {
        name: [type(choice).__name__, asdict(choice)]
        if isinstance(choice, (Real, Integer))
        else _plain(list(choice), name)
        for name, choice in contestant.space.items()
    }
    return {
        "protocol": PROTOCOL_VERSION,
        "plackett": __version__,
        "libraries": versions(),
        "ranker": describe(contestant.ranker),
        "sources": _stamp(_modules(contestant.ranker, select)),
        "space": space if protocol.get("search") is not None else None,
        "select": [str(select), _source(getattr(type(select), "function", None))],
        **protocol,
    }


def cell_key(identity: dict[str, Any], parts: dict[str, str | None]) -> str:
    """Hash of what `identity` found and of the data."""
    text = json.dumps(identity | {"data": parts}, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def blended_key(cells: Iterable[Cell]) -> str:
    """Hash of the cells that are blended and of the code that blends them."""
    parts = [_stamp(("plackett.experiments.blending", "plackett.rankers.blend")), *(cell.key for cell in cells)]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=12).hexdigest()


def _modules(ranker: Any, select: Measure) -> tuple[str, ...]:
    """Modules that a result depends on: those of the ranker and its parts, its loss and model, and the measure."""
    rankers = _with_parts(ranker)
    objects = [*rankers, select]
    objects += [getattr(r, make)() for r in rankers for make in ("make_loss", "make_model") if hasattr(r, make)]
    kinds = [base for each in objects for base in type(each).__mro__]
    return tuple(sorted({kind.__module__ for kind in kinds} | {"plackett.experiments.cells.run"}))


def _with_parts(ranker: Any) -> list[Any]:
    parts = ranker.parts() if hasattr(ranker, "parts") else [step for _, step in getattr(ranker, "steps", ())]
    return [ranker, *(inner for part in parts for inner in _with_parts(part))]


_stamp = functools.cache(source_stamp)  # later edits do not affect this process


def describe(ranker: Any) -> dict[str, Any]:
    """A ranker as JSON: its class, its parameters, its source and the version of its library."""
    if isinstance(ranker, functools.partial):
        described = describe(ranker.func) | {
            "arguments": [_plain(ranker.args, "args"), _plain(ranker.keywords, "keywords")]
        }
    elif isinstance(ranker, type):
        described = {"class": _path(ranker), "source": _sources(ranker)}
    elif hasattr(ranker, "get_params"):
        known = ranker.get_params(deep=False)
        parameters = {name: _plain(value, name) for name, value in sorted(known.items()) if name not in _IDLE}
        described = {"class": _path(type(ranker)), "parameters": parameters, "source": _sources(type(ranker))}
    elif inspect.isfunction(ranker):
        held = [_plain(cell.cell_contents, "closure") for cell in ranker.__closure__ or ()]
        described = {"function": _path(ranker), "source": _source(ranker), "closure": held}
    else:
        described = {
            "class": _path(type(ranker)),
            "state": _plain(vars(ranker), "state"),
            "source": _sources(type(ranker)),
        }
    return described | {"library": _library(inspect.getmodule(ranker) or inspect.getmodule(type(ranker)))}


def data_digest(data: RankingDataset) -> str:
    """Hash of everything that a ranker may learn from or be measured on."""
    digest = hashlib.blake2b(data.fingerprint().encode(), digest_size=12)
    digest.update(str((data.X.shape, data.feature_names)).encode())
    return digest.hexdigest()


@functools.cache
def versions() -> dict[str, str]:
    """Versions of plackett, Python and the libraries that compute."""
    from plackett._base.version import __version__

    versions = {"plackett": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):  # torch is an extra
            versions[name] = version(name)
    return versions


def _plain(value: Any, name: str) -> Any:
    """A parameter as JSON; objects become their class and content."""
    with contextlib.suppress(DataError):
        return to_plain(value, name)
    if isinstance(value, (list, tuple)):
        return [_plain(entry, name) for entry in value]
    if isinstance(value, dict):
        return {str(key): _plain(entry, name) for key, entry in value.items()}
    if hasattr(value, "get_params") or inspect.isfunction(value) or isinstance(value, functools.partial):
        return describe(value)
    return repr(value)


def _sources(kind: type) -> list[str | None]:
    """Hashes of the sources of a class and its bases in scripts: an edited ranker is a different one.

    plackett's own classes are left out: the stamp of the sources covers them, and their bases change when scikit-learn
    is imported.
    """
    return [_source(base) for base in kind.__mro__ if base is not object and _in_script(base)]


def _in_script(kind: type) -> bool:
    return kind.__module__.partition(".")[0] != "plackett" and not _library(inspect.getmodule(kind))


@functools.cache
def _source(thing: Any) -> str | None:
    if thing is None:
        return None
    try:
        text = inspect.getsource(thing)
    except (OSError, TypeError):  # typed at a prompt
        code = getattr(thing, "__code__", None)
        text = repr((code.co_code, code.co_consts, code.co_names)) if code else _path(thing)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _library(module: Any) -> str | None:
    """Name and version of the installed package of a module; None for plackett itself and for scripts."""
    top = getattr(module, "__name__", "").partition(".")[0]
    if top == "plackett":
        return None
    try:
        return f"{top} {version({'sklearn': 'scikit-learn'}.get(top, top))}"
    except (PackageNotFoundError, ValueError):
        return None


def _path(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"
