"""How alike two lists of results are."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from plackett.measures.rbo import rbo
from plackett.workbench.columns.base import Ranked


def overlaps(lists: Mapping[str, Ranked]) -> list[dict[str, Any]]:
    """Number of common documents and rank-biased overlap (p = 0.9) of each two lists.

    >>> one, two = Ranked(["a", "b"], [2.0, 1.0]), Ranked(["b", "c"], [9.0, 8.0])
    >>> [(pair["common"], round(pair["rbo"], 3)) for pair in overlaps({"x": one, "y": two})]
    [(1, 0.45)]
    """
    return [_pair(a, lists[a].ids, b, lists[b].ids) for a, b in combinations(lists, 2)]


def _pair(a: str, first: list[str], b: str, second: list[str]) -> dict[str, Any]:
    every = list(dict.fromkeys([*first, *second]))
    if not every:
        return {"a": a, "b": b, "common": 0, "rbo": None}
    number = {docid: i for i, docid in enumerate(every)}
    # the order that is shown, also where scores are equal
    scores = np.full((2, len(every)), np.nan)
    for row, ids in enumerate((first, second)):
        scores[row, [number[docid] for docid in ids]] = -np.arange(len(ids))
    common = len(first) + len(second) - len(every)
    return {"a": a, "b": b, "common": common, "rbo": float(rbo(scores[0], scores[1]))}
