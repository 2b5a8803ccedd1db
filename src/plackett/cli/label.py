"""``plackett label``: what to judge next, and whether judges agree."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from plackett.cli.arguments import Force, check_out, option, parameter_value
from plackett.cli.messages import interruptible, waiting
from plackett.cli.output import print_json, print_table

__all__ = ["label"]

label = typer.Typer(help="Judgements: which documents to judge next, and whether judges agree.")
Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]


def _runs(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
            if not inside:
                raise typer.BadParameter(f"{path}: the folder has no files", param_hint="POOL")
            found.extend(inside)
        else:
            found.append(path)
    return found


@interruptible
def next_pairs(
    pool: Annotated[list[Path], typer.Argument(metavar="POOL…", help="TREC runs, or folders of them.")],
    budget: Annotated[int, typer.Option("--budget", "-n", help="Number of pairs to judge.", min=1)] = 100,
    labels: Annotated[Path | None, typer.Option(help="Judgements so far, a TREC qrels file.")] = None,
    method: Annotated[str, typer.Option(help="depth, uniform, statap, mtc, hedge or letor.")] = "statap",
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="name=value, such as base=0.2; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the pairs here, .csv: query, document, reason, …")] = None,
    qrels: Annotated[Path | None, typer.Option(help="Write the pairs here as judgements with label −1.")] = None,
    seed: Annotated[int, typer.Option(help="Seed; the same one gives the same pairs.", min=0)] = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Choose the pairs of query and document to judge next, with the reason for each."""
    from dataclasses import asdict

    from plackett.selection.candidates import Candidates
    from plackett.selection.pools.base import find_pool
    from plackett.selection.tracker import caution

    check_out(out, force)
    check_out(qrels, force, "--qrels")
    with option("--method"):
        strategy = find_pool(method)
    defaults = asdict(strategy)  # type: ignore[call-overload]
    with option("--parameter"):
        given = dict(parameter_value(text, defaults, strategy.name) for text in parameter or [])
        strategy = find_pool(method, **given)
    with waiting("reading runs"):
        candidates = Candidates.from_runs(_runs(pool), labels)
    with option("--budget"):
        chosen = strategy.select(candidates, budget=budget, random_state=seed)
    if out is not None:
        chosen.write_csv(out)
    if qrels is not None:
        chosen.write_qrels(qrels)
    report = caution(candidates, chosen)
    judged = int((~candidates.open).sum())
    if as_json:
        print_json(
            {
                "method": strategy.name,
                "candidates": candidates.n_rows,
                "judged": judged,
                "pairs": chosen.frame.to_dicts(),
                "cautions": list(report.warnings),
            }
        )
        return
    shown = chosen.frame.head(10)
    rows = [
        [str(r["qid"]), str(r["docid"]), r["reason"], "–" if r["inclusion"] is None else f"{r['inclusion']:.3f}"]
        for r in shown.to_dicts()
    ]
    title = f"{len(chosen)} of {candidates.n_rows - judged} unjudged pairs, {judged} judged so far"
    print_table(["query", "document", "reason", "inclusion"], rows, title=title, numbers=[3])
    if len(chosen) > shown.height and out is None:
        print(f"… {len(chosen) - shown.height} more; write them with --out FILE.csv or --qrels FILE")
    for line in report.warnings:
        print(f"caution: {line}", file=sys.stderr)


label.command("next")(next_pairs)
