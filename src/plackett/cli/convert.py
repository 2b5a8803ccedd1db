"""``plackett convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def convert(
    source: Annotated[Path, typer.Argument(help="LETOR text (.gz .xz .zst), .plackett, .parquet, .csv, .tsv")],
    target: Annotated[Path, typer.Argument(help="File to write; its suffix says the form.")],
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False,
) -> None:
    """Convert a dataset from one form into another; .plackett opens in milliseconds."""
    from plackett.data.files import read, write

    if target.exists() and not force:
        raise typer.BadParameter(f"{target} exists; give --force to overwrite it", param_hint="TARGET")
    data = read(source)
    write(data, target)
    print(f"{target}: {data.n_queries} queries, {data.n_rows} documents, {data.n_features} features")
