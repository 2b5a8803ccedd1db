"""The commands, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
import typer.core

from plackett import __version__
from plackett.cli import (
    auto,
    catalogue,
    churn,
    clicks,
    compare_runs,
    convert,
    convert_model,
    diversify,
    early_exit,
    evaluate,
    experiment,
    explain,
    export,
    extract,
    fuse,
    index,
    info,
    interleave,
    label,
    links,
    plan,
    predict,
    recommend,
    search,
    serve,
    study,
    train,
    workbench,
)
from plackett.cli.messages import interruptible

__all__ = ["app"]

app = typer.Typer(
    name="plackett",
    help="Learning to rank: data, evaluation, training.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Show the version and exit.", is_eager=True)) -> None:
    """Learning to rank: data, evaluation, training."""
    if version:
        print(__version__)
        raise typer.Exit


COMMANDS: dict[str, Callable[..., Any]] = {
    "list": catalogue.list_items,
    "info": info.info,
    "convert": convert.convert,
    "convert-model": convert_model.convert_model,
    "export": export.export,
    "import": export.import_model,
    "extract": extract.extract,
    "links": links.links,
    "train": train.train,
    "auto": auto.auto,
    "early-exit": early_exit.early_exit,
    "predict": predict.predict,
    "explain": explain.explain,
    "evaluate": evaluate.evaluate,
    "experiment": experiment.experiment,
    "compare-runs": compare_runs.compare_runs,
    "churn": churn.churn,
    "fuse": fuse.fuse,
    "diversify": diversify.diversify,
    "recommend": recommend.recommend,
    "study": study.study,
    "plan": plan.plan,
    "serve": serve.serve,
    "index": index.index,
    "search": search.search,
    "workbench": workbench.workbench,
}
#: Former names, which still work but are not shown.
ALIASES = {"compare": "experiment"}

#: Commands that read their arguments in a way of their own.
CLASSES: dict[str, type[typer.core.TyperCommand]] = {"search": search.QueryCommand}

for name, command in COMMANDS.items():
    app.command(name, cls=CLASSES.get(name))(interruptible(command))
for alias, name in ALIASES.items():
    app.command(alias, hidden=True)(interruptible(COMMANDS[name]))
app.add_typer(clicks.clicks, name="clicks", no_args_is_help=True)
app.add_typer(interleave.interleave, name="interleave", no_args_is_help=True)
app.add_typer(label.label, name="label", no_args_is_help=True)
