"""Ratings of items by users, and the lists on which recommendations are evaluated."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import check_regular
from plackett._names.nearest import plural
from plackett.data._tables import missing_ids
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import ids_array
from plackett.data.ids import distinct, find

__all__ = ["Ratings", "candidates", "popularity", "read_ratings"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Ratings:
    """Who gave which item which value; without values, who used which item.

    Rows are sorted by user and item. Parts of one table (`split`) keep the numbers of users and items, so that a model
    trained on one part scores another.

    Attributes
    ----------
    users, items
        Ids, sorted; ``items`` is the catalogue, and may have items that nobody rated.
    user, item
        Number of the user and of the item of each rating, int64.
    values
        Value of each rating, above 0; larger is better.
    times
        When each rating was given, or None.

    Examples
    --------
    >>> ratings = Ratings.from_arrays(["ann", "ann", "bob"], ["tea", "rye", "tea"], [5, 2, 4], times=[1, 3, 2])
    >>> ratings.items.tolist(), ratings.item.tolist()
    (['rye', 'tea'], [0, 1, 1])
    >>> before, after = ratings.split(ratings.times > 2)
    >>> before, after
    (Ratings(2 ratings, 2 users, 2 items), Ratings(1 rating, 2 users, 2 items))
    """

    users: np.ndarray
    items: np.ndarray
    user: np.ndarray
    item: np.ndarray
    values: np.ndarray
    times: np.ndarray | None = None

    @classmethod
    def from_arrays(
        cls, users: Any, items: Any, values: Any = None, *, times: Any = None, catalogue: Any = None
    ) -> Ratings:
        """Make a table from one entry per rating.

        Parameters
        ----------
        values
            Ratings, above 0; None for use without rating, which counts as 1.
        times
            When each rating was given: numbers.
        catalogue
            Ids of all items, if there are some that nobody rated.
        """
        given_users, given_items = ids_array(users, "users"), ids_array(items, "items")
        n = given_users.size
        worth = np.ones(n) if values is None else np.asarray(values, np.float64)
        when = None if times is None else np.asarray(times, np.float64)
        for name, column in (("items", given_items), ("values", worth), ("times", when)):
            if column is not None and column.shape != (n,):
                raise DataError(
                    f"{name} has shape {column.shape}, but there are {plural(n, 'user entry', 'user entries')}"
                )
        bad = np.flatnonzero(~(np.isfinite(worth) & (worth > 0)))
        if bad.size:
            raise DataError(f"values[{bad[0]}] is {worth[bad[0]]}; every rating must be a number above 0")
        user_ids, user = distinct(given_users)
        item_ids, item = distinct(given_items)
        if catalogue is not None:
            everything = distinct(ids_array(catalogue, "catalogue"))[0]
            catalogue_number = find(everything, item_ids)
            if (catalogue_number < 0).any():
                raise DataError("an item with a rating is missing from the catalogue")
            item_ids, item = everything, catalogue_number[item]
        order = np.lexsort((item, user))
        user, item = user[order], item[order]
        twice = np.flatnonzero((user[1:] == user[:-1]) & (item[1:] == item[:-1]))
        if twice.size:
            u, i = user_ids[user[twice[0]]], item_ids[item[twice[0]]]
            raise DataError(f"user {u} rated item {i} twice; keep one of the ratings")
        return cls(
            users=user_ids,
            items=item_ids,
            user=user.astype(np.int64),
            item=item.astype(np.int64),
            values=worth[order],
            times=None if when is None else when[order],
        )

    @property
    def n_rows(self) -> int:
        """Number of ratings."""
        return int(self.user.size)

    @property
    def n_users(self) -> int:
        """Number of users."""
        return int(self.users.size)

    @property
    def n_items(self) -> int:
        """Number of items of the catalogue."""
        return int(self.items.size)

    @property
    def offsets(self) -> np.ndarray:
        """First row of each user, and the number of rows."""
        return np.searchsorted(self.user, np.arange(self.n_users + 1))

    def take(self, rows: Any) -> Ratings:
        """The ratings where ``rows`` is true; users and items keep their numbers."""
        kept = np.asarray(rows, bool)
        if kept.shape != (self.n_rows,):
            raise DataError(f"the mask has shape {kept.shape}, but there are {plural(self.n_rows, 'rating')}")
        times = None if self.times is None else self.times[kept]
        return replace(self, user=self.user[kept], item=self.item[kept], values=self.values[kept], times=times)

    def split(self, test: Any) -> tuple[Ratings, Ratings]:
        """Training and test part; ``test`` is true for the ratings of the test part."""
        chosen = np.asarray(test, bool)
        return self.take(~chosen), self.take(chosen)

    def rows_in(self, other: Ratings) -> np.ndarray:
        """Which ratings are also in another table, such as an official test file, by user and item."""
        users, user_known = numbers_of(self.users, _alike(other.users, self.users))
        items, item_known = numbers_of(self.items, _alike(other.items, self.items))
        known = user_known[other.user] & item_known[other.item]
        keys = users[other.user[known]] * self.n_items + items[other.item[known]]
        return np.isin(self.user * self.n_items + self.item, keys)

    def __repr__(self) -> str:
        counts = plural(self.n_rows, "rating"), plural(self.n_users, "user"), plural(self.n_items, "item")
        return f"Ratings({', '.join(counts)})"


def numbers_of(ids: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of each wanted id among distinct ids, and whether it is there."""
    if not ids.size or (ids.dtype.kind in "iu") != (wanted.dtype.kind in "iu"):  # a number is not a name
        return np.zeros(wanted.size, np.int64), np.zeros(wanted.size, bool)
    numbers = find(ids, wanted)
    return np.maximum(numbers, 0), numbers >= 0


