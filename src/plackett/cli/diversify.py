"""``plackett diversify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import Force, Json, TableColumns, check_out, parameter_value, reads_tables
from plackett.cli.output import print_json, print_table

MEASURES = ("alpha_nDCG@20", "ERR_IA@20")


@reads_tables
def diversify(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A TREC run.")],
    out: Annotated[Path, typer.Option(help="Where to write the diversified run.")],
    columns: TableColumns,
    method: Annotated[str, typer.Option(help="`plackett list --kind re-ranker` shows them.")] = "MMR",
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="name=value, such as k=10; may be repeated.")
    ] = None,
    aspects: Annotated[
        Path | None, typer.Option(help="For IASelect: lines 'query aspect document value', values from 0 to 1.")
    ] = None,
    similarity: Annotated[
        Path | None, typer.Option(help="Lines 'query document document value', values from 0 to 1.")
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(help="Instead of --similarity: vectors of documents by id, query ids are optional."),
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgements by subtopic: measure the run before and after.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help=f"With --qrels; by default {' and '.join(MEASURES)}.")
    ] = None,
    tag: Annotated[str, typer.Option(help="Last column of the run.")] = "plackett",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Reorder the top of each list of a run so that it serves several readings of its query."""
    from plackett.data.trec import read_run, write_run
    from plackett.diversity.named import find_reranker
    from plackett.diversity.runs import diversify as diversified
    from plackett.evaluation.evaluate_run import evaluate_run

    check_out(out, force)
    chosen = find_reranker(method)
    parameters: dict[str, Any] = dict(parameter_value(text, chosen) for text in parameter or [])
    given = read_run(run)
    near = None if vectors is None else _read_vectors(vectors, columns)
    new = diversified(given, chosen, aspects=aspects, similarity=similarity, vectors=near, **parameters)
    rows = []
    if qrels is not None:
        before, after = (
            evaluate_run(qrels, each, measure or list(MEASURES), subtopics=True).mean for each in (given, new)
        )
        rows = [(name, before[name], after[name]) for name in before]
    write_run(new, out, tag=tag)
    queries = given["qid"].n_unique()
    if as_json:
        record: dict[str, Any] = {"run": str(out), "method": chosen.name, "queries": queries}
        print_json(record | ({"measures": {n: {"before": a, "after": b} for n, a, b in rows}} if rows else {}))
        return
    print(f"{out}: {queries} queries, {given.height} documents, {chosen.name}")
    if rows:
        table = [(name, f"{a:.4f}", f"{b:.4f}", f"{b - a:+.4f}") for name, a, b in rows]
        print_table(("measure", "before", "after", "change"), table, numbers=[1, 2, 3])


def _read_vectors(path: Path, columns: TableColumns) -> Any:
    """Data with document ids; in a table without query ids every document counts as a query of its own."""
    from dataclasses import replace

    from plackett._base.errors import DataError
    from plackett.cli.reading import read_data

    try:
        return read_data(path, columns, labels_needed=False)
    except DataError as error:
        if columns.qid is not None or "no column 'qid'" not in str(error):
            raise
        return read_data(path, replace(columns, qid=columns.docid or "docid"), labels_needed=False)
