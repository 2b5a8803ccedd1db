"""Why documents that a search engine found are where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plackett._base.errors import DataError
from plackett.explanations.explain import explain
from plackett.text.pipeline import RankedHit, SearchPipeline


def explain_hits(pipeline: SearchPipeline, hits: Sequence[RankedHit]) -> list[list[dict[str, Any]]]:
    """What adds to the score of each document, the largest first.

    With a ranker, its features with ``feature``, ``value`` and ``contribution``, relative to the other documents that
    are given. Under BM25 the terms of the query with ``field``, ``term``, ``count``, ``document_frequency`` and
    ``contribution``.

    >>> from plackett.text import Document, Index, SearchPipeline
    >>> engine = SearchPipeline(Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "sky"})]))
    >>> [(part["term"], part["count"]) for part in explain_hits(engine, engine.search("whale"))[0]]
    [('whale', 1)]
    """
    if pipeline.ranker is None and pipeline.model is not None:
        raise DataError("only BM25 and rankers can be explained")
    if pipeline.ranker is None:
        return [
            [
                {
                    "field": part.field,
                    "term": part.term,
                    "count": part.count,
                    "document_frequency": part.document_frequency,
                    "contribution": part.weight,
                }
                for part in hit.explain()
            ]
            for hit in hits
        ]
    if not hits:
        return []
    explanation = explain(pipeline.ranker, pipeline.table(hits), "q")
    return [explanation.document(hit.id).to_dicts() for hit in hits]
