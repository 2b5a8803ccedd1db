"""What recommenders with factors share: scores, lists and files."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from dataclasses import fields
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError, reading
from plackett._files import storage
from plackett._files.checks import offsets_fit
from plackett._kernels.kernel import kernel
from plackett.applications.ratings import Ratings, numbers_of
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import ids_array
from plackett.scorers.plain_values import from_plain, to_plain

#: Learned arrays that every recommender has.
_ARRAYS = ("user_factors_", "item_factors_", "item_bias_", "_unknown_user", "_seen_offsets", "_seen_items")


@kernel
def pair_scores(user, item, P, Q, b, out):
    """Scores b + p·q of pairs of a user and an item; 0 where the item is −1."""
    for r in range(user.size):
        if item[r] < 0:
            out[r] = 0.0
            continue
        p, q = P[user[r]], Q[item[r]]
        total = b[item[r]]
        for k in range(p.size):
            total += p[k] * q[k]
        out[r] = total


class Recommender:
    r"""Base class of recommenders that score a user and an item by :math:`b_i + p_u^\top q_i`.

    Subclasses are dataclasses. Their ``fit`` ends with `_learned`.

    Attributes
    ----------
    user_factors_, item_factors_, item_bias_
        p, q and b.
    users_, items_
        The ids to which they belong.
    """

    #: Learned arrays that a subclass has in addition.
    _more: ClassVar[tuple[str, ...]] = ()

    users_: np.ndarray
    items_: np.ndarray
    user_factors_: np.ndarray
    item_factors_: np.ndarray
    item_bias_: np.ndarray

    @abstractmethod
    def fold_in(self, items: Any, values: Any = None) -> np.ndarray:
        """Factors of a new user from some ratings, with the items' factors held fixed."""

    def _learned(self, ratings: Ratings, P: np.ndarray, Q: np.ndarray, b: np.ndarray, unknown: np.ndarray) -> Self:
        """Take over what was learned; ``unknown`` are the factors of a user who was not in the training data."""
        self.users_, self.items_ = ratings.users, ratings.items
        self.user_factors_, self.item_factors_, self.item_bias_ = (np.asarray(a, np.float64) for a in (P, Q, b))
        self._unknown_user = np.asarray(unknown, np.float64)
        for factors in (self.user_factors_, self.item_factors_, self.item_bias_):
            if not np.isfinite(factors).all():
                raise DataError(
                    f"training ended in numbers that are not finite: parameters or values are too large ({self})"
                )
        self._seen_offsets, self._seen_items = ratings.offsets, ratings.item
        return self

    def check_fitted(self) -> None:
        """Raise an error if it is not fitted yet."""
        if not hasattr(self, "item_factors_"):
            raise DataError("the recommender is not trained; call fit first")

    # ------------------------------------------------------------------------------------------------------- predict

    def predict(self, data: RankingDataset) -> np.ndarray:
        """Scores for users (queries) and items (documents), by their ids.

        An unknown user gets the scores of an average one. An unknown item is an error.
        """
        self.check_fitted()
        if data.docids is None:
            raise DataError("the data have no document ids, which are the items")
        item = self._item_numbers(data.docids)
        user, met = numbers_of(self.users_, data.qids)
        factors = np.where(met[:, None], self.user_factors_[user], self._unknown_user)
        out = np.empty(data.n_rows)
        pair_scores(data.query_of_row, item, factors, self.item_factors_, self.item_bias_, out)
        return out

    def recommend(self, user: Any, k: int = 10) -> list[Any]:
        """Ids of the k best items that the user has not rated; an unknown user gets those of an average one."""
        self.check_fitted()
        number, known = numbers_of(self.users_, ids_array([user], "user"))
        if not known[0]:
            return self._best(self._unknown_user, np.empty(0, np.int64), k)
        u = int(number[0])
        return self._best(self.user_factors_[u], self._seen_items[self._seen_offsets[u] : self._seen_offsets[u + 1]], k)

    def recommend_for(self, items: Any, values: Any = None, *, k: int = 10) -> list[Any]:
        """Ids of the k best items for someone new who rated some items; see `fold_in`."""
        return self._best(self.fold_in(items, values), self._item_numbers(ids_array(items, "items")), k)

    def _best(self, factors: np.ndarray, without: np.ndarray, k: int) -> list[Any]:
        whole("k", k, least=0)
        scores = self.item_factors_ @ factors + self.item_bias_
        scores[without] = -np.inf
        order = np.argsort(-scores, kind="stable")[:k]
        return list(self.items_[order[scores[order] > -np.inf]].tolist())

    def _item_numbers(self, ids: np.ndarray) -> np.ndarray:
        item, known = numbers_of(self.items_, ids)
        if not known.all():
            unknown = ids[np.flatnonzero(~known)[0]]
            raise DataError(f"item {unknown} was not in the catalogue of the training data")
        return item

    # ------------------------------------------------------------------------------------------------------- on disk

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recommender to one file, without code; `plackett.load` reads it."""
        self.check_fitted()
        arrays = {name.strip("_"): getattr(self, name) for name in (*_ARRAYS, *self._more)}
        ids: dict[str, Any] = {}
        for name in ("users", "items"):
            own = getattr(self, f"{name}_")
            if own.dtype.kind in "iu":
                arrays[name] = own.astype(np.int64)
            else:
                ids[name] = [str(value) for value in own]
        parameters = {f.name: to_plain(getattr(self, f.name), f.name) for f in fields(self)}  # type: ignore[arg-type]
        description = {"algorithm": type(self).__name__, "parameters": parameters, **ids}
        storage.write(path, arrays, {"kind": "recommender", "recommender": json.dumps(description, ensure_ascii=False)})


def load_recommender(path: str | os.PathLike[str]) -> Recommender:
    """Read the recommender that `Recommender.save` wrote. Nothing of it is run as code."""
    with reading(path, "the recommender"):
        arrays, metadata = storage.read(path, kind="recommender", mmap=False)
        description = json.loads(metadata["recommender"])
        name = description["algorithm"]
        package = import_module("plackett.applications")
        cls = getattr(package, name, None) if name in dir(package) else None
        if not isinstance(cls, type) or not issubclass(cls, Recommender) or cls is Recommender:
            raise DataError(f"holds a {name!r:.60}, which this version of plackett does not have")
        recommender = cls(**{str(key): from_plain(value) for key, value in description["parameters"].items()})
        for learned in (*_ARRAYS, *cls._more):
            setattr(recommender, learned, arrays[learned.strip("_")])
        for key in ("users", "items"):
            ids = arrays[key] if key in arrays else ids_array([str(value) for value in description[key]], key)
            setattr(recommender, f"{key}_", ids)
        _check(recommender)
        return recommender


def _check(recommender: Recommender) -> None:
    """Whether the parts of a file fit together."""
    n, m = recommender.users_.size, recommender.items_.size
    k = recommender.item_factors_.shape[-1]
    shapes = {"user_factors_": (n, k), "item_factors_": (m, k), "item_bias_": (m,), "_unknown_user": (k,)}
    for name, shape in shapes.items():
        array = getattr(recommender, name)
        if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
            raise DataError(f"{name.strip('_')} is damaged")
    for name in recommender._more:
        array = getattr(recommender, name)
        if array.dtype != np.float64 or not np.isfinite(array).all() or (array.ndim == 2 and array.shape[1] != k):
            raise DataError(f"{name.strip('_')} is damaged")
    offsets, items = recommender._seen_offsets, recommender._seen_items
    whole = items.ndim == 1 and {offsets.dtype, items.dtype} == {np.dtype(np.int64)}
    if not whole or not offsets_fit(offsets, items.size, n):
        raise DataError("seen_offsets is damaged")
    if items.size and not 0 <= items.min() <= items.max() < m:
        raise DataError("seen_items is damaged")
    for name in ("users_", "items_"):
        ids = getattr(recommender, name)
        if ids.ndim != 1 or (ids[1:] <= ids[:-1]).any():
            raise DataError(f"{name.strip('_')} is damaged: ids must be sorted")
