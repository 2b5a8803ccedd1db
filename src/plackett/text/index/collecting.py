"""From documents to segments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from plackett._errors import DataError
from plackett._progress import progress
from plackett.data.strings import Strings
from plackett.text.document import Document
from plackett.text.index.field import Field, Stream
from plackett.text.index.segment import Segment
from plackett.text.index.settings import Settings
from plackett.text.index.table import Table, concatenate
from plackett.text.streams import Streams

__all__ = ["collect"]

#: Documents that are analysed together.
_BATCH = 5_000


def collect(
    documents: Iterable[Document], settings: Settings, *, verbose: bool = False
) -> tuple[Settings, list[Segment], list[np.ndarray | None]]:
    """Index documents: settings with all fields, segments, and masks of live documents."""
    tables = []
    streams: dict[str, Streams] = {}
    seen = 0
    for batch in progress(_batches(iter(documents)), f"batches of {_BATCH} documents", verbose=verbose):
        settings = settings.extended(batch)
        table = Table.from_documents(batch, settings.kinds)
        for name in settings.text_fields:
            if name not in streams:
                streams[name] = Streams(settings.analyzer)
                streams[name].add([""] * seen)
            values = table.values[name]
            assert isinstance(values, Strings)
            streams[name].add([values[i].decode() for i in range(len(values))])
        tables.append(table)
        seen += len(batch)
    table = concatenate(tables, settings.kinds)
    if len(set(table.ids.to_numpy().tolist())) < len(table):
        raise DataError("two documents have the same id")
    fields = {}
    for name, found in streams.items():
        vocabulary, offsets, terms = found.finish()
        fields[name] = Field.from_stream(name, vocabulary, Stream(offsets, terms))
    for name, parts in settings.combined.items():
        combined = Streams(settings.analyzer)
        texts = [table.values[part] for part in parts]
        combined.add(["\n".join(t[i].decode() for t in texts) for i in range(len(table))])  # type: ignore[union-attr]
        vocabulary, offsets, terms = combined.finish()
        fields[name] = Field.from_stream(name, vocabulary, Stream(offsets, terms))
    return settings, [Segment(table, fields)], [None]


def _batches(documents: Iterator[Document]) -> Iterator[list[Document]]:
    while batch := list(islice(documents, _BATCH)):
        yield batch
