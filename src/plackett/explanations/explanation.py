"""The explanation of the order of a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from plackett._base.errors import DataError
from plackett.explanations.passing import ways_to_pass
from plackett.explanations.sampling import standard_error

#: Given a document's number, versions of it and another number: the score that this one has with each of the versions.
Score = Callable[[int, np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class Explanation:
    """Contributions of the features to the scores of one query's documents.

    A document is named by its id if the data have document ids, otherwise by its position in the query, from 0.

    Attributes
    ----------
    qid
        The query.
    documents, scores
        Its documents and their scores, in the order of the data.
    feature_names
        Names of the features; numbers from 1, as in LETOR files, if they have none.
    X
        Their values, documents × features.
    contributions, base
        What each feature adds to each score: ``base[i] + contributions[i].sum()`` is ``scores[i]``.
    standard_error
        Standard error of each contribution if sampled; None if exact.
    categories
        The values of features that hold categories, in the order of their codes in ``X``. The tables then have columns
        with the values next to those with the codes.
    method
        ``"linear"``, ``"additive"``, ``"trees"`` (exact) or ``"sampling"``.
    """

    qid: Any
    documents: list[Any]
    feature_names: list[str]
    X: np.ndarray
    scores: np.ndarray
    contributions: np.ndarray
    base: np.ndarray
    method: str
    standard_error: np.ndarray | None = None
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    _score: Score | None = field(default=None, repr=False)
    _seen: np.ndarray | None = field(default=None, repr=False)
    _draws: np.ndarray | None = field(default=None, repr=False)

    def ranking(self) -> pl.DataFrame:
        """The documents from best to worst with their scores and the two features that count most for each."""
        order = np.argsort(-self.scores, kind="stable")
        most = np.argsort(-np.abs(self.contributions[order]), axis=1)[:, :2]
        reasons = {
            f"reason {k + 1}": [
                f"{self.feature_names[j]} {self.contributions[i, j]:+.4g}" for i, j in zip(order, column, strict=True)
            ]
            for k, column in enumerate(most.T)
        }
        documents = [self.documents[i] for i in order]
        return pl.DataFrame(
            {"position": range(1, order.size + 1), "document": documents, "score": self.scores[order], **reasons}
        )

    def document(self, document: Any) -> pl.DataFrame:
        """Value and contribution of each feature of one document, largest first."""
        i = self._index(document)
        columns = {"feature": self.feature_names, "value": self.X[i], "contribution": self.contributions[i]}
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error[i]
        return self._with_values(_largest_first(pl.DataFrame(columns)), {"value": "category"})

    def pair(self, above: Any, below: Any) -> pl.DataFrame:
        """Why one document is above another: what each feature adds to the difference of their scores.

        The contributions add up to the difference. In a list-aware model the two documents also have different
        neighbours; that effect is a separate row, ``(other documents)``.
        """
        a, b = self._index(above), self._index(below)
        columns = {
            "feature": self.feature_names,
            "above": self.X[a],
            "below": self.X[b],
            "contribution": self.contributions[a] - self.contributions[b],
        }
        if self.standard_error is not None:
            if self._draws is None:
                columns["standard_error"] = np.hypot(self.standard_error[a], self.standard_error[b])
            else:  # both documents were explained with the same draws
                columns["standard_error"] = standard_error(self._draws[a].astype(np.float64) - self._draws[b])
        neighbours = float(self.base[a] - self.base[b])
        if abs(neighbours) > 1e-6 * (1.0 + float(np.abs(self.scores[[a, b]]).max())):
            more = {"feature": "(other documents)", "above": np.nan, "below": np.nan, "contribution": neighbours}
            columns = {name: [*values, more.get(name, np.nan)] for name, values in columns.items()}
        values_of = {"above": "above_category", "below": "below_category"}
        return self._with_values(_largest_first(pl.DataFrame(columns)), values_of)

    def to_pass(self, below: Any, above: Any) -> pl.DataFrame:
        """Find what would have to change for one document to pass another.

        One row per feature that can do it alone: the value nearest to the present one that lifts the document above
        the other, among the values seen, and its distance in standard deviations of the feature; nearest first. The
        values seen are those of the query's documents and of up to 1,000 documents of the data, drawn at random (100
        for list-aware models). If no single feature can, the rows are a few features that must change together, found
        greedily by taking the one that lifts the score most; ``together`` is then true. Fewer might be enough.
        No rows: no change of up to eight features was found.
        """
        if self._score is None or self._seen is None:
            raise DataError("this explanation has no ranker; create it with plackett.explain")
        a, b, score = self._index(above), self._index(below), self._score
        if a == b:
            raise DataError(f"document {below!r} cannot pass itself")
        if self.scores[b] > self.scores[a]:
            raise DataError(f"document {below!r} is already above {above!r}")
        # where the model looks at the whole list, the other document's score changes too
        ways = ways_to_pass(
            lambda rows: (score(b, rows, b), score(b, rows, a)), self.X[b], self._seen, self.feature_names
        )
        return self._with_values(ways, {"from": "from_category", "to": "to_category"})

    def _with_values(self, frame: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
        """The table with the values that codes stand for, null for numbers, if features hold categories."""
        if not self.categories:
            return frame
        texts = {
            name: [self._value(feature, code) for feature, code in frame.select("feature", codes).iter_rows()]
            for codes, name in names.items()
        }
        return frame.with_columns(pl.Series(name, values, pl.String) for name, values in texts.items())

    def _value(self, feature: str, code: float) -> str | None:
        values = self.categories.get(feature, ())
        return str(values[int(code)]) if 0 <= code < len(values) else None  # NaN is a missing value

    def _index(self, document: Any) -> int:
        if document in self.documents:
            return self.documents.index(document)
        near = ", ".join(map(repr, self.documents[:3]))
        raise DataError(f"query {self.qid!r} has no document {document!r}; it has {len(self.documents)}: {near}, …")


def _largest_first(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sort(pl.col("contribution").abs(), descending=True, maintain_order=True)
