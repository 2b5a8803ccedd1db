"""``plackett evaluate``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plackett._files.spreadsheet import harmless
from plackett._names.nearest import plural
from plackett.cli.arguments import Force, Json, Measures, TableColumns, check_measures, check_out, reads_tables
from plackett.cli.messages import without_repeats
from plackett.cli.output import print_json, print_table

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset
    from plackett.evaluation.evaluate import Evaluation

#: Writers of the values per query, by suffix.
_WRITERS: dict[str, Callable[[Any, Any], object]] = {
    ".csv": lambda frame, file: harmless(frame).write_csv(file),
    ".tsv": lambda frame, file: harmless(frame).write_csv(file, separator="\t"),
    ".parquet": lambda frame, file: frame.write_parquet(file),
    ".json": lambda frame, file: frame.write_json(file),
}


@reads_tables
def evaluate(
    data: Annotated[
        Path | None, typer.Argument(help="Dataset with labels, in any format that `convert` reads.")
    ] = None,
    scores: Annotated[
        Path | None, typer.Argument(help="One score per line, in the order of the dataset's file.")
    ] = None,
    measure: Measures = None,
    qrels: Annotated[Path | None, typer.Option(help="TREC judgements, instead of a dataset.")] = None,
    run: Annotated[Path | None, typer.Option(help="TREC run, instead of scores.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="Rules of another tool: letor3, letor4, mslr, trec, yahoo, sklearn, …")
    ] = None,
    per_query: Annotated[
        Path | None, typer.Option(help="Write the value of each query to this file (.csv, .tsv, .parquet, .json).")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    *,
    columns: TableColumns,
) -> None:
    """Evaluate scores against a dataset, or a TREC run against judgements."""
    measures = measure or ["nDCG@10", "AP", "RR"]
    check_measures(measures, preset)
    check_out(per_query, force, "--per-query")
    if per_query is not None and per_query.suffix not in _WRITERS:
        endings = ", ".join(_WRITERS)
        raise typer.BadParameter(f"{per_query}: the suffix must be one of {endings}", param_hint="--per-query")
    if qrels is not None and run is not None and data is None:
        from plackett.evaluation.evaluate_run import evaluate_run

        result: Evaluation = without_repeats(lambda: evaluate_run(qrels, run, measures, preset=preset))
    elif data is not None and scores is not None and qrels is None and run is None:
        from plackett.cli.first_use import rehearse_evaluation
        from plackett.cli.reading import read_data

        _refuse_trec(data)
        with rehearse_evaluation(measures, preset):
            dataset = read_data(data, columns, drop_text=True)  # features do not matter
        result = without_repeats(lambda: _evaluate_dataset(dataset, data, scores, measures, preset))
    else:
        raise typer.BadParameter("give DATA and SCORES, or --qrels and --run")
    if per_query is not None:
        _write_frame(result, per_query)
    if as_json:
        print_json({"queries": result.qids.size, "preset": preset, "mean": result.mean, "doubts": result.doubts})
    else:
        rows = [(name, f"{value:.4f}") for name, value in result.mean.items()]
        print_table(("measure", "mean"), rows, title=plural(result.qids.size, "query", "queries"), numbers=[1])
        for doubt in result.doubts.values():
            print(f"Note: {doubt}")


def _refuse_trec(data: Path) -> None:
    """Say which options files of TREC are given with."""
    from plackett.data._trec_lines import trec_kind

    if data.suffix not in ("", ".txt", ".qrels", ".run", ".qrel") or not data.is_file():
        return
    with open(data, encoding="utf-8", errors="replace") as file:
        kind = trec_kind(file.readline(10_000))
    if kind is not None:
        what = "judgements" if kind == "judgements" else "a run"
        raise typer.BadParameter(f"{data} has {what} in TREC's format; pass --qrels JUDGEMENTS --run RUN")


def _evaluate_dataset(
    dataset: RankingDataset, data: Path, scores: Path, measures: list[str], preset: str | None
) -> Evaluation:
    from plackett.cli.reading import scores_of
    from plackett.evaluation.evaluate import evaluate as evaluate_scores

    return evaluate_scores(dataset, scores_of(scores, dataset, data), measures, preset=preset)


def _write_frame(result: Evaluation, path: Path) -> None:
    from plackett._files.atomic import replacing

    with replacing(path) as file:
        _WRITERS[path.suffix](result.per_query, file)
