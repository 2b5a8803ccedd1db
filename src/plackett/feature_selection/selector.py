"""What selectors of features have in common: they learn which columns to keep, and drop the others."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.transformer import QueryTransformer, has_qid


class FeatureSelector(QueryTransformer):
    """Base class of transformers that keep some of the features. A subclass implements `_choose`.

    ``X`` is an array or frame with ``y`` and ``qid``, a frame with a ``qid`` column (which is kept) or a
    `RankingDataset` with labels (returns a dataset). The kept features stay in their order.

    Attributes
    ----------
    selected_
        Indices of the features that are kept, in the order in which they were selected.
    """

    needs_queries = False

    def fit(self, X: Any, y: Any = None, *, qid: Any = None) -> Self:
        """Select the features on data with labels."""
        features = self._check(X, reset=True)
        data = X
        if not isinstance(X, RankingDataset):
            if y is None:
                raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None")
            ids = X["qid"] if has_qid(X) and qid is None else qid
            data = RankingDataset.from_arrays(features, y, ids)
        self.selected_ = np.asarray(self._choose(data), np.int64)
        return self

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Which features are kept: a mask, or with ``indices`` their numbers from 0 in ascending order."""
        self.check_fitted()
        kept = np.sort(self.selected_)
        return kept if indices else np.isin(np.arange(self.n_features_in_), kept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    def _choose(self, data: RankingDataset) -> np.ndarray:
        """Indices of the features to keep."""
        raise NotImplementedError

    def apply(self, features: Any, offsets: np.ndarray) -> Any:
        """The new features of rows that are grouped by query."""
        return features[:, np.sort(self.selected_)]

    def names_out(self, names: Any) -> Any:
        """Names of the new features, given those of the old ones."""
        kept = set(self.selected_.tolist())
        features = [name for name in names if name != "qid"] if len(names) > self.n_features_in_ else list(names)
        dropped = {name for j, name in enumerate(features) if j not in kept}
        return [name for name in names if name not in dropped]

    def _with_columns(self, frame: Any, features: np.ndarray) -> Any:
        kept = self.names_out(list(frame.columns))
        return frame[kept]

    def restored(self) -> None:
        """Check what was read from a file."""
        self.selected_ = np.asarray(self.selected_, np.int64)
        some = self.selected_
        if some.ndim != 1 or not some.size or np.unique(some).size != some.size:
            raise DataError(f"the selected features of a {type(self).__name__} are damaged")
        if ((some < 0) | (some >= self.n_features_in_)).any():
            raise DataError(f"the selected features of a {type(self).__name__} are damaged")
