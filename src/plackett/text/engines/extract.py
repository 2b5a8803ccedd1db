"""From a search engine, queries and judgements to training data."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._base.progress import progress
from plackett.data.added import added_comments
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.text.engines.engine import Engine
from plackett.text.engines.feature_log import FeatureLog, LoggedHit
from plackett.text.features.extract import judged, some

__all__ = ["extract_from_engine"]

#: Searches that are sent together.
_TOGETHER = 20
#: Documents requested by id in one search; engines return at most 10,000 hits.
_IDS = 1000


def extract_from_engine(
    engine: Engine | str,
    queries: Mapping[Any, str],
    log: FeatureLog | str,
    *,
    judgements: Any = None,
    candidates: Any = None,
    k: int = 100,
    unjudged: float = 0.0,
    add_judged: bool = False,
    verbose: bool = False,
) -> RankingDataset:
    """Features that OpenSearch or Elasticsearch logs for queries and their candidates: a dataset to train on.

    The engine needs the learning-to-rank plug-in and a stored feature set. Train on the result, export the ranker
    (`plackett export --to opensearch-ltr`), and the engine ranks with the features that it was trained on.

    Parameters
    ----------
    engine
        An `Engine`, or its address: ``"http://localhost:9200/movies"``.
    queries
        Texts by query id.
    log
        A `FeatureLog`, or the name of the feature set.
    judgements
        Labels: a mapping from query ids to mappings from document ids, a frame or a qrels file.
    candidates
        By default the k best documents of the engine's query; ``"judged"``; or document ids by query id.
    k
        Number of candidates.
    unjudged
        Label of candidates without a judgement.
    add_judged
        Whether judged documents that are not among the candidates are added, as by `plackett.extract`.
    """
    blocks = log_blocks(
        engine,
        queries,
        log,
        judgements=judgements,
        candidates=candidates,
        k=k,
        unjudged=unjudged,
        add_judged=add_judged,
        verbose=verbose,
    )
    return concat(list(blocks))


def log_blocks(
    engine: Engine | str,
    queries: Mapping[Any, str],
    log: FeatureLog | str,
    *,
    judgements: Any = None,
    candidates: Any = None,
    k: int = 100,
    unjudged: float = 0.0,
    add_judged: bool = False,
    verbose: bool = False,
) -> Iterator[RankingDataset]:
    """Like `extract_from_engine`, with the same parameters, but in pieces of a few queries each."""
    source = Engine(engine) if isinstance(engine, str) else engine
    chosen = FeatureLog(featureset=log) if isinstance(log, str) else log
    texts = {str(qid): text for qid, text in queries.items()}
    labels = None if judgements is None else judged(judgements)
    if not 1 <= k <= 10_000:
        raise DataError(f"k={k}; engines return 1 to 10,000 documents")
    if labels is None and (add_judged or candidates == "judged"):
        raise DataError("judged documents need judgements")
    if labels and not set(labels).intersection(texts):
        raise DataError(
            f"no query has a judgement: the judgements are of {some(labels)}, the queries are {some(texts)}"
        )
    given: Mapping[str, Any] | None = labels if candidates == "judged" else candidates
    if given is not None and not isinstance(given, Mapping):
        raise DataError(f"candidates={candidates!r:.100}; give 'judged', or ids of documents by query id")
    without: list[str] = []
    unknown = 0
    names: tuple[str, ...] | None = None
    batches = [list(texts)[i : i + _TOGETHER] for i in range(0, len(texts), _TOGETHER)]
    for batch in progress(batches, "queries logged", len(texts), amount=len, verbose=verbose):
        ids_of = {q: None if given is None else [str(d) for d in given.get(q, ())] for q in batch}
        hits_of = _logged_hits(source, chosen, [(q, texts[q], ids) for q, ids in ids_of.items()], k)
        if add_judged and labels is not None:
            have = {q: {hit.id for hit in hits_of[q]} for q in batch}
            extra = [(q, texts[q], [d for d in labels.get(q, ()) if d not in have[q]]) for q in batch]
            for q, hits in _logged_hits(source, chosen, extra, k).items():
                hits_of[q] += hits
        unknown += sum(len(ids) - len(hits_of[q]) for q, ids in ids_of.items() if ids is not None and not add_judged)
        without += [q for q in batch if not hits_of[q]]
        rows = [(q, hit) for q in batch for hit in hits_of[q]]
        if not rows:
            continue
        names = names or rows[0][1].names
        data = _dataset(rows, names, labels, unjudged)
        if add_judged:
            data = data.replace(comments=added_comments(data.docids, [hit.id not in have[q] for q, hit in rows]))
        yield data
    if names is None:
        raise DataError(f"{source.url}: no document was found for any of {len(texts)} queries")
    if unknown:
        warnings.warn(f"{unknown} given documents are not in the engine's index", PlackettWarning, stacklevel=2)
    if without:
        warnings.warn(
            f"{len(without)} of {len(texts)} queries have no candidates, and no rows in the result: {some(without)}",
            PlackettWarning,
            stacklevel=2,
        )


def _logged_hits(
    engine: Engine, log: FeatureLog, searches: Sequence[tuple[str, str, list[str] | None]], k: int
) -> dict[str, list[LoggedHit]]:
    """Hits by query. Where the ids are None, they are the engine's best."""
    owners, bodies = [], []
    for qid, text, ids in searches:
        groups = [None] if ids is None else [ids[i : i + _IDS] for i in range(0, len(ids), _IDS)]
        for group in groups:
            owners.append(qid)
            bodies.append(log.request(text, k, group))
    hits_of: dict[str, list[LoggedHit]] = {qid: [] for qid, _, _ in searches}
    if bodies:
        for qid, answer in zip(owners, engine.search(bodies), strict=True):
            hits_of[qid] += log.hits(answer, f"query {qid!r}")
    for qid, _, ids in searches:
        have = [hit.id for hit in hits_of[qid]]
        if len(set(have)) < len(have):  # an alias of several indices, for one
            twice = next(docid for i, docid in enumerate(have) if docid in have[:i])
            raise DataError(
                f"{engine.url}: query {qid!r}: document {twice!r} comes twice; ids must be unique: does the address "
                "stand for several indices?"
            )
        if ids is not None and not set(have) <= set(ids):
            other = next(docid for docid in have if docid not in set(ids))
            raise DataError(
                f"{engine.url}: query {qid!r}: the engine returned document {other!r}, which was not requested"
            )
    return hits_of


def _dataset(rows: list[tuple[str, LoggedHit]], names: tuple[str, ...], labels: Any, unjudged: float) -> RankingDataset:
    for qid, hit in rows:
        if hit.names != names:
            raise DataError(
                f"query {qid!r}, document {hit.id!r}: the engine logged {', '.join(hit.names)}, and before "
                f"{', '.join(names)}; was the feature set changed in between?"
            )
    y = None
    if labels is not None:
        y = np.array([labels.get(qid, {}).get(hit.id, unjudged) for qid, hit in rows], np.float64)
    return RankingDataset.from_arrays(
        np.array([hit.values for _, hit in rows], np.float32),
        y,
        np.array([qid for qid, _ in rows]),
        docids=np.array([hit.id for _, hit in rows]),
        feature_names=list(names),
    )
