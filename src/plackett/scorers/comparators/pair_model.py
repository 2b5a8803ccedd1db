"""Models of pairs: from the features of two documents to the probability that the first belongs before the second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from plackett._base.errors import DataError
from plackett.aggregation.orderings.preference import Preference, symmetrised
from plackett.scorers.base import Scorer, Size, check_size
from plackett.scorers.comparators.base import Comparator
from plackett.scorers.fields import choice, inner
from plackett.scorers.linear import LinearScorer

__all__ = ["ForeignComparator", "ModelComparator"]

#: Pairs whose features are formed at a time.
_AT_ONCE = 1 << 15


def _joined(*tables: Any) -> Any:
    if isinstance(tables[0], np.ndarray):
        return np.hstack(tables)
    from scipy.sparse import hstack

    return hstack(tables, format="csr")


#: Features of a pair from those of its documents.
PAIR_FEATURES: dict[str, Callable[[Any, Any], Any]] = {
    "difference": lambda u, v: u - v,
    "concatenation": lambda u, v: _joined(u, v),
    "both": lambda u, v: _joined(u, v, u - v),
}

#: Weights for the first and for the second document of a pair, from those of a linear model of the pair's features.
_DOCUMENT_WEIGHTS: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "difference": lambda w: (w, -w),
    "concatenation": lambda w: (w[: len(w) // 2], w[len(w) // 2 :]),
    "both": lambda w: (
        w[: len(w) // 3] + w[2 * len(w) // 3 :],
        w[len(w) // 3 : 2 * len(w) // 3] - w[2 * len(w) // 3 :],
    ),
}


def pair_table(X: Any, first: np.ndarray, second: np.ndarray, features: str) -> Any:
    """Features of the pairs of some rows: one row per pair, float32, sparse where X is."""
    return PAIR_FEATURES[features](X[first], X[second])


def _in_blocks(chance: Callable[[Any], np.ndarray], X: Any, features: str) -> Preference:
    """The preference function of a model of pairs, evaluated in both directions."""

    def ask(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        parts = [slice(i, i + _AT_ONCE) for i in range(0, first.size, _AT_ONCE)]
        return np.concatenate([chance(pair_table(X, first[p], second[p], features)) for p in parts] or [np.empty(0)])

    return symmetrised(ask)


@dataclass(frozen=True)
class ModelComparator(Comparator):
    """A scorer of pairs, whose score is the log-odds that the first document belongs before the second."""

    kind: ClassVar[str] = "pair_model"
    scorer: Scorer = inner()
    features: str = choice(lambda: PAIR_FEATURES)

    @property
    def size(self) -> Size | None:
        """What it takes and gives; a scorer of pairs takes the features of documents once or several times."""
        own = self.scorer.size
        if own is None:
            return None
        times = pair_table(np.zeros((1, 1)), np.zeros(1, int), np.zeros(1, int), self.features).shape[1]
        if own.n_features % times:
            raise DataError(f"array {own.array!r} is for {own.n_features} features of pairs by {self.features}")
        return Size(f"comparator.scorer.{own.array}", own.n_features // times)

    def bind(self, X: Any, n_jobs: int | None) -> Preference:
        """The probability that a row belongs before another one."""
        if isinstance(self.scorer, LinearScorer):  # a sum over the two documents: no pair need be formed
            weights = _DOCUMENT_WEIGHTS[self.features](self.scorer.weights)
            none = np.zeros(1)
            a, b = (LinearScorer(own, none).predict(X, np.empty(0), n_jobs) for own in weights)
            bias = float(self.scorer.intercept[0])
            return symmetrised(lambda first, second: expit(a[first] + b[second] + bias))

        def chance(table: Any) -> np.ndarray:
            return expit(self.scorer.predict(table, np.arange(table.shape[0] + 1), n_jobs))

        return _in_blocks(chance, X, self.features)

    def check(self) -> None:
        """The scorer gives one score of a pair."""
        check_size(self.scorer, "model of pairs", None)


@dataclass(frozen=True)
class ForeignComparator(Comparator):
    """A classifier of another library, with ``predict_proba``."""

    kind: ClassVar[str] = "foreign"
    classifier: Any
    features: str

    def bind(self, X: Any, n_jobs: int | None) -> Preference:
        """The probability that a row belongs before another one."""
        column = self.classifier.classes_.tolist().index(1)

        def chance(table: Any) -> np.ndarray:
            return np.asarray(self.classifier.predict_proba(table)[:, column], np.float64)  # some answer in float32

        return _in_blocks(chance, X, self.features)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Raise an error: the classifier has no form that is safe to load."""
        raise DataError(
            f"a {type(self.classifier).__name__} cannot be saved without pickle; train with estimator='linear', "
            "'trees' or another model of plackett instead, or pickle the ranker yourself"
        )