def _alike(ids: np.ndarray, those: np.ndarray) -> np.ndarray:
    """Ids as texts if those of another table are: part of a file may have numbers where the whole has names."""
    return ids.astype(str) if ids.dtype.kind in "iu" and those.dtype.kind not in "iu" else ids


def read_ratings(path: str | os.PathLike[str], *, separator: str | None = None, catalogue: Any = None) -> Ratings:
    """Read a text file of user, item, value and, if there is a fourth column, time; no header. MovieLens has this form.

    Ids are numbers if the whole column holds whole numbers without leading zeros, and otherwise texts.

    Parameters
    ----------
    separator
        Separator of the columns, one character; by default a comma in a ``.csv`` file, else a tab.
    catalogue
        Ids of all items, if there are some that nobody rated.
    """
    import polars as pl

    check_regular(path)
    if separator is None:
        separator = "," if os.fspath(path).lower().endswith(".csv") else "\t"
    try:
        table = pl.read_csv(os.fspath(path), separator=separator, has_header=False, quote_char=None, infer_schema=False)
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise DataError(f"{path}: {str(error).splitlines()[0]}") from error
    if table.width not in (3, 4):
        raise DataError(
            f"{path}: {plural(table.width, 'column')} with {separator!r} between them; expected user, item, value and "
            "perhaps time"
        )
    columns = [
        _column(path, name, table.to_series(i), separator)
        for i, name in enumerate(("user", "item", "value", "time")[: table.width])
    ]
    try:
        return Ratings.from_arrays(*columns[:3], times=columns[3] if len(columns) == 4 else None, catalogue=catalogue)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def _column(path: str | os.PathLike[str], name: str, texts: Any, separator: str) -> np.ndarray:
    """A column of a file: ids, or numbers where the name says so."""
    import polars as pl

    if texts.null_count():
        line = int(texts.is_null().arg_true()[0]) + 1
        raise DataError(f"{path}, line {line}: the {name} is missing, or the line has no {separator!r} before it")
    if name in ("user", "item"):
        absent = missing_ids(texts)
        if absent.any():
            at = absent.arg_max() or 0
            raise DataError(f"{path}, line {at + 1}: the {name} is missing ({texts[at]})")
        numbers = texts.cast(pl.Int64, strict=False)
        plain = numbers.null_count() == 0 and bool((numbers.cast(pl.String) == texts).all())
        return np.asarray(numbers.to_numpy() if plain else texts.to_numpy())
    numbers = texts.str.strip_chars().cast(pl.Float64, strict=False)
    if numbers.null_count():
        at = int(numbers.is_null().arg_true()[0])
        header = "; the file must not have a header" if at == 0 else ""
        raise DataError(f"{path}, line {at + 1}: {name} {texts[at]!r:.40} is not a number{header}")
    return np.asarray(numbers.to_numpy())


def candidates(train: Ratings, test: Ratings, *, relevant: float | None = None) -> RankingDataset:
    """The lists to evaluate: for each user of the test part, every item without a rating in the training part.

    No item is left out, because a measure over a few sampled items may order systems differently than the measure over
    all of them. Items without a test rating count as not relevant.

    Parameters
    ----------
    relevant
        The lowest rating that counts as relevant: labels are then 0 and 1. None: the label is the rating.

    Returns
    -------
    RankingDataset
        Users are queries, items are documents. Users who have nothing relevant are left out.

    Examples
    --------
    >>> ratings = Ratings.from_arrays(["ann", "ann", "bob"], ["tea", "rye", "tea"], [5, 2, 4])
    >>> data = candidates(*ratings.split([False, True, False]))
    >>> data.qids.tolist(), data.docids.tolist(), data.y.tolist()
    (['ann'], ['tea'], [5.0])
    """
    if not (np.array_equal(train.users, test.users) and np.array_equal(train.items, test.items)):
        raise DataError("training and test part have different users or items; make them with Ratings.split")
    worth = test.values if relevant is None else (test.values >= relevant).astype(np.float64)
    chosen = np.unique(test.user[worth > 0])
    if not chosen.size:
        raise DataError("no user has a relevant item in the test part")
    row_of_user = np.full(train.n_users, -1)
    row_of_user[chosen] = np.arange(chosen.size)
    labels = np.zeros((chosen.size, train.n_items))
    kept = row_of_user[test.user] >= 0
    labels[row_of_user[test.user[kept]], test.item[kept]] = worth[kept]
    seen = row_of_user[train.user] >= 0
    labels[row_of_user[train.user[seen]], train.item[seen]] = np.nan
    row, item = np.nonzero(~np.isnan(labels))
    return RankingDataset.from_arrays(None, labels[row, item], train.users[chosen][row], docids=train.items[item])


def popularity(ratings: Ratings, data: RankingDataset) -> np.ndarray:
    """Number of ratings of each document of ``data``: the baseline that every recommender has to beat.

    >>> ratings = Ratings.from_arrays(["ann", "ann", "bob"], ["tea", "rye", "tea"])
    >>> popularity(ratings, RankingDataset.from_arrays(None, qid=["eve", "eve"], docids=["rye", "tea"])).tolist()
    [1.0, 2.0]
    """
    if data.docids is None:
        raise DataError("the data have no document ids, which are the items")
    item, known = numbers_of(ratings.items, data.docids)
    return np.where(known, np.bincount(ratings.item, minlength=ratings.n_items)[item], 0).astype(np.float64)
