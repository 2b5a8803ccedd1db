"""``plackett label``: what to judge next, and whether judges agree."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import Force, Json, check_out, option, parameter_value
from plackett.cli.messages import interruptible, waiting
from plackett.cli.output import print_json, print_table

label = typer.Typer(
    name="label",
    help="Judgements: which documents to judge next, and whether judges agree.",
    no_args_is_help=True,
    add_completion=False,
)


def _runs(paths: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
            if not inside:
                raise typer.BadParameter(f"{path}: the folder has no files", param_hint="POOL")
            files.extend(inside)
        else:
            files.append(path)
    return files


@interruptible
def next_pairs(
    pool: Annotated[
        list[Path], typer.Argument(metavar="POOL…", help="TREC runs, or folders of them; or a dataset, with --model.")
    ],
    budget: Annotated[int, typer.Option("--budget", "-n", help="Number of pairs to judge.", min=1)] = 100,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Judgements so far: a TREC qrels file, or a .csv such as --out wrote, with labels filled in."
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="depth, uniform, statap, mtc, hedge or letor; for a dataset also svm_sampling or expected_change."
        ),
    ] = "statap",
    model: Annotated[
        Path | None,
        typer.Option(
            help="POOL is a dataset in which label −1 means not judged; this model, or a file of scores, ranks it."
        ),
    ] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="name=value, such as base=0.2; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the pairs here, .csv: query, document, reason, …")] = None,
    qrels: Annotated[Path | None, typer.Option(help="Write the pairs here as judgements with label −1.")] = None,
    seed: Annotated[int, typer.Option(help="Seed; the same one gives the same pairs.", min=0)] = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Choose the pairs of query and document to judge next, with the reason for each."""
    from plackett.selection.candidates import Candidates

    check_out(out, force)
    check_out(qrels, force, "--qrels")
    if model is not None:
        candidates, chosen, name = _from_dataset(pool, labels, model, method, parameter, budget, seed)
        _tell(candidates, chosen, name, out, qrels, as_json)
        return
    if method.replace("-", "_") in _ACTIVE:
        raise typer.BadParameter(f"{method} needs a dataset as POOL, and --model", param_hint="--method")
    strategy = _strategy(method, parameter)
    with waiting("reading runs"):
        judged = labels if labels is None or labels.suffix.lower() != ".csv" else _filled_in(labels)
        candidates = Candidates.from_runs(_runs(pool), judged)
    _check_budget(budget, candidates)
    chosen = strategy.select(candidates, budget=budget, random_state=seed)
    _tell(candidates, chosen, strategy.name, out, qrels, as_json)


def _strategy(method: str, parameter: list[str] | None) -> Any:
    """The strategy with its parameters."""
    from plackett.selection.pools.base import find_pool

    with option("--method"):
        strategy = find_pool(method)
    with option("--parameter"):
        given = dict(parameter_value(text, strategy) for text in parameter or [])
        return find_pool(method, **given)


def _check_budget(budget: int, candidates: Any) -> None:
    from plackett.selection.budget import checked_budget

    with option("--budget"):
        checked_budget(budget, int(candidates.open.sum()))


def _filled_in(path: Path) -> Any:
    """The judgements of a table with the columns qid, docid and label; rows without a label are not judged yet."""
    import polars as pl

    from plackett._base.errors import DataError, reading
    from plackett.data._tables import find_column
    from plackett.data.trec import as_qrels

    with reading(path, "the table"):
        table = pl.read_csv(path, infer_schema=False)
        column = str(find_column(table, "label"))
        text = table[column].str.strip_chars()
        empty = text.is_null() | (text == "")
        numbers = text.cast(pl.Float64, strict=False)
        bad = numbers.is_null() & ~empty
        if bad.any():
            row = bad.arg_max() or 0
            raise DataError(f"row {row + 1}, column {column!r}: {text[row]!r} is not a number")
        return as_qrels(table.with_columns(numbers.alias(column)).filter(~empty))


#: Choices that read features and scores, not ranks.
_ACTIVE = ("svm_sampling", "expected_change")


def _from_dataset(
    pool: list[Path], labels: Path | None, model: Path, method: str, parameter: list[str] | None, budget: int, seed: int
) -> tuple[Any, Any, str]:
    """Candidates of a dataset that a model ranks, and the choice among them."""
    import numpy as np

    from plackett.cli.arguments import TableColumns
    from plackett.cli.churn import has_scores
    from plackett.cli.reading import load_with, read_data, scores_of
    from plackett.data.estimators import predict
    from plackett.selection.active.expected_change import expected_change
    from plackett.selection.active.windows import svm_sampling
    from plackett.selection.candidates import Candidates

    if len(pool) != 1 or pool[0].is_dir():
        raise typer.BadParameter("with --model, give one dataset", param_hint="POOL")
    if labels is not None:
        raise typer.BadParameter("with --model, the labels are those of the dataset", param_hint="--labels")
    name = method.replace("-", "_")
    if name in _ACTIVE and parameter:
        raise typer.BadParameter(f"{name} has no parameters", param_hint="--parameter")
    strategy = None if name in _ACTIVE else _strategy(method, parameter)
    if has_scores(model):
        data = read_data(pool[0], TableColumns(), labels_needed=False)
        scores = scores_of(model, data, pool[0])
    else:
        ranker, data = load_with(model, pool[0], TableColumns())
        scores = np.asarray(predict(ranker, data))
    candidates = Candidates.from_dataset(data, scores)
    _check_budget(budget, candidates)
    if strategy is not None:
        return candidates, strategy.select(candidates, budget=budget, random_state=seed), strategy.name
    choose = {"svm_sampling": svm_sampling, "expected_change": expected_change}[name]
    return candidates, choose(data, scores, budget=budget), name


