"""The demo: from documents to a ranker that was compared, explained and can be searched with.

Run it with ``make demo``; it needs no data and no network. The documents are those of Python's standard library. It
leaves an index, features, a report and a search engine in ``out/demo``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import plackett as pk
from plackett.cli.first_use import rehearse_experiment
from plackett.cli.lean import own_process
from plackett.text import Index, SearchPipeline, extract

RANKERS = ["LinearRegression", "LambdaMART"]
MEASURES = ["nDCG@10", "AP", "RR"]
FEATURES = [
    {"model": "BM25", "fields": ["title", "name", "signature", "text", "all"]},
    {"model": "RM3", "field": "all"},
    {"length": "text"},
    {"length": "name"},
    {"links": "inlinks"},
    {"query": "length"},
]
QUERY = "wait for several coroutines at once"
OUT = Path("out/demo")


def prepare(console: Console) -> tuple[Index, pk.RankingDataset]:
    """Index the documents, and compute features of the candidates of every query."""
    collection = pk.datasets.load("pydocs")
    index = Index.create(OUT / "index", collection.documents, kinds=collection.kinds)
    (OUT / "features.json").write_text(json.dumps(FEATURES, indent=1), encoding="utf-8")
    data = extract(index, dict(collection.queries), FEATURES, judgements=collection.judgements, k=100)
    console.print(
        f"\n[bold]Documents[/bold]  {index.n_documents:,} of Python's standard library, indexed in {OUT / 'index'}"
    )
    console.print(
        f"[bold]Queries[/bold]    {data.n_queries}, with graded judgements by a rule (see the guide to the workbench)"
    )
    console.print(
        f"[bold]Features[/bold]   {data.n_features} of {data.n_rows:,} candidates: the 100 best by BM25 of each query"
    )
    return index, data


def verdict(compared: pk.evaluation.Comparison, system: str) -> str:
    """What the test says about a system and BM25."""
    pair = compared.pairs.filter(measure=MEASURES[0], a=system)
    if pair.is_empty() or not pair["significant"].item():
        return "" if pair.is_empty() else "not told apart"
    return "better than BM25" if pair["better"].item() == system else "worse than BM25"


def board(compared: pk.evaluation.Comparison) -> Table:
    """The systems, best first, and how each compares with BM25."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("ranker", *MEASURES, f"95 % of {MEASURES[0]}", "significantly"):
        table.add_column(column, justify="right" if column in MEASURES else "left")
    first = compared.table.filter(measure=MEASURES[0]).sort("mean", descending=True)
    low, high = first["low"].min(), first["high"].max()
    for row in first.iter_rows(named=True):
        values = compared.table.filter(system=row["system"])
        means = [values.filter(measure=measure)["mean"].item() for measure in MEASURES]
        cells = [f"{mean:.3f}" for mean in means]
        interval = _interval(row["low"], row["high"], means[0], low, high)
        style = "bold green" if row["best"] else None
        table.add_row(row["system"], *cells, interval, verdict(compared, row["system"]), style=style)
    return table


def _interval(low: float, high: float, mean: float, least: float, most: float, width: int = 24) -> str:
    """An interval as a line of characters: ────●────."""

    def place(value: float) -> int:
        return round((value - least) / (most - least) * (width - 1))

    line = [" "] * width
    line[place(low) : place(high) + 1] = "─" * (place(high) + 1 - place(low))
    line[place(mean)] = "●"
    return "".join(line)


def main() -> None:
    """Index, extract, train, compare, report, search."""
    console = Console(width=None if Console().is_terminal else 120, highlight=False)
    start = time.perf_counter()
    console.rule("[bold]plackett[/bold]: from documents to a ranker that you can trust")
    shutil.rmtree(OUT, ignore_errors=True)
    own_process()
    rankers = [pk.LinearRegression(), pk.LambdaMART()]
    # the first time on a machine, a second process compiles what the experiment needs in the meantime
    with console.status("indexing, computing features …"), rehearse_experiment(rankers, MEASURES):
        index, data = prepare(console)
    with console.status("training two rankers in five folds …"):
        found = pk.experiment(
            {"pydocs": data}, RANKERS, MEASURES, select="nDCG@10", search=None, folds=5, out=OUT, random_state=7
        )
    folds = found.folds["pydocs"]
    tested = pk.concat([split.test for split in folds.values()])
    names = list(data.feature_names)
    scores = {"BM25": tested.X[:, names.index("BM25() all")], "RM3": tested.X[:, names.index("RM3() all")]}
    for ranker in RANKERS:
        scores[ranker] = np.concatenate([found.cell(ranker, fold).scores for fold in folds])
    console.print(f"\n[bold]Tested[/bold] on {tested.n_queries} queries, each by rankers that had not seen it:\n")
    console.print(board(pk.compare(tested, scores, MEASURES, baseline="BM25")))

    best, fold = found.best(), next(iter(folds))
    ranker, test = found.cell(best, fold).model(), folds[fold].test
    why = pk.explain(ranker, test, test.qids[0])
    first, second = (why.documents[i] for i in np.argsort(-why.scores)[[0, 4]].tolist())
    reason = why.pair(first, second).row(0, named=True)
    console.print(f"\n[bold]Chosen[/bold]   {best}, by the queries set aside for choosing, not by the tested ones")
    console.print(
        f"[bold]Why[/bold]      query {test.qids[0]}: {first} is above {second}, most of all for "
        f"{reason['feature']} ({reason['above']:.2f} against {reason['below']:.2f})"
    )
    SearchPipeline(index, ranker, FEATURES).save(OUT / "search")
    command = [sys.executable, "-m", "plackett", "search", str(OUT / "search"), QUERY, "-k", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as search:  # while the report is written
        report = found.report(OUT)
        console.print(f"[bold]Report[/bold]   {report}  (open it in a browser; also as Markdown and LaTeX beside it)")
        console.print(f'[bold]Search[/bold]   plackett search {OUT / "search"} "{QUERY}" -k 3\n')
        print(search.communicate()[0])
    if search.returncode:
        sys.exit(f"plackett search ended with {search.returncode}")
    console.print("[bold]Workbench[/bold]: search, compare, judge, explain and train in a browser:")
    console.print(f"         {Path(sys.executable).parent / 'plackett'} workbench {OUT / 'search'}", soft_wrap=True)
    console.print(f"\n{time.perf_counter() - start:.1f} s. Next: README.md, docs/, `plackett --help`.")


if __name__ == "__main__":
    main()
