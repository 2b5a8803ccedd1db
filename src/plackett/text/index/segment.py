"""A segment: documents that were written together, and never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plackett.data.strings import Strings
from plackett.text.index.columns import join_offsets, offsets_of, strings
from plackett.text.index.field import Field, Stream
from plackett.text.index.table import Table, concatenate

__all__ = ["Segment", "compose_field", "compose_table"]


@dataclass(frozen=True)
class Segment:
    """Stored documents and analysed fields."""

    table: Table
    fields: Mapping[str, Field]

    def __len__(self) -> int:
        return len(self.table)


def compose_table(segments: Sequence[Segment], live: Sequence[np.ndarray | None], kinds: Mapping[str, str]) -> Table:
    """The live documents of several segments; ``live`` has a mask for each segment that has deleted documents."""
    tables = [
        segment.table if mask is None else segment.table.take(np.flatnonzero(mask))
        for segment, mask in zip(segments, live, strict=True)
    ]
    return tables[0] if len(tables) == 1 else concatenate(tables, kinds)


def compose_field(
    name: str, segments: Sequence[Segment], live: Sequence[np.ndarray | None], parts: Sequence[str] = ()
) -> Field:
    """A field of the live documents of several segments; ``parts`` are those of a combined field.

    Postings and counts are made anew from the terms in reading order: whatever is asked of the result is about live
    documents.
    """
    fields = [_field_of(segment, name, parts) for segment in segments]
    if len(segments) == 1 and live[0] is None and fields[0] is not None:
        return fields[0]
    streams = [_live(segment, field, mask) for segment, field, mask in zip(segments, fields, live, strict=True)]
    vocabularies = [strings([]) if field is None else field.vocabulary for field in fields]
    vocabulary, streams = _one_vocabulary(vocabularies, streams)
    terms = np.concatenate([*(stream.terms for stream in streams), np.empty(0, np.int32)])
    return Field.from_stream(name, vocabulary, Stream(join_offsets([stream.offsets for stream in streams]), terms))


def _field_of(segment: Segment, name: str, parts: Sequence[str]) -> Field | None:
    """A field of a segment. A segment with one text field alone has no combination of all: it is that field."""
    present = [part for part in parts if part in segment.fields]
    return segment.fields.get(name) or (segment.fields[present[0]] if present else None)


def _live(segment: Segment, field: Field | None, live: np.ndarray | None) -> Stream:
    n_live = len(segment) if live is None else int(live.sum())
    if field is None:
        return Stream(np.zeros(n_live + 1, np.int64), np.empty(0, np.int32))
    if live is None:
        return field.stream
    lengths = np.diff(field.stream.offsets)
    return Stream(offsets_of(lengths[live]), field.stream.terms[np.repeat(live, lengths)])


def _one_vocabulary(vocabularies: Sequence[Strings], streams: Sequence[Stream]) -> tuple[Strings, list[Stream]]:
    """Number the terms of all streams in one vocabulary, of the terms that still occur."""
    used = []
    for vocabulary, stream in zip(vocabularies, streams, strict=True):
        seen = np.zeros(len(vocabulary) + 1, np.bool_)
        seen[stream.terms] = True  # -1 is the last entry
        used.append(np.flatnonzero(seen[:-1]))
    texts = [[vocabulary[i] for i in rows] for vocabulary, rows in zip(vocabularies, used, strict=True)]
    every = sorted(set().union(*texts))
    number = {text: i for i, text in enumerate(every)}
    numbered = []
    for vocabulary, stream, rows, words in zip(vocabularies, streams, used, texts, strict=True):
        renumber = np.full(len(vocabulary) + 1, -1, np.int32)
        renumber[rows] = [number[word] for word in words]
        numbered.append(Stream(stream.offsets, renumber[stream.terms]))
    return strings(every), numbered
