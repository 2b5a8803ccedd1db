"""The models that are served: names, versions, and replacement while requests go on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from plackett._errors import DataError
from plackett._load import load
from plackett._names import hint
from plackett.serve.http import RefusedError
from plackett.serve.model import ServedModel

__all__ = ["Change", "Models", "sources"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_SUFFIX = ".plackett"


class Source(NamedTuple):
    """A file, and the name and version of the model in it."""

    name: str
    version: str
    path: Path


class Change(NamedTuple):
    """What a look at the files led to: ``"loaded"``, ``"removed"`` or ``"failed"``, with the reason."""

    what: str
    source: Source
    reason: str = ""


def sources(arguments: Iterable[str]) -> list[Source]:
    """The files behind the arguments of ``plackett serve``.

    ``FILE`` is version 1 of a model named like the file, ``NAME=FILE`` names it. ``FOLDER`` has models
    (``FOLDER/name.plackett``) or versions of models (``FOLDER/name/2.plackett``); ``NAME=FOLDER`` has the versions of
    one.
    """
    found: dict[tuple[str, str], Source] = {}
    for argument in arguments:
        for source in _sources(argument):
            key = source.name, source.version
            if key in found and found[key].path != source.path:
                both = f"{found[key].path} and {source.path}"
                raise DataError(f"{both} would both be version {source.version} of {source.name}; name them NAME=FILE")
            found[key] = source
    return sorted(found.values(), key=lambda s: (s.name, _natural(s.version)))


def _sources(argument: str) -> Iterable[Source]:
    name, equals, rest = argument.partition("=")
    path = Path(rest if equals else argument)
    if equals and not Path(argument).exists():
        name = _checked(name, argument)
        if path.is_dir():
            yield from (Source(name, _checked(p.stem, str(p)), p) for p in _files(path))
        else:
            yield Source(name, "1", path)
        return
    path = Path(argument)
    if not path.is_dir():
        yield Source(_checked(path.name.removesuffix(_SUFFIX), argument), "1", path)
        return
    for file in _files(path):
        yield Source(_checked(file.stem, str(file)), "1", file)
    for folder in sorted(p for p in path.iterdir() if p.is_dir() and not p.name.startswith(".")):
        for file in _files(folder):
            yield Source(_checked(folder.name, str(folder)), _checked(file.stem, str(file)), file)


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.suffix == _SUFFIX and not p.name.startswith("."))


def _checked(name: str, where: str) -> str:
    if not _NAME.fullmatch(name):
        raise DataError(
            f"{where}: {name!r} cannot be part of an address; give letters, digits, '-', '_' and '.': NAME=FILE"
        )
    return name


def _natural(version: str) -> tuple[tuple[int, str], ...]:
    """A key that puts version 10 after version 9."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", version) if part)


class Models:
    """Models by name and version, replaced one by one when their files are.

    Parameters
    ----------
    arguments
        As for `sources`. Folders are looked at again for new and for removed files.
    threads
        Threads that a large request may use.
    prepare
        Called with each model before it is served: it makes the kernels warm.
    """

    def __init__(
        self, arguments: Iterable[str], *, threads: int = 1, prepare: Callable[[ServedModel], None] | None = None
    ) -> None:
        self.arguments, self.threads = list(arguments), threads
        self.prepare = prepare or ServedModel.warm_up
        self.ready = False
        #: Replaced as a whole, never changed: a request sees one state.
        self._served: dict[str, dict[str, ServedModel]] = {}
        self._stamps: dict[Source, tuple[int, ...]] = {}

    # --------------------------------------------------------------------------------------------------- look-up

    def get(self, name: str | None = None, version: str | None = None) -> ServedModel:
        """A model; without a version the latest, without a name the only one."""
        served = self._served
        if name is None:
            if len(served) != 1:
                raise RefusedError(400, f"name a model: there are {', '.join(sorted(served)[:20])}")
            name = next(iter(served))
        versions = served.get(name)
        if versions is None:
            raise RefusedError(404, f"there is no model {name[:100]!r}; {hint(name[:100], served, 'there are')}")
        if version is None:
            return next(reversed(versions.values()))
        model = versions.get(version)
        if model is None:
            raise RefusedError(404, f"{name} has no version {version[:100]!r}; it has {', '.join(list(versions)[:20])}")
        return model

    def versions(self, name: str) -> list[str]:
        """The versions of a model, the latest last."""
        return list(self._served.get(name, ()))

    def all(self) -> list[ServedModel]:
        """All versions of all models."""
        return [model for versions in self._served.values() for model in versions.values()]

    # -------------------------------------------------------------------------------------------------- loading

    def refresh(self) -> list[Change]:
        """Look at the files, load what is new or was replaced, and drop what is gone. A bad file changes nothing."""
        changes: list[Change] = []
        served = {(m.name, m.version): m for m in self.all()}
        wanted = sources(self.arguments)
        for source in wanted:
            stamp = _stamp(source.path)
            if stamp is not None and self._stamps.get(source) == stamp:
                continue
            try:
                model = self._loaded(source)
            except (OSError, ValueError, ImportError, MemoryError) as error:
                if stamp is not None:
                    self._stamps[source] = stamp
                if stamp is not None or (source.name, source.version) not in served:
                    changes.append(Change("failed", source, str(error)))
                continue  # the model that was served stays
            self._stamps[source] = stamp or ()
            served[source.name, source.version] = model
            changes.append(Change("loaded", source))
        gone = {key for key in served if key not in {(s.name, s.version) for s in wanted}}
        changes += [Change("removed", Source(*key, served[key].path or Path())) for key in sorted(gone)]
        if changes:
            self._serve({key: model for key, model in served.items() if key not in gone})
        return changes

    def _loaded(self, source: Source) -> ServedModel:
        model = ServedModel(
            load(source.path), source.name, source.version, path=source.path.resolve(), threads=self.threads
        )
        self.prepare(model)
        _ = model.fingerprint  # read now, while the file is the one that was loaded
        return model

    def _serve(self, found: dict[tuple[str, str], ServedModel]) -> None:
        served: dict[str, dict[str, ServedModel]] = {}
        for name, version in sorted(found, key=lambda key: (key[0], _natural(key[1]))):
            served.setdefault(name, {})[version] = found[name, version]
        self._served = served

    @classmethod
    def of(cls, models: Iterable[ServedModel]) -> Models:
        """Models that are in memory already."""
        made = cls([])
        made._serve({(model.name, model.version): model for model in models})
        made.ready = True
        return made


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What changes when a file is replaced; None if it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
