"""Tables of gains over a baseline, with their significance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.evaluation.significance.fisher import fisher
from studies.base import per_query


class Gains:
    """Values per query of several rankers, collected over draws or folds; the first one is the baseline."""

    def __init__(self, measure: str, **columns: Any) -> None:
        self.measure, self.columns = measure, columns
        self.values: dict[str, list[np.ndarray]] = {}

    def add(self, name: str, test: RankingDataset, scores: np.ndarray) -> None:
        """Record the values of a ranker on test queries."""
        self.values.setdefault(name, []).append(per_query(test, scores, self.measure))

    def run(self, rankers: Mapping[str, Callable[[], Any]], test: RankingDataset) -> None:
        """Record every ranker; each entry trains one."""
        for name, train in rankers.items():
            self.add(name, test, train().predict(test))

    def rows(self) -> list[dict[str, Any]]:
        """Mean, gain over the baseline, share of queries that gain minus those that lose, and Fisher's p."""
        rows = []
        baseline = np.concatenate(next(iter(self.values.values())))
        for i, (name, parts) in enumerate(self.values.items()):
            own = np.concatenate(parts)
            gain = own - baseline
            row = self.columns | {"ranker": name, self.measure: float(np.nanmean(own))}
            row |= {"gain": None, "better − worse": None, "p": None}
            if i > 0:
                balance = float(np.mean(gain > 1e-9) - np.mean(gain < -1e-9))
                p = fisher(own, baseline).pvalue if np.abs(gain).max(initial=0.0) > 1e-12 else 1.0
                row |= {"gain": float(np.nanmean(gain)), "better − worse": balance, "p": p}
            rows.append(row)
        return rows
