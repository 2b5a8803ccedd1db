"""``plackett clicks``: logs, click models, labels, propensities, simulation, off-policy evaluation."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plackett.cli.arguments import Force, Json, Seed, check_out, file_names
from plackett.cli.messages import interruptible, waiting
from plackett.cli.output import print_json, print_table

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from plackett.clicks.log import ClickLog

clicks = typer.Typer(
    name="clicks",
    help="Click logs: what is in them, click models, labels, and tests of a new ranker.",
    no_args_is_help=True,
    add_completion=False,
)

Log = Annotated[
    Path, typer.Argument(metavar="LOG", help="Click log or events: .plackett, .csv, .parquet, .jsonl, Yandex, UBI.")
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="native, table, yandex, clara2, pages, ubi or events; detected if left out."),
]
#: Values of a model that are printed.
_SHOWN = 20
Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        "-c",
        help="role=COLUMN, such as document=sku, or an option of events, such as click=select_item; may be repeated.",
    ),
]
Application = Annotated[str | None, typer.Option(help="Application to read from a UBI log.")]
Top = Annotated[int | None, typer.Option("--top", min=1, help="Use the ranks 1 to TOP of each page only.")]
Model = Annotated[str, typer.Option("--model", "-m", help="Click model; `plackett list --kind 'click model'`.")]


def _read(
    path: Path, form: str | None, columns: list[str] | None, application: str | None, top: int | None = None
) -> ClickLog:
    from plackett.clicks.reading import read_clicks

    with waiting(f"reading {path.name}"):
        log = read_clicks(path, form, **_options(columns, application))
    _say_how_it_was_read(log, path)
    return log if top is None else log.truncate(top)


def _options(columns: list[str] | None, application: str | None) -> dict[str, Any]:
    options: dict[str, Any] = {} if application is None else {"application": application}
    for text in columns or []:
        role, equals, name = text.partition("=")
        if not equals:
            raise typer.BadParameter(f"{text!r}; write role=COLUMN", param_hint="--column")
        if role in options:
            raise typer.BadParameter(f"{role} is given twice: {options[role]} and {name}", param_hint="--column")
        options[role] = name
    return options


def _say_how_it_was_read(log: ClickLog, path: Path) -> None:
    import sys

    bad = log.bad_lines
    if bad is not None and bad.columns and path.suffix.lower() != ".plackett":
        unused = f"; not used: {', '.join(bad.unused)}" if bad.unused else ""
        known = ", ".join(f"{role}={name}" for role, name in bad.columns.items())
        print(f"columns: {known}{unused}", file=sys.stderr)
    if bad is not None and (bad.counts or bad.notes):
        print(bad, file=sys.stderr)


def _say_what_is_fixed(log: ClickLog) -> None:
    """Say so if rank and relevance cannot be told apart."""
    import sys

    from plackett.clicks.profile import FIXED, documents_move

    if not documents_move(log):
        print(f"warning: {FIXED} The results depend on where the fit started.", file=sys.stderr)


#: Suffix of a file to the method of a frame that writes it.
_WRITERS = {".parquet": "write_parquet", ".jsonl": "write_ndjson", ".csv": "write_csv"}


def _check_table(out: Path | None, force: bool, parameter: str) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    if out is not None and out.suffix.lower() not in _WRITERS:
        raise typer.BadParameter(f"{out}: write {', '.join(_WRITERS)}", param_hint=parameter)
    check_out(out, force, parameter)


def _check_plot(plot: Path | None, force: bool) -> None:
    if plot is not None and plot.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"{plot}: charts are written as .html", param_hint="--plot")
    check_out(plot, force, "--plot")


def _write_plot(figure: Any, plot: Path) -> None:
    from plackett._files.atomic import replacing

    with replacing(plot) as file:
        file.write(figure.to_html().encode())


def _write(frame: pl.DataFrame, out: Path) -> None:
    from plackett._files.atomic import replacing

    with replacing(out) as file:
        getattr(frame, _WRITERS[out.suffix.lower()])(file)


def info(
    log: Log,
    form: Format = None,
    column: Column = None,
    application: Application = None,
    top: Top = None,
    as_json: Json = False,
) -> None:
    """Say what is in a click log, and what can be learned from it."""
    from plackett.clicks.profile import profile_log

    facts = profile_log(_read(log, form, column, application, top))
    if as_json:
        print_json(asdict(facts))
        return
    print_table(("", ""), facts.rows_of_table(), title=str(log))
    for sentence in facts.advice:
        print(f"- {sentence}")


def convert(
    log: Log,
    out: Annotated[Path, typer.Argument(help="Native file to write (.plackett).")],
    form: Format = None,
    column: Column = None,
    application: Application = None,
    top: Top = None,
    distinct: Annotated[
        bool, typer.Option(help="Keep distinct pages with counts only; reads logs larger than memory.")
    ] = False,
    force: Force = False,
) -> None:
    """Write a click log as a native file, which opens at once."""
    from plackett._base.errors import DataError
    from plackett.clicks.log import ClickLog
    from plackett.clicks.reading import iter_clicks

    check_out(out, force)
    if distinct:  # in parts: memory grows with the distinct pages
        pages: ClickLog | None = None
        with waiting(f"reading {log.name}"):
            for part in iter_clicks(log, format=form, **_options(column, application)):
                small = (part if top is None else part.truncate(top)).collapse()
                pages = small if pages is None else ClickLog.concat([pages, small]).collapse()
                last = part
        if pages is None:
            raise DataError(f"{log}: no result pages")
        _say_how_it_was_read(last, log)
    else:
        pages = _read(log, form, column, application, top)
    pages.save(out)
    print(f"{out}: {pages}")


def fit(
    log: Log,
    out: Annotated[Path, typer.Option(help="Where to write the fitted model.")],
    model: Model = "PBM",
    form: Format = None,
    column: Column = None,
    application: Application = None,
    top: Top = None,
    max_iter: Annotated[int, typer.Option(min=1, help="Most passes.")] = 50,
    relevance: Annotated[Path | None, typer.Option(help="Write relevances with intervals (.csv, .parquet).")] = None,
    force: Force = False,
) -> None:
    """Fit a click model to a log."""
    import numpy as np

    from plackett.clicks.loading import make_model

    check_out(out, force)
    _check_table(relevance, force, "--relevance")
    click_model, pages = make_model(model, max_iter=max_iter), _read(log, form, column, application, top).collapse()
    if click_model.needs_moves:
        _say_what_is_fixed(pages)
    click_model.fit(pages, verbose=True)
    click_model.save(out)
    if relevance is not None:
        _write(click_model.relevance(), relevance)
    print(f"{out}: {click_model.name}, {len(click_model.pairs_)} pairs, {click_model.n_iter_} passes")
    if hasattr(click_model, "table"):  # examination depends on the last click
        for last, row in enumerate(click_model.table):
            when = f"after a click at rank {last}" if last else "without a click above"
            _print_values(f"examination {when}", row[last:])
        return
    for name in ("examination_", "continuation_", "gamma_", "alphas_", "relevant_", "irrelevant_"):
        if hasattr(click_model, name):
            _print_values(name.rstrip("_"), np.atleast_1d(np.asarray(getattr(click_model, name))).ravel())


def _print_values(name: str, values: np.ndarray) -> None:
    """Print the first values."""
    rest = f" … and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    print(f"{name}: {' '.join(f'{value:.3f}' for value in values[:_SHOWN])}{rest}")


def compare(
    log: Log,
    test: Annotated[Path | None, typer.Option(help="Log to score on; a quarter of the pages by default.")] = None,
    model: Annotated[list[str] | None, typer.Option("--model", "-m", help="Models; all by default.")] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="TREC judgements: also how well relevance orders documents.")
    ] = None,
    form: Format = None,
    column: Column = None,
    application: Application = None,
    top: Top = None,
    plot: Annotated[Path | None, typer.Option(help="Write the perplexities by rank as a chart (.html).")] = None,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Fit click models to one log and compare them on another."""
    from plackett.clicks.compare import compare_models

    _check_plot(plot, force)
    train = _read(log, form, column, application, top)
    other = None if test is None else _read(test, form, column, application, top)
    comparison = compare_models(train, other, model or None, grades=qrels, verbose=True)
    if plot is not None:
        _write_plot(comparison.plot(), plot)
    if as_json:
        print_json(comparison.frame.to_dicts())
        return
    columns = [name for name in comparison.frame.columns if name not in ("several_clicks", "satisfaction")]
    rows = [[_cell(row[name]) for name in columns] for row in comparison.frame.iter_rows(named=True)]
    print_table(columns, rows, numbers=range(1, len(columns)))


