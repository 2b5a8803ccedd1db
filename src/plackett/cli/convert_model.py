"""``plackett convert-model``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plackett._names.catalogue import formats
from plackett.cli.arguments import Force, check_out

_FORMS = ", ".join(["plackett", *(known.name for known in formats() if known.writes)])


def convert_model(
    source: Annotated[Path, typer.Argument(help="Model file of plackett or of another tool.")],
    target: Annotated[Path, typer.Argument(help="File to write.")],
    to: Annotated[str, typer.Option(help=f"Format of the new file: {_FORMS}.")] = "plackett",
    n_features: Annotated[
        int | None,
        typer.Option(help="Number of features in the data, for models of other tools, which list only those they use."),
    ] = None,
    force: Force = False,
) -> None:
    """Convert a model from one tool's format to another's; the scores stay the same."""
    from plackett._load import foreign_reader
    from plackett.rankers.storage import load, save

    written = {known.name: known for known in formats() if known.writes}
    if to != "plackett" and to not in written:
        raise typer.BadParameter(f"{to!r}; give one of {_FORMS}", param_hint="--to")
    check_out(target, force, "TARGET")
    foreign = foreign_reader(source)
    ranker = load(source) if foreign is None else foreign(source, n_features=n_features)
    (save if to == "plackett" else written[to].load().write)(ranker, target)
    print(f"{target}: {type(ranker).__name__} as {to}")
