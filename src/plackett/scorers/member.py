"""What a scorer asks of a ranker inside it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from plackett.data.dataset import RankingDataset


class Member(Protocol):
    """What a scorer asks of a ranker inside it."""

    n_features_in_: int
    n_jobs: int | None
    scorer_: Any

    def score_rows(self, data: RankingDataset) -> np.ndarray:
        """Score of each row of a dataset."""

    def pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The fitted ranker as JSON and named arrays."""