def _cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def labels(
    log: Log,
    out: Annotated[Path, typer.Option(help="Where to write query, document, label and weight (.csv, .parquet).")],
    method: Annotated[
        str, typer.Option(help="model, random-walk, discount, or one of Joachims' rules such as skip-above.")
    ] = "model",
    model: Model = "PBM",
    grades: Annotated[int | None, typer.Option(min=2, help="Number of grades; probabilities by default.")] = None,
    min_pages: Annotated[float, typer.Option(help="Least number of pages behind a label or preference.")] = 1.0,
    form: Format = None,
    column: Column = None,
    application: Application = None,
    top: Top = None,
    force: Force = False,
) -> None:
    """Turn clicks into labels or preferences."""
    from plackett.clicks.labels.discount import discount_clicks
    from plackett.clicks.labels.from_model import model_labels
    from plackett.clicks.labels.preferences import RULES, click_preferences
    from plackett.clicks.labels.random_walk import smooth_clicks
    from plackett.clicks.loading import make_model

    _check_table(out, force, "--out")
    known = ("model", "random-walk", "discount", *RULES)
    if method not in known:
        raise typer.BadParameter(f"{method!r}; give {', '.join(known)}", param_hint="--method")
    click_model = make_model(model)
    pages = _read(log, form, column, application, top)
    if method == "model" and click_model.needs_moves:
        _say_what_is_fixed(pages)
    ways: dict[str, Any] = {
        "model": lambda: model_labels(
            click_model.fit(pages.collapse(), verbose=True), grades=grades, min_shown=min_pages
        ),
        "random-walk": lambda: smooth_clicks(pages),
        "discount": lambda: discount_clicks(pages),
    }
    frame = ways[method]() if method in ways else click_preferences(pages, method, min_pages=min_pages)
    _write(frame, out)
    print(f"{out}: {frame.height} rows with {', '.join(frame.columns)}")


