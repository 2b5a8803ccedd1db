"""The commands, put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

__all__ = ["app", "app_for"]


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

#: Commands with commands of their own.
GROUPS: dict[str, typer.Typer] = {
    "clicks": clicks.clicks,
    "interleave": interleave.interleave,
    "label": label.label,
}


def app_with(*names: str) -> typer.Typer:
    """The program with some of its commands."""
    made = typer.Typer(
        name="plackett",
        help="Learning to rank: data, evaluation, training.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    made.callback(invoke_without_command=True)(root)
    for name in names:
        if name in GROUPS:
            made.add_typer(GROUPS[name], name=name, no_args_is_help=True)
        else:
            command = COMMANDS[ALIASES.get(name, name)]
            made.command(name, cls=CLASSES.get(name), hidden=name in ALIASES)(interruptible(command))
    return made


#: The whole program.
app = app_with(*COMMANDS, *ALIASES, *GROUPS)


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The program with the command that the arguments name; with all of them if they name none.

    Typer reads the signatures of all commands before it runs one, which takes longer than many a command.
    """
    name = arguments[0] if arguments else ""
    return app_with(name) if name in COMMANDS or name in ALIASES or name in GROUPS else app
