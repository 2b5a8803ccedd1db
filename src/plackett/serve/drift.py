"""How far the documents and scores of today are from those of training."""

from __future__ import annotations

import numpy as np

from plackett.data.reference import BINS, shares_of

#: Documents that are kept, the latest ones.
_KEPT = 2_048
#: Documents taken from each request: all requests count about the same, and a request costs next to nothing.
_PER_REQUEST = 4
#: With fewer documents, no index is given.
_LEAST = 200
#: Share that an empty bin is given, so that logarithms are finite.
_FLOOR = 1e-4


def stability_index(expected: np.ndarray, observed: np.ndarray) -> np.ndarray:
    r"""Population stability index :math:`\sum_b (o_b - e_b) \ln (o_b / e_b)` along the last axis.

    Below .1 is commonly read as stable, above .25 as a shift.

    >>> float(stability_index(np.array([0.5, 0.5]), np.array([0.5, 0.5])))
    0.0
    """
    e, o = np.maximum(expected, _FLOOR), np.maximum(observed, _FLOOR)
    return ((o - e) * np.log(o / e)).sum(axis=-1)


class Drift:
    """The latest documents and their scores, compared with the training data on demand.

    Parameters
    ----------
    reference
        What `plackett.data.reference` noted at training time; None if the model has none.
    by_feature
        Whether requests hold the features that the ranker was trained on; False for a pipeline.
    """

    def __init__(self, reference: np.ndarray | None, n_features: int, *, by_feature: bool = True) -> None:
        sound = reference is not None and reference.ndim == 2 and reference.shape[1] == 2 * BINS
        self.reference = reference if sound else None
        self.by_feature = by_feature and self.reference is not None and len(self.reference) == n_features + 1
        if self.reference is None:
            return
        self._scores = np.empty(_KEPT)
        self._rows = np.empty((_KEPT, n_features if self.by_feature else 0), np.float32)
        self._next = self._seen = self._turn = 0

    def note(self, X: np.ndarray, scores: np.ndarray) -> None:
        """Keep a few of the documents of a request, from all over the list."""
        if self.reference is None or scores.ndim != 1:
            return
        step = max(len(X) // _PER_REQUEST, 1)
        self._turn += 1
        start = self._turn % step
        taken = scores[start::step][:_PER_REQUEST]
        n, at = len(taken), self._next
        if at + n > _KEPT:
            at = 0
        self._scores[at : at + n] = taken
        if self.by_feature:
            self._rows[at : at + n] = X[start::step][:_PER_REQUEST]
        self._next = at + n
        self._seen = max(self._seen, self._next)

    def of_scores(self) -> float | None:
        """Stability index of the scores; None if too little is known."""
        if self.reference is None or self._seen < _LEAST:
            return None
        return float(self._index(self.reference[-1:], self._scores[: self._seen, None])[0])

    def of_features(self) -> np.ndarray | None:
        """Stability index of each feature; None if too little is known."""
        if self.reference is None or not self.by_feature or self._seen < _LEAST:
            return None
        return self._index(self.reference[:-1], self._rows[: self._seen])

    @staticmethod
    def _index(reference: np.ndarray, values: np.ndarray) -> np.ndarray:
        edges, expected = reference[:, : BINS - 1], reference[:, BINS - 1 :]
        return stability_index(expected, shares_of(values, edges))
