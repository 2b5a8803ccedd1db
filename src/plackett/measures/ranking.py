"""The documents of each query in the order of their scores, and the tie rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import MeasureError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.randomness import mix
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of
from plackett.data.ids import distinct

__all__ = ["TIES"]

#: The rules for documents of equal score. For each: the order inside a tie is by a key (`_tie_key`), then …
TIES = {
    "expected": "the measure's mean over all orders of the tied documents",
    "stable": "the order of the rows",
    "pessimistic": "lower labels first",
    "optimistic": "higher labels first",
    "random": "one order drawn with `random_state`",
    "trec": "scores rounded to float32, then larger document ids first (trec_eval's rule)",
}


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranked lists, flat over all queries: the input of the measures' kernels.

    Positions of query ``q`` are ``offsets[q]:offsets[q + 1]``; the first ``depth[q]`` of them are the ranked
    documents, best first; the others were not retrieved. ``labels[i]`` is the label at position ``i``, ``rows[i]`` its
    row in the dataset, ``tie_end[i]`` the end of its block of tied documents. Blocks are longer than one only under the
    rule ``expected``: the measure then takes its mean over the orders of each block, whose documents are listed by
    descending label so that sums do not depend on the order of the rows.
    """

    data: RankingDataset
    labels: np.ndarray
    rows: np.ndarray
    depth: np.ndarray
    tie_end: np.ndarray
    n_jobs: int | None = None
    #: Values derived from this ranking, cached for other measures to reuse.
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def offsets(self) -> np.ndarray:
        """First position of each query."""
        return self.data.offsets

    @property
    def longest(self) -> int:
        """Length of the longest list, at least 1."""
        return int(self.data.group.max(initial=1))

    @cached_property
    def tied(self) -> np.ndarray:
        """Whether each query has an unbroken tie."""
        longer = self.tie_end != np.arange(1, self.tie_end.size + 1)
        return np.logical_or.reduceat(np.append(longer, False), self.offsets[:-1]) & (np.diff(self.offsets) > 0)

    def run(self, kernel: Any, *parameters: Any) -> np.ndarray:
        """Values per query of ``kernel(lo, hi, offsets, labels, depth, tie_end, *parameters, out)``."""
        out = np.empty(self.data.n_queries)
        over_queries(kernel, self.offsets, self.labels, self.depth, self.tie_end, *parameters, out, n_jobs=self.n_jobs)
        return out

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """``make()`` at the first call with this key, the same object afterwards."""
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    def shuffled(self, seed: int) -> Ranking:
        """The same ranking with every block of tied documents in one random order, a function of seed and content.

        The draws of a query depend on its labels, not on its position among the queries.
        """
        labels, rows = self.labels.copy(), self.rows.copy()
        over_queries(_shuffle, self.offsets, self.tie_end, np.uint64(seed), labels, rows, n_jobs=self.n_jobs)
        return replace(self, labels=labels, rows=rows, tie_end=np.arange(1, labels.size + 1))


def list_ranking(labels: Any) -> Ranking:
    """One list of labels, best rank first, as a ranking without ties."""
    data = RankingDataset.from_arrays(None, labels)
    return Scored(data, -np.arange(data.n_rows), n_jobs=1).ranking("stable")


class Scored:
    """The scores of a dataset's rows; builds the ranking for each tie rule once.

    Parameters
    ----------
    data
        The dataset, with labels.
    scores
        One score per row in the grouped order of the dataset, larger is better; or a fitted ranker.
    retrieved
        Which rows were ranked (a run may lack judged documents); default: all.
    """

    def __init__(
        self,
        data: RankingDataset,
        scores: Any,
        retrieved: np.ndarray | None = None,
        *,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        scores = scores_of(data, scores)
        self.data = data
        self.scores = scores
        self.retrieved = np.ones(data.n_rows, bool) if retrieved is None else np.ascontiguousarray(retrieved, bool)
        self.random_state = random_state
        self.n_jobs = n_jobs
        self._rankings: dict[str, Ranking] = {}

    def ranking(self, ties: str) -> Ranking:
        """The ranked lists under a tie rule."""
        if ties not in self._rankings:
            self._rankings[ties] = self._rank(ties)
        return self._rankings[ties]

    def _rank(self, ties: str) -> Ranking:
        if ties == "random":
            return self.ranking("expected").shuffled(self.random_state)
        data, n = self.data, self.data.n_rows
        labels, rows = np.empty(n), np.empty(n, np.int64)
        tie_end, depth = np.empty(n, np.int64), np.empty(data.n_queries, np.int64)
        scores = self.scores
        if ties == "trec":
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32).astype(np.float64)
        over_queries(
            _rank_queries,
            data.offsets,
            _read_only(scores),
            data.labels,
            self.retrieved,
            _read_only(_tie_key(data, ties)),
            ties == "expected",
            labels,
            rows,
            depth,
            tie_end,
            n_jobs=self.n_jobs,
        )
        return Ranking(data, labels, rows, depth, tie_end, self.n_jobs)


