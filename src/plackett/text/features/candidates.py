"""Which documents are candidates of a query."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett.text.index.columns import join_lists
from plackett.text.index.index import Index
from plackett.text.retrieval.base import Results, RetrievalModel
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.queries import Queries


def candidates_of(
    index: Index,
    queries: Queries,
    candidates: Any,
    k: int,
    judgements: Mapping[str, Mapping[str, float]] | None,
    n_jobs: int | None = None,
    field: str | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and numbers of candidates.

    ``candidates`` is a model (its best k), a list of models (the union of their best k: a pool), `Results`, a mapping
    from query ids to document ids (or to runs), or ``"judged"``: the judged documents.
    """
    if candidates is None:
        candidates = BM25()
    if isinstance(candidates, str):
        if candidates != "judged":
            raise DataError(f"candidates={candidates!r}; give 'judged', models, or ids of documents")
        if judgements is None:
            raise DataError("candidates='judged' needs judgements")
        candidates = judgements
    if isinstance(candidates, Results):
        return candidates.offsets, candidates.documents
    if isinstance(candidates, RetrievalModel):
        return candidates.search(index, queries, k, field=field, n_jobs=n_jobs)[:2]
    if isinstance(candidates, Mapping):
        return given_candidates(index, queries, candidates)
    if isinstance(candidates, (list, tuple)) and candidates and all(isinstance(m, RetrievalModel) for m in candidates):
        return union([model.search(index, queries, k, field=field, n_jobs=n_jobs)[:2] for model in candidates])
    raise DataError(f"candidates are a {type(candidates).__name__}; give models, 'judged', or ids of documents")


def given_candidates(index: Index, queries: Queries, given: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Candidates by id; ids that the index does not have are left out, with a warning."""
    lists = []
    unknown: list[str] = []
    for qid in queries.ids:
        ids = [str(docid) for docid in given.get(qid, ())]
        numbers = index.numbers(ids)
        unknown += [docid for docid, number in zip(ids, numbers.tolist(), strict=True) if number < 0]
        lists.append(numbers[numbers >= 0])
    if unknown:
        some = "1 given candidate is" if len(unknown) == 1 else f"{len(unknown)} given candidates are"
        warnings.warn(f"{some} not in the index, such as {unknown[0]!r}", PlackettWarning, stacklevel=2)
    return join_lists(lists)


def union(lists: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """The documents of several lists per query, each once: those of the first list, then what others add."""
    n = lists[0][0].size - 1
    query = np.concatenate([np.repeat(np.arange(n), np.diff(offsets)) for offsets, _ in lists])
    documents = np.concatenate([numbers for _, numbers in lists])
    order = np.argsort(query, kind="stable")
    query, documents = query[order], documents[order]
    _, first = np.unique(np.column_stack([query, documents]), axis=0, return_index=True)
    first.sort()
    return np.concatenate(([0], np.cumsum(np.bincount(query[first], minlength=n)))), documents[first]
