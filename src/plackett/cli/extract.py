"""``plackett extract``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plackett._base.errors import DataError
from plackett._files.checks import check_regular
from plackett.cli.arguments import Force, Json, check_out
from plackett.cli.output import print_json

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset


def extract(
    index: Annotated[
        str,
        typer.Argument(
            help="Index made by `plackett index`, or the address of one in OpenSearch or Elasticsearch with the "
            "learning-to-rank plug-in: http://localhost:9200/movies."
        ),
    ],
    queries: Annotated[
        Path, typer.Argument(help="Queries: id, tab, text per line; .csv with id and text; JSON lines; TREC topics.")
    ],
    out: Annotated[Path, typer.Option(help="train.parquet, train.letor or train.plackett; a folder with --folds.")],
    features: Annotated[
        str,
        typer.Option(
            help="YAML or JSON file with features, or a set: ohsumed, gov, gov2; of an engine, its feature set.",
            metavar="FILE|SET",
        ),
    ],
    judgements: Annotated[Path | None, typer.Option(help="TREC judgements; the labels.")] = None,
    candidates: Annotated[
        list[str] | None,
        typer.Option(help="Model whose best documents are taken (several: a pool), `judged`, or a TREC run file."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Candidates per query and model.", min=1)] = 100,
    field: Annotated[str | None, typer.Option(help="Field that is searched for candidates.")] = None,
    add_judged: Annotated[bool, typer.Option(help="Add judged documents that were not found: to train only.")] = False,
    folds: Annotated[int | None, typer.Option(help="Write this many folds, Fold1/train.txt and so on.", min=3)] = None,
    n_jobs: Annotated[int | None, typer.Option(help="Threads; by default all cores.")] = None,
    engine_query: Annotated[
        Path | None,
        typer.Option(help="Engine only: JSON file with its query for candidates; {query} stands for the text."),
    ] = None,
    param: Annotated[
        str, typer.Option(help="Engine only: parameter of the feature templates that gets the query's text.")
    ] = "keywords",
    header: Annotated[
        list[str] | None, typer.Option(help="Engine only: HTTP header, such as 'Authorization: ApiKey …'.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compute features of queries and candidate documents: training data from an index."""
    from plackett.data.files import write
    from plackett.data.splits import letor_folds
    from plackett.text.features.writing import write_blocks
    from plackett.text.retrieval.reading import read_queries

    if folds is None:
        check_out(out, force)
    asked = read_queries(queries)
    settings: dict[str, Any] = {
        "judgements": judgements,
        "k": k,
        "add_judged": add_judged,
        "verbose": not as_json,
    }
    if index.startswith(("http://", "https://")):
        if field is not None:
            raise typer.BadParameter("an engine searches what --engine-query says", param_hint="--field")
        blocks = _from_engine(index, asked, features, candidates, engine_query, param, header, settings)
    else:
        if engine_query is not None or header:
            raise typer.BadParameter(f"{index} is not the address of an engine", param_hint="--engine-query")
        blocks = _from_index(Path(index), asked, features, candidates, settings | {"field": field, "n_jobs": n_jobs})
    if folds is None:
        counted = _Counted(blocks)
        n_queries, rows = write_blocks(counted, out)
        names = counted.names
    else:
        from plackett.data.concat import concat

        data = concat(list(blocks))
        n_queries, rows, names = data.n_queries, len(data.X), list(data.feature_names or [])
        for number, fold in enumerate(letor_folds(data, folds), 1):
            folder = out / f"Fold{number}"
            folder.mkdir(parents=True, exist_ok=True)
            for name, part in (("train", fold.train), ("vali", fold.valid), ("test", fold.test)):
                check_out(folder / f"{name}.txt", force)
                if part is not None:
                    write(part, folder / f"{name}.txt")
    if as_json:
        print_json({"out": str(out), "queries": n_queries, "rows": rows, "features": names})
    else:
        print(f"{out}: {n_queries} queries, {rows} documents, {len(names)} features")


class _Counted:
    """Blocks as they pass, and the names of their features."""

    def __init__(self, blocks: Iterator[RankingDataset]) -> None:
        self.blocks = blocks
        self.names: list[str] = []

    def __iter__(self) -> Iterator[RankingDataset]:
        for block in self.blocks:
            self.names = list(block.feature_names or [])
            yield block


def _from_index(
    path: Path, queries: dict[str, str], features: str, candidates: list[str] | None, settings: dict[str, Any]
) -> Iterator[RankingDataset]:
    from plackett.text.features.declaration import SETS
    from plackett.text.features.extract import extract_blocks
    from plackett.text.features.feature_set import FeatureSet
    from plackett.text.index.index import Index

    chosen = FeatureSet([features]) if features in SETS else FeatureSet.read(features)
    return extract_blocks(Index.open(path), queries, chosen, candidates=_candidates(candidates), **settings)


def _from_engine(
    address: str,
    queries: dict[str, str],
    features: str,
    candidates: list[str] | None,
    template: Path | None,
    param: str,
    header: list[str] | None,
    settings: dict[str, Any],
) -> Iterator[RankingDataset]:
    import json

    from plackett.text.engines.engine import Engine
    from plackett.text.engines.extract import log_blocks
    from plackett.text.engines.feature_log import FeatureLog

    headers = {}
    for line in header or []:
        name, colon, value = line.partition(":")
        if not colon:
            raise typer.BadParameter(f"{line!r}; write name: value", param_hint="--header")
        headers[name.strip()] = value.strip()
    query = None
    if template is not None:
        check_regular(template)
        try:
            query = json.loads(template.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"{template}: not JSON: {error}") from None
        if not isinstance(query, dict):
            raise DataError(f'{template}: expected a query such as {{"match": {{"title": "{{query}}"}}}}')
    chosen = _given(candidates)
    if chosen is None and candidates:
        raise typer.BadParameter("of an engine: judged, or a TREC run file", param_hint="--candidates")
    log = FeatureLog(featureset=features, params={param: "{query}"}, query=query)
    return log_blocks(Engine(address, headers=headers), queries, log, candidates=chosen, **settings)


def _candidates(given: list[str] | None) -> Any:
    """What the option means: models, ``judged``, or a run."""
    from plackett.text.features.declaration import model_of

    chosen = _given(given)
    return chosen if chosen is not None or not given else [model_of(name, {}) for name in given]


def _given(given: list[str] | None) -> Any:
    """Candidates that are not searched for: ``judged``, or a run; else None."""
    from plackett.data.trec import read_run

    if given == ["judged"]:
        return "judged"
    if given and len(given) == 1 and Path(given[0]).is_file():
        run: dict[str, list[str]] = {}
        for qid, docid, _ in read_run(given[0]).iter_rows():
            run.setdefault(qid, []).append(docid)
        return run
    return None
