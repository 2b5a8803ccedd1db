"""Arguments shared by several commands: columns of tables, parameters as name=value, files to write, formats."""

from __future__ import annotations

import ast
import contextlib
import inspect
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from plackett._base.literals import NOT_LITERAL
from plackett._names.nearest import hint, nearest, plural, question

#: The options that stand for parameters of the library, as messages name them; any other is set with ``-p``.
SHELL_OPTIONS = {
    "qid": "--qid COLUMN",
    "label": "--label COLUMN",
    "docid": "--docid COLUMN",
    "query_features": "--query-features COLUMNS",
    "sample_weight": "--weight COLUMN",
    "features": "--features COLUMNS",
    "drop": "--drop {}",
    "categories": "--categories {}",
    "time": "--time {}",
    "eval_set": "--valid FILE",
    "imputer": "--impute median",
    "random_state": "--seed NUMBER",
    "n_trials": "--trials NUMBER",
    "list_features": "--list-features",
    "n_jobs": "--jobs NUMBER",
    "fresh": "--fresh",
    "judges": "--judge COLUMN --judge COLUMN",
    "qids": "--number-queries",
    "separator": "--separator CHARACTER",
}

FORMS = ("terminal", "markdown", "latex", "csv", "json", "html")

#: Existing files are overwritten only with this option.
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]

#: What commands print: tables for people, or JSON for programs.
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonForm = Annotated[bool, typer.Option("--json", help="The same as --format json.")]

Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help="Measure, such as nDCG@10 or 'AP(rel=2)@100'; may be repeated."),
]
Seed = Annotated[int, typer.Option(help="Random seed: the same one gives the same results.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of threads. Default: all cores.")]

#: Of commands that train a model.
TrainingData = Annotated[Path, typer.Argument(metavar="TRAIN", help="Dataset, in any format that `convert` reads.")]
ModelOut = Annotated[Path, typer.Option(help="Where to save the model, usually a .plackett file.")]

#: What separates the columns of text tables.
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHARACTER",
        help="What separates the columns of text: a character such as ';', or tab. Default: a comma, a tab for .tsv.",
        rich_help_panel="Columns of tables (CSV, parquet)",
    ),
]


#: Missing values are filled in before training, and in whatever the model scores later.
Impute = Annotated[
    str | None,
    typer.Option(
        "--impute",
        metavar="STRATEGY",
        help="Fill in missing values for rankers that do not accept them: median, mean, query-median or a number.",
    ),
]


def imputer_named(text: str) -> Any:
    """The imputer that ``--impute`` asks for."""
    from plackett.data.imputer import STRATEGIES, Imputer

    if text in STRATEGIES and text != "constant":
        return Imputer(text)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        known = [name for name in STRATEGIES if name != "constant"]
        near = nearest(text, known)
        advice = question(near) if near else f"give {', '.join(known)} or a number"
        raise typer.BadParameter(f"{text!r}; {advice}", param_hint="--impute")
    return Imputer("constant", fill_value=number)


@contextlib.contextmanager
def option(name: str) -> Iterator[None]:
    """Report a bad value of an option as misuse of the command, naming the option."""
    try:
        yield
    except ValueError as error:  # the errors of data and measures are among these
        raise typer.BadParameter(str(error), param_hint=name) from None


def check_measures(measures: list[str], preset: str | None = None) -> None:
    """Reject measures and presets that do not exist, before anything is read."""
    from plackett.measures.language import parse_all
    from plackett.measures.presets import with_preset

    with option("--measure / -m"):
        parsed = parse_all(measures)
    with option("--preset"):
        for each in parsed:
            with_preset(each, preset)


def sizes(data: Any) -> str:
    """Size of a dataset in words."""
    counts = (data.n_queries, "query", "queries"), (data.n_rows, "document"), (data.n_features, "feature")
    return ", ".join(plural(*each) for each in counts)


@dataclass(frozen=True)
class TableColumns:
    """Which columns of a table mean what, as named on the command line."""

    qid: str | None = None
    label: str | None = None
    docid: str | None = None
    weight: str | None = None
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    time: str | None = None
    query_features: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    separator: str | None = None

    @property
    def query_features_file(self) -> str | None:
        """The file with features of the queries, if a file was named and not columns."""
        named = ",".join(self.query_features)
        return named if named and os.path.isfile(named) else None

    def options(self) -> dict[str, Any]:
        """The columns that were named, as keyword arguments of `plackett.RankingDataset.from_frame`."""
        named: dict[str, Any] = {
            "qid": self.qid,
            "label": self.label,
            "docid": self.docid,
            "sample_weight": self.weight,
            "separator": "\t" if self.separator == "tab" else self.separator,
            "time": self.time,
        }
        named |= {name: list(getattr(self, name)) for name in ("features", "drop", "categories")}
        named["query_features"] = [] if self.query_features_file else list(self.query_features)
        return {name: value for name, value in named.items() if value}


def _option(name: str, text: str) -> Any:
    return typer.Option(f"--{name}", help=text, metavar="COLUMN", rich_help_panel="Columns of tables (CSV, parquet)")


