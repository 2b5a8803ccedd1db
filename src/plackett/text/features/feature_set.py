"""A set of features, declared as a list, and its values for query–document pairs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._base.progress import progress
from plackett._kernels.cores import n_threads
from plackett.text.features.base import Batch, Feature, FeatureJob
from plackett.text.features.declaration import feature_of, features_of_file
from plackett.text.index.index import Index
from plackett.text.retrieval.base import as_queries
from plackett.text.retrieval.queries import Queries

__all__ = ["FeatureSet"]

#: Pairs of a batch: their term counts fit into the processor's cache.
_ROWS = 8192


class FeatureBlock(NamedTuple):
    """Features of the pairs of some queries: numbers ``lo`` to before ``hi``."""

    lo: int
    hi: int
    #: float32, a row per pair.
    X: np.ndarray


class FeatureSet:
    """An ordered set of features of query–document pairs.

    Parameters
    ----------
    features
        `Feature` objects, retrieval models (on the default field), declarations as in a file (mappings), or names of
        LETOR's sets (``"ohsumed"``, ``"gov"``, ``"gov2"``).

    Examples
    --------
    >>> from plackett.text import BM25, Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales", "year": 1999}), Document("b", {"body": "blue sky"})])
    >>> features = FeatureSet([BM25(), {"model": "LMIR.DIR", "mu": 10}, {"attribute": "year"}])
    >>> features.names
    ['BM25()', 'Dirichlet(mu=10)', 'year']
    >>> features.matrix(index, ["blue whale"], [0, 2], [0, 1]).round(1).astype(str).tolist()
    [['0.9', '-1.9', '1999.0'], ['0.2', '-2.3', 'nan']]
    """

    def __init__(self, features: Iterable[Any]) -> None:
        self.features: list[Feature] = []
        for given in [features] if isinstance(features, str) else features:
            self.features.extend([given] if isinstance(given, Feature) else feature_of(given))
        if not self.features:
            raise DataError("no features; name at least one")
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise DataError(f"features {', '.join(map(repr, twice))} occur more than once; give them names")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> FeatureSet:
        """Read declarations from a YAML or JSON file: see the guide to features."""
        return cls(features_of_file(path))

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        return f"FeatureSet({len(self)} features)"

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [feature.title for feature in self.features]

    def describe(self) -> Any:
        """A polars frame with the name, kind, stream and cost of each feature."""
        import polars as pl

        rows = [(f.title, f.kind, f.stream, f.cost) for f in self.features]
        return pl.DataFrame(rows, schema=["name", "kind", "stream", "cost"], orient="row")

    def matrix(
        self,
        index: Index,
        queries: Any,
        offsets: Any,
        documents: Any,
        *,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> np.ndarray:
        """Features of candidates, float32: ``documents[offsets[q]:offsets[q + 1]]`` are those of query q, by number."""
        offsets = np.asarray(offsets, np.int64)
        out = np.empty((int(offsets[-1]), len(self)), np.float32)
        blocks = self.blocks(index, queries, offsets, documents, n_jobs=n_jobs, verbose=verbose, _out=out)
        for _ in blocks:
            pass
        return out

    def blocks(
        self,
        index: Index,
        queries: Any,
        offsets: Any,
        documents: Any,
        *,
        n_jobs: int | None = None,
        verbose: bool = False,
        _out: np.ndarray | None = None,
    ) -> Iterator[FeatureBlock]:
        """Like `matrix`, but piece by piece and in order, for more pairs than fit into memory."""
        analysed: Queries = as_queries(queries, index)
        offsets, documents = np.asarray(offsets, np.int64), np.asarray(documents, np.int64)
        if offsets.size != len(analysed) + 1 or offsets[-1] != documents.size:
            raise DataError(f"{len(analysed)} queries need {len(analysed) + 1} offsets that end at {documents.size}")
        if documents.size and not (documents.min() >= 0 and documents.max() < index.n_documents):
            raise DataError(f"candidates must be numbers of documents, from 0 to {index.n_documents - 1}")
        job = FeatureJob(index, analysed, offsets, documents)
        ranges = job.batches(_ROWS)

        def compute(query_range: tuple[int, int]) -> FeatureBlock:
            lo, hi = query_range
            rows = slice(offsets[lo], offsets[hi])
            out = np.empty((offsets[hi] - offsets[lo], len(self)), np.float32) if _out is None else _out[rows]
            self._fill(Batch(job, lo, hi), out)
            return FeatureBlock(lo, hi, out)

        done = _in_order(compute, ranges, n_threads(n_jobs))
        yield from progress(
            done,
            "computing features",
            documents.size,
            amount=lambda block: len(block.X),
            verbose=verbose,
        )

    def _fill(self, batch: Batch, out: np.ndarray) -> None:
        with np.errstate(over="ignore"):
            for j, feature in enumerate(self.features):
                out[:, j] = feature.values(batch)


def _in_order(compute: Any, ranges: list[tuple[int, int]], threads: int) -> Iterator[FeatureBlock]:
    """Results in the order of the ranges; at most two per thread are computed ahead."""
    if threads == 1 or len(ranges) < 3:
        yield from map(compute, ranges)
        return
    # the first alone: it fills what all share (fields, numbers per document), and compiles kernels
    yield compute(ranges[0])
    with ThreadPoolExecutor(threads, thread_name_prefix="features") as pool:
        waiting: list[Any] = []
        for query_range in ranges[1:]:
            waiting.append(pool.submit(compute, query_range))
            if len(waiting) > 2 * threads:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()
