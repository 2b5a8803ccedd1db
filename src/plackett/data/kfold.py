"""Cross-validation that never splits a query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._base.process import is_own_process
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import group_rows, ids_array
from plackett.data.ids import order_of

__all__ = ["QueryKFold"]

if TYPE_CHECKING or not is_own_process():
    from sklearn.model_selection import BaseCrossValidator
else:  # see plackett._base.estimator
    BaseCrossValidator = object


class QueryKFold(BaseCrossValidator):
    """K-fold cross-validation over whole queries, for `cross_validate`, `GridSearchCV` and similar tools.

    The queries, in order of appearance, are split into ``n_splits`` parts with the same number of queries; each part is
    the test set once. Pass the ids as ``qid`` (by metadata routing, nothing to request), as ``groups``, or from ``X``:
    a frame with a column ``qid`` or a `RankingDataset`. A dataset is split into datasets, everything else into row
    numbers.

    Parameters
    ----------
    n_splits
        Number of folds, at least 2.
    shuffle
        Draw the parts at random. Which part a query gets does not depend on the order of the rows.
    random_state
        Seed of the shuffling.

    Examples
    --------
    >>> for train, test in QueryKFold(2).split(np.zeros((5, 1)), qid=["a", "b", "a", "c", "d"]):
    ...     print(train, test)
    [3 4] [0 1 2]
    [0 1 2] [3 4]
    """

    __metadata_request__split = {"qid": True, "groups": True}  # noqa: RUF012 - read by scikit-learn from the class

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        whole("n_splits", n_splits, least=2)
        if random_state is not None and not shuffle:
            raise DataError("random_state has no effect without shuffle=True")
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:
        """Number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None, qid: Any = None) -> Iterator[tuple[Any, Any]]:
        """Pairs of training and test part."""
        if isinstance(X, RankingDataset):
            for test in self._parts(X.qids):
                yield X.select(~test), X.select(test)
            return
        if qid is None:
            qid = groups
        if qid is None and hasattr(X, "columns") and "qid" in X.columns:
            qid = X["qid"]
        if qid is None:
            raise DataError(
                "QueryKFold needs the query of each row: give qid= (inside scikit-learn with "
                "sklearn.set_config(enable_metadata_routing=True)), groups=, or a frame with a column qid"
            )
        ids = ids_array(qid, "qid")
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if ids.size != n_rows:
            raise DataError(f"lengths differ: X has {n_rows} rows, qid {ids.size}")
        offsets, qids, rows = group_rows(ids)
        rows = np.arange(ids.size) if rows is None else rows
        for part in self._parts(qids):
            test = np.empty(ids.size, bool)
            test[rows] = np.repeat(part, np.diff(offsets))
            yield np.flatnonzero(~test), np.flatnonzero(test)

    def _parts(self, qids: np.ndarray) -> Iterator[np.ndarray]:
        """For each fold, which queries are tested."""
        if self.n_splits > qids.size:
            raise DataError(f"n_splits is {self.n_splits}, but there are only {qids.size} queries")
        order = np.arange(qids.size)
        if self.shuffle:
            order = _random(self.random_state).permutation(order_of(qids))
        for chosen in np.array_split(order, self.n_splits):
            test = np.zeros(qids.size, bool)
            test[chosen] = True
            yield test

    def _iter_test_indices(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[np.ndarray]:
        return (test for _, test in self.split(X, y, groups))


def _random(random_state: Any) -> np.random.RandomState:
    """scikit-learn's `check_random_state`, without importing it for a seed."""
    if isinstance(random_state, (int, np.integer)):
        return np.random.RandomState(random_state)
    from sklearn.utils import check_random_state

    return check_random_state(random_state)
