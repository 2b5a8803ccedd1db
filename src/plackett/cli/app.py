"""The commands, put together."""

from __future__ import annotations

import typer

from plackett import __version__
from plackett.cli import (
    catalogue,
    compare,
    compare_runs,
    convert,
    convert_model,
    evaluate,
    explain,
    fuse,
    info,
    plan,
    predict,
    study,
    train,
)

__all__ = ["app"]

app = typer.Typer(
    name="plackett",
    help="Learning to rank: data, evaluation, training.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Show the version and stop.", is_eager=True)) -> None:
    """Learning to rank: data, evaluation, training."""
    if version:
        print(__version__)
        raise typer.Exit


app.command("list")(catalogue.list_items)
app.command("info")(info.info)
app.command("convert")(convert.convert)
app.command("convert-model")(convert_model.convert_model)
app.command("train")(train.train)
app.command("predict")(predict.predict)
app.command("explain")(explain.explain)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("compare-runs")(compare_runs.compare_runs)
app.command("fuse")(fuse.fuse)
app.command("study")(study.study)
app.command("plan")(plan.plan)
