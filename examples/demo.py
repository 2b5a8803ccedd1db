"""The demo: from documents to a ranker that was compared, explained and can be searched with.

Run it with ``make demo``; it needs no data and no network. The documents are those of Python's standard library. It
leaves an index, features, a report and a search engine in ``out/demo``.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import plackett as pk
from plackett.cli.first_use import own_process, rehearse_experiment
from plackett.text import BM25, Index, SearchPipeline, extract

#: The baselines are columns of the data: what they compute is a feature.
RANKERS = {
    "BM25": "column:BM25() all",
    "RM3": "column:RM3() all",
    "LinearRegression": "LinearRegression",
    "LambdaMART": "LambdaMART",
}
MEASURES = ["nDCG@10", "AP", "RR"]
FEATURES = [
    {"model": "BM25", "fields": ["title", "name", "signature", "text", "all"]},
    {"model": "RM3", "field": "all"},
    {"length": "text"},
    {"length": "name"},
    {"links": "inlinks"},
    {"query": "length"},
]
QUERY = "exponential of a complex number"
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
    console.print(f"[bold]Queries[/bold]    {data.n_queries}, with graded judgements by a rule (docs/workbench.md)")
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


def board(compared: pk.evaluation.Comparison, width: int) -> Table:
    """The systems, best first, and how each compares with BM25; intervals take up to this many characters."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("ranker", *MEASURES, "95 % interval", "significantly"):
        table.add_column(column, justify="right" if column in MEASURES else "left")
    first = compared.table.filter(measure=MEASURES[0]).sort("mean", descending=True)
    low, high = first["low"].min(), first["high"].max()
    for row in first.iter_rows(named=True):
        values = compared.table.filter(system=row["system"])
        means = [values.filter(measure=measure)["mean"].item() for measure in MEASURES]
        cells = [f"{mean:.3f}" for mean in means]
        interval = _interval(row["low"], row["high"], means[0], low, high, width)
        style = "bold green" if row["best"] else None
        table.add_row(row["system"], *cells, interval, verdict(compared, row["system"]), style=style)
    return table


def _interval(low: float, high: float, mean: float, least: float, most: float, width: int) -> str:
    """An interval as a line of characters: ────●────."""

    def place(value: float) -> int:
        return round((value - least) / (most - least) * (width - 1))

    line = [" "] * width
    line[place(low) : place(high) + 1] = "─" * (place(high) + 1 - place(low))
    line[place(mean)] = "●"
    return "".join(line)


def searched(index: Index, ranker: Any, name: str) -> tuple[Table, str]:
    """The first results of a search with the ranker and with BM25 alone, and why the first ones differ."""
    engine = SearchPipeline(index, ranker, FEATURES)
    engine.save(OUT / "search")
    learned = [hit.id for hit in engine.search(QUERY, k=3)]
    plain = index.ids.take(BM25().search(index, {QUERY: QUERY}, 3).documents).to_numpy().tolist()
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("", name, "BM25"):
        table.add_column(column)
    for rank, pair in enumerate(zip(learned, plain, strict=True), 1):
        table.add_row(str(rank), *pair)
    data = extract(index, {"q": QUERY}, FEATURES, k=100)
    why = pk.explain(ranker, data, "q").pair(learned[0], plain[0])
    # what speaks for the first document and is larger for it
    reasons = why.filter((why["contribution"] > 0) & (why["above"] > why["below"])).head(1).rows(named=True)
    told = [f"{r['feature']}, {r['above']:.1f} against {r['below']:.1f}" for r in reasons if learned[0] != plain[0]]
    return table, f"{learned[0]} is above {plain[0]}, most of all for {told[0]}" if told else ""


def main() -> None:
    """Index, extract, train, compare, report, search."""
    console = Console(width=None if Console().is_terminal else 100, highlight=False)
    program = Path(sys.executable).parent / "plackett"
    program = program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program
    start = time.perf_counter()
    console.rule("[bold]plackett[/bold]: from documents to a ranker that you can trust")
    shutil.rmtree(OUT, ignore_errors=True)
    own_process()
    rankers = [pk.LinearRegression(), pk.LambdaMART(), pk.ByFeature()]
    # the first time on a machine, a second process compiles what the experiment needs in the meantime
    with console.status("indexing, computing features …"), rehearse_experiment(rankers, MEASURES):
        index, data = prepare(console)
    with console.status("training and testing in five folds …"):
        result = pk.experiment(
            {"pydocs": data}, RANKERS, MEASURES, select="nDCG@10", search=None, folds=5, out=OUT, random_state=7
        )
    console.print(f"\n[bold]Tested[/bold] on {data.n_queries} queries, each by rankers that had not seen it:\n")
    console.print(board(result.comparison(baseline="BM25"), width=min(max(console.width - 60, 9), 24)))
    best = result.best()
    console.print(f"\n[bold]Verdict[/bold]  {result.headline()}")
    console.print(f"[bold]Chosen[/bold]   {best}, by queries set aside for choosing, not the tested ones")
    results, why = searched(index, result.cell(best, 1).model(), best)
    console.print(f"\n[bold]Search[/bold]   {QUERY}\n")
    console.print(results)
    if why:
        console.print(f"\n[bold]Why[/bold]      {why}")
    with console.status("writing the report …"):
        report = result.report(OUT)
    console.print(f"\n[bold]Report[/bold]   {report} (open it in a browser; also as Markdown and LaTeX)")
    console.print("Search, and search, compare, judge, explain and train in a browser:")
    for command in (f'search {OUT / "search"} "{QUERY}"', f"workbench {OUT / 'search'}", "--help"):
        console.print(f"         {program} {command}", soft_wrap=True)
    console.print(f"\n{time.perf_counter() - start:.1f} s. Next: README.md and docs/.")


if __name__ == "__main__":
    main()
