"""What would change for users if the chosen ranker replaced another: results replaced and moved, with examples."""

from __future__ import annotations

from functools import partial

import numpy as np

from plackett.evaluation.churn import Churn, churn
from plackett.evaluation.significance.effects import win_tie_loss
from plackett.evaluation.tables import Table
from plackett.experiments.report.blocks import Block, Section, Tabular, Text
from plackett.experiments.report.numbers import signed
from plackett.experiments.report.view import View

#: Results that users see, and queries shown as lists.
_SEEN = 10
_EXAMPLES = 2


def changes(view: View) -> Section | None:
    """Churn between the chosen ranker and the others; None if no dataset has two rankers."""
    blocks = view.by_dataset(partial(_dataset, view))
    return Section("changes", "What would change for users", tuple(blocks)) if blocks else None


def _dataset(view: View, dataset: str, number: int) -> list[Block]:
    drawn = view.drawn(dataset)
    if len(drawn) < 2:
        return []
    new = view.chosen(dataset) or drawn[0]
    rows, first = [], None
    for old in drawn:
        if old == new:
            continue
        parts = _folds(view, dataset, old, new)
        first = parts if first is None else first
        size = [part.per_query.height for part in parts]
        mean = {
            name: float(np.average([part.mean[name] for part in parts], weights=size))
            for name in ("replaced", "moved", "first_changes", "unchanged")
        }
        worth = view.experiment.measures[view.first].worth
        gain = worth(np.concatenate([part.per_query["difference"].fill_null(0.0).to_numpy() for part in parts]))
        cells = [old, f"{mean['replaced']:.2f}", f"{mean['moved']:.2f}"]
        cells += [f"{mean['first_changes']:.0%}", f"{mean['unchanged']:.0%}"]
        better, _, worse = win_tie_loss(gain, np.zeros(gain.size))
        cells += [str(better), str(worse), signed(float(worth(gain.mean())))]
        rows.append(cells)
    header = (
        "replaced ranker", "results replaced", "results moved", "first result changes", "queries unchanged",
        "queries better", "queries worse", f"difference of {view.first}",
    )  # fmt: skip
    caption = f"First {_SEEN} results of a query of {dataset} if {new} replaced another ranker: means over test queries"
    text = (
        f"Of the first {_SEEN} results of a query, how many would users find replaced, and how many at another rank, "
        f"if {view.names[new]} replaced the ranker they have now?"
    )
    blocks: list[Block] = [Text(text), Tabular(Table.of(header, rows, caption=caption))]
    assert first is not None
    old = next(each for each in drawn if each != new)
    most = max(range(len(first)), key=lambda i: first[i].per_query["replaced"].max())  # type: ignore[arg-type,return-value]
    for table in first[most].example_tables(_EXAMPLES):
        example_caption = f"{table.caption}. From {old} to {new}, {dataset}."
        blocks.append(Tabular(Table.of(table.header, table.rows, caption=example_caption), folded=True))
    return blocks


def _folds(view: View, dataset: str, old: str, new: str) -> list[Churn]:
    """Churn on the test part of each fold."""
    changes = []
    ours, theirs = (view.experiment.of(dataset, ranker) for ranker in (new, old))
    for after, before in zip(ours, theirs, strict=True):
        test = view.experiment.folds[dataset][after.fold].test
        measure = view.experiment.measures[view.first]
        changes.append(churn(before.scores, after.scores, test, k=_SEEN, measure=measure))
    return changes
