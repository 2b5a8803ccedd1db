"""``plackett convert``."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import Force, TableColumns, check_out, reads_lists, sizes

#: Text of this many bytes is converted part by part.
LARGE = 1 << 27
_log = logging.getLogger("plackett.data")


@reads_lists
def convert(
    source: Annotated[Path, typer.Argument(help="LETOR text (.gz .xz .zst), .plackett, .parquet, .csv, .tsv")],
    target: Annotated[Path, typer.Argument(help="File to write; its suffix selects the format.")],
    number_queries: Annotated[
        bool, typer.Option("--number-queries", help="LETOR text only: write 1, 2, 3, … instead of the query ids.")
    ] = False,
    qrels_columns: Annotated[
        str | None,
        typer.Option(
            help="SOURCE has judgements in another order than TREC's: what its columns are, such as "
            "'query document' or 'query document - label'; TARGET gets them in TREC's order."
        ),
    ] = None,
    force: Force = False,
    *,
    columns: TableColumns,
) -> None:
    """Convert a dataset to another format; .plackett files open in milliseconds."""
    if qrels_columns is not None:
        _judgements(source, target, qrels_columns, force)
        return
    from plackett.cli.reading import read_data
    from plackett.data.files import LETOR, format_by_suffix, known_suffixes, write

    format = format_by_suffix(target)
    if format is None:
        raise typer.BadParameter(f"{target}: unknown format. {known_suffixes()}", param_hint="TARGET")
    if number_queries and format is not LETOR:
        raise typer.BadParameter(f"{format.name} keeps query ids as they are", param_hint="--number-queries")
    check_out(target, force, "TARGET")
    data = _streamed(source, target, columns)
    if data is None:
        data = read_data(source, columns, labels_needed="if there")
        options: dict[str, Any] = {"qids": "number"} if number_queries else {}
        write(data, target, **options)
    print(f"{target}: {sizes(data)}")


def _judgements(source: Path, target: Path, columns: str, force: bool) -> None:
    from plackett.data.trec import read_qrels, write_qrels

    check_out(target, force, "TARGET")
    judged = read_qrels(source, columns=columns)
    write_qrels(judged, target)
    print(f"{target}: {judged.height:,} judgements of {judged['qid'].n_unique():,} queries")


def _streamed(source: Path, target: Path, columns: TableColumns) -> Any:
    """Convert a large file to the native format part by part; None if it has to be read as a whole."""
    from plackett._base.errors import PartsError
    from plackett.data.file_bytes import bare_suffix
    from plackett.data.files import LETOR, NATIVE, format_of
    from plackett.data.streaming import letor_to_native, table_to_native

    format = format_of(source)
    if format is NATIVE or bare_suffix(target) not in NATIVE.suffixes or columns.relations:
        return None
    if not source.is_file() or source.stat().st_size < LARGE or columns.query_features_file:
        return None
    options = columns.options()
    try:
        if format is LETOR:
            return None if options else letor_to_native(source, target)
        return table_to_native(source, target, **options, labels_needed="if there")
    except PartsError as error:
        _log.info("%s; it is read as a whole", error)
        return None
