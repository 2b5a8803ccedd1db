"""The commands, put together."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
import typer.core
import typer.main

from plackett._base.version import __version__
from plackett.cli.messages import interruptible

#: Commands and groups of commands, in the order of ``--help``: a module of this package, and the name in it.
COMMANDS = {
    "list": "catalogue.list_items",
    "info": "info.info",
    "convert": "convert.convert",
    "convert-model": "convert_model.convert_model",
    "export": "export.export",
    "import": "export.import_model",
    "extract": "extract.extract",
    "links": "links.links",
    "train": "train.train",
    "auto": "auto.auto",
    "early-exit": "early_exit.early_exit",
    "predict": "predict.predict",
    "explain": "explain.explain",
    "evaluate": "evaluate.evaluate",
    "experiment": "experiment.experiment",
    "compare-runs": "compare_runs.compare_runs",
    "churn": "churn.churn",
    "fuse": "fuse.fuse",
    "diversify": "diversify.diversify",
    "recommend": "recommend.recommend",
    "plan": "plan.plan",
    "serve": "serve.serve",
    "index": "index.index",
    "search": "search.search",
    "workbench": "workbench.workbench",
    "clicks": "clicks.clicks",
    "interleave": "interleave.interleave",
    "label": "label.label",
}
#: Former names, which still work but are not shown.
ALIASES = {"compare": "experiment"}
#: Commands that read their arguments in a way of their own.
CLASSES = {"search": "search.QueryCommand"}


class _Built(Mapping[str, Any]):
    """The commands by name, each imported and built when first asked for: all of them take longer than most runs."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            try:
                self._known[name] = _build(name)
            except KeyboardInterrupt:  # typer would end without a message
                print("interrupted", file=sys.stderr)
                raise typer.Exit(130) from None
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        yield from (*COMMANDS, *ALIASES)

    def __len__(self) -> int:
        return len(COMMANDS) + len(ALIASES)


def _build(name: str) -> Any:
    command = _imported(COMMANDS[ALIASES.get(name, name)])
    if not isinstance(command, typer.Typer):
        cls = _imported(CLASSES[name]) if name in CLASSES else None
        alone = typer.Typer(add_completion=False)
        alone.command(name, cls=cls, hidden=name in ALIASES)(interruptible(command))
        command = alone
    return typer.main.get_command(command)


def _imported(path: str) -> Any:
    module, _, attribute = path.partition(".")
    return getattr(import_module(f"plackett.cli.{module}"), attribute)


_BUILT = _Built()


class _Group(typer.core.TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**(settings | {"commands": _BUILT}))


app = typer.Typer(
    name="plackett",
    cls=_Group,
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
