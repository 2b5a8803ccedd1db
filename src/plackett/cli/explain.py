"""``plackett explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plackett._base.errors import DataError
from plackett._names.nearest import nearest, plural, question
from plackett.cli.arguments import Json, TableColumns, reads_lists
from plackett.cli.output import print_json, print_table


@reads_lists
def explain(
    model: Annotated[Path, typer.Argument(help="Model that `plackett train` or `save` wrote.")],
    data: Annotated[Path, typer.Argument(help="Dataset with the query, in any format that `convert` reads.")],
    query: Annotated[str, typer.Option("--query", "-q", help="Id of the query.")],
    document: Annotated[
        str | None,
        typer.Option(
            "--document",
            "-d",
            help="A document: its id, or its position in the ranking (3, or #3 where ids are numbers).",
        ),
    ] = None,
    above: Annotated[
        str | None,
        typer.Option(help="With --document: why this document is ranked above it, and what would change that."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of rows to show.")] = 10,
    as_json: Json = False,
    *,
    columns: TableColumns,
) -> None:
    """Show why the documents of a query are ranked as they are."""
    from plackett.cli.reading import load_with
    from plackett.explanations.explain import explain as explained

    ranker, dataset = load_with(model, data, columns)
    explanation = explained(ranker, dataset, query)
    tables: dict[str, Any] = {}
    if document is None:
        if above is not None:
            raise typer.BadParameter("also give --document, the document that is ranked below", param_hint="--above")
        tables[f"query {query}"] = explanation.ranking()
    elif above is None:
        named = _named(explanation, document, "--document")
        tables[f"document {named} of query {query}"] = explanation.document(named)
    else:
        pair = _named(explanation, document, "--document"), _named(explanation, above, "--above")
        document, above = map(str, pair)
        tables[f"why {above} is above {document}"] = explanation.pair(pair[1], pair[0])
        lower, higher = (explanation.scores[explanation.documents.index(name)] for name in pair)
        if lower > higher:
            raise DataError(f"--above: {above} is ranked below {document}; swap the two")
        tables[f"changes that would lift {document} above {above}"] = explanation.to_pass(*pair)
    if as_json:
        print_json(
            {"method": explanation.method, "tables": {title: frame.to_dicts() for title, frame in tables.items()}}
        )
        return
    for title, frame in tables.items():
        shown = frame.head(top)
        numbers = [i for i, dtype in enumerate(shown.dtypes) if dtype.is_numeric()]
        rows = [
            [f"{v:.4g}" if isinstance(v, float) else "" if v is None else str(v) for v in row]
            for row in shown.iter_rows()
        ]
        print_table(
            shown.columns,
            rows or [["no change to values that occur in the data would do"]],
            title=title,
            numbers=numbers,
        )
        print()


def _named(explanation: Any, text: str, option: str) -> Any:
    """The document with this id or, failing that, at this position of the ranking; ``#`` marks a position."""
    documents = explanation.documents
    for document in documents:
        if str(document) == text:
            return document
    rank = text.removeprefix("#")
    if not rank.isdecimal():
        near = nearest(text, map(str, documents))
        advice = question(near) if near else f"it has {plural(len(documents), 'document')}: {_some(documents)}"
        raise DataError(f"{option}: query {explanation.qid} has no document {text!r}; {advice}")
    if not 1 <= int(rank) <= len(documents):
        positions = f"and its positions are 1 to {len(documents)}"
        raise DataError(f"{option}: query {explanation.qid} has no document {text}, {positions}")
    return explanation.ranking()["document"][int(rank) - 1]


def _some(documents: list[Any]) -> str:
    return ", ".join(map(str, documents[:3])) + (", …" if len(documents) > 3 else "")
