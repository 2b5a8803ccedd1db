"""A segment: documents that were written together and never change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett._files import storage
from plackett.data.strings import Strings
from plackett.text.index.checking import check_field, check_table
from plackett.text.index.columns import join_offsets, offsets_of, strings
from plackett.text.index.field import Field, Forward, Postings, TermStream
from plackett.text.index.table import DocumentTable, Links, concatenate

_TABLE, _FIELD, DELETED = "index documents", "index field", "index deletions"
#: Arrays of a field, in the order of its parts.
_PARTS: dict[str, Any] = {"stream": TermStream, "postings": Postings, "forward": Forward}
_DTYPES = {"offsets": np.int64, "position_offsets": np.int64}


class Segment:
    """Stored documents and analysed fields."""

    table: DocumentTable
    #: Which documents are not deleted; None for all.
    live: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.table)

    @property
    def n_live(self) -> int:
        """Number of documents that are not deleted."""
        return len(self) if self.live is None else int(self.live.sum())

    @property
    def field_names(self) -> Iterable[str]:
        """Fields that the documents have."""
        raise NotImplementedError

    def field(self, name: str) -> Field:
        """A field of the documents."""
        raise NotImplementedError


class MemorySegment(Segment):
    """A segment in memory."""

    def __init__(self, table: DocumentTable, fields: Iterable[Field]) -> None:
        self.table = table
        self._fields = {field.name: field for field in fields}

    @property
    def field_names(self) -> Iterable[str]:
        """Fields that the documents have."""
        return self._fields.keys()

    def field(self, name: str) -> Field:
        """A field of the documents."""
        return self._fields[name]


class StoredSegment(Segment):
    """A segment in files, which are mapped immediately and checked when they are first used."""

    def __init__(self, folder: Path, entry: Mapping[str, Any]) -> None:
        self.entry = entry
        self.live = _read_live(folder, entry)
        self._folder = folder
        self._table = storage.read(folder / entry["documents"], kind=_TABLE)
        self._files = {name: storage.read(folder / file, kind=_FIELD)[0] for name, file in entry["fields"].items()}
        self._fields: dict[str, Field] = {}

    def __len__(self) -> int:
        return int(self.entry["n_documents"])

    @property
    def field_names(self) -> Iterable[str]:
        """Fields that the documents have."""
        return self._files.keys()

    @cached_property
    def table(self) -> DocumentTable:  # type: ignore[override]
        """Ids, stored values and links."""
        path = self._folder / self.entry["documents"]
        arrays, metadata = self._table
        names = [name for name in metadata.get("fields", "").split("\0") if name]
        try:
            values: dict[str, Strings | np.ndarray] = {}
            for i, name in enumerate(names):
                if f"values.{i}.offsets" in arrays:
                    values[name] = _strings(arrays, f"values.{i}")
                else:
                    values[name] = _typed(arrays[f"values.{i}"], (np.float64, np.int64))
            links = Links(
                _typed(arrays["links.offsets"], (np.int64,)),
                _strings(arrays, "links.targets"),
                _strings(arrays, "links.anchors"),
            )
            table = DocumentTable(_strings(arrays, "ids"), values, links)
        except (KeyError, TypeError) as error:
            raise DataError(f"{path}: damaged, {error}") from None
        check_table(table, str(path))
        if len(table) != len(self):
            raise DataError(f"{path}: {len(table)} documents, but the index counts {len(self)}")
        return table

    def field(self, name: str) -> Field:
        """A field of the documents."""
        if name not in self._fields:
            path, arrays = self._folder / self.entry["fields"][name], self._files[name]
            try:
                groups: Any = [
                    group(*(_typed(arrays[f"{part}.{key}"], (_DTYPES.get(key, np.int32),)) for key in group._fields))
                    for part, group in _PARTS.items()
                ]
                lengths = _typed(arrays["lengths"], (np.int32,))
                stream, postings, forward = groups
                field = Field(name, _strings(arrays, "vocabulary"), stream, postings, forward, lengths)
            except (KeyError, TypeError) as error:
                raise DataError(f"{path}: damaged, {error}") from None
            check_field(field, len(self), str(path))
            self._fields[name] = field
        return self._fields[name]


def _read_live(folder: Path, entry: Mapping[str, Any]) -> np.ndarray | None:
    """Which documents of a segment are live; None for all."""
    if entry["deleted"] is None:
        return None
    path = folder / entry["deleted"]
    arrays, _ = storage.read(path, kind=DELETED)
    live = arrays.get("live")
    if live is None or live.dtype != np.bool_ or live.shape != (entry["n_documents"],):
        raise DataError(f"{path}: damaged, it must say which of {entry['n_documents']} documents are live")
    return live


def _strings(arrays: Mapping[str, np.ndarray], name: str) -> Strings:
    return Strings(_typed(arrays[f"{name}.data"], (np.uint8,)), _typed(arrays[f"{name}.offsets"], (np.int64,)))


def _typed(array: np.ndarray, dtypes: tuple[Any, ...]) -> np.ndarray:
    if array.ndim != 1 or array.dtype not in dtypes:
        raise TypeError(f"an array of {array.ndim} dimensions of {array.dtype}")
    return array


def write_segment(folder: Path, name: str, table: DocumentTable, fields: Iterator[Field]) -> dict[str, Any]:
    """Write a segment; return its entry in the manifest. Fields are taken one at a time."""
    entry: dict[str, Any] = {"n_documents": len(table), "documents": f"{name}.documents.plackett", "fields": {}}
    arrays: dict[str, np.ndarray] = {"links.offsets": table.links.offsets}
    columns = {"ids": table.ids, "links.targets": table.links.targets, "links.anchors": table.links.anchors}
    for i, values in enumerate(table.values.values()):
        if isinstance(values, Strings):
            columns[f"values.{i}"] = values
        else:
            arrays[f"values.{i}"] = values
    for key, column in columns.items():
        arrays[f"{key}.data"], arrays[f"{key}.offsets"] = column.data, column.offsets
    storage.write(folder / entry["documents"], arrays, {"kind": _TABLE, "fields": "\0".join(table.values)})
    del table, columns, arrays
    for number, field in enumerate(fields):
        file = f"{name}.{number}.plackett"
        arrays = {"lengths": field.lengths}
        arrays["vocabulary.data"], arrays["vocabulary.offsets"] = field.vocabulary.data, field.vocabulary.offsets
        for part in _PARTS:
            arrays |= {f"{part}.{key}": array for key, array in getattr(field, part)._asdict().items()}
        storage.write(folder / file, arrays, {"kind": _FIELD, "field": field.name})
        entry["fields"][field.name] = file
    return entry


# ------------------------------------------------------------------------------------------------- several segments


def compose_table(segments: Sequence[Segment], kinds: Mapping[str, str]) -> DocumentTable:
    """The live documents of several segments."""
    tables = [
        segment.table if segment.live is None else segment.table.take(np.flatnonzero(segment.live))
        for segment in segments
    ]
    return tables[0] if len(tables) == 1 and tables[0].values.keys() == kinds.keys() else concatenate(tables, kinds)


def compose_field(name: str, segments: Sequence[Segment], parts: Sequence[str] = ()) -> Field:
    """A field of the live documents of several segments; ``parts`` are those of a combined field.

    Postings and counts are computed again from the terms in reading order, so that every statistic is over live
    documents.
    """
    fields = [_field_of(segment, name, parts) for segment in segments]
    if len(segments) == 1 and segments[0].live is None and fields[0] is not None:
        return fields[0]
    streams = [_live(segment, field) for segment, field in zip(segments, fields, strict=True)]
    vocabularies = [strings([]) if field is None else field.vocabulary for field in fields]
    vocabulary, stream = _one_stream(vocabularies, streams)
    return Field.from_stream(name, vocabulary, stream)


def _field_of(segment: Segment, name: str, parts: Sequence[str]) -> Field | None:
    """A field of a segment. In a segment with a single text field, that field stands for the combined one."""
    present = [candidate for candidate in (name, *parts) if candidate in segment.field_names]
    return segment.field(present[0]) if present else None


def _live(segment: Segment, field: Field | None) -> TermStream:
    if field is None:
        return TermStream(np.zeros(segment.n_live + 1, np.int64), np.empty(0, np.int32))
    if segment.live is None:
        return field.stream
    lengths = np.diff(field.stream.offsets)
    return TermStream(offsets_of(lengths[segment.live]), field.stream.terms[np.repeat(segment.live, lengths)])


def _one_stream(vocabularies: Sequence[Strings], streams: Sequence[TermStream]) -> tuple[Strings, TermStream]:
    """Number the terms of all streams in one vocabulary, of the terms that still occur, and join the streams."""
    used = []
    for vocabulary, stream in zip(vocabularies, streams, strict=True):
        seen = np.zeros(len(vocabulary) + 1, np.bool_)
        seen[stream.terms] = True  # -1 is the last entry
        used.append(np.flatnonzero(seen[:-1]))
    texts = [[vocabulary[i] for i in rows.tolist()] for vocabulary, rows in zip(vocabularies, used, strict=True)]
    all_texts = sorted(set().union(*texts))
    number = {text: i for i, text in enumerate(all_texts)}
    offsets = join_offsets([stream.offsets for stream in streams])
    terms = np.empty(offsets[-1], np.int32)
    end = 0
    for vocabulary, stream, rows, own_texts in zip(vocabularies, streams, used, texts, strict=True):
        renumber = np.full(len(vocabulary) + 1, -1, np.int32)
        renumber[rows] = [number[text] for text in own_texts]
        np.take(renumber, stream.terms, out=terms[end : end + stream.terms.size], mode="wrap")
        end += stream.terms.size
    return strings(all_texts), TermStream(offsets, terms)
