"""A column that retrieves candidates from an index and ranks them with a learned ranker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.text.index.columns import join_lists
from plackett.text.pipeline import RankedHit, SearchPipeline
from plackett.text.retrieval.base import as_queries
from plackett.text.search.searching import best_documents
from plackett.workbench.columns.base import Column, Query, Ranked
from plackett.workbench.columns.explained import explained
from plackett.workbench.columns.retrieval import is_plain


class PipelineColumn(Column):
    """Index, features and ranker."""

    kind: ClassVar[str] = "ranker"

    def __init__(self, name: str, pipeline: SearchPipeline, about: str = "") -> None:
        ranker = pipeline.ranker
        description = (
            "saved pipeline" if ranker is None else f"{type(ranker).__name__}, {pipeline.candidates} candidates"
        )
        super().__init__(name, about or description)
        self.pipeline = pipeline

    def rank(self, query: Query, k: int, filters: str = "") -> Ranked:
        """The k best documents."""
        hits = self._hits(query, k, filters)
        return Ranked([hit.id for hit in hits], [hit.score for hit in hits])

    def _hits(self, query: Query, k: int, filters: str) -> list[RankedHit]:
        plain = query.qid is not None and is_plain(self.pipeline.index, query.text)
        return self.pipeline.search(query.text, k, plain=plain, filters=filters or None)

    def run(self, queries: Mapping[str, str], k: int) -> dict[str, dict[str, float]]:
        """All queries at once: their candidates are scored together."""
        pipeline = self.pipeline
        if pipeline.ranker is None:
            return super().run(queries, k)
        asked = as_queries(dict(queries), pipeline.index)
        n = pipeline.candidates  # also for longer lists: the first ten do not depend on how many are asked for
        if pipeline.model is None:
            lists = [
                best_documents(pipeline.index, text, n, plain=is_plain(pipeline.index, text))[0]
                for text in queries.values()
            ]
            offsets, documents = join_lists(lists)
        else:
            offsets, documents = pipeline.model.search(pipeline.index, asked, n)[:2]
        rows = pipeline.features.matrix(pipeline.index, asked, offsets, documents)
        qid = np.repeat(np.arange(len(queries)), np.diff(offsets))
        names = pipeline.index.ids.take(documents).to_numpy()
        run: dict[str, dict[str, float]] = {name: {} for name in queries}
        if not len(rows):
            return run
        data = RankingDataset.from_arrays(rows, None, qid, feature_names=pipeline.features.names)
        scores = np.asarray(pipeline.ranker.predict(data))
        for q, name in enumerate(queries):
            own = slice(offsets[q], offsets[q + 1])
            order = np.argsort(-scores[own], kind="stable")[:k]
            run[name] = dict(zip(names[own][order].tolist(), scores[own][order].tolist(), strict=True))
        return run

    def explain(self, query: Query, first: str, second: str | None, k: int, filters: str = "") -> dict[str, Any]:
        """Contributions of the features, relative to the other candidates."""
        pipeline = self.pipeline
        if pipeline.ranker is None:
            return super().explain(query, first, second, k, filters)
        hits = self._hits(query, pipeline.candidates, filters)
        if not hits:
            raise DataError("nothing was found; there is nothing to explain")
        return explained(pipeline.ranker, pipeline.table(hits), "q", first, second)
