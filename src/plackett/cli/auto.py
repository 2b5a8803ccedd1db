"""``plackett auto``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import (
    Force,
    Impute,
    Json,
    ModelOut,
    Seed,
    TableColumns,
    TrainingData,
    check_measures,
    check_out,
    imputer_named,
    option,
    reads_tables,
)
from plackett.cli.messages import waiting
from plackett.cli.output import print_json, print_table
from plackett.cli.train import after_imputer, fit_and_keep

#: Number of leaderboard rows to print.
SHOWN = 10


@reads_tables
def auto(
    data: TrainingData,
    out: ModelOut,
    budget: Annotated[float, typer.Option(min=0.001, help="Total time in seconds.")] = 60.0,
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Number of settings to try instead of a time limit; the result is then reproducible."),
    ] = None,
    measure: Annotated[str, typer.Option("--measure", "-m", help="Measure to optimise.")] = "nDCG@10",
    candidate: Annotated[
        list[str] | None,
        typer.Option("--candidate", "-a", help="Ranker to try; may be repeated. Default: chosen to suit the data."),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="RANKER", help="Say how far the result is ahead of this one, such as column:bm25."),
    ] = None,
    valid: Annotated[
        Path | None, typer.Option(help="Compare rankers on this data instead of by cross-validation.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Keep finished trainings in this folder; running the same command again resumes."),
    ] = None,
    max_score_time: Annotated[
        float | None, typer.Option(help="Maximum time to score one document on one thread, in microseconds.")
    ] = None,
    list_features: Annotated[
        bool,
        typer.Option(
            "--list-features", help="Also use each feature relative to its list; scores then need whole lists."
        ),
    ] = False,
    impute: Impute = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
    *,
    columns: TableColumns,
) -> None:
    """Choose, blend and train rankers for the data. Ctrl-C stops and saves the best so far (exit code 130)."""
    from plackett.cli.reading import read_data, read_like
    from plackett.experiments.auto.ranker import AutoRanker
    from plackett.experiments.contestants import contestants
    from plackett.rankers.storage import save

    check_out(out, force)
    imputer = None if impute is None else imputer_named(impute)
    check_measures([measure])
    if candidate:
        with option("--candidate / -a"):
            contestants(candidate)
    if baseline is not None:
        with option("--baseline"):
            contestants(baseline)
    ranker = AutoRanker(
        time_budget=budget,
        n_trials=trials,
        eval_measure=measure,
        candidates=tuple(candidate) if candidate else None,
        folder=None if folder is None else str(folder),
        max_score_time=None if max_score_time is None else max_score_time * 1e-6,
        baseline=baseline,
        list_features=list_features,
        random_state=seed,
    )
    dataset = read_data(data, columns)
    like = dataset.n_features, dataset.feature_names, dataset.categories
    watched = None if valid is None else read_like(valid, columns, *like)
    model = ranker if imputer is None else after_imputer(imputer, ranker)
    with waiting("searching (Ctrl-C stops and keeps the best so far)"):
        interrupted = fit_and_keep(model, dataset, watched, out)
    save(model, out)
    if as_json:
        print_json({"model": str(out), **ranker.card_})
    else:
        _print(ranker, out)
    if interrupted:
        print(f"interrupted: the best so far was saved to {out}", file=sys.stderr)
        raise typer.Exit(130)


def _print(ranker: Any, out: Path) -> None:
    board = ranker.leaderboard_
    if board.height:
        rows = [
            (
                row["ranker"],
                "" if row["rounds"] is None else str(row["rounds"]),
                row["error"] if row["value"] is None else f"{row['value']:.4f}",
                str(row["splits"]),
                f"{row['weight']:.0%}" if row["weight"] else "",
            )
            for row in board.head(SHOWN).iter_rows(named=True)
        ]
        print_table(("ranker", "rounds", ranker.eval_measure, "splits", "weight"), rows, numbers=(1, 2, 3, 4))
        if board.height > SHOWN:
            print(f"… and {board.height - SHOWN} more (--json shows all)")
        print()
    for sentence in ranker.reasons_:
        print(sentence)
    print(f"saved to {out}")
