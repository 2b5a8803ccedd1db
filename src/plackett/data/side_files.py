"""Files next to a dataset: relations and groups of its documents, features and domains of its queries."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError, reading
from plackett._files.parquet import parquet_frame
from plackett._names.nearest import plural
from plackett.data._bytes import bare_suffix, read_bytes
from plackett.data._tables import id_series, is_alias
from plackett.data._trec_lines import refuse_repeats
from plackett.data.dataset import RankingDataset
from plackett.data.relation_builders.hyperedges import hyperedges
from plackett.data.relations import Relation

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_groups", "read_query_features", "read_relation"]

#: The control character between fields.
_UNIT = "\x1f"
_PAIRS = "query document other-document [weight]"


def read_relation(path: str | os.PathLike[str], data: RankingDataset) -> Relation:
    r"""Read a relation between the documents of a dataset: a pair of documents per line.

    A line is ``query document other-document [weight]``, separated by blanks, tabs or commas, all lines like the first
    one; fields between tabs or commas may be in quotes (`.gz`, `.xz` and `.zst` are decompressed; blank lines and lines
    that begin with ``#`` are skipped, and so is a header). A parquet file has these columns in this order. Documents
    are named by their ids or, if the dataset has none, by their position in the list of the query: 1 is the first.
    Lines of queries that are not in the dataset are skipped, so that one file can serve training and test data; a
    document that its query does not have is an error. Weights are 0 or more, by default 1; those of a pair that is
    given twice are added.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "alike.txt"
    >>> _ = path.write_text("7 x y 0.8\n7 z x\n")
    >>> data = RankingDataset.from_arrays(None, None, qid=[7, 7, 7], docids=["x", "y", "z"])
    >>> relation = read_relation(path, data)
    >>> relation.to_pairs().tolist(), relation.weights.tolist()
    ([[0, 1], [2, 0]], [0.8, 1.0])
    """
    lines = _Lines.read(path, _PAIRS, 3, 4).of_queries(data)
    row, other = (lines.rows(data, column) for column in (1, 2))
    weight = lines.numbers(3, 1.0)
    low = np.flatnonzero(weight < 0)
    if low.size:
        raise lines.error(int(low[0]), f"the weight is {weight[low[0]]:g}; give 0 or more")
    return Relation(row, other, weight if lines.fields[3].null_count() < len(lines.line) else None).regrouped(
        None, data.offsets
    )


def read_pairs(path: str | os.PathLike[str]) -> pl.DataFrame:
    """The lines of a file of pairs as they are, ``qid, docid, other, weight``; a pair may not occur twice."""
    import polars as pl

    lines = _Lines.read(path, _PAIRS, 3, 4)
    frame = pl.DataFrame(
        {"qid": lines.fields[0], "docid": lines.fields[1], "other": lines.fields[2], "weight": lines.numbers(3, 1.0)}
    )
    refuse_repeats(frame, ("qid", "docid", "other"), lambda row: f"{path}, {lines.unit} {lines.line[row]}")
    return frame


def read_groups(path: str | os.PathLike[str], data: RankingDataset) -> Relation:
    r"""Read groups of documents for `HypergraphRanker`: lines ``query document group``, the rest as in `read_relation`.

    A document may be in several groups; one whose group is empty is in none. See `plackett.hyperedges`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "brands.csv"
    >>> _ = path.write_text("qid,docid,brand\n7,x,Acme\n7,z,Acme\n7,y,Other\n")
    >>> data = RankingDataset.from_arrays(None, None, qid=[7, 7, 7], docids=["x", "y", "z"])
    >>> read_groups(path, data).to_pairs().tolist()
    [[0, 0], [2, 0]]
    """
    lines = _Lines.read(path, "query document group", 3, 3).of_queries(data)
    groups = [group or None for group in lines.fields[2]]  # an empty field means no group
    members = list(zip(lines.rows(data, 1).tolist(), groups, strict=True))
    with reading(path, "the file of groups"):
        return hyperedges(data, members) if members else Relation.from_pairs([])


def read_query_features(path: str | os.PathLike[str], data: RankingDataset) -> np.ndarray:
    r"""Read features of the queries of a dataset: lines ``query number number …``, in the form of `read_relation`.

    Every query of the dataset needs a line; lines of other queries are skipped. The result is a table with a row per
    query, in the order of ``data.qids``, for ``data.replace(query_features=…)``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "queries.csv"
    >>> _ = path.write_text("qid,words,has_code\n8,1,1\n7,3,0\n")
    >>> data = RankingDataset.from_arrays(None, None, qid=[7, 7, 8])
    >>> read_query_features(path, data).tolist()
    [[3.0, 0.0], [1.0, 1.0]]
    """
    lines = _Lines.read(path, "query number …", 2, None).once_per_query(data)
    return np.stack([lines.numbers(i) for i in range(1, len(lines.fields))], axis=1).astype(np.float32)


def read_query_names(path: str | os.PathLike[str], data: RankingDataset) -> list[str]:
    """A name of each query of a dataset, such as its domain: lines ``query name``, in the form of `read_relation`."""
    lines = _Lines.read(path, "query name", 2, 2).once_per_query(data)
    empty = [i for i, name in enumerate(lines.fields[1]) if not name]
    if empty:
        raise lines.error(empty[0], f"the name of query {lines.fields[0][empty[0]]!r} is missing")
    return list(lines.fields[1].to_list())


@dataclass(frozen=True)
class _Lines:
    """Fields of a file by column, as text, and the number of the line (or row) that each entry comes from."""

    path: Any
    layout: str
    fields: list[pl.Series]
    line: np.ndarray
    unit: str = "line"

    @classmethod
    def read(cls, path: Any, layout: str, least: int, most: int | None) -> _Lines:
        """Read a file whose lines have this number of fields; without ``most`` as many as the first one."""
        if bare_suffix(path) == ".parquet":
            return cls._parquet(path, layout, least, most)
        import polars as pl

        raw = read_bytes(path).tobytes()
        try:
            text = pl.Series(raw.decode("utf-8-sig").split("\n"), dtype=pl.String).str.strip_chars()
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            raise DataError(f"{path}, line {line}: the text is not UTF-8") from None
        kept = ((text != "") & ~text.str.starts_with("#")).arg_true()
        text, number = text.gather(kept), kept.to_numpy().astype(np.int64) + 1
        parts = _split(text, least, most)
        count = parts.list.len().to_numpy()
        width = most if most is not None else int(count[0]) if count.size else least
        wrong = np.flatnonzero((count < (least if most is not None else max(width, least))) | (count > width))
        if wrong.size:
            bad = int(wrong[0])
            raise DataError(
                f"{path}, line {number[bad]}: expected {layout!r}, separated by blanks, tabs or commas, found "
                f"{plural(int(count[bad]), 'field')}: {text[bad]!r}"
            )
        fields = [parts.list.get(i, null_on_oob=True).str.strip_chars() for i in range(width)]
        head = int(len(text) > 0 and is_alias(str(fields[0][0]), "qid"))
        return cls(path, layout, [field[head:] for field in fields], number[head:])

    @classmethod
    def _parquet(cls, path: Any, layout: str, least: int, most: int | None) -> _Lines:
        import polars as pl

        with reading(path, "the parquet file"):
            table = parquet_frame(Path(path))
            if table.width < least or (most is not None and table.width > most):
                raise DataError(f"expected the columns {layout!r}, found {', '.join(table.columns)}")
            fields = [column.cast(pl.String) for column in table]
        while most is not None and len(fields) < most:
            fields.append(pl.Series([None] * table.height, dtype=pl.String))
        return cls(path, layout, fields, np.arange(1, table.height + 1), "row")

    def error(self, entry: int, problem: str) -> DataError:
        """An error that names the line of an entry."""
        return DataError(f"{self.path}, {self.unit} {self.line[entry]}: {problem}")

    def numbers(self, column: int, default: float | None = None) -> np.ndarray:
        """A column of finite numbers; what is missing is the default."""
        import polars as pl

        text = self.fields[column]
        values = text.cast(pl.Float64, strict=False)
        wrong = (values.is_null() & (text.is_not_null() if default is not None else True)) | ~values.is_finite()
        wrong = wrong.fill_null(False)
        if wrong.any():
            entry = wrong.arg_max() or 0
            raise self.error(entry, f"{text[entry]!r} is not a number; expected {self.layout!r}")
        return (values if default is None else values.fill_null(default)).to_numpy()

    def of_queries(self, data: RankingDataset) -> _Lines:
        """The lines of queries that are in the dataset."""
        known = id_series("qid", data.qids).cast(self.fields[0].dtype)
        kept = self.fields[0].is_in(known.implode())
        if len(kept) and data.n_queries and not kept.any():
            raise self.error(0, f"there is no query {self.fields[0][0]!r}, nor any other of this file, in the dataset, "
                                f"whose queries are like {known[0]!r}")  # fmt: skip
        fields = [field.filter(kept) for field in self.fields]
        return _Lines(self.path, self.layout, fields, self.line[kept.to_numpy()], self.unit)

    def once_per_query(self, data: RankingDataset) -> _Lines:
        """The line of each query of the dataset, in their order."""
        import polars as pl

        lines = self.of_queries(data)
        double = ~lines.fields[0].is_first_distinct()
        if double.any():
            entry = double.arg_max() or 0
            raise lines.error(entry, f"query {lines.fields[0][entry]!r} has a line already")
        wanted = id_series("qid", data.qids).cast(pl.String).to_frame()
        table = pl.DataFrame({"qid": lines.fields[0]}).with_row_index("entry")
        entry_of = wanted.join(table, on="qid", how="left", maintain_order="left")["entry"]
        if entry_of.null_count():
            query = data.qids[entry_of.is_null().arg_max() or 0]
            raise DataError(f"{self.path}: there is no line for query {query}; expected {self.layout!r}")
        order = entry_of.to_numpy()
        return _Lines(self.path, self.layout, [f.gather(order) for f in lines.fields], lines.line[order], self.unit)

    def rows(self, data: RankingDataset, column: int) -> np.ndarray:
        """The row of the document that a column names."""
        import polars as pl

        of = data.query_of_row
        if data.docids is None:
            names = pl.Series(np.arange(data.n_rows) - data.offsets[of] + 1)
        else:
            names = id_series("docid", np.asarray(data.docids))
        qid = id_series("qid", data.qids).cast(pl.String).gather(of)
        known = pl.DataFrame({"qid": qid, "docid": names.cast(pl.String), "row": np.arange(data.n_rows)})
        wanted = pl.DataFrame({"qid": self.fields[0], "docid": self.fields[column]})
        known = known.group_by("qid", "docid").agg(pl.col("row").first(), times=pl.len())
        joined = wanted.join(known, on=["qid", "docid"], how="left", maintain_order="left")
        if joined["row"].null_count():
            entry = joined["row"].is_null().arg_max() or 0
            query, document = joined.row(entry)[:2]
            by = (
                ""
                if data.docids is not None
                else " (the dataset has no document ids: positions in the list count from 1)"
            )
            raise self.error(entry, f"query {query!r} has no document {document!r}{by}")
        if (joined["times"] > 1).any():
            entry = (joined["times"] > 1).arg_max() or 0
            query, document = joined.row(entry)[:2]
            raise self.error(entry, f"query {query!r} has document {document!r} more than once")
        return joined["row"].to_numpy().astype(np.int64)


def _split(text: pl.Series, least: int, most: int | None) -> pl.Series:
    """The fields of each line, separated as in the first one: by tabs or commas if that makes enough fields, or blanks.

    So a blank-separated line may have commas in its ids (URLs), and a quoted field commas or tabs.
    """
    for separator in ("\t", ","):
        size = len(_fields(text[0], separator)) if len(text) else 0
        if least <= size and (most is None or size <= most):
            break
    else:
        return text.str.replace_all(r"\s+", " ").str.split(" ")
    quoted = text.str.contains('"', literal=True).arg_true()
    if len(quoted):
        plain = [_UNIT.join(_fields(line, separator)) for line in text.gather(quoted)]
        text, separator = text.str.replace_all(separator, _UNIT, literal=True).scatter(quoted, plain), _UNIT
    return text.str.split(separator)


def _fields(line: str, separator: str) -> list[str]:
    """The fields of one line, without quotes around them."""
    try:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    except csv.Error:  # a field that is longer than the reader takes
        return line.split(separator)
