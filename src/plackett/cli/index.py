"""``plackett index``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plackett.cli.arguments import Json, Separator
from plackett.cli.output import print_json

if TYPE_CHECKING:
    from plackett.text.index.index import Index


def index(
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCS…",
            help="Files of JSON lines, CSV, TSV, parquet, TREC or SMART text, folders of these, of HTML pages or "
            "of plain text, or ir_datasets:NAME.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the index.")],
    form: Annotated[
        str | None, typer.Option("--format", help="jsonl, table, trec, smart, html or text; by default detected.")
    ] = None,
    id_field: Annotated[str | None, typer.Option(help="Name of the id; by default id, _id, docid, docno, …")] = None,
    separator: Separator = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="name=text, keyword, number or date: what a field holds, where its first value misleads."),
    ] = None,
    stemmer: Annotated[str, typer.Option(help="A Snowball algorithm such as english or french, or none.")] = "english",
    stop_words: Annotated[str, typer.Option(help="english, none, or a file with a word per line.")] = "english",
    word_ngrams: Annotated[int, typer.Option(help="Longest sequence of words that is a term too.")] = 1,
    anchors: Annotated[
        bool, typer.Option("--anchors", help="Add a field with the text of the links to a document.")
    ] = False,
    add: Annotated[
        bool, typer.Option("--add", help="Add to an index that exists; a document with a known id is replaced.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Index documents, to search them and to compute features."""
    from itertools import chain

    from plackett.text.analysis import Analyzer
    from plackett.text.documents.anchors import with_anchors
    from plackett.text.documents.reading import read_documents
    from plackett.text.index.index import Index
    from plackett.text.index.manifest import FILE
    from plackett.text.index.writer import IndexWriter

    exists = (out / FILE).exists()
    if exists and not add:
        raise typer.BadParameter(f"{out} holds an index; pass --add to add documents to it", param_hint="--out")
    if add and not exists:
        raise typer.BadParameter(f"{out} holds no index to add to", param_hint="--add")
    kinds = dict(_kind(text) for text in kind or [])
    analyzer = (
        None
        if exists
        else Analyzer(
            stemmer=None if stemmer == "none" else stemmer, stop_words=_stop_words(stop_words), word_ngrams=word_ngrams
        )
    )
    if analyzer is not None:
        analyzer.tokens("")  # a stemmer that does not exist is found before the long work
    records = chain.from_iterable(
        read_documents(source, format=form, id_field=id_field, separator="\t" if separator == "tab" else separator)
        for source in documents
    )
    with IndexWriter(out, analyzer=analyzer, kinds=kinds) as writer:
        writer.add(with_anchors(records) if anchors else records, verbose=True)
    show_index(out, Index.open(out), as_json)


def show_index(path: Path, index: Index, as_json: bool) -> None:
    """Show what is in an index: documents, and terms of each field that can be searched."""
    fields = {name: index.field(name) for name in index.fields}
    if as_json:
        record = {name: {"terms": f.n_terms, "average_length": f.average_length} for name, f in fields.items()}
        print_json({"index": str(path), "documents": index.n_documents, "kinds": dict(index.kinds), "fields": record})
        return
    print(f"{path}: {index.n_documents} documents")
    for name, field in fields.items():
        print(f"  {name}: {field.n_terms} terms, {field.average_length:.1f} a document")
    for name, kind in index.kinds.items():
        if name not in fields:  # conditions such as price:<20
            print(f"  {name}: {kind}")


def _kind(text: str) -> tuple[str, str]:
    from plackett.text.index.values import KINDS

    name, equals, kind = text.rpartition("=")
    if not equals or not name or kind not in KINDS:
        raise typer.BadParameter(f"{text!r}; write name=kind, with one of {', '.join(KINDS)}", param_hint="--kind")
    return name, kind


def _stop_words(text: str) -> str | tuple[str, ...] | None:
    from plackett.text.analysis import STOP_WORDS

    if text == "none":
        return None
    if text in STOP_WORDS:
        return text
    path = Path(text)
    if not path.is_file():
        known = ", ".join(STOP_WORDS)
        raise typer.BadParameter(f"{text!r} is neither {known}, none nor a file", param_hint="--stop-words")
    return tuple(path.read_text(encoding="utf-8", errors="replace").split())
