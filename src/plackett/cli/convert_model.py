"""``plackett convert-model``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import Force, check_out

_FORMS = "plackett, ranklib, svm_rank"


def convert_model(
    source: Annotated[Path, typer.Argument(help="Model of plackett, RankLib, QuickRank or svm_rank.")],
    target: Annotated[Path, typer.Argument(help="File to write.")],
    to: Annotated[str, typer.Option(help=f"Form of the new file: {_FORMS}.")] = "plackett",
    n_features: Annotated[
        int | None, typer.Option(help="Columns of the data, for models of other tools: they name only what they use.")
    ] = None,
    force: Force = False,
) -> None:
    """Convert a model from the form of one tool into that of another; the scores stay the same."""
    from plackett._load import foreign_reader
    from plackett.export.ranklib import write_ranklib
    from plackett.export.svm_rank import write_svm_rank
    from plackett.rankers.storage import load, save

    writers: dict[str, Any] = {"plackett": save, "ranklib": write_ranklib, "svm_rank": write_svm_rank}
    if to not in writers:
        raise typer.BadParameter(f"{to!r}; give one of {_FORMS}", param_hint="--to")
    check_out(target, force, "TARGET")
    foreign = foreign_reader(source)
    ranker = load(source) if foreign is None else foreign(source, n_features=n_features)
    writers[to](ranker, target)
    print(f"{target}: {type(ranker).__name__} as {to}")
