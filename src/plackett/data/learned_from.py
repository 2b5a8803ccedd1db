"""The part of a dataset that rankers learn from."""

from __future__ import annotations

from plackett.data.dataset import RankingDataset

#: What training may look at: not ids of documents, subtopics, positions or names.
LEARNED_FROM = ("X", "y", "offsets", "qids", "sample_weight", "query_weight", "query_features", "preferences",
                "relations")  # fmt: skip


def learned_from(data: RankingDataset) -> RankingDataset:
    """A dataset of the fields that rankers learn from.

    >>> data = RankingDataset.from_arrays([[1.0]], [1], qid=[7], docids=["a"])
    >>> learned_from(data).docids is None
    True
    """
    return RankingDataset(**{name: getattr(data, name) for name in LEARNED_FROM})
