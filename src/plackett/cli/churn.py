"""``plackett churn``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import JsonForm, TableColumns, check_form, check_measures, reads_tables


@reads_tables
def churn(
    old: Annotated[Path, typer.Argument(help="The ranker in use: a model, or a file with its scores.")],
    new: Annotated[Path, typer.Argument(help="The ranker to replace it: a model, or a file with its scores.")],
    data: Annotated[Path, typer.Argument(help="Lists of queries; labels are optional.")],
    k: Annotated[int, typer.Option("-k", help="Number of results that users see.", min=1)] = 10,
    measure: Annotated[str, typer.Option("-m", "--measure", help="Measure of the lists, with labels.")] = "nDCG@10",
    queries: Annotated[int, typer.Option(help="Queries to show, the largest changes first.", min=0)] = 10,
    examples: Annotated[int, typer.Option(help="Queries of which the results are shown, old and new.", min=0)] = 2,
    form: Annotated[str, typer.Option("--format", help="terminal, markdown, latex, csv or json.")] = "terminal",
    as_json: JsonForm = False,
    *,
    columns: TableColumns,
) -> None:
    """Say what would change for users if one ranker replaced another: results replaced and moved, query by query."""
    from plackett.cli.reading import load_with, read_data, scores_of
    from plackett.data.estimators import predict
    from plackett.evaluation.churn import churn as compare
    from plackett.evaluation.tables import FORMATS

    form = check_form("json" if as_json else form)
    check_measures([measure], None)
    scores: list[Any] = []
    dataset = None
    for path in (old, new):
        if has_scores(path):
            scores.append(path)
        else:
            ranker, dataset = load_with(path, data, columns)
            scores.append(predict(ranker, dataset))
    if dataset is None:
        dataset = read_data(data, columns, labels_needed=False, drop_text=True)  # features do not matter
    before, after = (scores_of(each, dataset, data) if isinstance(each, Path) else each for each in scores)
    comparison = compare(before, after, dataset, k=k, measure=measure)
    if form in ("csv", "json"):
        print(getattr(comparison, f"to_{form}")())
        return
    print(getattr(comparison, f"to_{form}")(n_queries=queries))
    for table in comparison.example_tables(examples):
        print()
        print(FORMATS[form](table))


def has_scores(path: Path) -> bool:
    """Whether a file begins with a line whose last column is a number; models do not."""
    try:
        with open(path, "rb") as file:
            start = file.read(4096)
        float(start.splitlines()[0].split()[-1])
    except (OSError, ValueError, IndexError):
        return False
    return b"\0" not in start  # the header of a model is cut off anywhere, perhaps after a number
