"""From an index, queries and judgements to training data."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett.data.added import added_comments
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.text.features.candidates import candidates_of, union
from plackett.text.features.feature_set import FeatureSet
from plackett.text.index.index import Index
from plackett.text.retrieval.base import as_queries
from plackett.text.retrieval.queries import Queries

__all__ = ["extract"]

_NOTHING = "no candidates: none of the queries has a term that occurs in the documents, or a given document"


def extract(
    index: Index,
    queries: Any,
    features: Any,
    *,
    judgements: Any = None,
    candidates: Any = None,
    k: int = 100,
    unjudged: float = 0.0,
    add_judged: bool = False,
    field: str | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> RankingDataset:
    """Features of queries and their candidates, with labels: a dataset to train on.

    Parameters
    ----------
    queries
        Texts, a mapping from ids to texts, or `Queries`.
    features
        A `FeatureSet`, or what it is made of.
    judgements
        Labels: a mapping from query ids to mappings from document ids, a frame or a qrels file. Without them the
        dataset has no labels.
    candidates
        Which documents a query gets: a retrieval model (its k best; BM25 by default), a list of models (a pool: the
        union of their k best), ``"judged"``, or document ids by query id.
    k
        Number of candidates of each model.
    unjudged
        Label of candidates without a judgement.
    add_judged
        Whether judged documents that are not among the candidates are added, to learn from. They are marked, and
        `experiment` measures without them (`without_added`): with them, figures would be too good.
    field
        Field that models search for candidates.

    Examples
    --------
    >>> from plackett.text import BM25, Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue sky"})])
    >>> data = extract(index, {"q1": "blue whale"}, [BM25(), {"length": "body"}], judgements={"q1": {"a": 2}})
    >>> data.docids.tolist(), data.y.tolist(), data.X[:, 0].round(2).astype(str).tolist()
    (['a', 'b'], [2.0, 0.0], ['0.88', '0.18'])
    """
    settings = {"candidates": candidates, "k": k, "unjudged": unjudged, "add_judged": add_judged, "field": field}
    parts = list(
        extract_blocks(index, queries, features, judgements=judgements, n_jobs=n_jobs, verbose=verbose, **settings)
    )
    if not parts:
        raise DataError(_NOTHING)
    return concat(parts)


def extract_blocks(
    index: Index,
    queries: Any,
    features: Any,
    *,
    judgements: Any = None,
    candidates: Any = None,
    k: int = 100,
    unjudged: float = 0.0,
    add_judged: bool = False,
    field: str | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Iterator[RankingDataset]:
    """Like `extract`, but in pieces of a few queries each, for more pairs than fit into memory.

    Queries without candidates are left out, with a warning that counts them.
    """
    chosen = features if isinstance(features, FeatureSet) else FeatureSet(features)
    analysed: Queries = as_queries(queries, index)
    labels = None if judgements is None else judged(judgements)
    if labels and not set(labels).intersection(analysed.ids):
        raise DataError(
            f"no query has a judgement: the judgements are of {some(labels)}, the queries are {some(analysed.ids)}"
        )
    offsets, documents = candidates_of(index, analysed, candidates, k, labels, n_jobs, field)
    n_found = np.diff(offsets)
    if add_judged:
        n_found = np.diff(union([(offsets, documents)])[0])  # given candidates may repeat
        if labels is None:
            raise DataError("add_judged needs judgements")
        extra = candidates_of(index, analysed, "judged", k, labels)
        offsets, documents = union([(offsets, documents), extra])
    empty = np.flatnonzero(np.diff(offsets) == 0)
    if empty.size == len(analysed):
        raise DataError(_NOTHING)
    if empty.size:
        names = some(analysed.ids[q] for q in empty.tolist())
        warnings.warn(
            f"{empty.size} of {len(analysed)} queries have no candidates, and no rows in the result: {names}; when you "
            "evaluate, count them as lists without a relevant document",
            PlackettWarning,
            stacklevel=2,
        )
    for block in chosen.blocks(index, analysed, offsets, documents, n_jobs=n_jobs, verbose=verbose):
        if not len(block.X):
            continue
        own = documents[offsets[block.lo] : offsets[block.hi]]
        sizes = np.diff(offsets[block.lo : block.hi + 1])
        qid = np.repeat(np.array(analysed.ids[block.lo : block.hi], object), sizes)
        docids = index.ids.take(own).to_numpy()
        y = None
        if labels is not None:
            pairs = zip(qid.tolist(), docids.tolist(), strict=True)
            y = np.array([labels.get(q, {}).get(d, unjudged) for q, d in pairs], np.float64)
        added = np.concatenate([np.arange(n) for n in sizes]) >= np.repeat(n_found[block.lo : block.hi], sizes)
        yield RankingDataset.from_arrays(
            block.X,
            y,
            qid.astype(str),
            docids=docids,
            feature_names=chosen.names,
            comments=added_comments(docids, added) if add_judged else None,
        )


def some(ids: Iterable[str]) -> str:
    """The first few of several ids, for messages."""
    names = [repr(name) for name in islice(ids, 4)]
    return ", ".join([*names[:3], "…"] if len(names) > 3 else names)


def judged(judgements: Any) -> dict[str, dict[str, float]]:
    """Judgements by query and document id."""
    if isinstance(judgements, Mapping):
        return {str(q): {str(d): float(label) for d, label in own.items()} for q, own in judgements.items()}
    from plackett.data.trec import as_qrels

    labels: dict[str, dict[str, float]] = {}
    for qid, docid, label in as_qrels(judgements).select("qid", "docid", "label").iter_rows():
        labels.setdefault(str(qid), {})[str(docid)] = float(label)
    return labels