def propensities(
    log: Log,
    method: Annotated[
        str, typer.Option(help="harvest (documents that moved), random (shuffled pages) or em.")
    ] = "harvest",
    form: Format = None,
    column: Column = None,
    application: Application = None,
    top: Top = None,
    plot: Annotated[Path | None, typer.Option(help="Write a chart with intervals (.html).")] = None,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Estimate how likely each rank is examined."""
    from plackett.clicks.unbiased.propensities import em_propensities, harvest_propensities, randomised_propensities

    _check_plot(plot, force)
    ways: dict[str, Any] = {
        "harvest": harvest_propensities,
        "random": randomised_propensities,
        "em": em_propensities,
    }
    if method not in ways:
        raise typer.BadParameter(f"{method!r}; give {', '.join(ways)}", param_hint="--method")
    curve = ways[method](_read(log, form, column, application, top))
    lower, upper = curve.interval()
    if plot is not None:
        _write_plot(curve.plot(), plot)
    if as_json:
        print_json({"method": curve.method, "examination": curve.examination, "lower": lower, "upper": upper})
        return
    rows = [
        (str(i + 1), f"{each:.4f}", f"{a:.4f}", f"{b:.4f}")
        for i, (each, a, b) in enumerate(zip(curve.examination, lower, upper, strict=True))
    ]
    print_table(("rank", "examination", "lower", "upper"), rows, title=curve.method, numbers=range(4))


def simulate(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Judged dataset, or a fitted click model.")],
    out: Annotated[Path, typer.Option(help="Native click log to write (.plackett).")],
    pages: Annotated[int, typer.Option(min=1, help="Number of pages (datasets).")] = 10_000,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Documents per page (datasets).")] = 10,
    users: Annotated[str, typer.Option(help="position, trust or cascade (datasets).")] = "position",
    strength: Annotated[float, typer.Option(help="Examination is 1 / rank^strength (position, trust).")] = 1.0,
    feature: Annotated[int | None, typer.Option(help="Show documents by this feature (from 1); else shuffled.")] = None,
    temperature: Annotated[float, typer.Option(help="Above 0: lists are drawn, with logged propensities.")] = 0.0,
    like: Annotated[Path | None, typer.Option(help="Log whose pages a click model clicks on.")] = None,
    form: Format = None,
    column: Column = None,
    application: Application = None,
    top: Top = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Simulate a click log: users with known habits on judged documents, or a click model on the pages of a log."""
    from plackett._files import storage
    from plackett.clicks.loading import load_model
    from plackett.clicks.simulate import CascadeUsers, PositionUsers, TrustUsers, simulate_log
    from plackett.data.files import NATIVE, format_of, read

    check_out(out, force)
    if format_of(source) is NATIVE and storage.read_metadata(source).get("kind") == "click model":
        if like is None:
            raise typer.BadParameter("a click model needs pages to click on", param_hint="--like")
        simulated = load_model(source).simulate(_read(like, form, column, application, top), random_state=seed)
    else:
        kinds: dict[str, Any] = {
            "position": lambda: PositionUsers(strength=strength),
            "trust": lambda: TrustUsers(strength=strength),
            "cascade": lambda: CascadeUsers(),
        }
        if users not in kinds:
            raise typer.BadParameter(f"{users!r}; give {', '.join(kinds)}", param_hint="--users")
        data = read(source)
        scores = None if feature is None else _column(data.X, feature)
        simulated = simulate_log(
            data, scores, n_pages=pages, k=k, users=kinds[users](), temperature=temperature, random_state=seed
        )
    simulated.save(out)
    print(f"{out}: {simulated}")


def _column(X: Any, feature: int) -> Any:
    if not 1 <= feature <= X.shape[1]:
        raise typer.BadParameter(f"{feature}; the data have features 1 to {X.shape[1]}", param_hint="--feature")
    column = X[:, feature - 1]
    return column if column.ndim == 1 else column.toarray().ravel()


def evaluate(
    log: Log,
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…",
            help="Runs of the rankers to compare: TREC, or tables (.csv, .parquet) with qid, docid, score.",
        ),
    ],
    method: Annotated[
        str, typer.Option(help="item-position, cascade, list, doubly-robust, cascade-doubly-robust or model.")
    ] = "item-position",
    model: Annotated[str, typer.Option("--model", "-m", help="Click model, where the method has one.")] = "PBM",
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Ranks that count.")] = 10,
    normalise: Annotated[bool, typer.Option(help="Self-normalised weights (methods without a model).")] = False,
    reward: Annotated[str, typer.Option(help="clicks, or actions such as purchases.")] = "clicks",
    bootstrap: Annotated[
        int,
        typer.Option(
            min=0, help="Draw the pages anew this many times and fit the click model again: intervals with its error."
        ),
    ] = 0,
    form: Format = None,
    column: Column = None,
    application: Application = None,
    top: Top = None,
    as_json: Json = False,
) -> None:
    """Estimate the clicks (or purchases) per page of new rankers from a log of another one."""
    from plackett.clicks.loading import make_model
    from plackett.clicks.off_policy.evaluate import compare_off_policy

    pages = _read(log, form, column, application, top)
    fitted = make_model(model).fit(pages) if method == "model" or "robust" in method else None
    named = dict(zip(file_names(runs, ()), runs, strict=True))
    options: dict[str, Any] = {"k": k, "normalise": normalise, "reward": reward, "n_bootstrap": bootstrap}
    frame = compare_off_policy(pages, named, method, model=fitted, warn=False, **options)
    if as_json:
        print_json(frame.to_dicts())
        return
    shown = [name for name in frame.columns if name != "doubts"]
    rows = [[_cell(row[name]) for name in shown] for row in frame.iter_rows(named=True)]
    print_table(shown, rows, title=f"{reward} per page, {method}", numbers=range(1, len(shown)))
    for name, doubts in frame.select("ranker", "doubts").rows():
        if doubts:
            print(f"warning: {name}: this log cannot answer well: {doubts}")


for _command in (info, convert, fit, compare, labels, propensities, simulate, evaluate):
    clicks.command(_command.__name__)(interruptible(_command))
