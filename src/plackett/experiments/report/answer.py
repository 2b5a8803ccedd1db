"""The answer in one line and a few sentences: which ranker, by how much, is it real, what does it cost."""

from __future__ import annotations

from plackett._names.nearest import plural
from plackett.evaluation.tables import Table
from plackett.experiments.doubts import doubts
from plackett.experiments.report.blocks import Block, Section, Tabular, Text
from plackett.experiments.report.numbers import fixed, p_value, seconds
from plackett.experiments.report.view import View
from plackett.experiments.tables.failures import failed_cells
from plackett.experiments.verdict import verdict


def answer(view: View) -> Section:
    """The short answer, a line and a paragraph per dataset."""
    blocks: list[Block] = []
    for dataset in view.datasets:
        before = f"{dataset}: " if view.several else ""
        blocks.append(Text(f"{before}{verdict(view.experiment, dataset)}.", lead=True))
        blocks.append(Text(before + " ".join([*_quality(view, dataset), *_cost(view, dataset)])))
    if not blocks:
        blocks.append(Text("No ranker is finished in every fold of a dataset: there is nothing to compare.", lead=True))
    blocks = [Text(doubt) for doubt in doubts(view.experiment)] + blocks + _unfinished(view)
    return Section("answer", "In short", tuple(blocks))


def _unfinished(view: View) -> list[Block]:
    """What is missing, and why."""
    failed, experiment = failed_cells(view.experiment), view.experiment
    missing = sum(len(folds) for folds in experiment.folds.values()) * len(experiment.rankers) - len(experiment.cells)
    waiting = missing - len(experiment.failures)
    blocks: list[Block] = []
    if waiting > 0:
        are = "is" if waiting == 1 else "are"
        blocks.append(
            Text(f"The run was stopped: {plural(waiting, 'cell')} of the experiment {are} still to be computed.")
        )
    if failed:
        header = ("ranker", "dataset", "folds", "error")
        rows = tuple((f.ranker, f.dataset, ", ".join(f.folds), f.error) for f in failed)
        notes = ("Rankers that failed in a fold are left out of all comparisons on that dataset.",)
        blocks.append(Tabular(Table.of(header, rows, caption="What failed, and why", notes=notes, n_names=4)))
    return blocks


def _quality(view: View, dataset: str) -> list[str]:
    rows = view.rows(dataset)
    ascending = view.experiment.measures[view.first].ascending
    sign = 1 if ascending else -1
    chosen = view.chosen(dataset)
    order = sorted(rows, key=lambda ranker: -sign * rows[ranker]["mean_over_queries"])
    if chosen is None:
        best = order[0]
        return [
            f"There is no validation data to choose by. On the test data {best} has the best {view.first}, "
            f"{fixed(rows[best]['mean_over_queries'])}; the best of several figures is always a little too good."
        ]
    row = rows[chosen]
    figure = f"{view.first} is {fixed(row['mean_over_queries'])}"
    if row["low"] is not None:
        figure += f" (95 % interval {fixed(row['low'])} to {fixed(row['high'])})"
    if len(rows) == 1:
        return [f"{chosen} is the only ranker; on the test data its {figure}."]
    sentences = [f"{chosen} is the best of {len(rows)} on validation data ({view.select} {fixed(row['validation'])})."]
    other = next(ranker for ranker in order if ranker != chosen)
    difference = sign * (row["mean_over_queries"] - rows[other]["mean_over_queries"])
    p = rows[other]["p_corrected"] if difference >= 0 else row["p_corrected"]
    clear = rows[other]["significantly_worse"] if difference >= 0 else row["significantly_worse"]
    where = "better than" if difference >= 0 else "worse than"
    rank = "the next best" if difference >= 0 else "the best there"
    if round(abs(difference), 4) == 0:
        return [*sentences, f"On the test data its {figure}, the same as that of {other}."]
    sentences.append(f"On the test data its {figure}, {abs(difference):.4f} {where} {rank}, {other}.")
    if p is not None:
        verdict = "is significant" if clear else "is not significant: it may well be chance"
        sentences.append(f"The difference {verdict} ({p_value(p)}).")
    return sentences


def _cost(view: View, dataset: str) -> list[str]:
    rows = view.rows(dataset)
    ranker = view.chosen(dataset)
    if ranker is None:
        return []
    row = rows[ranker]
    documents = sum(cell.scores.size for cell in view.experiment.of(dataset, ranker))
    sentences = [
        f"It trains in {seconds(row['train_seconds'] / row['n_folds'])} per fold and scores 1,000 documents in "
        f"{seconds(1000 * row['score_seconds'] / max(documents, 1))}."
    ]
    tied = [name for name in rows if not rows[name]["significantly_worse"]]
    cheapest = min(tied, key=lambda name: rows[name]["train_seconds"])
    if cheapest != ranker and ranker in tied and rows[cheapest]["train_seconds"] * 2 < row["train_seconds"]:
        train = seconds(rows[cheapest]["train_seconds"] / row["n_folds"])
        sentences.append(f"Of the rankers that cannot be told apart, {cheapest} is the fastest to train, in {train}.")
    return sentences
