"""The models that are served: names, versions, and replacement while requests go on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from plackett._base.errors import DataError
from plackett._files.checks import open_regular
from plackett._load import load_to_score
from plackett._names.nearest import hint
from plackett.serve.engine import ServedEngine, parts_of
from plackett.serve.http import RefusedError
from plackett.serve.model import ServedModel
from plackett.serve.sources import ENGINE, PIPELINE, SUFFIX, ServedFile, listed, natural


class Change(NamedTuple):
    """What a look at the files led to: ``"loaded"``, ``"removed"``, ``"failed"`` or ``"skipped"``, with the reason."""

    what: str
    source: ServedFile
    reason: str = ""


class ModelStore:
    """Models by name and version, replaced one by one when their files are.

    Parameters
    ----------
    arguments
        As for `sources`. Folders are looked at again for new and for removed files.
    threads
        Threads that a large request may use.
    kept
        Folder, shared with other processes, that keeps a copy of the latest good file of each model. A process that
        is started later and finds a damaged file takes the copy, and so has what the others have.
    """

    def __init__(
        self,
        arguments: Iterable[str],
        *,
        threads: int = 1,
        kept: Path | None = None,
    ) -> None:
        self.arguments, self.threads, self.kept = list(arguments), threads, kept
        #: Whether the files were looked at, so that what is not served is known to be missing.
        self.looked = False
        #: Replaced as a whole, never changed: a request sees one state.
        self._served: dict[str, dict[str, ServedModel]] = {}
        self.engines: dict[str, ServedEngine] = {}
        self._stamps: dict[ServedFile, tuple[int, ...]] = {}
        #: Sources whose latest file could not be loaded, and paths that were skipped, with the reason.
        self.failed: dict[ServedFile, str] = {}
        self._skipped: dict[Path, str] = {}

    @property
    def ready(self) -> bool:
        """Whether there is a model or an engine to serve."""
        return self.looked and bool(self._served or self.engines)

    # --------------------------------------------------------------------------------------------------- look-up

    def get(self, name: str | None = None, version: str | None = None) -> ServedModel:
        """A model; without a version the latest that could be loaded, without a name the only one."""
        served = self._served
        if name is None:
            known = self._known()
            if len(known) != 1:
                raise RefusedError(400, f"name a model: there are {', '.join(known[:20])}")
            name = known[0]
        versions = served.get(name, {})
        if version is None and versions:
            return next(reversed(versions.values()))
        if version in versions:
            return versions[version]
        failures = self.failures(name)
        if not versions and not failures:
            near = hint(name[:100], self._known(), "there are")
            raise RefusedError(404, f"there is no model {name[:100]!r}; {near}")
        if version is None:
            version = next(reversed(failures))
        if version in failures:
            raise RefusedError(503, f"version {version} of {name} could not be loaded: {failures[version]}")
        there = ", ".join([*versions, *failures][:20])
        raise RefusedError(404, f"{name} has no version {version[:100]!r}; it has {there}")

    def _known(self) -> list[str]:
        return sorted(self._served.keys() | {source.name for source in self.failed})

    def engine(self, name: str | None = None) -> ServedEngine:
        """A search engine; without a name the only one."""
        engines = self.engines
        known = sorted(engines.keys() | {source.name for source in self.failed if source.version == ENGINE})
        if name is None:
            if len(known) != 1:
                there = f"there are {', '.join(known[:20])}" if known else "there is none"
                raise RefusedError(400, f"name a search engine: {there}")
            name = known[0]
        if name in engines:
            return engines[name]
        if name in known:
            raise RefusedError(503, f"the search engine {name} could not be loaded: {self.failures(name)[ENGINE]}")
        raise RefusedError(404, f"there is no search engine {name[:100]!r}; {hint(name[:100], known)}")

    def failures(self, name: str) -> dict[str, str]:
        """Versions of a model whose latest file could not be loaded, with the reason, for clients: without folders."""
        return {
            source.version: reason.replace(str(source.path), source.path.name)
            for source, reason in self.failed.items()
            if source.name == name
        }

    def versions(self, name: str) -> list[str]:
        """The versions of a model, the latest last."""
        return list(self._served.get(name, ()))

    def all(self) -> list[ServedModel]:
        """All versions of all models."""
        return [model for versions in self._served.values() for model in versions.values()]

    def _everything(self) -> list[ServedModel | ServedEngine]:
        return [*self.all(), *self.engines.values()]

    # -------------------------------------------------------------------------------------------------- loading

    def refresh(self) -> list[Change]:
        """Look at the files, load what is new or was replaced, and drop what is gone. A bad file changes nothing.

        A model whose file cannot be loaded is missing, whatever is wrong with it; the others are served.
        """
        listing = listed(self.arguments)
        wanted = listing.sources
        changes = [
            Change("skipped", ServedFile("", "", path), reason)
            for path, reason in listing.skipped.items()
            if self._skipped.get(path) != reason
        ]
        self._skipped = listing.skipped
        served = {(each.name, each.version): each for each in self._everything()}
        failed = {source: self.failed[source] for source in wanted if source in self.failed}
        self._stamps = {source: self._stamps[source] for source in wanted if source in self._stamps}
        for source in wanted:
            stamp = _stamp(source.path)
            if stamp is not None and self._stamps.get(source) == stamp:
                continue
            key = source.name, source.version
            try:
                served[key] = self._loaded(source, source.path)
            except Exception as error:
                if stamp is None and key in served:
                    continue  # one that was named and is gone: the model that was served stays
                reason = str(error) if isinstance(error, (DataError, OSError)) else f"{type(error).__name__}: {error}"
                reason = reason.encode("utf-8", "replace").decode()  # it may quote half a character of the file
                if not isinstance(error, (OSError, MemoryError)):  # these may pass, the others need another file
                    self._stamps[source] = stamp or ()
                if failed.get(source) != reason:
                    changes.append(Change("failed", source, reason))
                failed[source] = reason
                if key not in served and self.kept is not None:
                    with suppress(Exception):
                        served[key] = self._loaded(source, self._kept_as(source))
                        changes.append(Change("loaded", source._replace(path=self._kept_as(source))))
                continue
            self._stamps[source] = stamp or ()
            failed.pop(source, None)
            changes.append(Change("loaded", source))
            if self.kept is not None:
                try:
                    self._keep(source, stamp)
                except (OSError, DataError) as error:
                    changes.append(Change("failed", source, f"no copy can be kept for other workers: {error}"))
        gone = served.keys() - {(source.name, source.version) for source in wanted}
        for key in sorted(gone):
            source = ServedFile(*key, served.pop(key).path or Path())
            changes.append(Change("removed", source))
            if self.kept is not None:
                self._kept_as(source).unlink(missing_ok=True)
        if changes:
            self._serve(served)
        self.failed = failed
        return changes

    @property
    def lacking(self) -> list[str]:
        """Kept files whose models are not served here: other processes have them."""
        served = {self._kept_as(ServedFile(each.name, each.version, Path())) for each in self._everything()}
        return [] if self.kept is None else sorted(p.stem for p in {*self.kept.glob(f"*@*{SUFFIX}")} - served)

    def _loaded(self, source: ServedFile, path: Path) -> ServedModel | ServedEngine:
        if source.version == ENGINE and source.path.name == PIPELINE:
            engine = ServedEngine.load(path, source.name, source.version, self.threads)
            engine.warm_up()
            return engine
        model = ServedModel(load_to_score(path), source.name, source.version, path=path.resolve(), threads=self.threads)
        model.warm_up()
        _ = model.fingerprint  # read now, while the file is the one that was loaded
        return model

    def _kept_as(self, source: ServedFile) -> Path:
        return (self.kept or Path()) / f"{source.name}@{source.version}{SUFFIX}"  # names have no @

    def _keep(self, source: ServedFile, stamp: tuple[int, ...] | None) -> None:
        """Copy a file that was loaded, unless it is another one by now, which is looked at next time."""
        copy = self._kept_as(source)
        new = copy.with_suffix(f".{os.getpid()}")
        try:
            with open_regular(source.path) as file, new.open("wb") as target:
                shutil.copyfileobj(file, target)
            if _stamp(source.path) == stamp:
                new.replace(copy)
        finally:
            new.unlink(missing_ok=True)

    def _serve(self, loaded: Mapping[tuple[str, str], ServedModel | ServedEngine]) -> None:
        served: dict[str, dict[str, ServedModel]] = {}
        engines: dict[str, ServedEngine] = {}
        for name, version in sorted(loaded, key=lambda key: (key[0], natural(key[1]))):
            each = loaded[name, version]
            if isinstance(each, ServedEngine):
                engines[name] = each
            else:
                served.setdefault(name, {})[version] = each
        self._served, self.engines = served, engines

    @classmethod
    def of(cls, models: Iterable[ServedModel]) -> ModelStore:
        """Models that are in memory already."""
        loaded = cls([])
        loaded._serve({(model.name, model.version): model for model in models})
        loaded.looked = True
        return loaded


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What changes when a file, or what belongs to a saved pipeline, is replaced; None if there is no file."""
    parts = parts_of(path) if path.name == PIPELINE else [path]
    stamp: list[int] = []
    for part in parts:
        try:
            status = part.stat()
        except OSError:
            if part is path:
                return None
            continue
        stamp += (status.st_ino, status.st_size, status.st_mtime_ns)
    return tuple(stamp)
