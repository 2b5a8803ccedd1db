"""A dataset of features as a source: documents are ids and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._names.nearest import nearest, question
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.workbench.columns.base import Column, Query
from plackett.workbench.columns.dataset import FeatureColumn, RankerColumn
from plackett.workbench.columns.run import RunColumn
from plackett.workbench.sources.base import WorkbenchSource
from plackett.workbench.sources.runs import read_results

#: Features in the line below a document.
_SHOWN = 6


class DatasetSource(WorkbenchSource):
    """Queries with documents, features and labels."""

    kind: ClassVar[str] = "dataset"

    def __init__(self, data: RankingDataset, title: str = "dataset") -> None:
        super().__init__(title)
        self.data = data
        rows = np.repeat(np.arange(data.n_queries), np.diff(data.offsets))
        if data.docids is None:
            names = [f"{data.qids[q]}-{i - data.offsets[q] + 1}" for i, q in enumerate(rows.tolist())]
        else:
            names = [str(docid) for docid in data.docids.tolist()]
        self.docids = np.array(names, object)
        self.feature_names = (
            [str(j + 1) for j in range(data.n_features)] if data.feature_names is None else list(data.feature_names)
        )
        self.queries = {str(qid): str(qid) for qid in data.qids.tolist()}
        self._rows: dict[str, dict[str, int]] = {qid: {} for qid in self.queries}
        for q, qid in enumerate(self.queries):
            for row in range(data.offsets[q], data.offsets[q + 1]):
                self._rows[qid][names[row]] = row
        if data.y is not None:
            self.labels = {
                qid: {docid: float(data.y[row]) for docid, row in own.items() if data.y[row] >= 0}
                for qid, own in self._rows.items()
            }

    @property
    def n_documents(self) -> int:
        """Number of rows."""
        return self.data.n_rows

    def add(self, given: str) -> Column:
        """A model file, a run file, or a feature by its name or number."""
        path = Path(given)
        if path.is_file():
            if path.suffix == ".plackett":
                from plackett.rankers.storage import load

                return self.add_ranker(path.stem, load(path), ())
            return self.put(RunColumn(path.stem, read_results(path)))
        if given not in self.feature_names and given.isdecimal() and 1 <= int(given) <= len(self.feature_names):
            given = self.feature_names[int(given) - 1]
        if given not in self.feature_names:
            near = nearest(given, self.feature_names, 3)
            hint = question(near) if near else f"features are {', '.join(self.feature_names[:5])}, …"
            raise DataError(f"{given!r} is neither a file nor a feature; {hint}")
        title = given if self.data.feature_names is not None else f"feature {given}"
        column = FeatureColumn(title, self.data, self.docids, self.feature_names.index(given), title)
        return self.put(column)

    def complete(self) -> None:
        """The feature that orders the labelled documents best."""
        if self.columns:
            return
        best = 0
        if self.data.y is not None:
            from plackett.evaluation.evaluate import evaluate

            X = np.asarray(dense(self.data.X), np.float64)
            means = [
                evaluate(self.data, np.nan_to_num(X[:, j]), ["nDCG@10"]).mean["nDCG@10"] for j in range(X.shape[1])
            ]
            best = int(np.argmax(means))
        self.add(self.feature_names[best])

    def add_ranker(self, name: str, ranker: Any, features: Sequence[Any]) -> Column:
        """A fitted ranker; it finds its features by their names."""
        return self.put(RankerColumn(name, self._selected(features), self.docids, ranker))

    def _selected(self, features: Sequence[Any]) -> RankingDataset:
        names, kept = self._columns(features)
        if names == self.feature_names:
            return self.data
        per_row = np.repeat(np.array([*self.queries], object), np.diff(self.data.offsets)).astype(str)
        return RankingDataset.from_arrays(
            np.asarray(dense(self.data.X))[:, kept], self.data.y, per_row, docids=self.docids, feature_names=names
        )

    def _columns(self, features: Sequence[Any]) -> tuple[list[str], list[int]]:
        """Names and numbers of features; without names, of all."""
        names = [str(name) for name in features] or self.feature_names
        unknown = [name for name in names if name not in self.feature_names]
        if unknown:
            raise DataError(f"unknown feature {unknown[0]!r}; there are {', '.join(self.feature_names[:20])}")
        return names, [self.feature_names.index(name) for name in names]

    # ------------------------------------------------------------------------------------------------------ documents

    def cards(self, ids: Sequence[str], query: Query) -> list[dict[str, Any]]:
        """The features that set a document apart from the others of its query."""
        own = self._rows.get(query.qid or "", {})
        if not own:
            return super().cards(ids, query)
        X = np.asarray(dense(self.data.X[list(own.values())]), np.float64)
        spread = np.nanstd(X, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = np.abs(X - np.nanmean(X, axis=0)) / np.where(spread > 0, spread, np.inf)
        row_of = {docid: i for i, docid in enumerate(own)}
        cards: list[dict[str, Any]] = []
        for docid in ids:
            if docid not in row_of:
                cards.append({"id": docid, "title": docid, "snippet": []})
                continue
            i = row_of[docid]
            most = np.argsort(-np.nan_to_num(apart[i]), kind="stable")[:_SHOWN]
            features = ", ".join(f"{self.feature_names[j]} {X[i, j]:.4g}" for j in most.tolist())
            cards.append({"id": docid, "title": docid, "snippet": [[features, False]]})
        return cards

    def document(self, docid: str, query: Query) -> dict[str, Any]:
        """All features."""
        row = self._rows.get(query.qid or "", {}).get(docid)
        if row is None:
            raise DataError(f"query {query.qid!r} has no document {docid!r}")
        values = np.asarray(dense(self.data.X[[row]]))[0].tolist()
        fields = [
            {"name": name, "kind": "number", "value": [[f"{value:.6g}", False]]}
            for name, value in zip(self.feature_names, values, strict=True)
        ]
        return {"id": docid, "title": docid, "fields": fields}

    # ------------------------------------------------------------------------------------------------------- training

    def feature_choice(self) -> list[dict[str, Any]]:
        """All features."""
        return [{"name": name, "chosen": True} for name in self.feature_names]

    def training_data(
        self,
        queries: Mapping[str, str],
        labels: Mapping[str, Mapping[str, float]],
        features: Sequence[str],
        *,
        judged_only: bool = False,
    ) -> RankingDataset:
        """The rows of the queries, with the current labels; documents without one count as not relevant."""
        names, kept = self._columns(features)
        chosen = [
            (qid, docid, row)
            for qid in queries
            if qid in labels
            for docid, row in self._rows.get(qid, {}).items()
            if not judged_only or docid in labels[qid]
        ]
        if not chosen:
            raise DataError("none of these queries has a judgement; judge some documents first")
        X = np.asarray(dense(self.data.X[[row for _, _, row in chosen]]))[:, kept]
        y = [labels[qid].get(docid, 0.0) for qid, docid, _ in chosen]
        qids, docids = [qid for qid, _, _ in chosen], [docid for _, docid, _ in chosen]
        return RankingDataset.from_arrays(X, y, qids, docids=docids, feature_names=names)
