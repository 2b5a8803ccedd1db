"""The roles of the columns of a table."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError, PlackettWarning, in_shell, parameter
from plackett._names.nearest import hint
from plackett.data.categories import is_category
from plackett.data.fields import FIELDS
from plackett.data.frame_columns import ALIASES, find_column, is_alias, is_weak_label, look

if TYPE_CHECKING:
    import polars as pl

#: What can be said about the columns of a table.
TABLE_OPTIONS = (
    "qid",
    "label",
    "docid",
    "features",
    "drop",
    "drop_text",
    "sample_weight",
    "query_weight",
    "position",
    "query_features",
    "categories",
    "time",
    "labels_needed",
    "sparse",
)

#: Columns that `plackett.RankingDataset.to_polars` writes and that are not features.
OWN = ("qid", *(field.column for field in FIELDS.values()))
#: Those of them that have no role of their own: they mean what `plackett.RankingDataset.to_polars` wrote.
_WRITTEN = ("query_features", "subtopics", "subtopic_weight", "comment")
#: Names of integer columns that identify things rather than measure them.
_ID = re.compile(r"(?i:(^|[_\-. ])(id|uuid|index|idx)|^unnamed: \d+|^)$|[a-z](Id|ID)$")
#: Number of rows from which a column that counts 0, 1, 2, … is considered a row number.
_COUNTED = 20
_log = logging.getLogger("plackett.data")


@dataclass(frozen=True)
class Columns:
    """The roles that the columns of a table were given."""

    #: Column of each role that there is: ``qid``, ``label``, ….
    roles: dict[str, str]
    features: tuple[str, ...]
    left_out: tuple[str, ...]
    query_features: tuple[str, ...] = ()
    #: Features that hold categories.
    categories: tuple[str, ...] = ()

    def __str__(self) -> str:
        roles = ", ".join(f"{role} = {column}" for role, column in self.roles.items())
        left_out = f"; left out: {_some(self.left_out)}" if self.left_out else ""
        count = f"{len(self.features)} feature{'' if len(self.features) == 1 else 's'}"
        queries = f"; of queries: {_some(self.query_features)}" if self.query_features else ""
        kinds = f"; categories: {_some(self.categories)}" if self.categories else ""
        return f"{roles}; {count}{': ' * bool(self.features)}{_some(self.features)}{kinds}{queries}{left_out}"


def _some(names: Sequence[str], most: int = 6) -> str:
    more = f", … and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def log_columns(columns: Columns, where: str) -> None:
    """Log the role of each column; the command line shows it."""
    _log.info("%s: %s", where, columns)


def choose_columns(
    table: pl.DataFrame,
    *,
    features: Any = None,
    drop: str | Sequence[str] = (),
    query_features: str | Sequence[str] = (),
    categories: str | Sequence[str] = (),
    time: str | None = "query_time",
    drop_text: bool = False,
    labels_needed: bool | str = True,
    **names: str | None,
) -> Columns:
    """The columns of a table by what they mean; `plackett.RankingDataset.from_frame` has the rules.

    >>> import polars as pl
    >>> print(choose_columns(pl.DataFrame({"Query": ["a"], "grade": [1], "bm25": [0.5], "product": ["x"]})))
    qid = Query, label = grade, docid = product; 1 feature: bm25
    """
    dropped = [drop] if isinstance(drop, str) else list(drop)
    _check_there(table, dropped, "drop")
    query_columns = (query_features,) if isinstance(query_features, str) else tuple(query_features)
    _check_there(table, list(query_columns), "query_features")
    kinds = [categories] if isinstance(categories, str) else list(categories)
    names["query_time"] = time
    whole, table = table, table.drop([*dropped, *query_columns])
    named = _checked_features(table, features)
    _check_there(table, kinds, "categories")
    # a column named as a feature is not guessed to be something else
    free = table if named is None else table.drop([name for name in named if name not in names.values()])
    roles: dict[str, str] = {}
    for role in ("qid", "label", "docid", "sample_weight", "query_weight", "query_time", "position"):
        name = names.pop(role, role)
        if role == "qid" and name is None:
            raise DataError("qid=None: a table needs the query of each row; name its column, or add one")
        column = None if name is None else find_column(free, role, name, needed=role == "qid")
        if role == "label" and name == role and column is not None and is_weak_label(column):
            column = column if labels_needed else None  # a feature like any other
            _warn_of_guess(column)
        if column is not None:
            roles[role] = column
        if role == "label" and name is not None:
            _check_label(table, column, name, labels_needed is True)
    if names:
        unknown = next(iter(names))
        raise TypeError(f"there is no parameter {unknown!r} for tables; {hint(unknown, TABLE_OPTIONS, 'they are')}")
    unusable = set()
    if not labels_needed and "label" in roles and not _usable(table[roles["label"]]):
        unusable = {roles.pop("label")}  # labels that are not needed, and never a feature
    if named is None:
        never = {*roles.values(), *unusable, *OWN}
        if not labels_needed:
            never |= {name for name in table.columns if is_alias(name, "label") and not is_weak_label(name)}
        named = [
            name
            for name in table.columns
            if name not in never and not is_alias(name, "qid") and not is_alias(name, "docid")
        ]
        if drop_text:
            named = [name for name in named if name in kinds or is_feature(table.schema[name])]
        _warn_of_ids(table, [name for name in named if name not in kinds])
    used = {*named, *roles.values(), *_WRITTEN, *query_columns}
    left_out = tuple(name for name in whole.columns if name not in used)
    unnamed = [name for name in kinds if name not in named]
    if unnamed:
        raise DataError(f"categories: column {unnamed[0]!r} is not a feature; it has another role, or is left out")
    of_categories = tuple(name for name in named if name in kinds or is_category(table.schema[name]))
    return Columns(roles, tuple(named), left_out, query_columns, of_categories)


def _check_label(table: pl.DataFrame, column: str | None, name: str, needed: bool) -> None:
    if column is None:
        if needed:
            usual = ", ".join(map(repr, ALIASES["label"]))
            raise DataError(
                f"there is no column {usual}; name it with {parameter('label')}"
                f"{'' if in_shell() else ', or pass label=None for a table without labels'}: {look(table)}"
            )
        return
    others = [
        other for other in table.columns if other != column and is_alias(other, "label") and not is_weak_label(other)
    ]
    if name == "label" and column != "label" and others:
        raise DataError(
            f"the label could be {column!r} or {others[0]!r}; name it with {parameter('label')}: {look(table)}"
        )


def _checked_features(table: pl.DataFrame, features: Any) -> list[str] | None:
    if features is None:
        return None
    if isinstance(features, str):
        features = [features]
    if isinstance(features, Iterable):
        features = list(features)
        _check_there(table, features, "features")
        return features
    return table.select(features).columns


def _check_there(table: pl.DataFrame, names: list[str], option: str) -> None:
    option = f"--{option.replace('_', '-')}" if in_shell() else option
    for name in names:
        if name not in table.columns:
            raise DataError(f"{option}: there is no column {name!r}; {hint(name, table.columns)}")


def is_number(dtype: Any) -> bool:
    """Whether a column of this type can be a feature or a label."""
    import polars as pl

    return dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)


def is_feature(dtype: Any) -> bool:
    """Whether a column of this type can be one feature or, if it holds lists, several."""
    import polars as pl

    nested = isinstance(dtype, (pl.List, pl.Array)) and dtype.inner is not None
    return is_category(dtype) or is_number(dtype.inner if nested else dtype)


def _usable(labels: pl.Series) -> bool:
    """Whether a column can be the labels of data that do not need any."""
    return is_number(labels.dtype) and not labels.null_count() and bool(labels.is_finite().all())


def _warn_of_guess(label: str | None) -> None:
    """Say that a column is the label only because no other column looks like one."""
    if label is not None:
        warnings.warn(
            f"column {label!r} is taken as the label, as no column is called label, relevance, grade, … If it is the "
            f"label, name it with {parameter('label', label if in_shell() else repr(label))}; if it is a feature, name "
            f"the features with {parameter('features')}{'' if in_shell() else ', or pass label=None'}",
            PlackettWarning,
            stacklevel=4,
        )


def _warn_of_ids(table: pl.DataFrame, features: list[str]) -> None:
    suspects = [name for name in features if table.schema[name].is_integer() and _looks_like_id(table[name])]
    if suspects:
        shown = ", ".join(map(repr, suspects[:3]))
        warnings.warn(
            f"{shown}: whole numbers that look like ids or row numbers are taken as features; leave them out with "
            f"{parameter('drop', ','.join(suspects[:3]) if in_shell() else repr(suspects[:3]))}, or name the features "
            f"with {parameter('features')}",
            PlackettWarning,
            stacklevel=4,
        )


def _looks_like_id(column: pl.Series) -> bool:
    if _ID.search(column.name):
        return True
    first = column[0] if column.len() else None
    if column.len() < _COUNTED or first not in (0, 1) or column.null_count():
        return False
    return bool((column.diff().drop_nulls() == 1).all())
