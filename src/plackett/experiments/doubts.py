"""Reasons to doubt the figures of an experiment: what its data and measures cannot show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.data.added import added_rows
from plackett.evaluation.giveaways import giveaways
from plackett.evaluation.significance.effects import TOLERANCE
from plackett.measures.language import parse

if TYPE_CHECKING:
    from plackett.experiments.cells.finished import Finished

#: What it means if a part has no relevant document.
_WITHOUT = {
    "train": "there is nothing to learn",
    "valid": "the choice among settings and rankers says nothing",
    "test": "the figures say nothing",
}


def doubts(experiment: Finished) -> list[str]:
    """One sentence for each problem that makes figures meaningless; empty for most experiments."""
    return [
        sentence
        for dataset in experiment.datasets
        for sentence in (
            *_giveaways(experiment, dataset),
            *_labels(experiment, dataset),
            *_constant_measures(experiment, dataset),
            *_equal_choice(experiment, dataset),
            *_equal_scores(experiment, dataset),
        )
    ]


def left_out(experiment: Finished) -> list[str]:
    """Which datasets have documents to learn from only."""
    some = [name for name, folds in experiment.folds.items() if any(added_rows(f.train).size for f in folds.values())]
    if not some:
        return []
    return [f"Judged documents that were added to the candidates of {', '.join(some)} are in the training parts only."]


def says_nothing(values: Mapping[str, np.ndarray]) -> bool:
    """Whether several systems have the same value on every query, so that they cannot be told apart.

    >>> says_nothing({"a": np.array([1.0, 0.5]), "b": np.array([1.0, 0.5])})
    True
    """
    first, *others = values.values()
    return all(np.allclose(first, other, rtol=0.0, atol=TOLERANCE, equal_nan=True) for other in others)


def _giveaways(experiment: Finished, dataset: str) -> list[str]:
    """Features that give the labels away."""
    found = giveaways(next(iter(experiment.folds[dataset].values())).train)
    if not found:
        return []
    orders = "alone orders" if len(found) == 1 else "each alone order"
    return [
        f"Beware: {', '.join(found)} {orders} the documents of {dataset} almost as the labels do. Unless such values "
        "are known at query time, the figures say nothing."
    ]


def _labels(experiment: Finished, dataset: str) -> list[str]:
    """Parts without a relevant document (a label above 0), and data without an irrelevant one."""
    sentences, lowest = [], []
    for role, meaning in _WITHOUT.items():
        parts = {name: getattr(fold, role, None) for name, fold in experiment.folds[dataset].items()}
        judged = {name: part for name, part in parts.items() if part is not None and part.y is not None}
        bare = [str(name) for name, part in judged.items() if not (part.labels > 0).any()]
        if bare:
            where = f"fold {bare[0]}" if len(bare) == 1 else f"folds {', '.join(bare)}"
            kind = {"valid": "validation", "train": "training"}.get(role, role)
            sentences.append(
                f"Beware: no document of the {kind} part of {where} of {dataset} is relevant, so {meaning}."
            )
        lowest += [part.labels[part.labels >= 0].min(initial=np.inf) for part in judged.values()]
    least = min(lowest, default=0.0)
    if 1 <= least < np.inf:
        sentences.append(
            f"Beware: the labels of {dataset} start at {least:g}, and labels of 1 or more count as relevant, so every "
            f"document is relevant: AP, P, RR and similar measures are the same for any ranking. Set the lowest "
            f"relevant label, as in AP(rel={least + 1:g}), or subtract {least:g} from the labels."
        )
    return sentences


def _constant_measures(experiment: Finished, dataset: str) -> list[str]:
    """Measures that have the same value for all rankers on every query."""
    rankers = experiment.complete(dataset)
    if len(rankers) < 2:
        return []
    values = [experiment.evaluation(dataset, ranker).values for ranker in rankers]
    same = [name for name in experiment.measures if says_nothing({str(i): v[name] for i, v in enumerate(values)})]
    if not same:
        return []
    have = "has the same value" if len(same) == 1 else "have the same values"
    return [f"Beware: {' and '.join(same)} {have} for all rankers on every test query of {dataset}."]


def _equal_choice(experiment: Finished, dataset: str) -> list[str]:
    """Rankers that are as good as the chosen one on the validation data."""
    chosen = experiment.chosen(dataset)
    if chosen is None:
        return []
    worth: dict[str, Any] = {ranker: experiment.validation(dataset, ranker) for ranker in experiment.complete(dataset)}
    if worth[chosen] is None:
        return []
    equal = [r for r, v in worth.items() if r != chosen and v is not None and abs(v - worth[chosen]) <= TOLERANCE]
    if not equal:
        return []
    select = parse(experiment.select).name
    return [
        f"Beware: {', '.join(equal)} and {chosen} have the same {select} on the validation data of {dataset}; "
        f"{chosen} was chosen because it comes first."
    ]


def _equal_scores(experiment: Finished, dataset: str) -> list[str]:
    """Rankers that give all documents of each test query the same score in some fold."""
    sentences = []
    for ranker in experiment.rankers:
        cells = [
            cell
            for cell in experiment.of(dataset, ranker)
            if _all_tied(cell, experiment.folds[dataset][cell.fold].test)
        ]
        if cells:
            where = f"fold {cells[0].fold}" if len(cells) == 1 else f"folds {', '.join(str(c.fold) for c in cells)}"
            sentences.append(f"Beware: in {where} of {dataset} {ranker} gives all documents of a query the same score.")
    return sentences


def _all_tied(cell: Any, test: Any) -> bool:
    inside = np.ones(cell.scores.size, bool)
    inside[test.offsets[:-1][test.group > 0]] = False  # the first document of a query has none before it
    return bool(inside.any()) and not (np.diff(cell.scores, prepend=0.0)[inside] != 0.0).any()
