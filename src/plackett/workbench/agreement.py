"""How far raters agree: weighted kappa of two, Krippendorff's alpha of all, and the pairs on which they differ."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from plackett.selection.judges.cohen import cohen_kappa
from plackett.selection.judges.krippendorff import krippendorff_alpha
from plackett.workbench.store import Judgement


def agreement(judgements: Iterable[Judgement]) -> dict[str, Any]:
    """Agreement of all raters, of each two of them, and the pairs on which they differ, the widest first."""
    by_pair: dict[tuple[str, str], dict[str, Judgement]] = {}
    for judgement in judgements:
        if judgement.grade is not None:
            by_pair.setdefault((judgement.qid, judgement.docid), {})[judgement.rater] = judgement
    raters = sorted({rater for given in by_pair.values() for rater in given})
    pairs = []
    for a, b in combinations(raters, 2):
        both = [(given[a].grade, given[b].grade) for given in by_pair.values() if a in given and b in given]
        if both:
            first, second = zip(*both, strict=True)
            same = sum(x == y for x, y in both) / len(both)
            pairs.append(
                {"a": a, "b": b, "n": len(both), "same": same, "kappa": cohen_kappa(first, second, weights="quadratic")}
            )
    conflicts: list[dict[str, Any]] = [
        {
            "qid": qid,
            "docid": docid,
            "grades": {rater: judgement.grade for rater, judgement in sorted(given.items())},
            "notes": {rater: judgement.note for rater, judgement in sorted(given.items()) if judgement.note},
        }
        for (qid, docid), given in by_pair.items()
        if len({judgement.grade for judgement in given.values()}) > 1
    ]
    conflicts.sort(key=lambda one: min(one["grades"].values()) - max(one["grades"].values()))
    return {"alpha": _alpha(by_pair, raters), "pairs": pairs, "conflicts": conflicts}


def _alpha(by_pair: dict[tuple[str, str], dict[str, Judgement]], raters: list[str]) -> float:
    """Krippendorff's alpha of all raters, grades as intervals; NaN if there is nothing to compare."""
    if len(raters) < 2:
        return float("nan")
    column = {rater: i for i, rater in enumerate(raters)}
    table = np.full((len(by_pair), len(raters)), np.nan)
    for row, given in zip(table, by_pair.values(), strict=True):
        for rater, judgement in given.items():
            row[column[rater]] = judgement.grade
    return krippendorff_alpha(table, level="interval")
