"""What training needs of a dataset."""

from __future__ import annotations

from typing import Any

from plackett.data.dataset import RankingDataset
from plackett.data.fields import LEARNED


def training_part(data: RankingDataset, **more: Any) -> RankingDataset:
    """A dataset with only what training needs, and what ``more`` gives.

    >>> data = RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], qid=[1, 1], comments=["a", "b"])
    >>> training_part(data).comments is None
    True
    """
    kept = {name: getattr(data, name) for name in ("X", "offsets", "qids", "preferences", "relations", *LEARNED)}
    return RankingDataset(**(kept | more))