def _read_only(values: np.ndarray) -> np.ndarray:
    """A view to read from: the kernel is compiled once, not again for arrays that could be written to."""
    values = values.view()
    values.flags.writeable = False
    return values


def _tie_key(data: RankingDataset, ties: str) -> np.ndarray:
    """Key by which tied documents are ordered, larger first; empty for the order of the rows."""
    if ties == "trec":
        return docid_key(data, "ties='trec'")
    return {"stable": np.empty(0), "pessimistic": -data.labels}.get(ties, data.labels)


def docid_key(data: RankingDataset, rule: str) -> np.ndarray:
    """Number of each row's document id in the order of the ids as text."""
    if data.docids is None:
        raise MeasureError(f"{rule} orders tied documents by id, but the dataset has no docids")
    if "docid key" not in data.memo:
        ids = data.docids if data.docids.dtype.kind == "T" else data.docids.astype(np.dtypes.StringDType())
        data.memo["docid key"] = distinct(ids)[1].astype(np.float64)
    key: np.ndarray = data.memo["docid key"]
    return key


@kernel
def _rank_queries(
    lo, hi, offsets, scores, labels, retrieved, tie_key, open_ties, out_labels, out_rows, out_depth, tie_end
):
    n_max = longest(lo, hi, offsets)
    keys, order, spare_keys, spare_order = sorting_memory(n_max)
    source = np.empty(n_max, np.int64)
    tie_keys = np.empty(n_max, np.float64)
    tie_order = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        n = np.int64(0)  # not 0: each kernel that takes n would be compiled for 0, too
        last = b
        for i in range(a, b):
            if retrieved[i]:
                keys[n] = scores[i]
                source[n] = i
                n += 1
        for i in range(b - 1, a - 1, -1):
            if not retrieved[i]:
                last -= 1
                out_rows[last] = i
        out_depth[q] = n
        argsort_descending(keys, order, spare_keys, spare_order, n)
        for i in range(n):
            out_rows[a + i] = source[order[i]]
        start = 0
        while start < n:
            stop = start + 1
            while stop < n and keys[stop] == keys[start]:
                stop += 1
            if stop > start + 1 and tie_key.size > 0:
                for i in range(start, stop):
                    tie_keys[i - start] = tie_key[out_rows[a + i]]
                    order[i] = out_rows[a + i]
                argsort_descending(tie_keys, tie_order, spare_keys, spare_order, stop - start)
                for i in range(start, stop):
                    out_rows[a + i] = order[start + tie_order[i - start]]
            for i in range(start, stop):
                tie_end[a + i] = a + stop if open_ties else a + i + 1
            start = stop
        for i in range(a + n, b):
            tie_end[i] = i + 1
        for i in range(a, b):
            out_labels[i] = labels[out_rows[i]]


@kernel
def _shuffle(lo, hi, offsets, tie_end, seed, labels, rows):
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        state = mix(seed ^ np.uint64(b - a))
        for i in range(a, b):
            state = mix(state ^ np.float64(labels[i]).view(np.uint64))
        start = a
        while start < b:
            stop = tie_end[start]
            for i in range(stop - 1, start, -1):
                state = mix(state)
                j = start + np.int64(state % np.uint64(i - start + 1))
                labels[i], labels[j] = labels[j], labels[i]
                rows[i], rows[j] = rows[j], rows[i]
            start = stop
