"""``plackett explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import TableColumns, reads_tables
from plackett.cli.output import print_json, print_table


@reads_tables
def explain(
    model: Annotated[Path, typer.Argument(help="Model that `plackett train` or `save` wrote.")],
    data: Annotated[Path, typer.Argument(help="Dataset with the query, in any format that `convert` reads.")],
    query: Annotated[str, typer.Option("--query", "-q", help="Id of the query.")],
    document: Annotated[
        str | None, typer.Option("--document", "-d", help="A document: its id, or its position.")
    ] = None,
    above: Annotated[
        str | None,
        typer.Option(help="With --document: explain why this document is above it, and what would have to change."),
    ] = None,
    top: Annotated[int, typer.Option(help="Number of rows to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
    *,
    columns: TableColumns,
) -> None:
    """Show why the documents of a query are ranked as they are."""
    from plackett.cli.reading import load_with
    from plackett.explanations.explain import explain as explained

    ranker, dataset = load_with(model, data, columns)
    found = explained(ranker, dataset, query)
    tables: dict[str, Any] = {}
    if document is None:
        if above is not None:
            raise typer.BadParameter("give --document too: the document that is ranked below", param_hint="--above")
        tables[f"query {query}"] = found.ranking()
    elif above is None:
        tables[f"document {document} of query {query}"] = found.document(_named(found, document))
    else:
        pair = _named(found, document), _named(found, above)
        tables[f"why {above} is above {document}"] = found.pair(pair[1], pair[0])
        lower, higher = (found.scores[found.documents.index(name)] for name in pair)
        if lower > higher:
            raise typer.BadParameter(f"{above} is below {document}; swap the two", param_hint="--above")
        tables[f"what would lift {document} above {above}"] = found.to_pass(*pair)
    if as_json:
        print_json({"method": found.method, "tables": {title: frame.to_dicts() for title, frame in tables.items()}})
        return
    for title, frame in tables.items():
        shown = frame.head(top)
        numbers = [i for i, dtype in enumerate(shown.dtypes) if dtype.is_numeric()]
        rows = [[f"{v:.4g}" if isinstance(v, float) else str(v) for v in row] for row in shown.iter_rows()]
        print_table(shown.columns, rows or [["not with values seen in the data"]], title=title, numbers=numbers)
        print()


def _named(explanation: Any, text: str) -> Any:
    """The document as the explanation names it: positions are numbers."""
    for document in explanation.documents:
        if str(document) == text:
            return document
    return text
