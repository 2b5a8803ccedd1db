"""From a record of names and values to a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plackett._base.errors import DataError
from plackett.data.frame_columns import as_polars, is_table
from plackett.text.document import Document, Link

#: Names under which a record's id is looked for, in this order.
ID_NAMES = ("id", "_id", "docid", "doc_id", "docno", "document_id")


def documents_of(source: Any) -> Iterator[Document]:
    """The documents of a frame (a row each), of dicts, or documents as they are.

    >>> [document.id for document in documents_of([{"id": "a", "title": "Wings"}, Document("b", {})])]
    ['a', 'b']
    """
    if isinstance(source, (str, bytes, Mapping)):
        raise DataError(
            f"documents were expected, got a {type(source).__name__}; read_documents reads files and folders"
        )
    rows = as_polars(source).iter_rows(named=True) if is_table(source) else source
    for number, row in enumerate(rows):
        if isinstance(row, Document):
            yield row
        elif isinstance(row, Mapping):
            yield document_of(row, f"document {number}")
        else:
            raise DataError(
                f"document {number} is a {type(row).__name__}; give a Document, or a dict with an id and fields"
            )


def document_of(record: Mapping[str, Any], where: str, id_field: str | None = None) -> Document:
    """Make a document of a record; ``links`` are ids, or records with ``target`` and ``anchor``.

    >>> document_of({"_id": 7, "title": "Wings", "links": ["8"]}, "line 1")
    Document(id='7', fields={'title': 'Wings'}, links=(Link(target='8', anchor=''),))
    """
    names = ID_NAMES if id_field is None else (id_field,)
    name = next((name for name in names if record.get(name) is not None), None)
    if name is None:
        raise DataError(
            f"{where}: no id; looked for {', '.join(names)} among {', '.join(map(str, record))[:200]}. Name "
            "it: read_documents(path, id_field='sku'), or --id-field sku in a shell; in a frame or a dict, call it id"
        )
    value = record[name]
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise DataError(f"{where}: the id {value!r:.100} is neither text nor a whole number")
    fields = {
        str(key): content for key, content in record.items() if key not in (name, "links") and content is not None
    }
    return Document(str(value), fields, _links(record.get("links"), where))


def _links(links: Any, where: str) -> tuple[Link, ...]:
    if links is None:
        return ()
    if not isinstance(links, (list, tuple)):
        raise DataError(f"{where}: links must be a list, found {links!r:.100}")
    return tuple(_link(entry, where) for entry in links)


def _link(entry: Any, where: str) -> Link:
    if isinstance(entry, (str, int)) and not isinstance(entry, bool):
        return Link(str(entry))
    if isinstance(entry, Mapping) and isinstance(entry.get("target"), (str, int)):
        anchor = entry.get("anchor")
        return Link(str(entry["target"]), anchor if isinstance(anchor, str) else "")
    raise DataError(f"{where}: a link is an id or has a target and an anchor, found {entry!r:.100}")
