"""Changes to an index in a folder."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._files import storage
from plackett._files.checks import check_regular
from plackett._files.lock import lock
from plackett._names.nearest import nearest, question
from plackett.text.analysis import Analyzer
from plackett.text.document import Document
from plackett.text.documents.records import documents_of
from plackett.text.index.collecting import drafts
from plackett.text.index.manifest import FILE, Manifest
from plackett.text.index.segment import DELETED, StoredSegment, compose_field, compose_table, write_segment
from plackett.text.index.settings import IndexSettings
from plackett.text.index.values import is_empty

__all__ = ["IndexWriter"]

_LOCK = "writer.lock"
#: A segment is merged with the one before it unless that one is this many times as large.
_RATIO = 4
#: A segment is rewritten when more than this part of its documents is deleted.
_MOSTDELETED = 0.5


class IndexWriter:
    """Adds and deletes documents. One process may write at a time; readers see the last commit.

    Segments are written as they fill up and become valid with the commit, which replaces the manifest in one step. A
    failure before that leaves the index unchanged. A document whose id exists replaces the earlier one. Leaving the
    ``with`` block commits, unless an error is raised. A process that forks keeps its writer; that of the forked process
    is closed.

    Parameters
    ----------
    path
        Folder of the index; it is created if it does not exist.
    analyzer, kinds, combine
        See `plackett.text.Index.build`; only for a new index.

    Examples
    --------
    >>> import tempfile
    >>> from plackett.text import Document, Index
    >>> folder = tempfile.mkdtemp()
    >>> with IndexWriter(folder) as writer:
    ...     writer.add([Document("a", {"body": "blue whales"}), Document("b", {"body": "a blue sky"})])
    >>> with IndexWriter(folder) as writer:
    ...     writer.delete(["a"])
    >>> Index.open(folder)
    Index(1 documents, fields body)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        analyzer: Analyzer | None = None,
        kinds: Mapping[str, str] | None = None,
        combine: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.path = Path(path)
        given = IndexSettings.make(analyzer, kinds, combine)
        unseen = list(given.kinds)
        self.path.mkdir(parents=True, exist_ok=True)
        check_regular(self.path / _LOCK)
        self._lock: IO[bytes] | None = open(self.path / _LOCK, "ab")  # noqa: SIM115
        try:
            if not lock(self._lock):
                raise DataError(f"{self.path}: another process is writing this index; wait until it has finished")
            if (self.path / FILE).exists():
                self._manifest = Manifest.read(self.path)
                if analyzer is not None and analyzer != self._manifest.settings.analyzer:
                    raise DataError(f"{self.path}: the index exists, with another analyzer; it cannot be changed")
                unseen = [name for name in unseen if name not in self._manifest.settings.kinds]
                settings = self._manifest.settings.with_given(given, self.path)
                self._manifest = replace(self._manifest, settings=settings)
            else:
                foreign = [entry.name for entry in os.scandir(self.path) if not _ours(entry.name)]
                if foreign:
                    raise DataError(f"{self.path}: the folder holds other files, such as {foreign[0]!r}; use a new one")
                self._manifest = Manifest(given)
            self._start()
            self._unseen = unseen
        except BaseException:
            self._release()
            raise

    def _start(self) -> None:
        """Begin from the last commit."""
        self._settings = self._manifest.settings
        self._segments = [StoredSegment(self.path, entry) for entry in self._manifest.segments]
        self._next = self._manifest.next_number
        self._changed = not (self.path / FILE).exists()

    def add(self, documents: Any, *, verbose: bool = False) -> None:
        """Add documents; one whose id exists replaces the earlier one.

        Parameters
        ----------
        documents
            One document, or several in any form that `plackett.text.Index.build` takes.
        verbose
            Whether to show progress.
        """
        self._check_open()
        given = documents_of([documents] if isinstance(documents, Document) else documents)
        seen: set[str] = set()
        twice: list[str] = []
        for draft in drafts(given, self._settings, verbose=verbose):
            table = draft.table()
            ids = table.ids.to_numpy().tolist()
            for text in ids:
                twice.append(text) if text in seen else seen.add(text)
            self._unseen = [name for name in self._unseen if is_empty(table.values[name])]
            self.delete(set(ids))
            entry = write_segment(self.path, self._number(), table, draft.fields())
            self._append(entry)
            self._settings = draft.settings
            last = {text: row for row, text in enumerate(ids)}
            if len(last) < len(ids):
                live = np.zeros(len(ids), np.bool_)
                live[list(last.values())] = True
                self._segments[-1].live = live
        if twice:
            documents_have = f"{len(twice)} documents have an id" if len(twice) > 1 else "a document has an id"
            warnings.warn(
                f"{documents_have} that an earlier document had, such as {twice[0]!r}; the last one is kept",
                PlackettWarning,
                stacklevel=2,
            )

    def delete(self, ids: Iterable[str]) -> None:
        """Delete documents by their ids; unknown ids are ignored."""
        self._check_open()
        gone = set(ids)
        for segment in self._segments:
            rows = [row for row, text in enumerate(segment.table.ids.to_numpy().tolist()) if text in gone]
            if rows:
                live = np.ones(len(segment), np.bool_) if segment.live is None else segment.live.copy()
                live[rows] = False
                segment.live = live
                self._changed = True

    def merge(self) -> None:
        """Rewrite all segments as one, without the deleted documents. The next commit makes it valid."""
        self._check_open()
        if len(self._segments) > 1 or any(segment.live is not None for segment in self._segments):
            self._merge(0)

    def commit(self) -> None:
        """Make all changes valid in one step. Small segments are merged, so that there are never many."""
        if not self._changed:
            return
        self._check_open()
        warn_unseen(self._settings, self._unseen)
        self._unseen = []
        self._merge_small()
        generation = self._manifest.generation + 1
        entries = [
            {**segment.entry, "deleted": self._write_live(segment.live, segment.entry["deleted"])}
            for segment in self._segments
        ]
        manifest = Manifest(self._settings, generation, self._next, tuple(entries))
        manifest.write(self.path)
        self._manifest = manifest
        self._changed = False
        for segment, entry in zip(self._segments, entries, strict=True):
            segment.entry = entry
        self._remove_unused()

    def close(self) -> None:
        """Release the lock; changes that were not committed are lost."""
        if self._is_open():
            self._remove_unused()
        self._release()

    def __enter__(self) -> IndexWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    # ------------------------------------------------------------------------------------------------------ details

    def _is_open(self) -> bool:
        return self._lock is not None and not self._lock.closed

    def _check_open(self) -> None:
        if not self._is_open():
            raise DataError(f"{self.path}: this writer is closed (a fork closes it in the new process); open another")

    def _number(self) -> str:
        number, self._next = self._next, self._next + 1
        return f"{number:06d}"

    def _append(self, entry: dict[str, Any]) -> None:
        self._segments.append(StoredSegment(self.path, {**entry, "deleted": None}))
        self._changed = True

    def _write_live(self, live: np.ndarray | None, file: str | None) -> str | None:
        """File with the deletions of a segment; the existing one if nothing changed."""
        if live is None:
            return None
        if file is not None:
            before = storage.read(self.path / file, kind=DELETED)[0]["live"]
            if np.array_equal(before, live):
                return file
        file = f"{self._number()}.deleted.plackett"
        storage.write(self.path / file, {"live": live}, {"kind": DELETED})
        return file

    def _merge_small(self) -> None:
        """Keep segments whose sizes fall by a ratio: their number grows with the logarithm of the documents."""
        sizes = [segment.n_live for segment in self._segments]
        first = len(sizes)
        for i, (segment, size) in enumerate(zip(self._segments, sizes, strict=True)):
            if size < (1 - _MOSTDELETED) * len(segment):
                first = min(first, i)
        tail = 0
        for i in range(len(sizes) - 1, 0, -1):
            tail += sizes[i]
            if sizes[i - 1] < _RATIO * tail:
                first = min(first, i - 1)
        if first < len(sizes) and (first < len(sizes) - 1 or self._segments[first].live is not None):
            self._merge(first)

    def _merge(self, first: int) -> None:
        """Rewrite the segments from ``first`` on as one."""
        segments = self._segments[first:]
        combined = self._settings.combined
        names = dict.fromkeys(
            [*combined, *(name for segment in segments for name in segment.field_names)]
        )  # segments of one text field have no combined one
        table = compose_table(segments, self._settings.kinds)
        del self._segments[first:]
        self._changed = True
        if len(table) == 0:
            return
        fields = (compose_field(name, segments, combined.get(name, ())) for name in names)
        self._append(write_segment(self.path, self._number(), table, fields))

    def _remove_unused(self) -> None:
        """Remove files that no commit refers to any more; readers that mapped them keep their content."""
        used = self._manifest.files()
        for entry in os.scandir(self.path):
            if re.fullmatch(r"[0-9]{6,12}\.[0-9a-z.]+\.plackett", entry.name) and entry.name not in used:
                with contextlib.suppress(OSError):  # Windows does not remove mapped files: the next commit tries again
                    os.unlink(entry.path)

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def warn_unseen(settings: IndexSettings, names: Sequence[str]) -> None:
    """Warn about fields whose kind is declared but that no document has: probably a misspelt name."""
    for name in names:
        near = nearest(name, [other for other in settings.kinds if other not in names], 3)
        advice = f"; {question(near)}" if near else ""
        warnings.warn(f"no document has the field {name!r}, whose kind is declared{advice}", PlackettWarning, 3)


def _ours(name: str) -> bool:
    return name in (_LOCK, FILE) or re.fullmatch(r"\.?[0-9]{6,12}\..*|\.index\.json\..*", name) is not None
