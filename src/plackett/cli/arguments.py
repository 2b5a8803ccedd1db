"""Arguments shared by several commands: columns of tables, parameters as name=value, files to write, formats."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from plackett._literals import NOT_LITERAL
from plackett._names import hint

__all__ = ["Force", "TableColumns", "check_form", "check_out", "file_names", "parameter_value", "reads_tables"]

FORMS = ("terminal", "markdown", "latex", "csv", "json", "html")

#: Existing files are overwritten only with this option.
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]


@dataclass(frozen=True)
class TableColumns:
    """Which columns of a table mean what, as named on the command line."""

    qid: str | None = None
    label: str | None = None
    docid: str | None = None
    weight: str | None = None
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """The columns that were named, as keyword arguments of `plackett.RankingDataset.from_frame`."""
        named: dict[str, Any] = {
            "qid": self.qid,
            "label": self.label,
            "docid": self.docid,
            "sample_weight": self.weight,
        }
        named |= {"features": list(self.features), "drop": list(self.drop)}
        return {name: value for name, value in named.items() if value}


def _option(name: str, text: str) -> Any:
    return typer.Option(f"--{name}", help=text, metavar="COLUMN", rich_help_panel="Columns of tables (CSV, parquet)")


#: The options of every command that reads tables.
_COLUMNS: dict[str, Any] = {
    "qid": Annotated[str | None, _option("qid", "Query ids; common names are recognised.")],
    "label": Annotated[str | None, _option("label", "Labels.")],
    "docid": Annotated[str | None, _option("docid", "Document ids.")],
    "weight": Annotated[str | None, _option("weight", "Weights of the documents.")],
    "features": Annotated[
        list[str] | None, _option("features", "Features, separated by commas; by default all other columns.")
    ],
    "drop": Annotated[list[str] | None, _option("drop", "Columns to leave out, separated by commas.")],
}


def reads_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that name columns of tables to a command, which receives them as ``columns``."""
    hints = get_type_hints(command, include_extras=True)
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "columns"]
    parameters = [p.replace(annotation=hints[p.name]) for p in own]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _COLUMNS.items()
    ]

    def run(**words: Any) -> None:
        named = {name: words.pop(name) for name in _COLUMNS}
        named |= {name: _names(named[name]) for name in ("features", "drop")}
        command(**words, columns=TableColumns(**named))

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def _names(texts: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts or [] for name in text.split(",") if name.strip())


def parameter_value(assignment: str, defaults: dict[str, Any], owner: str) -> tuple[str, Any]:
    """Parse a parameter written as ``name=value`` and check it against the defaults of its owner."""
    name, equals, text = assignment.partition("=")
    name = name.strip()
    if not equals:
        raise typer.BadParameter(f"{assignment!r}; write name=value", param_hint="-p")
    if name not in defaults:
        raise typer.BadParameter(
            f"{owner} has no parameter {name!r}; {hint(name, defaults, 'it has')}", param_hint="-p"
        )
    value = _literal(text.strip())
    default = defaults[name]
    fits = {bool: (bool,), int: (int,), float: (int, float), str: (str,)}.get(type(default))
    if default == "auto":  # a number chosen from the data unless it is given
        fits = (int, float, str)
    if fits and value is not None and not (isinstance(value, fits) and isinstance(value, bool) <= (bool in fits)):
        raise typer.BadParameter(f"{name}={text}: expected {type(default).__name__} like {default!r}", param_hint="-p")
    return name, value


def _literal(text: str) -> Any:
    """A Python literal, or the text itself."""
    try:
        return ast.literal_eval(text)
    except NOT_LITERAL:
        return text


def file_names(paths: list[Path], taken: tuple[str, ...] = ()) -> list[str]:
    """The shortest part of each path that tells the files apart, avoiding the names that are taken."""
    for i, path in enumerate(paths):
        if path in paths[:i]:
            raise typer.BadParameter(f"{path} is given twice")
    for depth in range(1, 4):
        names = ["/".join(path.with_name(path.name.split(".")[0]).parts[-depth:]) for path in paths]
        if len({*names, *taken}) == len(names) + len(taken):
            return names
    return [str(path) for path in paths]


def check_form(form: str) -> str:
    """Check that tables can be printed in this format."""
    if form not in FORMS:
        raise typer.BadParameter(f"{form!r}; the formats are {', '.join(FORMS)}", param_hint="--format")
    return form


def check_out(out: Path | None, force: bool, option: str = "--out") -> None:
    """Reject a file that cannot or should not be written, before any work is done."""
    if out is None:
        return
    if out.is_file() and not force:  # pipes and devices always exist
        raise typer.BadParameter(f"{out} exists; pass --force to overwrite it", param_hint=option)
    if out.is_dir():
        raise typer.BadParameter(f"{out} is a folder; name a file", param_hint=option)
    if not out.resolve().parent.is_dir():
        raise typer.BadParameter(f"the folder {out.resolve().parent} does not exist", param_hint=option)
