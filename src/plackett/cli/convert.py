"""``plackett convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plackett.cli.arguments import Force, TableColumns, check_out, reads_tables


@reads_tables
def convert(
    source: Annotated[Path, typer.Argument(help="LETOR text (.gz .xz .zst), .plackett, .parquet, .csv, .tsv")],
    target: Annotated[Path, typer.Argument(help="File to write; its suffix selects the format.")],
    force: Force = False,
    *,
    columns: TableColumns,
) -> None:
    """Convert a dataset to another format; .plackett files open in milliseconds."""
    from plackett.cli.reading import read_data
    from plackett.data.files import write

    check_out(target, force, "TARGET")
    data = read_data(source, columns, labels_needed="if there")
    write(data, target)
    print(f"{target}: {data.n_queries} queries, {data.n_rows} documents, {data.n_features} features")
