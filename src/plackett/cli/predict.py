"""``plackett predict``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from plackett._names.nearest import plural
from plackett.cli.arguments import Force, TableColumns, check_out, reads_lists


@reads_lists
def predict(
    model: Annotated[
        Path,
        typer.Argument(help="Model saved by `plackett train` or `save`, or a model file of another tool."),
    ],
    data: Annotated[Path, typer.Argument(help="Dataset, in any format that `convert` reads; labels are not needed.")],
    out: Annotated[
        str | None, typer.Option(help="File for one score per line, in the order of the input file; - is stdout.")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="File for a TREC run.")] = None,
    all_trees: Annotated[
        bool,
        typer.Option("--all-trees", help="Score every document with all trees, even if the model has an early exit."),
    ] = False,
    force: Force = False,
    *,
    columns: TableColumns,
) -> None:
    """Score the documents of a dataset with a saved model."""
    from plackett.cli.reading import load_with
    from plackett.data.scores import write_scores
    from plackett.data.trec import run_frame, write_run

    if out is None and run is None:
        raise typer.BadParameter("give --out, --run or both", param_hint="--out / --run")
    check_out(None if out in (None, "-") else Path(out), force)
    check_out(run, force, "--run")
    ranker, dataset = load_with(model, data, columns)
    scores = ranker.predict(dataset, exit=False) if all_trees else ranker.predict(dataset)
    to = sys.stderr if out == "-" else sys.stdout
    if run is not None:
        write_run(run_frame(dataset, scores), run, tag=model.stem)
    if run is not None:
        print(
            f"{run}: {plural(dataset.n_rows, 'document')} of {plural(dataset.n_queries, 'query', 'queries')}", file=to
        )
    if out == "-":
        sys.stdout.writelines(f"{score!r}\n" for score in dataset.to_input_order(scores).tolist())
    elif out is not None:
        write_scores(dataset.to_input_order(scores), out)
        print(f"{out}: {plural(dataset.n_rows, 'score')}, in the order of {data}")
