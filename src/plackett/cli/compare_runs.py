"""``plackett compare-runs``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plackett._names.nearest import hint
from plackett.cli.arguments import (
    JsonForm,
    Measures,
    Seed,
    TableColumns,
    check_form,
    check_measures,
    file_names,
    reads_tables,
)
from plackett.cli.messages import without_repeats

#: Maximum number of rows in the table of pairs.
_MOST_PAIRS = 60


@reads_tables
def compare_runs(
    runs: Annotated[list[Path], typer.Argument(help="Two or more TREC runs, or score files with --data.")],
    qrels: Annotated[Path | None, typer.Option(help="TREC judgements.")] = None,
    data: Annotated[Path | None, typer.Option(help="Dataset with labels, instead of judgements.")] = None,
    measure: Measures = None,
    test: Annotated[str, typer.Option(help="fisher, t, wilcoxon, bootstrap, sign, tukey.")] = "fisher",
    correction: Annotated[str, typer.Option(help="holm, bonferroni, bh, none.")] = "holm",
    baseline: Annotated[
        str | None, typer.Option(help="Compare the others with this run, by its name in the table. Default: all pairs.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Rules of another tool: letor3, letor4, trec, …")] = None,
    seed: Seed = 0,
    form: Annotated[str, typer.Option("--format", help="terminal, markdown, latex, csv or json.")] = "terminal",
    as_json: JsonForm = False,
    *,
    columns: TableColumns,
) -> None:
    """Compare runs with significance tests, confidence intervals and win/tie/loss counts."""
    from plackett.evaluation.compare import compare
    from plackett.evaluation.compare_runs import compare_runs as compare_trec
    from plackett.evaluation.significance import FAMILYWISE, PAIRED
    from plackett.evaluation.significance.corrections import CORRECTIONS
    from plackett.evaluation.tables import FORMATS

    form = check_form("json" if as_json else form)
    if (qrels is None) == (data is None):
        raise typer.BadParameter("give the judgements with --qrels, or a dataset with --data")
    if len(runs) < 2:
        raise typer.BadParameter("give at least two runs to compare")
    measures = measure or ["nDCG@10", "AP", "RR"]
    check_measures(measures, preset)
    for name, value, known in (("--test", test, [*PAIRED, *FAMILYWISE]), ("--correction", correction, CORRECTIONS)):
        if value not in known:
            raise typer.BadParameter(f"{value!r}; {hint(value, known, 'give one of')}", param_hint=name)
    options: dict[str, Any] = {"test": test, "correction": correction, "preset": preset, "random_state": seed}
    options["baseline"] = baseline
    names = file_names(runs)
    if baseline is not None and baseline not in names:
        raise typer.BadParameter(f"no run is called {baseline!r}; {hint(baseline, names)}", param_hint="--baseline")
    if data is None:
        result = without_repeats(lambda: compare_trec(qrels, dict(zip(names, runs, strict=True)), measures, **options))
    else:
        from plackett.cli.reading import read_data, scores_of

        dataset = read_data(data, columns, drop_text=True)  # features do not matter
        scores = {name: scores_of(run, dataset, data) for name, run in zip(names, runs, strict=True)}
        result = without_repeats(lambda: compare(dataset, scores, measures, **options))
    if form in ("csv", "json"):
        print(getattr(result, f"to_{form}")())
        return
    print(getattr(result, f"to_{form}")(intervals=True))
    if result.pairs.height <= _MOST_PAIRS:
        print()
        print(FORMATS[form](result.differences()))
    else:
        print(f"{result.pairs.height} pairs: use --baseline to see differences and wins, or --json to see all pairs.")
