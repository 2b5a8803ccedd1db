"""``plackett interleave``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from plackett.cli.arguments import Force, Json, Seed, check_out, file_names, option
from plackett.cli.messages import interruptible
from plackett.cli.output import print_json, print_table


class _ListsByDefault(TyperGroup):
    """``plackett interleave A.run B.run`` is short for ``plackett interleave lists A.run B.run``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["lists", *args]
        return super().parse_args(ctx, args)


interleave = typer.Typer(
    name="interleave",
    cls=_ListsByDefault,
    help="Compare rankers on live traffic with lists made of both. Without a command: lists.",
    no_args_is_help=True,
    add_completion=False,
)


def lists(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", help="Runs of two rankers or more: TREC, or tables (.csv, .parquet) with qid, docid, score."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where to write the lists to show (.jsonl).")],
    method: Annotated[str, typer.Option(help="team-draft, balanced, probabilistic or optimised.")] = "team-draft",
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Documents to show.")] = 10,
    copies: Annotated[
        int, typer.Option(min=1, help="Lists per query, an even number; show each visitor one at random.")
    ] = 10,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Make the lists to show. Each line has an id, the query, the documents and what a click on each is worth."""
    from plackett.online.interleaving.files import write_lists
    from plackett.online.interleaving.interleave import find_interleaving

    if len(runs) < 2:
        raise typer.BadParameter("give the runs of at least two rankers")
    with option("--method"):
        method = find_interleaving(method).name
    check_out(out, force)
    names = file_names(runs, ())
    n = write_lists(dict(zip(names, runs, strict=True)), out, method=method, k=k, copies=copies, seed=seed)
    print(f"{out}: {n} lists, {method} of {', '.join(names)}")


def score(
    events: Annotated[
        Path,
        typer.Argument(
            metavar="EVENTS", help='Lines of JSON with "id" and "clicks", a list of documents; see the guide.'
        ),
    ],
    shown: Annotated[
        Path | None, typer.Option(help="The lists shown, if the events do not repeat their documents and credits.")
    ] = None,
    alpha: Annotated[float, typer.Option(min=1e-9, max=0.5, help="Error rate of the test.")] = 0.05,
    as_json: Json = False,
) -> None:
    """Say which ranker is ahead. May be run every day: the p-value stays valid however often it is looked at."""
    from plackett.online.interleaving.files import score_events

    result = score_events(events, shown, alpha=alpha)
    if as_json:
        print_json(result.record())
        return
    print(f"{result.n_events} pages, {result.n_clicked} with clicks, {result.n_repeated} repeated events ignored")
    rows = [
        (f"{a} – {b}", str(won), str(lost), f"{mean:+.4f}", f"{lower:+.4f} to {upper:+.4f}", f"{p:.4g}")
        for a, b, won, lost, mean, lower, upper, p in result.rows
    ]
    header = ("rankers", "wins", "losses", "mean preference", f"{1 - alpha:.0%} at any time", "p at any time")
    print_table(header, rows, numbers=[1, 2, 3, 5])
    print(result.advice)


for _command in (lists, score):
    interleave.command(_command.__name__)(interruptible(_command))
