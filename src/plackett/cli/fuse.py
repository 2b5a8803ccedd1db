"""``plackett fuse``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plackett._names.nearest import plural
from plackett.cli.arguments import Force, Json, check_out, file_names, option, parameter_value
from plackett.cli.output import print_json, print_table

#: Rows of the table in addition to the runs.
_ROWS = ("fused", "fused, equal weights")


def fuse(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Two or more TREC runs.")],
    out: Annotated[Path, typer.Option(help="Where to write the fused run.")],
    method: Annotated[str, typer.Option(help="Fusion method; `plackett list --kind aggregation` shows all.")] = "RRF",
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="name=value, such as k=60; may be repeated.")
    ] = None,
    normalize: Annotated[
        str | None, typer.Option(help="For the Comb methods: min-max, max, sum, zmuv, rank, borda or none.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="One number per run, such as 1,2,0.5.")] = None,
    qrels: Annotated[Path | None, typer.Option(help="TREC judgements to fit the weights on.")] = None,
    measure: Annotated[str, typer.Option("--measure", "-m", help="Measure to fit the weights by.")] = "nDCG@10",
    tag: Annotated[str, typer.Option(help="Name of the run, in its last column.")] = "plackett",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Fuse TREC runs into one."""
    from plackett.aggregation.fusing import find_method
    from plackett.aggregation.judged import judge
    from plackett.aggregation.lists import RankLists
    from plackett.data.trec import write_run
    from plackett.measures.language import parse

    if len(runs) < 2:
        raise typer.BadParameter("give at least two runs to fuse")
    if weights is not None and qrels is not None:
        raise typer.BadParameter("give --weights, or --qrels to fit them, but not both")
    check_out(out, force)
    with option("--method"):
        chosen = find_method(method)
    parameters: dict[str, Any] = dict(parameter_value(text, chosen) for text in parameter or [])
    if normalize is not None:
        parameters["normalize"] = None if normalize.lower() == "none" else normalize
    if weights is not None:
        parameters["weights"] = _numbers(weights)
    with option("--parameter / -p"):
        chosen = find_method(chosen, **parameters)
    with option("--measure / -m"):
        parsed = parse(measure)
    names = file_names(runs, _ROWS)
    lists = RankLists.from_runs(dict(zip(names, runs, strict=True)))
    scores = chosen.scores(lists)  # finds wrong parameters before the long work
    rows: dict[str, float] = {}
    if qrels is not None:
        judged = judge(lists, qrels)
        chosen = chosen.fit(lists, judged, parsed)
        rows = {name: parsed.worth(judged.value(lists.column(m), parsed)) for m, name in enumerate(names)}
        rows[_ROWS[1]] = parsed.worth(judged.value(scores, parsed))
        scores = chosen.scores(lists)
        rows[_ROWS[0]] = parsed.worth(judged.value(scores, parsed))
    write_run(lists.run(scores), out, tag=tag)
    list_weights = dict(zip(names, chosen.list_weights(lists).tolist(), strict=True))
    if as_json:
        record = {"run": str(out), "method": chosen.name, "weights": list_weights, "queries": lists.n_queries}
        print_json(record | ({str(parsed): rows} if rows else {}))
        return
    counts = plural(lists.n_queries, "query", "queries"), plural(lists.n_rows, "document")
    print(f"{out}: {', '.join(counts)}, {chosen.name} of {len(runs)} runs")
    if rows:
        table = [
            (name, f"{value:.4f}", f"{list_weights[name]:.3g}" if name in list_weights else "")
            for name, value in rows.items()
        ]
        print_table(
            ("run", str(parsed), "weight"), table, title="on the queries used to fit the weights", numbers=[1, 2]
        )


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r}; write numbers separated by commas", param_hint="--weights") from None
