"""Which files are served: what the arguments of ``plackett serve`` name, and what cannot be part of an address."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from plackett._base.errors import DataError

SUFFIX = ".plackett"
#: Files that mark the folder of a saved application, whose ranker is served, and of a search pipeline.
_APPLICATION, PIPELINE = "application.json", "pipeline.json"
#: What stands for the version of a search engine.
ENGINE = "search"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class ServedFile(NamedTuple):
    """A file, and the name and version of the model in it."""

    name: str
    version: str
    path: Path


class Listing:
    """The files behind some arguments, and those in folders that cannot be served, with the reason."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], ServedFile] = {}
        self.skipped: dict[Path, str] = {}

    @property
    def sources(self) -> list[ServedFile]:
        """The files by name and version."""
        return sorted(self.found.values(), key=lambda source: (source.name, natural(source.version)))

    def add(self, name: str, version: str, path: Path, *, named: bool = False) -> None:
        """Add a file; an error if one that was named itself cannot be served, others are skipped."""
        reason = _bad_name(name) or _bad_name(version)
        other = self.found.get((name, version))
        if not reason and not named and not path.is_file():
            reason = "is not a regular file"
        if not reason and other is not None and other.path != path:
            reason = f"would be version {version} of {name}, which {other.path} is already; name them NAME=FILE"
        if not reason:
            self.found[name, version] = ServedFile(name, version, path)
        elif named:
            raise DataError(f"{path}: {reason}")
        else:
            self.skipped[path] = reason

    def add_saved(self, folder: Path, name: str) -> None:
        """Add the ranker of a saved application or search pipeline, and the pipeline itself as an engine."""
        pipeline, ranker = folder / PIPELINE, folder / f"ranker{SUFFIX}"
        if ranker.is_file() or not pipeline.is_file():
            self.add(name, "1", ranker, named=True)
        if pipeline.is_file():
            self.add(name, ENGINE, pipeline, named=True)

    def add_folder(self, folder: Path, name: str | None = None) -> None:
        """Add the model files of a folder: versions of the model ``name``, or each a model of its own."""
        try:
            files = sorted(p for p in folder.iterdir() if p.suffix == SUFFIX and not p.name.startswith("."))
        except OSError as error:
            self.skipped[folder] = error.strerror or str(error)
            return
        for path in files:
            if name is None and path.is_dir():
                continue  # looked at as a folder of versions
            self.add(name or path.stem, path.stem if name else "1", path)


def sources(arguments: Iterable[str]) -> list[ServedFile]:
    """The files behind the arguments of ``plackett serve``.

    ``FILE`` is version 1 of a model named like the file, ``NAME=FILE`` names it. ``FOLDER`` has models
    (``FOLDER/name.plackett``) or versions of models (``FOLDER/name/2.plackett``); ``NAME=FOLDER`` has the versions of
    one. The folder of a saved application or search pipeline has one model, its ranker, and the pipeline is a search
    engine of the same name. Files in folders that are not regular files, or whose names cannot be part of an address,
    are left out.
    """
    return listed(arguments).sources


def listed(arguments: Iterable[str]) -> Listing:
    """The same, with what cannot be served."""
    listing = Listing()
    # named files first: a file in a folder never replaces one that was named
    for argument in sorted(arguments, key=lambda argument: _parsed(argument)[1].is_dir()):
        name, path = _parsed(argument)
        if not path.is_dir():
            listing.add(name or path.name.removesuffix(SUFFIX), "1", path, named=True)
        elif (path / _APPLICATION).is_file() or (path / PIPELINE).is_file():
            listing.add_saved(path, name or path.resolve().name)
        elif name is not None:
            if reason := _bad_name(name):
                raise DataError(f"{argument}: {reason}")
            listing.add_folder(path, name)
        else:
            listing.add_folder(path)
            for folder in _folders(path):
                listing.add_folder(folder, folder.name)
    return listing


def _parsed(argument: str) -> tuple[str | None, Path]:
    """Name (None if not given) and path of an argument."""
    name, equals, rest = argument.partition("=")
    return (name, Path(rest)) if equals and not Path(argument).exists() else (None, Path(argument))


def _folders(path: Path) -> list[Path]:
    try:
        return sorted(p for p in path.iterdir() if p.is_dir() and not p.name.startswith("."))
    except OSError:
        return []  # the folder was reported already


def _bad_name(name: str) -> str:
    """Why a name or version cannot be part of an address; empty if it can."""
    if _NAME.fullmatch(name):
        return ""
    return f"{name!r} cannot be part of an address; give letters, digits, '-', '_' and '.': NAME=FILE"


def natural(version: str) -> tuple[tuple[int, str], ...]:
    """A key that puts version 10 after version 9."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", version) if part)