#: The options of every command that reads tables.
_COLUMNS: dict[str, Any] = {
    "qid": Annotated[str | None, _option("qid", "Query ids. Common names are found without this option.")],
    "label": Annotated[str | None, _option("label", "Labels.")],
    "docid": Annotated[str | None, _option("docid", "Document ids.")],
    "weight": Annotated[str | None, _option("weight", "Weights of the documents.")],
    "features": Annotated[
        list[str] | None, _option("features", "Features, separated by commas. Default: all other columns.")
    ],
    "drop": Annotated[list[str] | None, _option("drop", "Columns to leave out, separated by commas.")],
    "categories": Annotated[
        list[str] | None, _option("categories", "Features that hold categories, such as a brand, separated by commas.")
    ],
    "time": Annotated[str | None, _option("time", "When the query was asked: dates or numbers.")],
    "separator": Separator,
}

#: The options of commands that train or use rankers which look at more than single documents.
_SIDE_DATA: dict[str, Any] = {
    "relation": Annotated[
        list[str] | None,
        typer.Option(
            "--relation",
            metavar="NAME=…",
            help="A relation between documents: similarity=FILE with lines 'query document document' or "
            "'… weight', or similarity=knn:10, parent=url, link=links:FILE, hyperedge=groups:FILE; may be repeated.",
            rich_help_panel="Relations and features of queries",
        ),
    ],
    "query_features": Annotated[
        list[str] | None,
        typer.Option(
            "--query-features",
            metavar="FILE|COLUMNS",
            help="Features of the queries: a file with lines 'query number …', or columns of the table.",
            rich_help_panel="Relations and features of queries",
        ),
    ],
}


def reads_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that name columns of tables to a command, which receives them as ``columns``."""
    return _with_options(command, _COLUMNS)


def reads_lists(command: Callable[..., None]) -> Callable[..., None]:
    """Like `reads_tables`, with the options for relations and features of queries."""
    return _with_options(command, _COLUMNS | _SIDE_DATA)


def _with_options(command: Callable[..., None], options: dict[str, Any]) -> Callable[..., None]:
    hints = get_type_hints(command, include_extras=True)
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "columns"]
    parameters = [p.replace(annotation=hints[p.name]) for p in own]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in options.items()
    ]

    def run(**arguments: Any) -> None:
        named = {name: arguments.pop(name, None) for name in (*_COLUMNS, *_SIDE_DATA)}
        named["relations"] = tuple(named.pop("relation") or ())
        named |= {name: _names(named[name]) for name in ("features", "drop", "categories", "query_features")}
        command(**arguments, columns=TableColumns(**named))

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def _names(texts: list[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts or [] for name in text.split(",") if name.strip())


def parameter_value(assignment: str, owner: Any) -> tuple[str, Any]:
    """Parse a parameter written as ``name=value`` and check it against what its owner, a dataclass, declares."""
    declared = {field.name: (field.type, getattr(owner, field.name)) for field in fields(owner) if field.init}
    return declared_value(assignment, declared, getattr(owner, "name", type(owner).__name__))


def declared_value(assignment: str, declared: dict[str, tuple[Any, Any]], owner: str) -> tuple[str, Any]:
    """Parse a parameter written as ``name=value`` and check it against the types and defaults that are declared."""
    from plackett._base.parameters import parameter_problem

    name, equals, text = assignment.partition("=")
    name = name.strip()
    if not equals:
        raise typer.BadParameter(f"{assignment!r}; write name=value", param_hint="--parameter / -p")
    if name not in declared:
        raise typer.BadParameter(
            f"{owner} has no parameter {name!r}; {hint(name, declared, 'it has')}", param_hint="--parameter / -p"
        )
    annotation, default = declared[name]
    value = _literal(text.strip())
    problem = parameter_problem(name, value, annotation)
    if problem is not None:
        like = "" if default is None or isinstance(default, bool) else f" such as {default!r}"
        raise typer.BadParameter(f"{problem}{like}", param_hint="--parameter / -p")
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


def _check_alone(out: Path, option: str) -> None:
    """Reject an output that is also another file of the command line, most often its input, which would be lost."""
    # recent versions of typer have a copy of click of their own, older ones use click's
    click = typer.Context.__bases__[0].__module__.rpartition(".")[0]
    context = sys.modules[f"{click}.globals"].get_current_context(silent=True)
    if context is None:
        return
    own = option.lstrip("-").replace("-", "_").lower()
    # versions of typer differ in whether the values are paths already or still text
    paths = {each.name for each in context.command.params if getattr(getattr(each, "type", None), "name", "") == "path"}
    for name, value in context.params.items():
        for path in value if isinstance(value, (list, tuple)) else (value,):
            is_file = isinstance(path, Path) or (isinstance(path, str) and (name in paths or os.path.isfile(path)))
            if name != own and is_file and os.path.realpath(path) == os.path.realpath(out):
                raise typer.BadParameter(
                    f"{out} is also another file of this command; name a new one", param_hint=option
                )


def check_out(out: Path | None, force: bool, option: str = "--out") -> None:
    """Reject a file that cannot or should not be written, before any work is done."""
    if out is None:
        return
    if out.is_file() or not out.exists():
        _check_alone(out, option)
    if out.is_file() and not force:  # pipes and devices always exist
        raise typer.BadParameter(f"{out} exists; pass --force to overwrite it", param_hint=option)
    if out.is_dir():
        raise typer.BadParameter(f"{out} is a folder; name a file", param_hint=option)
    if not out.resolve().parent.is_dir():
        raise typer.BadParameter(f"the folder {out.resolve().parent} does not exist", param_hint=option)
