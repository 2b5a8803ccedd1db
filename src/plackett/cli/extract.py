"""``plackett extract``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import Force, check_out
from plackett.cli.output import print_json


def extract(
    index: Annotated[Path, typer.Argument(help="Index made by `plackett index`.")],
    queries: Annotated[Path, typer.Argument(help="Queries: id, tab, text per line; JSON lines; TREC topics.")],
    out: Annotated[Path, typer.Option(help="train.parquet, train.letor or train.plackett; a folder with --folds.")],
    features: Annotated[
        str, typer.Option(help="YAML or JSON file with features, or a set: ohsumed, gov, gov2.", metavar="FILE|SET")
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
    force: Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Compute features of queries and candidate documents: training data from an index."""
    from plackett.data.files import write
    from plackett.data.splits import letor_folds
    from plackett.text.features.declaration import SETS
    from plackett.text.features.extract import extract as make
    from plackett.text.features.extract import extract_blocks
    from plackett.text.features.feature_set import FeatureSet
    from plackett.text.features.writing import write_blocks
    from plackett.text.index.index import Index
    from plackett.text.retrieval.reading import read_queries

    if folds is None:
        check_out(out, force)
    chosen = FeatureSet([features]) if features in SETS else FeatureSet.read(features)
    settings: dict[str, Any] = {
        "judgements": judgements,
        "candidates": _candidates(candidates),
        "k": k,
        "field": field,
        "add_judged": add_judged,
        "n_jobs": n_jobs,
        "verbose": not as_json,
    }
    opened, asked = Index.open(index), read_queries(queries)
    if folds is None:
        n_queries, rows = write_blocks(extract_blocks(opened, asked, chosen, **settings), out)
    else:
        data = make(opened, asked, chosen, **settings)
        n_queries, rows = data.n_queries, len(data.X)
        for number, fold in enumerate(letor_folds(data, folds), 1):
            folder = out / f"Fold{number}"
            folder.mkdir(parents=True, exist_ok=True)
            for name, part in (("train", fold.train), ("vali", fold.valid), ("test", fold.test)):
                check_out(folder / f"{name}.txt", force)
                if part is not None:
                    write(part, folder / f"{name}.txt")
    if as_json:
        print_json({"out": str(out), "queries": n_queries, "rows": rows, "features": chosen.names})
    else:
        print(f"{out}: {n_queries} queries, {rows} documents, {len(chosen)} features")


def _candidates(given: list[str] | None) -> Any:
    """What the option means: models, ``judged``, or a run."""
    from plackett.data.trec import read_run
    from plackett.text.features.declaration import model_of

    if not given:
        return None
    if given == ["judged"]:
        return "judged"
    if len(given) == 1 and Path(given[0]).is_file():
        run: dict[str, list[str]] = {}
        for qid, docid, _ in read_run(given[0]).iter_rows():
            run.setdefault(qid, []).append(docid)
        return run
    return [model_of(name, {}) for name in given]
