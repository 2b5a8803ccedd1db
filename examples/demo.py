"""The demo: five ways to learn a ranking, which of them is best here, by how much, and can it be trusted?

Run it with ``make demo``; it needs no data and no network. It leaves a report in ``out/demo``.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import plackett as pk

RANKERS = ["LinearRegression", "RankSVM", "RankBoost", "ListNet", "LambdaMART"]
MEASURES = ["nDCG@10", "AP", "RR", "ERR@10"]
OUT = Path("out/demo")


def describe(console: Console, data: pk.RankingDataset, parts: tuple[pk.RankingDataset, ...]) -> None:
    """Say what the data are."""
    labels, counts = np.unique(data.y, return_counts=True)
    shares = ", ".join(f"{int(label)}: {count / data.n_rows:.0%}" for label, count in zip(labels, counts, strict=True))
    console.print(
        f"\n[bold]Data[/bold]     {data.n_queries} queries, {data.n_rows:,} documents, {data.n_features} features"
    )
    console.print(f"         labels {shares}")
    train, valid, test = (part.n_queries for part in parts)
    console.print(f"         {train} queries to train on, {valid} to choose settings by, {test} to test\n")


def leaderboard(found: pk.Experiment) -> Table:
    """The rankers, best first, each with its confidence interval and its time."""
    board = found.leaderboard
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("ranker", *MEASURES, f"95 % of {MEASURES[0]}", "against the best", "training"):
        table.add_column(column, justify="left" if column == "ranker" or column.startswith("95") else "right")
    first = board.filter(measure=MEASURES[0])
    low, high = first["low"].min(), first["high"].max()
    for row in first.iter_rows(named=True):
        values = board.filter(ranker=row["ranker"])
        means = [values.filter(measure=measure)["mean_over_queries"].item() for measure in MEASURES]
        verdict = "best" if row["best"] else ("worse" if row["significantly_worse"] else "not told apart")
        cells = [f"{mean:.3f}" for mean in means]
        interval = _interval(row["low"], row["high"], means[0], low, high)
        style = "bold green" if row["best"] else None
        table.add_row(row["ranker"], *cells, interval, verdict, f"{row['train_seconds']:.2f} s", style=style)
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
    """Make data, compare five rankers, print the table, write the report."""
    console = Console(width=None if Console().is_terminal else 120, highlight=False)
    start = time.perf_counter()
    console.rule("[bold]plackett[/bold]: which ranker is best here, and can I trust it?")
    data = pk.datasets.make_ranking(n_queries=500, docs_per_query=(20, 80), n_features=30, random_state=7)
    parts = pk.split_queries(data, (0.6, 0.2, 0.2), random_state=7)
    describe(console, data, parts)

    with console.status("training five rankers, three settings each …"):
        found = pk.experiment({"demo": parts}, RANKERS, MEASURES, select="nDCG@10", n_trials=3, out=OUT, random_state=7)
    console.print(leaderboard(found))

    best = found.best()
    ranker, test = found.cell(best, *found.folds["demo"]).model(), parts[2]
    why = pk.explain(ranker, test, test.qids[0])
    first, second = np.argsort(-why.scores)[:2].tolist()
    reason = why.pair(first, second).row(0, named=True)
    console.print(f"\n[bold]Chosen[/bold]   {best}, by the queries set aside for choosing, not by the tested ones")
    console.print(
        f"[bold]Why[/bold]      query {test.qids[0]}: document {first} is above {second}, most of all for "
        f"{reason['feature']} ({reason['above']:.2f} against {reason['below']:.2f})"
    )
    report = found.report(OUT)
    console.print(f"[bold]Report[/bold]   {report}  (open it in a browser; also as Markdown and LaTeX beside it)")
    console.print(f"\n{time.perf_counter() - start:.1f} s. Next: README.md, docs/, `plackett --help`.")


if __name__ == "__main__":
    main()
