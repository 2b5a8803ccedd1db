"""The LETOR benchmark: every ranker by the protocol of the book's chapter 11, beside the published figures.

``make letor DATA=…`` or ``python benchmarks/letor.py --data DIR [--ranker NAME]… [--dataset NAME]…``

Five official folds; settings, rounds and at last the ranker itself are chosen by MAP on the validation parts; the
measures are those of the official scripts (presets letor3 and letor4). LightGBM's two ranking objectives are tuned in
the same way in the same run. Finished cells are kept in ``--out``, and a run that was stopped goes on from there. The
tables take the place of those between the two marks in ``docs/benchmarks.md``.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import polars as pl

import plackett as pk
from plackett.evaluation.significance.fisher import fisher
from plackett.experiments.baselines import letor_baselines
from plackett.experiments.published import figures_of, published, published_table

MEASURES = ["AP", "nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10", "P@1", "P@3", "P@5", "P@10"]
DATASETS = {"ohsumed": "letor3", "mq2008": "letor4", "ohsumed-letor2": "letor3"}
TITLES = {
    "ohsumed": "OHSUMED, LETOR 3.0, QueryLevelNorm",
    "mq2008": "MQ2008, LETOR 4.0",
    "ohsumed-letor2": "OHSUMED, LETOR 2.0",
}
ROUNDS, PATIENCE = 300, 50
#: In each fold so many rankers, those with the best validation MAP, are also blended into one.
BLENDED = 10
#: The exact dual of the kernel machine is for smaller data.
FIXED = {"KernelRankSVM": {"n_components": 300}}
#: Combinations without a name, and rankers that need the positions at which documents were shown.
SKIPPED = ("GradientRanker", "PositionBiasLambdaMART", "UnbiasedLambdaMART")
BEGIN, END = "<!-- letor: begin -->", "<!-- letor: end -->"


class LightGBM(lgb.LGBMRanker):
    """LightGBM's own ranker, which keeps the round with the best MAP on the validation part."""

    def fit(self, X: Any, y: Any, *, group: Any = None, eval_set: Any = None, eval_group: Any = None) -> Any:
        """As LightGBM's, but MAP looks at the whole list."""
        return super().fit(X, y, group=group, eval_set=eval_set, eval_group=eval_group, eval_at=(10_000,))


