"""Arguments that several commands have: parameters as name=value, names for files, formats, a file to write."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import typer

from plackett._literals import NOT_LITERAL

__all__ = ["check_form", "check_out", "file_names", "parameter_value"]

FORMS = ("terminal", "markdown", "latex", "csv", "json", "html")


def parameter_value(assignment: str, defaults: dict[str, Any], owner: str) -> tuple[str, Any]:
    """Name and value of a parameter written as ``name=value``, checked against the defaults of its owner."""
    name, equals, text = assignment.partition("=")
    name = name.strip()
    if not equals:
        raise typer.BadParameter(f"{assignment!r}; write name=value", param_hint="-p")
    if name not in defaults:
        raise typer.BadParameter(f"{owner} has no parameter {name!r}; it has {', '.join(defaults)}", param_hint="-p")
    value = _literal(text.strip())
    default = defaults[name]
    fits = {bool: (bool,), int: (int,), float: (int, float), str: (str,)}.get(type(default))
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
    """As little of each path as tells the files apart, and none of the names that are taken."""
    for i, path in enumerate(paths):
        if path in paths[:i]:
            raise typer.BadParameter(f"{path} is given twice")
    for depth in range(1, 4):
        names = ["/".join(path.with_name(path.name.split(".")[0]).parts[-depth:]) for path in paths]
        if len({*names, *taken}) == len(names) + len(taken):
            return names
    return [str(path) for path in paths]


def check_form(form: str) -> str:
    """One of the formats in which tables are printed."""
    if form not in FORMS:
        raise typer.BadParameter(f"{form!r}; the formats are {', '.join(FORMS)}", param_hint="--format")
    return form


def check_out(out: Path, force: bool) -> None:
    """Refuse a file that cannot or should not be written, before any work is done."""
    if out.exists() and not force:
        raise typer.BadParameter(f"{out} exists; give --force to overwrite it", param_hint="--out")
    if not out.resolve().parent.is_dir():
        raise typer.BadParameter(f"the folder {out.resolve().parent} does not exist", param_hint="--out")
