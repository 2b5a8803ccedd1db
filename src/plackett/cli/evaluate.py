"""``plackett evaluate``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plackett.cli.output import print_json, print_table

if TYPE_CHECKING:
    from plackett.evaluation.evaluate import Evaluation


def evaluate(
    data: Annotated[Path | None, typer.Argument(help="Dataset with labels, in any form that `convert` reads.")] = None,
    scores: Annotated[
        Path | None, typer.Argument(help="One score per line, in the order of the dataset's file.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="nDCG@10, AP, 'AP(rel=2)@100', …; may be repeated.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="TREC judgements, instead of a dataset.")] = None,
    run: Annotated[Path | None, typer.Option(help="TREC run, instead of scores.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="Rules of another tool: letor3, letor4, mslr, trec, yahoo, sklearn, …")
    ] = None,
    per_query: Annotated[
        Path | None, typer.Option(help="Write the value of each query to this file (.csv, .tsv, .parquet, .json).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Evaluate scores beside a dataset, or a TREC run beside judgements."""
    measures = measure or ["nDCG@10", "AP", "RR"]
    if qrels is not None and run is not None and data is None:
        from plackett.evaluation.evaluate_run import evaluate_run

        result: Evaluation = evaluate_run(qrels, run, measures, preset=preset)
    elif data is not None and scores is not None and qrels is None and run is None:
        result = _evaluate_dataset(data, scores, measures, preset)
    else:
        raise typer.BadParameter("give DATA and SCORES, or --qrels and --run")
    if per_query is not None:
        _write_frame(result, per_query)
    if as_json:
        print_json({"queries": result.qids.size, "preset": preset, "mean": result.mean})
    else:
        rows = [(name, f"{value:.4f}") for name, value in result.mean.items()]
        print_table(("measure", "mean"), rows, title=f"{result.qids.size} queries", numbers=[1])


def _evaluate_dataset(data: Path, scores: Path, measures: list[str], preset: str | None) -> Evaluation:
    from plackett import DataError
    from plackett.data.files import read
    from plackett.data.scores import read_scores
    from plackett.evaluation.evaluate import evaluate as evaluate_scores

    dataset, values = read(data), read_scores(scores)
    if values.size != dataset.n_rows:
        raise DataError(f"{scores} has {values.size} scores, but {data} has {dataset.n_rows} documents")
    return evaluate_scores(dataset, dataset.from_input_order(values), measures, preset=preset)


def _write_frame(result: Evaluation, path: Path) -> None:
    from plackett._atomic import replacing
    from plackett._spreadsheet import harmless

    frame = result.per_query
    writers: dict[str, Callable[[Any], object]] = {
        ".csv": lambda target: harmless(frame).write_csv(target),
        ".tsv": lambda target: harmless(frame).write_csv(target, separator="\t"),
        ".parquet": frame.write_parquet,
        ".json": frame.write_json,
    }
    if path.suffix not in writers:
        raise typer.BadParameter(f"{path}: the suffix must be one of {', '.join(writers)}", param_hint="--per-query")
    with replacing(path) as file:
        writers[path.suffix](file)
