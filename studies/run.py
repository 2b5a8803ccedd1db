"""Run a study: ``python studies/run.py NAME``; ``--list`` lists them, and ``--help`` has the options.

It reads data and writes tables like the commands of plackett.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder with this package, wherever it is started

from plackett.cli import run
from plackett.cli.arguments import Force, TableColumns, check_out, declared_value, option, reads_tables
from plackett.cli.experiment import data_of
from plackett.cli.messages import interruptible, waiting
from plackett.cli.output import print_table
from plackett.experiments.contestants import contestants
from studies.base import find_study, studies

_FORMS = {".md": "markdown", ".csv": "csv", ".json": "json", ".tex": "latex", ".html": "html", ".svg": "svg"}


app = typer.Typer(add_completion=False)


@app.command()
@interruptible
@reads_tables
def study(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name of the study; --list shows them.")] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the studies and exit.")] = False,
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="A file, a folder with folds, or a public dataset such as ohsumed; may be repeated. "
            "Default: synthetic data."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the table: .md, .csv, .json, .tex or .html; .svg writes the chart.")
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option("--algorithm", "-a", help="Ranker, for studies that let you choose; may be repeated."),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="name=value, such as size=whole; may be repeated."),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="Rules of another tool for the measures: letor3, letor4, …")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Settings to try per ranker and fold, for studies that tune rankers.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed of synthetic data and rankers.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of threads. Default: all cores.")] = None,
    force: Force = False,
    *,
    columns: TableColumns,
) -> None:
    """Run one of the experiments that the textbook suggests; docs/studies.md shows the results."""
    if list_them or name is None:
        rows = [(each, _first_line(function)) for each, function in studies().items()]
        print_table(("study", "question"), rows)
        return
    try:
        function = find_study(name)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAME") from None
    if out is not None and out.suffix not in _FORMS:
        raise typer.BadParameter(f"{out}; the suffix must be one of {', '.join(_FORMS)}", param_hint="--out")
    check_out(out, force)
    known = inspect.signature(function).parameters
    arguments: dict[str, Any] = {}
    if data:
        if "data" not in known:
            raise typer.BadParameter(f"{name} generates its own data and takes none", param_hint="--data")
        arguments["data"] = data_of(data, columns)
    if algorithm:
        if "rankers" not in known:
            raise typer.BadParameter(f"{name} uses its own rankers and takes none", param_hint="--algorithm")
        with option("--algorithm / -a"):
            entries = contestants(algorithm, random_state=seed or 0)
        arguments["rankers"] = {entry.name: entry.ranker for entry in entries}
    options = {"preset": preset, "n_trials": trials, "random_state": seed, "n_jobs": jobs}
    given = {word: value for word, value in options.items() if value is not None}
    for word in ("preset", "n_trials"):
        if word in given and word not in known:
            raise typer.BadParameter(f"{name} does not use this option", param_hint=f"--{word.removeprefix('n_')}")
    arguments |= {word: value for word, value in given.items() if word in known}
    own = {
        each.name: (each.annotation, each.default)
        for each in known.values()
        if each.kind is each.KEYWORD_ONLY and each.name not in ("preset", "n_trials", "n_jobs", "verbose")
    }
    arguments |= dict(declared_value(text, own, name) for text in parameter or [])
    if "verbose" in known:  # it shows its own progress
        arguments["verbose"] = sys.stderr.isatty()
        result = function(**arguments)
    else:
        with waiting(name):
            result = function(**arguments)
    print(result)
    if out is not None:
        try:
            text = getattr(result, f"to_{_FORMS[out.suffix]}")()
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--out") from None
        out.write_text(text + "\n", encoding="utf-8")


def _first_line(function: Any) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


if __name__ == "__main__":
    run(app)
