"""Documents of the collections that the ir_datasets library knows."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from plackett._base.errors import DataError, MissingExtraError
from plackett.text.document import Document
from plackett.text.documents.records import document_of

PREFIX = "ir_datasets:"


def read_ir_datasets(name: str) -> Iterator[Document]:
    """Read the documents of a collection such as ``ir_datasets:vaswani``; the library downloads what it needs."""
    try:
        library = import_module("ir_datasets")
    except ImportError as error:
        raise MissingExtraError(f"{PREFIX}… needs the library ir_datasets: pip install ir_datasets") from error
    name = name.removeprefix(PREFIX)
    try:
        dataset = library.load(name)
    except KeyError:
        raise DataError(f"ir_datasets has no collection {name!r}") from None
    if not dataset.has_docs():
        raise DataError(f"the collection {name!r} of ir_datasets has no documents")
    for number, document in enumerate(dataset.docs_iter(), 1):
        record = {key: value for key, value in document._asdict().items() if not isinstance(value, (bytes, dict))}
        yield document_of(record, f"{name}, document {number}", "doc_id")