def _tell(candidates: Any, chosen: Any, method: str, out: Path | None, qrels: Path | None, as_json: bool) -> None:
    """Write and show what was chosen."""
    from plackett.selection.tracker import caution

    if out is not None:
        chosen.write_csv(out)
    if qrels is not None:
        chosen.write_qrels(qrels)
    report = caution(candidates, chosen)
    judged = int((~candidates.open).sum())
    if as_json:
        print_json(
            {
                "method": method,
                "candidates": candidates.n_rows,
                "judged": judged,
                "pairs": chosen.frame.to_dicts(),
                "cautions": list(report.warnings),
            }
        )
        return
    shown = chosen.frame.head(10)
    rows = [
        [str(r["qid"]), str(r["docid"]), r["reason"], "–" if r["inclusion"] is None else f"{r['inclusion']:.3f}"]
        for r in shown.to_dicts()
    ]
    title = f"{len(chosen)} of {candidates.n_rows - judged} unjudged pairs, {judged} judged so far"
    print_table(["query", "document", "reason", "inclusion"], rows, title=title, numbers=[3])
    if len(chosen) > shown.height and out is None:
        print(f"… {len(chosen) - shown.height} more; write them with --out FILE.csv or --qrels FILE")
    for line in report.warnings:
        print(f"caution: {line}", file=sys.stderr)


label.command("next")(next_pairs)


@interruptible
def agree(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV: a column per judge, or a row per label.")],
    judge: Annotated[
        list[str] | None, typer.Option("--judge", help="Column of a judge; repeat for each. Detected if left out.")
    ] = None,
    rule: Annotated[str, typer.Option(help="Label to keep: model, model-mean, majority, median or mean.")] = "model",
    out: Annotated[Path | None, typer.Option(help="Write the table with one label per item here, .csv.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Say how far judges agree, how reliable each is, and which label to keep for each item."""
    from itertools import combinations

    import numpy as np
    import polars as pl

    from plackett._files.atomic import replacing
    from plackett.selection.judges.aggregate import aggregate_labels
    from plackett.selection.judges.cohen import cohen_kappa
    from plackett.selection.judges.dawid_skene import dawid_skene
    from plackett.selection.judges.fleiss import fleiss_kappa
    from plackett.selection.judges.krippendorff import LEVELS, krippendorff_alpha
    from plackett.selection.judges.ratings import JudgeRatings

    check_out(out, force)
    ratings = JudgeRatings.of(file, judge or None)
    alpha = {level: krippendorff_alpha(ratings, level=level) for level in LEVELS}
    n_labels = (~np.isnan(ratings.labels)).sum(axis=1)
    fleiss = fleiss_kappa(ratings) if n_labels.min() == n_labels.max() > 1 else None
    pairs = [
        {
            "a": ratings.judges[i],
            "b": ratings.judges[j],
            "kappa": cohen_kappa(ratings.labels[:, i], ratings.labels[:, j]),
            "quadratic": cohen_kappa(ratings.labels[:, i], ratings.labels[:, j], weights="quadratic"),
        }
        for i, j in combinations(range(len(ratings.judges)), 2)
    ]
    labelled = ~np.isnan(ratings.labels).all(axis=1)
    known = JudgeRatings(ratings.labels[labelled], ratings.judges)
    with option("--rule"):
        kept = aggregate_labels(known, rule)
    model = dawid_skene(known)
    if out is not None:
        items = (
            ratings.items
            if ratings.items is not None
            else pl.DataFrame({"item": np.arange(1, len(ratings.labels) + 1)})
        )
        table = items.filter(pl.Series(labelled)).with_columns(pl.Series("label", kept))
        with replacing(out) as stream:
            table.write_csv(stream)
    accuracy = dict(zip(ratings.judges, model.accuracy.tolist(), strict=True))
    if as_json:
        record = {
            "items": len(ratings.labels),
            "grades": ratings.grades.tolist(),
            "krippendorff": alpha,
            "fleiss": fleiss,
        }
        print_json(record | {"pairs": pairs, "accuracy": accuracy})
        return
    values = ", ".join(f"{value:.3f} {level}" for level, value in alpha.items())
    print(f"{len(ratings.labels)} items, {len(ratings.judges)} judges. Krippendorff's alpha: {values}")
    print(
        f"Fleiss' kappa: {fleiss:.3f}"
        if fleiss is not None
        else "Fleiss' kappa needs the same number of labels for every item"
    )
    if ratings.grades.size == 1:
        print(f"every label is {ratings.grades[0]:g}: agreement beyond chance is not defined")
    rows = [[str(p["a"]), str(p["b"]), f"{p['kappa']:.3f}", f"{p['quadratic']:.3f}"] for p in pairs]
    print_table(["judge", "judge", "Cohen's kappa", "quadratic"], rows, title="pairs of judges", numbers=[2, 3])
    rows = [[name, f"{value:.3f}"] for name, value in accuracy.items()]
    print_table(["judge", "right, by the model"], rows, title="how reliable each judge is", numbers=[1])


label.command("agree")(agree)