def contestants(names: list[str] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rankers by name, and the search spaces of those that are not ours. Trees get more rounds to choose from."""
    peers = {
        f"LightGBM {objective}": LightGBM(
            objective=objective, metric="map", n_estimators=ROUNDS, early_stopping_rounds=PATIENCE, verbosity=-1
        )
        for objective in ("lambdarank", "rank_xendcg")
    }
    ours = {}
    for name, cls in pk.rankers().items():
        if name not in SKIPPED:
            rounds = {"n_estimators": ROUNDS, "early_stopping_rounds": PATIENCE} if issubclass(cls, pk.Trees) else {}
            ours[name] = cls(**rounds, **FIXED.get(name, {}))
    rankers = ours | peers
    rankers = {name: rankers[name] for name in names or rankers}
    return rankers, {name: dict(pk.Trees.search_space) for name in peers if name in rankers}


def run(dataset: str, names: list[str] | None, options: argparse.Namespace) -> pk.Experiment:
    rankers, spaces = contestants(names)
    return pk.experiment(
        {dataset: dataset},
        rankers,
        MEASURES,
        select="AP",
        preset=DATASETS[dataset],
        search="random",
        n_trials=options.trials,
        time_budget=options.budget,
        spaces=spaces,
        blend=None if names else BLENDED,
        out=Path(options.out) / dataset,
        n_jobs=options.jobs,
        verbose=True,
    )


def baselines(options: argparse.Namespace) -> str:
    """The seven methods of LETOR's tables with the settings that LETOR tells, on each set, beside the published MAP."""
    rows = []
    for dataset in options.dataset or DATASETS:
        words = letor_baselines("letor3") | {"preset": DATASETS[dataset]}
        rankers = words.pop("rankers")
        found = pk.experiment(
            {dataset: dataset},
            rankers,
            ["AP"],
            out=Path(options.out) / f"{dataset}-baselines",
            n_jobs=options.jobs,
            **words,
        )
        rows.append((dataset, rankers, found))
    lines = ["| method | " + " | ".join(f"{TITLES[d]} | published" for d, _, _ in rows) + " |"]
    lines.append("|---" * (1 + 2 * len(rows)) + "|")
    for method in rows[0][1]:
        cells = []
        for dataset, rankers, found in rows:
            kind = rankers[method].partition("(")[0]
            cells += [f"{found.results('AP')[dataset][method]:.3f}", published_map(dataset, kind)]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "### The methods of LETOR's tables, by their published settings\n\nMAP.\n\n" + "\n".join(lines)


def published_map(dataset: str, ranker: str) -> str:
    """The published MAP of a ranker; nothing where there is none."""
    known = published_table(dataset)
    figures = [row["value"] for row in figures_of(known, ranker) if row["measure"] == "AP"] if known else []
    return f"{figures[0]:.3f}" if figures else ""


def table(found: pk.Experiment, dataset: str, trials: int) -> str:
    """Markdown: one row per ranker, best MAP first, published MAP beside it."""
    board = found.leaderboard
    means = {m: dict(board.filter(measure=m).select("ranker", "mean_over_folds").iter_rows()) for m in MEASURES}
    ap = board.filter(measure="AP")
    lines = [
        "| ranker | MAP | published | validation | nDCG@1 | nDCG@3 | nDCG@10 | P@1 | P@10 | p | seconds |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in ap.iter_rows(named=True):
        name = row["ranker"]
        cells = found.of(dataset, name)
        searched = "members" not in cells[0].setting  # a blend has the time of all, and no trials of its own
        short = searched and any(len(cell.trials) < trials and cell.seconds["search"] > 30 for cell in cells)
        others = " | ".join(f"{means[m][name]:.3f}" for m in ("nDCG@1", "nDCG@3", "nDCG@10", "P@1", "P@10"))
        p = "" if row["best"] else f"{row['p']:.2f}"
        mark = "**" if row["chosen"] else ""
        seconds = row["search_seconds"] / row["n_folds"]
        ours = f"{row['mean_over_folds']:.4f} | {published_map(dataset, name)} | {row['validation']:.4f}"
        lines.append(f"| {mark}{name}{mark} | {ours} | {others} | {p} | {seconds:.1f}{' †' if short else ''} |")
    return "\n".join(lines)


def verdict(found: pk.Experiment, dataset: str) -> str:
    """The ranker chosen on validation data beside the best published figure and LightGBM's objectives."""
    ours = [name for name in found.complete(dataset) if not name.startswith("LightGBM")]
    peers = [name for name in found.complete(dataset) if name.startswith("LightGBM")]
    means = found.results("AP")[dataset]
    chosen = max(ours, key=lambda name: found.validation(dataset, name) or -np.inf)
    text = f"Chosen by validation MAP: `{chosen}`, test MAP {means[chosen]:.4f}."
    if published_table(dataset):
        row = published(dataset).filter(pl.col("measure") == "AP").sort("value").row(-1, named=True)
        text += f" Best published: {row['method']} {row['value']:.3f}."
    mine = found.evaluation(dataset, chosen).values["AP"]
    for peer in peers:  # the better one on test data too: to be above both is to be above the best
        theirs = found.evaluation(dataset, peer).values["AP"]
        gain = f"{means[chosen] - means[peer]:+.4f}, p = {fisher(mine, theirs).pvalue:.3f}"
        text += f" {peer}, tuned in the same way: {means[peer]:.4f} (difference {gain})."
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the LETOR sets; otherwise the variable PLACKETT_DATA")
    parser.add_argument("--ranker", action="append", help="only these; all rankers and LightGBM otherwise")
    parser.add_argument("--dataset", action="append", choices=list(DATASETS))
    parser.add_argument("--trials", type=int, default=6, help="settings per ranker and fold")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds per ranker and fold to begin trials in")
    parser.add_argument("--jobs", type=int, help="processes of one thread each")
    parser.add_argument("--out", default="out/letor", help="folder of the finished cells")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    options = parser.parse_args()
    if options.data:
        os.environ["PLACKETT_DATA"] = str(Path(options.data).resolve())
    parts = [] if options.ranker else [baselines(options)]
    print("\n\n".join(parts), flush=True)
    for dataset in options.dataset or DATASETS:
        found = run(dataset, options.ranker, options)
        text = f"### {TITLES[dataset]} (preset `{DATASETS[dataset]}`)\n\n{verdict(found, dataset)}\n\n"
        text += table(found, dataset, options.trials)
        for failure in found.failures:
            text += f"\n\n`{failure.ranker}` failed in {failure.fold}: {failure.error}"
        parts.append(text)
        print(f"\n{text}\n", flush=True)
    if options.write:
        page = Path(__file__).parent.parent / "docs" / "benchmarks.md"
        before, rest = page.read_text(encoding="utf-8").split(BEGIN)
        after = rest.split(END)[1]
        page.write_text(before + BEGIN + "\n\n" + "\n\n".join(parts) + "\n\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
