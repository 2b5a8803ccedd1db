"""``plackett search``."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from plackett.cli.arguments import Json
from plackett.cli.output import print_json, print_table

#: Recent versions of typer have a copy of click of their own, older ones use click's.
UsageError: Any = typer.BadParameter.__bases__[0]


class QueryCommand(TyperCommand):
    """A command with a query, which may begin with a minus."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say how to write such a query."""
        given = list(args)  # parsing takes them off the list
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            minus = next((each for each in given if re.match(r"-[^\W\d_]{2,}", each)), None)
            if minus is None or "--" in given:
                raise
            advice = f"a query that begins with a minus comes after --: plackett search INDEX -- {minus!r}"
            raise UsageError(f"{error.format_message().rstrip('.')}. If this is a query: {advice}", ctx) from None


def search(
    index: Annotated[Path, typer.Argument(help="Folder of `plackett index`, or one saved with --save.")],
    query: Annotated[
        str, typer.Argument(help='Words, "phrases", +required, -excluded, AND, OR, NOT, field:word, year:>=1990.')
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="Number of documents to show.")] = 10,
    field: Annotated[str | None, typer.Option(help="Field to search; by default all text.")] = None,
    filters: Annotated[
        str | None, typer.Option("--filter", help="Conditions that do not change the score, such as year:1990..1999.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Treat the query as plain words.")] = False,
    model: Annotated[str, typer.Option(help="Retrieval model; `plackett list --kind text` shows them.")] = "BM25",
    ranker: Annotated[Path | None, typer.Option(help="Model of `plackett train` that ranks the candidates.")] = None,
    features: Annotated[
        Path | None, typer.Option(help="File of feature declarations that the ranker was trained on.")
    ] = None,
    candidates: Annotated[int, typer.Option(min=1, help="Number of documents that the ranker ranks.")] = 100,
    explain: Annotated[bool, typer.Option("--explain", help="Show why the documents are ranked as they are.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Save index, features and ranker as one folder, to search it later.")
    ] = None,
    qid: Annotated[
        str | None, typer.Option(help="Id of the query, for features that are looked up in a table by it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Search an index.

    A query that begins with a minus is written after two of them: plackett search INDEX -- "-star trek".
    """
    chosen = model_of(model)
    if (ranker is None) != (features is None):
        raise typer.BadParameter("give --ranker and --features together", param_hint="--ranker")
    pipeline = _pipeline(index, ranker, features, chosen, candidates)
    if save is not None:
        pipeline.save(save)
    hits: list[Any] = list(pipeline.search(query, k, field=field, plain=plain, filters=filters, qid=qid))
    why = _reasons(pipeline, hits) if explain else []
    if as_json:
        records = [_record(hit) for hit in hits]
        print_json([r | {"why": parts} for r, parts in zip(records, why, strict=True)] if explain else records)
        return
    if not hits:
        print("nothing found")
        return
    marks = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("**", "**")
    for rank, hit in enumerate(hits, 1):
        title = hit.title
        print(f"{rank}. {hit.id}  {hit.score:.4f}" + (f"  {title}" if title not in ("", hit.id) else ""))
        text = hit.snippet(marks=marks)
        if text:
            print(f"   {text}")
        if explain:
            rows = [[name, f"{value:.4g}", detail] for name, value, detail in why[rank - 1][:10]]
            print_table(("because of", "adds", ""), rows, numbers=[1])


def model_of(name: str) -> Any:
    """A retrieval model by its name; None for BM25, which search has built in."""
    from plackett._names.catalogue import find, items

    if name.lower() == "bm25":
        return None
    item = find("text", name)
    model = getattr(import_module(item.module), item.symbol)
    if not item.module.startswith("plackett.text.retrieval."):
        known = [each.name for each in items("text") if each.module.startswith("plackett.text.retrieval.")]
        raise typer.BadParameter(
            f"{name!r} is not a retrieval model; there are {', '.join(known)}", param_hint="--model"
        )
    return model()


def _pipeline(index: Path, ranker: Path | None, features: Path | None, model: Any, candidates: int) -> Any:
    from plackett._load import load
    from plackett.text.index.index import Index
    from plackett.text.pipeline import FILE, SearchPipeline

    if (index / FILE).exists():
        if ranker is not None or model is not None:
            raise typer.BadParameter(f"{index} has a ranker and a model of its own; leave --ranker and --model out")
        return SearchPipeline.load(index)
    loaded = None if ranker is None else load(ranker)
    return SearchPipeline(Index.open(index), loaded, features, model=model, candidates=candidates)


def _reasons(pipeline: Any, hits: list[Any]) -> list[list[tuple[str, float, str]]]:
    """What adds to the score of each document: features under a ranker, else query terms."""
    from plackett.explanations.hits import explain_hits

    if pipeline.ranker is None:
        return [
            [
                (
                    f"{part['field']}:{part['term']}",
                    part["contribution"],
                    f"{part['count']} × here, in {part['document_frequency']} documents",
                )
                for part in parts
            ]
            for parts in explain_hits(pipeline, hits)
        ]
    return [
        [(str(part["feature"]), float(part["contribution"]), f"value {part['value']:.4g}") for part in parts]
        for parts in explain_hits(pipeline, hits)
    ]


def _record(hit: Any) -> dict[str, Any]:
    record = {"id": hit.id, "score": hit.score, "title": hit.title, "snippet": hit.snippet()}
    if getattr(hit, "features", None):
        record |= {"retrieval_score": hit.retrieval_score, "features": dict(hit.features)}
    return record
