"""``plackett plan``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plackett.cli.arguments import (
    Force,
    Impute,
    Json,
    Seed,
    TableColumns,
    check_out,
    imputer_named,
    option,
    reads_tables,
)
from plackett.cli.output import print_json, print_table
from plackett.cli.train import after_imputer

if TYPE_CHECKING:
    from plackett.theory.planner.plan import Plan


@reads_tables
def plan(
    judgements: Annotated[
        int | None, typer.Option("--judgements", "-j", min=4, help="Total number of documents that can be judged.")
    ] = None,
    queries: Annotated[int | None, typer.Option(min=1, help="Maximum number of queries.")] = None,
    documents: Annotated[
        int | None, typer.Option(min=2, help="Maximum number of documents worth judging per query.")
    ] = None,
    pilot: Annotated[
        Path | None, typer.Option(help="Dataset of judged queries, to measure a learning curve on.")
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm", "-a", help="Ranker to train on the pilot; `plackett list --kind ranker` shows all."
        ),
    ] = "RankSVM",
    measure: Annotated[str, typer.Option("--measure", "-m", help="Measure for the pilot.")] = "nDCG@10",
    n_features: Annotated[
        int | None, typer.Option("--n-features", min=1, help="Number of features, without a pilot.")
    ] = None,
    impute: Impute = None,
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions of simulation and learning curve.")] = 5,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the chart to this .svg file.")] = None,
    force: Force = False,
    as_json: Json = False,
    *,
    columns: TableColumns,
) -> None:
    """Plan how many queries to judge, and how many documents of each: by theory, simulation and a pilot."""
    from plackett._base.errors import DataError
    from plackett.measures.language import parse
    from plackett.theory.planner.plan import plan as make_plan

    if out is not None and out.suffix != ".svg":
        raise typer.BadParameter(f"{out}; the chart is written as .svg", param_hint="--out")
    check_out(out, force)
    with option("--measure / -m"):
        parse(measure)
    if judgements is None and (queries is None or documents is None):
        raise typer.BadParameter("give --judgements, or --queries and --documents", param_hint="--judgements")
    imputer = None if impute is None else imputer_named(impute)
    if imputer is not None and pilot is None:
        raise typer.BadParameter("it fills in the values of --pilot", param_hint="--impute")
    data = ranker = None
    if pilot is not None:
        from plackett.cli.reading import read_data

        ranker = _ranker(algorithm, seed)
        if imputer is not None:
            ranker = after_imputer(imputer, ranker)
        data = read_data(pilot, columns)
    try:
        advice = make_plan(
            judgements, queries=queries, documents=documents, pilot=data, ranker=ranker, measure=measure,
            n_features=n_features, n_repeats=repeats, random_state=seed, verbose=True,
        )  # fmt: skip
    except DataError as error:
        if pilot is not None:
            raise
        raise typer.BadParameter(str(error)) from None
    if out is not None:
        out.write_text(advice.to_svg() + "\n", encoding="utf-8")
    if as_json:
        print_json(_as_json(advice))
    else:
        _print(advice)


def _ranker(algorithm: str, seed: int) -> Any:
    """The ranker with this name; the seed is its own unless the name sets another."""
    from plackett.rankers.named import ranker_named

    with option("--algorithm / -a"):
        ranker, given = ranker_named(algorithm)
    return ranker if "random_state" in given else ranker.set_params(random_state=seed)


def _as_json(advice: Plan) -> dict[str, Any]:
    return {
        "judgements": advice.budget,
        "answers": [answer._asdict() for answer in advice.answers],
        "sentence": advice.sentence,
        "notes": advice.notes,
        "curves": {name: {"queries": x, "quality": y} for name, (x, y) in advice.curves.items()},
        "simulation": asdict(advice.simulation),
    }


def _print(advice: Plan) -> None:
    rows = [(a.method, f"{a.queries:,}", f"{a.documents:,}", a.promise) for a in advice.answers]
    print_table(
        ("method", "queries", "documents per query", ""), rows, title=f"{advice.budget:,} judgements", numbers=(1, 2)
    )
    print(f"\n{advice.sentence}")
    for note in advice.notes:
        print(f"Note: {note}.")
