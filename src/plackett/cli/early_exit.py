"""``plackett early-exit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plackett.cli.arguments import Force, TableColumns, check_out, reads_lists

#: Rows of the frontier that are shown.
_SHOWN = 12


@reads_lists
def early_exit(
    model: Annotated[Path, typer.Argument(help="Model of trees, saved by `plackett train` or of another tool.")],
    data: Annotated[Path, typer.Argument(help="Labelled validation data, with lists as long as those to be served.")],
    out: Annotated[Path, typer.Option(help="File for the model with its exit.")],
    max_loss: Annotated[float, typer.Option(help="How much of the measure may be lost.", min=0.0)] = 0.001,
    sure: Annotated[bool, typer.Option("--sure", help="Use the upper end of the interval of the loss.")] = False,
    measure: Annotated[str, typer.Option("-m", "--measure", help="The measure.")] = "nDCG@10",
    rule: Annotated[
        str,
        typer.Option(
            help="Which documents continue: capacity (the best k), proximity (near the k-th), exact (the top k is "
            "kept), query (all of an unsettled list), combined (the best k of an unsettled list)."
        ),
    ] = "capacity",
    max_change: Annotated[
        float | None,
        typer.Option(help="Share of lists, with 95 % confidence, whose first ten may change.", min=0.0, max=1.0),
    ] = None,
    force: Force = False,
    *,
    columns: TableColumns,
) -> None:
    """Choose after how many trees to stop scoring most documents of a list, to save time at little loss.

    Prints the exits that no other beats, and saves the model with the cheapest that loses at most --max-loss.
    """
    from plackett._names.nearest import plural
    from plackett.cli.output import print_table
    from plackett.cli.reading import load_with
    from plackett.data.estimators import last_step
    from plackett.rankers.early_exit import RULES
    from plackett.rankers.early_exit import early_exit as choose
    from plackett.rankers.storage import save

    if rule not in RULES:
        raise typer.BadParameter(f"{rule!r}; give one of {', '.join(RULES)}", param_hint="--rule")
    check_out(out, force)
    ranker, dataset = load_with(model, data, columns, estimator=True)
    chosen = choose(ranker, dataset, max_loss=max_loss, sure=sure, measure=measure, rule=rule, max_change=max_change)
    rows = [
        (str(row["trees"]), str(row["keep"]), f"{row['slack']:.3g}", f"{row['settled']:.3g}",
         f"{row['work']:.0%}", f"{row['value']:.4f}", f"{row['loss']:+.4f}",
         f"{row['same_top']:.1%}", f"{row['change_bound']:.1%}")
        for row in chosen.frame.filter(chosen.frame["frontier"]).rows(named=True)[:_SHOWN]
    ]  # fmt: skip
    names = (
        "after trees", "keep", "slack", "settled", "work", chosen.measure, "loss", "same first 10", "change at most"
    )  # fmt: skip
    print_table(names, rows, title="exits that no other beats", numbers=range(len(names)))
    if chosen.trees is None:
        also = "" if max_change is None else f" and changes the first ten of at most {max_change:.0%} of the lists"
        print(f"no exit that saves work loses at most {max_loss:g}{also}; nothing is written")
        raise typer.Exit(1)
    save(chosen.ranker, out)
    work = last_step(chosen.ranker).card_["exit"]["work"]
    who = f"the best {chosen.keep} of a list"
    if rule == "query":
        who = "unsettled lists"
    elif rule in ("proximity", "exact"):
        who += f" and those at most {chosen.slack:.3g} below them"
    print(f"{out}: after {plural(chosen.trees, 'tree')} {who} continue; {work:.0%} of the work")
