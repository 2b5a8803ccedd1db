"""Reasons not to believe the figures of an experiment that its data give."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plackett.experiments.result import Experiment

__all__ = ["doubts"]

#: What it means that no document of a part is relevant.
_WITHOUT = {
    "train": "there is nothing to learn",
    "valid": "the choice among settings and rankers says nothing",
    "test": "the figures say nothing",
}


def doubts(found: Experiment) -> list[str]:
    """A sentence for each part without a relevant document (a label above 0), those of several folds together."""
    said = []
    for dataset, folds in found.folds.items():
        for role, meaning in _WITHOUT.items():
            parts = {name: getattr(fold, role, None) for name, fold in folds.items()}
            judged = {name: part for name, part in parts.items() if part is not None and part.y is not None}
            bare = [str(name) for name, part in judged.items() if not (part.labels > 0).any()]
            if bare:
                where = f"fold {bare[0]}" if len(bare) == 1 else f"folds {', '.join(bare)}"
                kind = {"valid": "validation", "train": "training"}.get(role, role)
                said.append(
                    f"Beware: no document of the {kind} part of {where} of {dataset} is relevant, so {meaning}."
                )
    return said
