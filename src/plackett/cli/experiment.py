"""``plackett experiment``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plackett._base.errors import DataError
from plackett.cli.arguments import (
    Impute,
    Jobs,
    JsonForm,
    Measures,
    Seed,
    TableColumns,
    check_form,
    check_measures,
    imputer_named,
    option,
    reads_lists,
)

if TYPE_CHECKING:
    from plackett.experiments.contestants import Contestant
    from plackett.experiments.result import Experiment


@reads_lists
def experiment(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...", help="Datasets: files, folders with folds, or names of public ones such as mq2008."
        ),
    ],
    algorithm: Annotated[
        list[str],
        typer.Option(
            "--algorithm",
            "-a",
            help="LambdaMART, 'ListNet(alpha=0.1)', lightgbm.LGBMRanker, column:NAME for the order of a feature, …; "
            "may be repeated.",
        ),
    ],
    measure: Measures = None,
    valid: Annotated[Path | None, typer.Option(help="Validation data, with a single training dataset.")] = None,
    test: Annotated[Path | None, typer.Option(help="Test data, with a single training dataset.")] = None,
    folds: Annotated[
        str,
        typer.Option(
            help="Number of folds for cross-validation, unless --test is given; or 'time': trained on the earliest "
            "queries and tested on the latest, by the column of --time."
        ),
    ] = "5",
    select: Annotated[
        str | None, typer.Option(help="Measure to select settings by, on validation data. Default: the first one.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Rules of another tool: letor3, letor4, mslr, …")] = None,
    search: Annotated[str, typer.Option(help="random, grid, bayes, halving; none for the defaults.")] = "random",
    trials: Annotated[int | None, typer.Option(min=1, help="Settings to try per ranker and fold. Default: 10.")] = None,
    time_budget: Annotated[float | None, typer.Option(min=0.001, help="Seconds to search per ranker and fold.")] = None,
    refit: Annotated[bool, typer.Option(help="Retrain the chosen setting with the validation data included.")] = False,
    blend: Annotated[
        int | None,
        typer.Option(min=2, help="Add a blend of the rankers that are best on validation data, at most this many."),
    ] = None,
    impute: Impute = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Folder for the results and report.html, .md, .tex; an interrupted run resumes from there."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", "-f", help="Replace the report of another experiment in --report.")
    ] = False,
    mlflow: Annotated[str | None, typer.Option(help="Log the results to this experiment of MLflow.")] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    form: Annotated[str, typer.Option("--format", help="terminal, markdown, latex, csv, json or html.")] = "terminal",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Compute everything again, even what is already finished in --report.")
    ] = False,
    as_json: JsonForm = False,
    *,
    columns: TableColumns,
) -> None:
    """Train, tune and compare rankers: means, confidence intervals, significance, and which ranker to choose."""
    from plackett.cli.first_use import rehearse_experiment
    from plackett.experiments.cells.folder import FolderTakenError
    from plackett.experiments.experiment import experiment as run
    from plackett.experiments.tracking import load_mlflow, log_to_mlflow

    _folds(folds)
    form = check_form("json" if as_json else form)
    measures = measure or ["nDCG@10", "AP", "P@10"]
    check_measures([*measures, *([select] if select else [])], preset)
    kind = _search(search)
    if report is not None:
        from plackett.experiments.report.page import load_extra

        load_extra()  # report what is missing before anything is trained
    if mlflow is not None:
        load_mlflow()  # fail before the work if it is missing, not after
    entries = _entries(algorithm, seed, trials if kind == "grid" else None, impute)
    with rehearse_experiment([entry.ranker for entry in entries], measures, preset):
        datasets = data_of(data, columns, valid, test)
    try:
        result = run(
            datasets,
            {entry.name: entry for entry in entries},
            measures,
            select=select,
            preset=preset,
            folds=_folds(folds),
            search=kind,
            n_trials=trials,
            time_budget=time_budget,
            refit=refit,
            blend=blend,
            out=report,
            fresh=fresh,
            overwrite=force,
            random_state=seed,
            n_jobs=jobs,
            verbose=sys.stderr.isatty(),
        )
    except FolderTakenError as error:
        raise typer.BadParameter(f"{error}; pass --force to replace it", param_hint="--report") from None
    except KeyboardInterrupt:
        where = "" if report is None else f": run the same command again to resume from {report}"
        print(f"interrupted{where}", file=sys.stderr)
        raise typer.Exit(130) from None
    print(getattr(result, f"to_{form}")())
    if report is not None:
        _write(result, report)
    if mlflow is not None:
        log_to_mlflow(result, mlflow)
    if result.failures:
        raise typer.Exit(1)  # the table names them


def _search(name: str) -> str | None:
    """The kind of search, as `plackett.experiment` calls it."""
    from plackett.experiments.search import SEARCHES

    kind = None if name == "none" else name
    if kind not in SEARCHES:
        known = ", ".join(each or "none" for each in SEARCHES)
        raise typer.BadParameter(f"{name!r}; the searches are {known}", param_hint="--search")
    return kind


def _entries(algorithms: list[str], seed: int, trials: int | None, impute: str | None) -> list[Contestant]:
    """The rankers; misspelt names are found before large files are read. ``trials``: those of a grid."""
    from plackett.experiments.contestants import contestants
    from plackett.experiments.search.grid import check_trials

    imputer = None if impute is None else imputer_named(impute)
    with option("--algorithm / -a"):
        entries = contestants(algorithms, random_state=seed)
    if trials is not None:
        with option("--trials"):
            check_trials({entry.name: entry.space for entry in entries}, trials)
    return entries if imputer is None else [entry.imputed(imputer) for entry in entries]


def _folds(text: str) -> int | str:
    if text != "time" and not (text.isascii() and text.isdigit()):
        raise typer.BadParameter(f"{text!r}; give a number of folds, or 'time'", param_hint="--folds")
    return text if text == "time" else int(text)


def data_of(names: list[str], columns: TableColumns, valid: Path | None = None, test: Path | None = None) -> Any:
    """What `plackett.experiment` takes: one split, or datasets by name."""
    from plackett.cli.reading import read_data, read_like
    from plackett.data.splits import Fold

    for name in names:
        _check_there(name)
        if _public(name) and (columns.relations or columns.query_features_file):
            hint = "--relation" if columns.relations else "--query-features"
            raise typer.BadParameter(f"{name} is a public dataset, which comes without; name files", param_hint=hint)
    if test is None and valid is None:
        datasets = {_name(name): _public(name) or _read(name, columns) for name in names}
        if len(datasets) < len(names):
            raise typer.BadParameter("two datasets have the same name", param_hint="DATA")
        return datasets
    if test is None or len(names) != 1:
        raise typer.BadParameter(
            "--valid and --test need exactly one training dataset, and --valid needs --test", param_hint="--test"
        )
    train = read_data(Path(names[0]), columns)
    like = train.n_features, train.feature_names, train.categories
    parts = [None if path is None else read_like(path, columns, *like) for path in (valid, test)]
    return {_name(names[0]): Fold(train, *parts)}


def _check_there(name: str) -> None:
    """Raise if a name is neither a file nor a public dataset, and suggest what may have been meant."""
    from plackett._names.nearest import nearest, question
    from plackett.datasets.registry import DATASETS

    if _public(name) is None and not Path(name).exists():
        near = nearest(name, DATASETS, 1)
        hint = f"; {question(near)}" if near else " (docs/data.md has their names)"
        raise DataError(f"{name}: there is no such file or folder, and no public dataset of that name{hint}")


def _read(name: str, columns: TableColumns) -> Any:
    """A file, or the folds of a folder."""
    from plackett.cli.reading import completed, read_data
    from plackett.data.fold_folder import read_folds
    from plackett.data.splits import Fold

    if not Path(name).is_dir():
        return read_data(Path(name), columns)
    folds = read_folds(name, **columns.options())
    return [Fold(*(None if part is None else completed(part, columns) for part in fold)) for fold in folds]


def _public(name: str) -> str | None:
    """The name of a public dataset, if it is one and no file has that name."""
    from plackett.datasets.registry import DATASETS

    return name.lower() if name.lower() in DATASETS and not Path(name).exists() else None


def _name(name: str) -> str:
    path = Path(name)
    return _public(name) or (path.resolve().name if path.is_dir() else path.name.split(".")[0])


def _write(result: Experiment, folder: Path) -> None:
    """Write everything except the cells, once all of them are done."""
    result.to_json(folder / "results.json")
    print(f"Report: {result.report(folder)}", file=sys.stderr)
