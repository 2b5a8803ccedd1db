"""Measures that cannot distinguish rankings, given the labels of the data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.mapped import query_blocks
from plackett.measures.base import Measure
from plackett.measures.diversity import DiversityMeasure


def measure_doubts(measures: Mapping[str, Measure], data: RankingDataset) -> dict[str, str]:
    """For each measure that has the same value for every order of the documents, a sentence that explains why.

    The usual case is labels without an irrelevant grade: with grades from 1 to 3 every document counts as relevant,
    and average precision is 1 for all systems.

    >>> from plackett.measures import AP, nDCG
    >>> data = RankingDataset.from_arrays(None, [1, 3, 2])
    >>> measure_doubts({"AP": AP, "nDCG": nDCG}, data)["AP"].split(". ")[0]
    'AP has the same value for every order: no label is below 1, so every document counts as relevant'
    """
    if data.y is None or data.n_rows == 0:
        return {}
    doubts: dict[str, str] = {}
    for name, measure in measures.items():
        if not isinstance(measure, DiversityMeasure) and (reason := _reason(measure, data)):
            doubts[name] = f"{name} has the same value for every order: {reason}"
    return doubts


def every_document_relevant(measure: Measure, data: RankingDataset) -> bool:
    """Whether the labels differ but all count as relevant: a scale without an irrelevant grade."""
    labels, rel = data.labels, getattr(measure, "rel", None)
    return rel is not None and bool(labels.min() >= rel) and bool(labels.min() < labels.max())


def _reason(measure: Measure, data: RankingDataset) -> str:
    labels, rel = data.labels, getattr(measure, "rel", None)
    if rel is None:
        return "in each query all documents have the same label." if _equal_in_queries(data) else ""
    if every_document_relevant(measure, data):
        low, high = labels.min(), labels.max()
        raised = f"{measure.name}(rel={low + 1:g})"
        return (
            f"no label is below {rel:g}, so every document counts as relevant. The labels run from {low:g} to "
            f"{high:g}: set the lowest relevant label, as in {raised}, or label irrelevant documents 0."
        )
    if not _equal_in_queries(data, rel):
        return ""
    if labels.max() < rel:
        return f"no document is relevant: no label is {rel:g} or more."
    return "in each query all documents are relevant, or none is."


def _equal_in_queries(data: RankingDataset, rel: float | None = None) -> bool:
    """Whether all documents of each query have the same label, or with ``rel`` are all relevant or all not."""
    for lo, hi in query_blocks(data.offsets):
        values = data.labels[data.offsets[lo] : data.offsets[hi]]
        if rel is not None:
            values = values >= rel
        query = np.repeat(np.arange(hi - lo), data.group[lo:hi])
        if not (values[1:] == values[:-1])[np.diff(query) == 0].all():
            return False
    return True
