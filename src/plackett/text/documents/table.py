"""Documents as rows of a table: CSV, TSV, parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plackett._base.errors import DataError
from plackett._files.parquet import parquet_frame
from plackett.data.file_bytes import bare_suffix, read_bytes
from plackett.data.tables import check_header, separator_of, what_is_wrong
from plackett.text.document import Document
from plackett.text.documents.encoding import decoded
from plackett.text.documents.records import ID_NAMES, document_of


def read_table(path: Path, *, id_field: str | None = None, separator: str | None = None) -> Iterator[Document]:
    """Read one document per row; columns are fields, an empty cell is a missing value.

    A column of CSV is of numbers if all its values are numbers, and of dates if all are written as 2024-05-31.

    Parameters
    ----------
    id_field
        Column of the id; by default ``id``, ``_id``, ``docid``, ``doc_id``, ``docno`` or ``document_id``.
    separator
        Separator of the columns of text; by default a comma, or a tab for ``.tsv``.
    """
    import polars as pl

    suffix = bare_suffix(path)
    try:
        if suffix == ".parquet":
            table = parquet_frame(path)
        else:
            content = decoded(read_bytes(path).tobytes()).encode()
            separator = separator or separator_of(path)
            check_header(path, content, separator)
            names = pl.read_csv(content, separator=separator, n_rows=0, infer_schema=False).columns
            ids = [name for name in (ID_NAMES if id_field is None else (id_field,)) if name in names]
            table = pl.read_csv(
                content,
                separator=separator,
                try_parse_dates=True,
                infer_schema_length=None,
                schema_overrides=dict.fromkeys(ids[:1], pl.String),  # 007 is an id, 7 another one
            )
    except pl.exceptions.PolarsError as error:
        what = (
            "not a table that can be read" if suffix == ".parquet" else what_is_wrong(content, separator or ",", error)
        )
        raise DataError(f"{path}: {what}") from None
    for number, record in enumerate(table.iter_rows(named=True), 1):
        yield document_of(record, f"{path}, row {number}", id_field)
