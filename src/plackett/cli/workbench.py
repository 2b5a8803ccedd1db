"""``plackett workbench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def workbench(
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INDEX | RUN… | DATASET]",
            help="Folder of `plackett index`, of a saved pipeline or of a saved application, TREC runs, or a dataset "
            "of features. Without it: the documentation of Python's standard library.",
        ),
    ] = None,
    ranker: Annotated[
        list[str] | None,
        typer.Option(
            help="A ranker to compare: a retrieval model such as RM3 or 'BM25F', a .plackett model, a folder saved by "
            "`plackett search --save`, a TREC run; with a dataset also a feature. May be repeated."
        ),
    ] = None,
    features: Annotated[
        str | None, typer.Option(help="File of feature declarations (or ohsumed, gov, gov2) that models use.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="TREC judgements to start from.")] = None,
    queries: Annotated[Path | None, typer.Option(help="Queries to start from: id, tab, text per line.")] = None,
    grades: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help="What the grades mean, from 0 on, separated by commas: 'no, partly, yes'. By default not relevant, "
            "marginal, relevant, very relevant, perfect.",
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="File that keeps judgements, query sets and snapshots. By default workbench-NAME.sqlite, after the "
            "source."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8765,
    token: Annotated[
        str | None,
        typer.Option(help="Token that every request needs; made up if the address is open.", envvar="PLACKETT_TOKEN"),
    ] = None,
) -> None:
    """Search, compare, judge and explain rankings in a browser."""
    from plackett._names.optional import optional

    for module in ("starlette", "uvicorn", "orjson"):
        optional(module, "the workbench needs")
    from plackett.text.features.extract import judged
    from plackett.text.retrieval.reading import read_queries
    from plackett.workbench.bench import Workbench
    from plackett.workbench.server import serve
    from plackett.workbench.sources.opening import open_source
    from plackett.workbench.store import Store
    from plackett.workbench.store_file import default_store

    for path, option in ((qrels, "--qrels"), (queries, "--queries")):
        if path is not None and not path.is_file():
            raise typer.BadParameter(f"{path} is not a file", param_hint=option)
    opened = open_source(source or [], ranker or [], features)
    labels = None if qrels is None else judged(qrels)
    if queries is not None:
        opened.queries = read_queries(queries)
    elif labels is not None and not opened.queries:
        opened.queries = {qid: qid for qid in labels}
    if grades is not None:
        opened.grades = _scale(grades)
    if store is None:
        store = default_store(source or [])
    store.parent.mkdir(parents=True, exist_ok=True)
    folder = store.parent / f"{store.stem}-training"
    serve(Workbench(opened, Store(store), labels=labels, folder=folder), host=host, port=port, token=token)


def _scale(text: str) -> tuple[str, ...]:
    """Words of the grades; each grade has a key from 0 to 9."""
    meanings = tuple(word.strip() for word in text.split(","))
    if not 2 <= len(meanings) <= 10 or not all(meanings):
        raise typer.BadParameter(
            f"{text!r} has {len(meanings)} grades; give 2 to 10 words, separated by commas", param_hint="--grades"
        )
    return meanings
