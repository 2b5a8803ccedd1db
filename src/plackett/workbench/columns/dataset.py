"""Columns over a dataset of features: a ranker's scores, or one feature."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.workbench.columns.base import Column, Query, Ranked, part, ranked
from plackett.workbench.columns.explained import explained


class ScoresColumn(Column):
    """Scores of all rows of a dataset."""

    def __init__(self, name: str, data: RankingDataset, docids: np.ndarray, scores: Any, about: str = "") -> None:
        super().__init__(name, about)
        self.data, self.docids = data, docids
        self.scores = np.asarray(scores, np.float64)
        self._query_numbers = {str(qid): i for i, qid in enumerate(data.qids.tolist())}

    def _rows(self, query: Query) -> slice:
        """The rows of a query; none for a query that the dataset lacks."""
        number = self._query_numbers.get(query.qid or "")
        return slice(0, 0) if number is None else slice(*self.data.offsets[number : number + 2].tolist())

    def rank(self, query: Query, k: int, filters: str = "") -> Ranked:
        """The documents of the query by score."""
        if filters:
            raise DataError(f"{self.name}: filters need an index")
        rows = self._rows(query)
        scores = np.nan_to_num(self.scores[rows], nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        finite = np.where(np.isfinite(scores), scores, np.sign(scores) * 1e300)
        return ranked(dict(zip(self.docids[rows].tolist(), finite.tolist(), strict=True)), k)


class RankerColumn(ScoresColumn):
    """A fitted ranker."""

    kind: ClassVar[str] = "ranker"

    def __init__(self, name: str, data: RankingDataset, docids: np.ndarray, ranker: Any) -> None:
        super().__init__(name, data, docids, ranker.predict(data), type(ranker).__name__)
        self.ranker = ranker

    def explain(self, query: Query, first: str, second: str | None, k: int, filters: str = "") -> dict[str, Any]:
        """Contributions of the features, relative to the other documents of the query."""
        rows = self._rows(query)
        qids = ["q"] * (rows.stop - rows.start)
        if not qids:
            raise DataError(f"the dataset has no query {query.qid!r}")
        named = RankingDataset.from_arrays(
            self.data.X[rows], None, qids, docids=self.docids[rows], feature_names=self.data.feature_names
        )
        return explained(self.ranker, named, "q", first, second)


class FeatureColumn(ScoresColumn):
    """The order by one feature."""

    kind: ClassVar[str] = "feature"

    def __init__(self, name: str, data: RankingDataset, docids: np.ndarray, feature: int, title: str) -> None:
        super().__init__(name, data, docids, np.asarray(dense(data.X[:, [feature]]))[:, 0], "one feature")
        self.title = title

    def explain(self, query: Query, first: str, second: str | None, k: int, filters: str = "") -> dict[str, Any]:
        """The feature is the score."""
        known = self.rank(query, 10**9)
        scores = dict(zip(known.ids, known.scores, strict=True))
        a, b = scores.get(first, 0.0), scores.get(second or "", 0.0)
        one = part(self.title, a - b, value=a, other=b) if second else part(self.title, a, value=a)
        return {"method": "one feature", "parts": [one], "changes": [], "scores": [a, b] if second else [a]}
