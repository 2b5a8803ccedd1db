"""TREC runs as a source: lists of ids and scores, without documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.trec import read_run
from plackett.workbench.columns.base import Column, Query, Ranked, ranked
from plackett.workbench.columns.run import RunColumn
from plackett.workbench.sources.base import WorkbenchSource


def read_results(path: Path) -> dict[str, dict[str, float]]:
    """A run file: scores by query and document, the best document first."""
    scores: dict[str, dict[str, float]] = {}
    for qid, docid, score in read_run(path).iter_rows():
        scores.setdefault(str(qid), {})[str(docid)] = float(score)
    return {qid: dict(sorted(own.items(), key=lambda entry: -entry[1])) for qid, own in scores.items()}


class _FusedColumn(Column):
    """A ranker trained on where the runs have a document."""

    kind: ClassVar[str] = "ranker"

    def __init__(self, name: str, source: RunsSource, ranker: Any, features: Sequence[str]) -> None:
        super().__init__(name, f"{type(ranker).__name__} on the runs")
        self.source, self.ranker, self.features = source, ranker, features

    def rank(self, query: Query, k: int, filters: str = "") -> Ranked:
        """The documents of all runs by the ranker's score."""
        ids, rows = self.source.places(query.qid or "", self.features)
        if not ids:
            return Ranked([], [])
        data = RankingDataset.from_arrays(rows, None, feature_names=list(self.features))
        return ranked(dict(zip(ids, np.asarray(self.ranker.predict(data)).tolist(), strict=True)), k)


class RunsSource(WorkbenchSource):
    """Runs, and judgements if there are any."""

    kind: ClassVar[str] = "runs"

    def __init__(self, title: str = "runs") -> None:
        super().__init__(title)

    @property
    def n_documents(self) -> int:
        """Number of documents that a run has."""
        return len({docid for column in self._runs() for own in column.results.values() for docid in own})

    def _runs(self) -> list[RunColumn]:
        return [column for column in self.columns.values() if isinstance(column, RunColumn)]

    def add(self, given: str) -> Column:
        """A run file; its queries become queries of the source."""
        path = Path(given)
        if not path.is_file():
            raise DataError(f"{given}: no such file")
        results = read_results(path)
        self.queries = dict.fromkeys(sorted({*self.queries, *results}, key=_natural), "")
        self.queries = {qid: qid for qid in self.queries}
        return self.put(RunColumn(path.stem, results))

    def add_ranker(self, name: str, ranker: Any, features: Sequence[Any]) -> Column:
        """A ranker of `training_data`."""
        return self.put(_FusedColumn(name, self, ranker, [str(f) for f in features] or self.feature_names))

    @property
    def feature_names(self) -> list[str]:
        """One feature per run."""
        return [column.name for column in self._runs() if column.about == "run"]

    def feature_choice(self) -> list[dict[str, Any]]:
        """The runs: 1/rank in each, 0 where it lacks the document."""
        return [{"name": name, "chosen": True} for name in self.feature_names]

    def places(self, qid: str, features: Sequence[str], extra: Sequence[str] = ()) -> tuple[list[str], np.ndarray]:
        """Documents that a run has for a query (and others), with 1/rank in each run."""
        lists = [self.columns[name].rank(Query(qid, ""), 10**9).ids for name in features]
        ids = list(dict.fromkeys([docid for own in lists for docid in own] + list(extra)))
        rows = np.zeros((len(ids), len(lists)), np.float32)
        number = {docid: i for i, docid in enumerate(ids)}
        for j, own in enumerate(lists):
            rows[[number[docid] for docid in own], j] = 1.0 / np.arange(1, len(own) + 1)
        return ids, rows

    def training_data(
        self,
        queries: Mapping[str, str],
        labels: Mapping[str, Mapping[str, float]],
        features: Sequence[str],
        *,
        judged_only: bool = False,
    ) -> RankingDataset:
        """1/rank of each document in each run."""
        names = [*features] or self.feature_names
        unknown = [name for name in names if name not in self.columns]
        if unknown or not names:
            raise DataError(f"unknown run {unknown[:1]}; there are {', '.join(self.feature_names) or 'none'}")
        ids: list[str] = []
        qids: list[str] = []
        blocks: list[np.ndarray] = []
        for qid in queries:
            if qid in labels:
                own, rows = self.places(qid, names, list(labels[qid]))
                if judged_only:
                    kept = [i for i, docid in enumerate(own) if docid in labels[qid]]
                    own, rows = [own[i] for i in kept], rows[kept]
                ids += own
                qids += [qid] * len(own)
                blocks.append(rows)
        if not ids:
            raise DataError("none of these queries has a judgement; judge some documents first")
        y = [labels[qid].get(docid, 0.0) for qid, docid in zip(qids, ids, strict=True)]
        return RankingDataset.from_arrays(np.concatenate(blocks), y, qids, docids=ids, feature_names=names)


def _natural(qid: str) -> tuple[Any, ...]:
    """Numbers in ids by their value."""
    return (0, int(qid), "") if qid.isascii() and qid.isdigit() else (1, 0, qid)
