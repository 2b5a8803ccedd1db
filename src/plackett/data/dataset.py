"""Queries with their documents: the one data structure that everything else works on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from dataclasses import replace as dataclass_replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett._names.nearest import hint, plural
from plackett._names.optional import optional
from plackett.data import validation
from plackett.data.dense import dense
from plackett.data.fields import FIELDS, NUMBERS, taken
from plackett.data.mapped import is_mapped, rows_of, rows_of_queries
from plackett.data.preferences import Preferences
from plackett.data.read_only import hold_read_only
from plackett.data.relations import Relation, relation_map
from plackett.data.weights import given_or_ones

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from scipy.sparse import csr_matrix

    from plackett.data.columns import Columns
    from plackett.data.strings import Strings

__all__ = ["RankingDataset"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RankingDataset:
    """Documents grouped by query, with features, labels and other optional fields. Immutable.

    Rows of one query are contiguous: query ``i`` has the rows ``offsets[i]:offsets[i + 1]``. Queries are in the
    order of their first row, rows of a query in the order given. Everything that accompanies a dataset (scores,
    predictions, weights) is in this grouped order; `to_input_order` and `from_input_order` convert to and from the
    order of the arrays or file that the dataset was made from.

    Create one with `from_arrays`, `from_frame`, `plackett.read_letor` or `plackett.read`.

    Attributes
    ----------
    X
        Features, ``(n_rows, n_features)``, float32, C order, or a SciPy CSR matrix. NaN is a missing value.
    y
        Labels, float64; larger is better, below 0 is unjudged. None if only preferences are known.
    offsets
        First row of each query, int64, length ``n_queries + 1``.
    qids
        Id of each query, as given: integers stay integers, strings strings.
    docids
        Id of each document, or None.
    sample_weight, query_weight
        Weight of each document, of each query, float64, or None for 1.
    preferences
        Explicit pairs "this document before that one" (`plackett.data.preferences.Preferences`), or None.
    positions
        Position at which each document was shown to users (1 is the top), int32, or None.
    subtopics, subtopic_weight
        For diversity: relevance of each document to each subtopic of its query, float32 ``(n_rows, T)``, NaN if
        the query has no such subtopic; probability of each subtopic, ``(n_queries, T)``, or None for uniform.
    relations
        Relations between the documents of a query by name, such as ``"similarity"`` or ``"parent"``
        (`plackett.Relation`), or None.
    query_features
        Features of the queries, float32 ``(n_queries, m)``, or None.
    query_time
        When each query was asked, float64: seconds since 1970 (UTC) if it was a date, or None. For
        `plackett.split_by_time`; rankers do not learn from it.
    feature_names
        Name of each feature, or None.
    categories
        The values of each feature that holds categories, by its name; the feature is the number of a value in its
        list. None if all features are numbers.
    comments
        The comment at the end of each line of a LETOR file, or None.
    input_rows
        Row of the input that each row came from, or None if the input was already grouped.

    Examples
    --------
    >>> data = RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["b", "a", "b"])
    >>> data.n_queries, data.offsets.tolist(), data.y.tolist()
    (2, [0, 2, 3], [0.0, 2.0, 1.0])
    >>> data.to_input_order(data.y).tolist()
    [0.0, 1.0, 2.0]
    """

    X: np.ndarray | csr_matrix
    y: np.ndarray | None
    offsets: np.ndarray
    qids: np.ndarray
    docids: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    query_weight: np.ndarray | None = None
    preferences: Preferences | None = None
    positions: np.ndarray | None = None
    subtopics: np.ndarray | None = None
    subtopic_weight: np.ndarray | None = None
    relations: Mapping[str, Relation] | None = None
    query_features: np.ndarray | None = None
    query_time: np.ndarray | None = None
    feature_names: tuple[str, ...] | None = None
    categories: Mapping[str, tuple[Any, ...]] | None = None
    comments: Strings | None = None
    input_rows: np.ndarray | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied; a read-only view of a mapping is not accepted there."""
        maps = {name: getattr(self, name) for name in _MAPS}
        return self.__dict__ | {name: None if value is None else dict(value) for name, value in maps.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        maps = {name: state.get(name) for name in _MAPS}
        views = {name: None if value is None else MappingProxyType(value) for name, value in maps.items()}
        self.__dict__.update(state | views)
        self.__post_init__()

    def __post_init__(self) -> None:
        X = self.X
        if isinstance(X, np.ndarray) and not X.flags.c_contiguous and (X.flags.f_contiguous or not is_mapped(X)):
            # selected columns: kernels would be compiled again, and round differently
            object.__setattr__(self, "X", np.ascontiguousarray(X))
        if self.categories and not isinstance(self.X, np.ndarray):
            raise DataError("sparse features cannot hold categories; give a dense table")
        hold_read_only(self)

    # ------------------------------------------------------------------------------------------------ construction

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: Any = None,
        qid: Any = None,
        *,
        group: Any = None,
        docids: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        preferences: Preferences | None = None,
        positions: Any = None,
        subtopics: Any = None,
        subtopic_weight: Any = None,
        relations: Mapping[str, Any] | None = None,
        query_features: Any = None,
        query_time: Any = None,
        feature_names: Sequence[str] | None = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        comments: Strings | None = None,
    ) -> RankingDataset:
        """Make a dataset from arrays, whose rows may be in any order.

        Parameters
        ----------
        X
            Features, dense or SciPy sparse; None for a dataset without features (enough for evaluation).
        y
            Labels; numbers, larger is better, below 0 is unjudged.
        qid
            Query id of each row, integers or strings, in any order. Without it (and without ``group``) all rows form
            one query.
        group
            Instead of ``qid``: number of rows of each query, rows already grouped (LightGBM's form).
        query_weight, subtopic_weight, query_features, query_time
            One entry (row) per query, in the order in which the queries first appear.
        relations
            For each name a `plackett.Relation` over the row numbers of the input, or a square SciPy matrix over its
            rows. Related documents are of the same query.
        preferences
            Pairs of row numbers of the input.
        positions
            Whole numbers from 1; several documents of a query may share one.
        feature_names
            One name per column of ``X``.
        categories
            For each feature that holds categories, by its name, their values: the feature is the number of the value
            in this list, from 0.
        """
        features, labels = validation.features(X), validation.labels(y)
        n_rows = validation.count_rows(features, labels, qid, group, docids)
        if features is None:
            features = np.empty((n_rows, 0), np.float32)
        offsets, qids, rows = validation.queries(qid, group, n_rows)
        given = {
            "docids": docids,
            "sample_weight": sample_weight,
            "query_weight": query_weight,
            "query_time": query_time,
            "positions": positions,
            "query_features": query_features,
            "subtopics": subtopics,
            "subtopic_weight": subtopic_weight,
            "comments": comments,
        }
        columns: dict[str, Any] = {}
        for name, values in given.items():
            column = validation.stored(name, values)
            if column is None:
                continue
            validation.check_length(name, column, n_rows, qids.size)
            columns[name] = column if rows is None or FIELDS[name].per == "query" else rows_of(column, rows)
        names = validation.feature_names(feature_names, features.shape[1])
        return cls(
            X=features if rows is None else features[rows],
            y=labels if rows is None or labels is None else labels[rows],
            offsets=offsets,
            qids=qids,
            preferences=None if preferences is None else preferences.regrouped(rows, offsets),
            relations=relation_map(relations, rows, offsets),
            feature_names=names,
            categories=_categories(categories, names, features),
            input_rows=rows,
            **columns,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        qid: str = "qid",
        label: str | None = "label",
        docid: str | None = "docid",
        features: Any = None,
        drop: str | Sequence[str] = (),
        drop_text: bool = False,
        sample_weight: str | None = "sample_weight",
        query_weight: str | None = "query_weight",
        position: str | None = "position",
        query_features: str | Sequence[str] = (),
        categories: str | Sequence[str] = (),
        time: str | None = "query_time",
        labels_needed: bool | str = True,
        sparse: bool = False,
        **unknown: Any,
    ) -> RankingDataset:
        """Make a dataset from a pandas, polars (also lazy) or Arrow table, one row per document, in any order.

        The role of each column is logged (``logging.getLogger("plackett.data")``, level INFO).

        Parameters
        ----------
        frame
            The table. Anything with the Arrow PyCapsule interface will do; pandas needs no pyarrow.
        qid, label, docid, sample_weight, query_weight, position
            Names of columns. By default the usual names are recognised, whatever their case, hyphens and
            underscores: ``query_id``, ``search_id``, ``topic`` or ``query`` for ``qid``; ``relevance``, ``grade``,
            ``judgement``, ``rel``, ``y`` or, failing these and with a warning, ``rating`` or ``target`` for ``label``;
            ``docno``, ``doc_id``, ``product_id``, ``item_id`` or ``product`` for ``docid``. Only ``qid`` and ``label``
            are required; pass ``label=None`` for a table without labels. ``query_weight`` must not vary within a query.
        features
            Names of the feature columns (or a polars selector); by default all columns without another role. Numbers
            and booleans are features, and so are lists of numbers of one length, which become one feature per entry
            (PyTerrier's ``features``). Missing values become NaN. Columns with a usual name of the query's or the
            document's id are never features unless named here. A column of whole numbers that looks like an id or a row
            number is a feature, with a warning. Columns of categories (pandas' ``category``, polars' `Categorical` and
            `Enum`) are features too: the dataset has the number of each value, and the values in ``categories``.
        drop
            Columns to leave out.
        query_features
            Names of the columns that describe the query (its length, its type as a number): they become
            ``query_features`` instead of features of the documents, and must not vary within a query.
        categories
            Columns of text or numbers that hold categories, in addition to those that say so by their type.
        time
            Column that says when the query was asked: dates, dates with times, text such as ``2024-05-31`` or
            ``2024-05-31T12:00:00``, or numbers. It becomes ``query_time`` and no feature; if it varies within a query,
            the earliest time counts. Dates without a time zone are in UTC. A column of dates that is not named is an
            error, as it is neither a number nor a category; ``drop`` leaves it out.
        drop_text
            Leave out all columns of text, dates and other values that are neither numbers nor categories, instead of
            raising an error.
        labels_needed
            False for data that will only be scored: a table without labels is accepted, labels that are missing or
            not numeric are left out, and ``rating`` and ``target`` are features. ``"if there"`` accepts a table without
            labels, but not missing labels.
        sparse
            Store the features as a SciPy CSR matrix, without their zeros. A table does not record whether its data were
            sparse.

        Examples
        --------
        >>> import polars as pl
        >>> frame = pl.DataFrame({"query_id": ["a", "b", "a"], "relevance": [1, 0, 2], "bm25": [1.5, None, 3.0]})
        >>> data = RankingDataset.from_frame(frame)
        >>> data.qids.tolist(), data.y.tolist(), data.X.ravel().tolist(), data.feature_names
        (['a', 'b'], [1.0, 2.0, 0.0], [1.5, 3.0, nan], ('bm25',))
        """
        from plackett.data.columns import TABLE_OPTIONS, choose_columns, log_columns
        from plackett.data.frame_columns import as_polars, is_alias, is_pandas

        for name, value in unknown.items():
            role = next((role for role in ("qid", "docid", "label") if is_alias(name, role)), None)
            advice = f"the column is named by {role}={value!r}" if role else hint(name, TABLE_OPTIONS, "it has")
            raise TypeError(f"from_frame has no parameter {name!r}; {advice}")
        table = as_polars(frame)
        chosen = choose_columns(
            table,
            qid=qid,
            label=label,
            docid=docid,
            features=features,
            drop=drop,
            drop_text=drop_text,
            sample_weight=sample_weight,
            query_weight=query_weight,
            position=position,
            query_features=query_features,
            categories=categories,
            time=time,
            labels_needed=labels_needed,
        )
        data = cls.from_columns(table, chosen, sparse=sparse, pandas=frame if is_pandas(frame) else None)
        log_columns(chosen, "the table")
        return data

    @classmethod
    def from_columns(
        cls, table: pl.DataFrame, chosen: Columns, *, sparse: bool = False, pandas: Any = None
    ) -> RankingDataset:
        """Make a dataset from a table whose columns have roles; ``pandas`` is the frame that the table was made of."""
        from plackett.data.frames import columns_of_queries, columns_of_rows

        data = cls.from_arrays(**columns_of_rows(table, chosen, sparse, pandas))
        per_query = columns_of_queries(table, chosen, data)
        return dataclass_replace(data, **per_query) if per_query else data

    def to_polars(self) -> pl.DataFrame:
        """One row per document, in the grouped order: ids, label, weights and the features.

        The columns are ``qid`` and, where the dataset has them, ``docid``, ``label``, ``sample_weight``,
        ``query_weight``, ``query_time``, ``position``, ``query_features``, ``subtopics``, ``subtopic_weight`` and
        ``comment``; then the features by their names, or ``f1``, ``f2``, … Features that hold categories are columns of
        text of the type `Enum`. `from_frame` restores the same dataset, except for preferences and relations, which do
        not fit into rows, and for the type of categories that are not text.

        >>> RankingDataset.from_arrays([[0.5]], [1], qid=["a"]).to_polars().columns
        ['qid', 'label', 'f1']
        """
        from plackett.data.frames import to_polars

        return to_polars(self)

    def to_pandas(self) -> pd.DataFrame:
        """Like `to_polars`, for pandas."""
        for module in ("pandas", "pyarrow"):
            optional(module, "to_pandas needs")
        return self.to_polars().to_pandas()

    def to_arrow(self) -> pa.Table:
        """Like `to_polars`, as an Arrow table."""
        optional("pyarrow", "to_arrow needs")
        return self.to_polars().to_arrow()

    # ---------------------------------------------------------------------------------------------------- numbers

    @property
    def n_rows(self) -> int:
        """Number of documents over all queries."""
        return int(self.offsets[-1])

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.offsets.size - 1

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.X.shape[1]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise DataError(
            "a RankingDataset is not an array, and scikit-learn's own tools do not accept it: pass data.X, data.y and "
            "qid=data.qid (pipelines and searches pass qid on after sklearn.set_config(enable_metadata_routing=True)). "
            "Rankers, QueryNormalizer, pipelines of these, and plackett.cross_validate accept the dataset itself"
        )

    def __len__(self) -> int:
        return self.n_rows

    @cached_property
    def group(self) -> np.ndarray:
        """Number of documents of each query (LightGBM's ``group``)."""
        return np.diff(self.offsets)

    @cached_property
    def query_of_row(self) -> np.ndarray:
        """Number of the query of each row, int64."""
        return np.repeat(np.arange(self.n_queries), self.group)

    @property
    def row_weight(self) -> np.ndarray:
        """Weight of each row: that of the document times that of its query, 1 if neither is given.

        >>> RankingDataset.from_arrays(None, [1, 0, 0], qid=[1, 1, 2], query_weight=[2.0, 1.0]).row_weight.tolist()
        [2.0, 2.0, 1.0]
        """
        weight = given_or_ones(self.sample_weight, self.n_rows)
        return weight if self.query_weight is None else weight * self.query_weight[self.query_of_row]

    def dense(self) -> np.ndarray:
        """The features as an array, sparse ones filled with zeros."""
        return dense(self.X)

    @property
    def qid(self) -> np.ndarray:
        """Query id of each row (`qids` has one entry per query)."""
        return np.repeat(self.qids, self.group)

    @property
    def labels(self) -> np.ndarray:
        """The labels; an error if the dataset has none."""
        if self.y is None:
            raise DataError("this dataset has no labels (y is None)")
        return self.y

    @cached_property
    def sorted_labels(self) -> np.ndarray:
        """The labels of each query from large to small: the ideal order that measures divide by."""
        from plackett._kernels.kernel import over_queries
        from plackett._kernels.sort import sort_descending

        out = np.empty(self.n_rows)
        over_queries(sort_descending, self.offsets, self.labels, out)
        return out

    @cached_property
    def max_grade(self) -> int | None:
        """The largest label if all labels are whole numbers below 64 (grades, the usual case), otherwise None."""
        largest = self.labels.max(initial=0.0)
        parts = (self.labels[row : row + 65_536] for row in range(0, self.n_rows, 65_536))
        return int(largest) if largest < 64.0 and all((part == np.floor(part)).all() for part in parts) else None

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Values derived from the dataset alone, cached for measures to reuse with other scores."""
        return {}

    def __repr__(self) -> str:
        counts = (self.n_queries, "query", "queries"), (self.n_rows, "row"), (self.n_features, "feature")
        parts = [plural(*each, form="") for each in counts]
        if not isinstance(self.X, np.ndarray):
            parts[-1] += " (sparse)"
        extras = [f.name for f in fields(self)[4:] if f.name != "input_rows" and getattr(self, f.name) is not None]
        return f"RankingDataset({', '.join(parts + extras)})"

    # ---------------------------------------------------------------------------------------------------- order

    def to_input_order(self, values: Any) -> np.ndarray:
        """Reorder values from the grouped order to the order of the input rows."""
        values = self.aligned_rows(values)
        if self.input_rows is None:
            return values
        out = np.empty_like(values)
        out[self.input_rows] = values
        return out

    def from_input_order(self, values: Any) -> np.ndarray:
        """Reorder values from the order of the input to the grouped order of the dataset."""
        values = self.aligned_rows(values)
        return values if self.input_rows is None else values[self.input_rows]

    def aligned_rows(self, values: Any) -> np.ndarray:
        """Values of each row as an array, checked to have one entry for each row."""
        values = np.asarray(values)
        if values.shape[:1] != (self.n_rows,):
            raise DataError(f"values have shape {values.shape}, but the dataset has {self.n_rows} rows")
        return values

    # ---------------------------------------------------------------------------------------------------- parts

    def select(self, queries: Any) -> RankingDataset:
        """Select queries by number or by mask, in the order given.

        >>> data = RankingDataset.from_arrays(None, [0, 1, 2], qid=["a", "b", "b"])
        >>> data.select([1]).y.tolist()
        [1.0, 2.0]
        """
        index = np.asarray(queries)
        if index.size and index.dtype.kind not in "iub":
            raise DataError(
                f"queries are selected by number, 0 to {self.n_queries - 1}, or by a mask; got {index.flat[0]!r}. "
                "For query ids: data.select(np.isin(data.qids, ids))"
            )
        if index.dtype == bool:
            if index.shape != (self.n_queries,):
                raise DataError(f"a mask of {index.size} entries for {self.n_queries} queries")
            index = np.flatnonzero(index)
        index = index.astype(np.int64)
        if index.size and not (-self.n_queries <= index.min() and index.max() < self.n_queries):
            raise DataError(f"query numbers must be in 0..{self.n_queries - 1}")
        index %= max(self.n_queries, 1)
        sizes = self.group[index]
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        contiguous = index.size == 0 or bool((np.diff(index) == 1).all())
        rows: Any
        if contiguous:  # a view, no copy
            start = int(self.offsets[index[0]]) if index.size else 0
            rows = slice(start, start + int(offsets[-1]))
        else:
            rows = rows_of_queries(self.X, self.offsets, index, offsets)
        parts = taken(self, lambda values: rows_of(values, rows), lambda values: values[index])
        parts |= {"X": rows_of(self.X, rows), "offsets": offsets, "qids": self.qids[index], "input_rows": None}
        if self.relations is not None:
            parts["relations"] = MappingProxyType(
                {name: relation.select(index, self.offsets, offsets) for name, relation in self.relations.items()}
            )
        if self.preferences is not None:
            parts["preferences"] = self.preferences.select(index, self.offsets, offsets)
        return dataclass_replace(self, **parts)

    def replace(self, **changes: Any) -> RankingDataset:
        """Copy with some fields replaced (rows and queries stay the same)."""
        for name in ("offsets", "qids", "input_rows"):
            if name in changes:
                raise DataError(f"{name} cannot be replaced; make a new dataset")
        if "X" in changes and getattr(changes["X"], "dtype", None) != np.float32:
            changes["X"] = validation.features(changes["X"])
        changes |= {name: validation.stored(name, values) for name, values in changes.items() if name in FIELDS}
        for name, values in changes.items():
            if values is not None and (name == "X" or name in FIELDS):
                validation.check_length(name, values, self.n_rows, self.n_queries)
        if changes.get("preferences") is not None:  # rows that exist, pairs within a query, sorted by query
            changes["preferences"] = changes["preferences"].regrouped(None, self.offsets)
        if "relations" in changes:
            changes["relations"] = relation_map(changes["relations"], None, self.offsets)
        if "feature_names" in changes:
            width = changes.get("X", self.X).shape[1]
            changes["feature_names"] = validation.feature_names(changes["feature_names"], width)
        if "categories" in changes or "feature_names" in changes:
            known = changes.get("feature_names", self.feature_names)
            left = {name: values for name, values in (self.categories or {}).items() if name in (known or ())}
            changes["categories"] = _categories(changes.get("categories", left), known, changes.get("X", self.X))
        return dataclass_replace(self, **changes)

    def fingerprint(self) -> str:
        """Short hash of the content; equal for equal data.

        The content is all that a ranker can learn from or a measure can use. Names of documents and features,
        comments and the order of the input are left out.
        """
        digest = hashlib.sha256()  # most processors have instructions for it
        X = self.X
        parts: list[Any] = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
        parts += [self.y, self.offsets, self.sample_weight, self.query_weight]
        for part in parts:
            digest.update(b"-" if part is None else np.ascontiguousarray(part).data)
        for start in range(0, self.n_queries, 512):
            ids = self.qids[start : start + 512].tolist()
            digest.update((("\0" if start else "") + "\0".join(map(str, ids))).encode())
        for part in (self.positions, self.query_features):
            if part is not None:
                digest.update(np.ascontiguousarray(part).data)
        for name, relation in sorted((self.relations or {}).items()):
            digest.update(name.encode())
            for part in (relation.row, relation.other, relation.weights):
                digest.update(np.ascontiguousarray(part).data)
        # what joined later is hashed with its name, and only if it is there: other datasets keep their fingerprints
        pairs = self.preferences
        later = {name: getattr(self, name) for name in NUMBERS if name not in _HASHED_FIRST}
        later |= {} if pairs is None else {f"preferences.{f.name}": getattr(pairs, f.name) for f in fields(pairs)}
        if self.categories is not None:
            assert self.feature_names is not None
            each = [(self.feature_names.index(name), values) for name, values in self.categories.items()]
            later["categories"] = np.frombuffer(repr(sorted(each)).encode(), np.uint8)
        if not isinstance(X, np.ndarray) and self.n_features > X.indices.max(initial=-1) + 1:
            later["n_features"] = np.array(self.n_features)  # columns without an entry
        for name, value in later.items():
            if value is not None:
                digest.update(f"\0{name} {value.shape}".encode())
                digest.update(np.ascontiguousarray(value).data)
        return digest.hexdigest()[:24]


#: The fields whose place in the fingerprint is fixed.
_HASHED_FIRST = ("y", "sample_weight", "query_weight", "positions", "query_features")
#: The fields that are read-only views of mappings, which are neither pickled nor copied.
_MAPS = ("relations", "categories")


def _categories(given: Any, names: Sequence[str] | None, X: Any) -> Mapping[str, tuple[Any, ...]] | None:
    if not given:
        return None
    from plackett.data.categories import check_codes, checked_categories

    checked = checked_categories(given, names)
    if isinstance(X, np.ndarray):  # sparse features are refused later
        check_codes(X, names or (), checked)
    return MappingProxyType(checked)
