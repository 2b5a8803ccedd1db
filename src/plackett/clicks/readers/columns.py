"""Tables of clicks: one row per shown document, or one per page with lists in its cells."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import check_regular
from plackett._files.parquet import named_damage, parquet_frame
from plackett._names.nearest import plain
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.log import MAX_RANK, ClickLog
from plackett.data.frame_columns import as_polars, id_array, is_table, look, missing_ids

if TYPE_CHECKING:
    import polars as pl

#: A session column serves as the page if there is no better one. If a session has several pages, the error says so.
SESSIONS = ("session", "session_id")
#: Usual names of the columns; case, ``_``, ``-`` and blanks do not matter.
COLUMNS: dict[str, tuple[str, ...]] = {
    "page": ("page", "page_id", "search_id", "srch_id", "impression_id", "serp_id", "request_id", *SESSIONS),
    "query": ("query", "query_text", "user_query", "keywords", "search_term", "qid", "query_id"),
    "document": (
        *("document", "documents", "doc", "docs", "docid", "docids", "doc_id", "document_id", "docno"),
        *("item", "items", "item_id", "product", "product_id", "products", "results", "sku", "asin", "url"),
    ),
    "rank": ("rank", "ranks", "position", "pos", "ordinal"),
    "clicks": ("clicks", "clicked", "click", "is_click", "is_clicked"),
    "click_order": ("click_order",),
    "dwell": ("dwell", "dwell_time"),
    "actions": ("actions", "action_weight"),
    "user": (*("user", "user_id", "users", "client_id", "customer", "customer_id", "visitor", "visitor_id"),),
    "time": ("time", "times", "timestamp", "ts", "datetime", "event_time", "date"),
    "ranker": ("ranker",),
    "propensity": ("propensity", "propensities", "pscore"),
    "conditional_propensity": ("conditional_propensity", "conditional_propensities"),
    "weight": ("weight",),
}
#: A larger number (as seconds, the year 5138) is in milliseconds, microseconds or nanoseconds.
MILLISECONDS = 1e11
#: Name of the column made of several.
JOINED = "__page__"
#: Name of the column that marks rows with more cells than the header.
LONG = "__long__"
FROM_ZERO = "ranks begin at 0; the top is taken for rank 1 (first_rank=1 if it is not)"
TOO_LONG = "more cells than the header has columns"
NEEDED = ("query", "document", "clicks")
A_ROW_PER_EVENT = (
    "If each row is an event (impression, click, purchase): format 'events', on the command line --format events, "
    "says which names it needs"
)
#: Numbers per row: the column and the argument of `ClickLog.from_arrays`.
_PER_ROW = {
    "clicks": "clicks",
    "click_order": "click_order",
    "dwell": "dwell",
    "actions": "actions",
    "propensity": "propensities",
    "conditional_propensity": "conditional_propensities",
}


_LARGEST = float(np.finfo(np.float32).max)
_CHANCE = ("a number above 0, at most 1", float(np.nextafter(0.0, 1.0)), 1.0)
#: What a number should be, in words, and its bounds.
_WANTED: dict[str, tuple[str, float, float]] = {
    "rank": (f"a whole number from 1 to {MAX_RANK}", 1.0, MAX_RANK),
    "clicks": ("a whole number from 0", 0.0, 2.0**31 - 1),
    "click_order": ("a whole number from 0", 0.0, 2.0**31 - 1),
    "actions": ("a number", -_LARGEST, _LARGEST),
    "propensity": _CHANCE,
    "conditional_propensity": _CHANCE,
    "weight": ("a number from 0", 0.0, _LARGEST),
}


def read_table(path: Any, *, separator: str | None = None, **columns: Any) -> ClickLog:
    """Read a table: a frame, or a file ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl`` or ``.ndjson``."""
    if is_table(path):
        return log_of_frame(path, **columns)
    frame, bad = _frame(path, separator)
    try:
        return log_of_frame(frame, bad_lines=bad, **columns)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def _frame(path: str | os.PathLike[str], separator: str | None) -> tuple[pl.DataFrame, BadLines]:
    import polars as pl

    from plackett.data.file_bytes import bare_suffix

    bad = BadLines(os.fspath(path))
    check_regular(path)
    suffix = bare_suffix(path)
    try:
        if suffix == ".parquet":
            frame = parquet_frame(Path(path))
            bad.total, bad.unit = frame.height, "row"
            return frame, bad
        if suffix in (".jsonl", ".ndjson", ".json"):
            return _json_lines(path, bad), bad
        separator = separator or _separator(path, suffix)
        # everything as text first: a value that is not a number is reported with its line, not silently made missing
        with _plain_file(path) as plain_path:
            options: dict[str, Any] = {"separator": separator, "infer_schema": False, "encoding": "utf8-lossy"}
            try:
                frame = pl.read_csv(plain_path, **options)
            except pl.exceptions.ComputeError:  # lines that are too long, or damage, which the second reading finds
                frame = pl.read_csv(plain_path, truncate_ragged_lines=True, **options)
                long = _too_long(plain_path, separator)
                frame = frame.with_columns(pl.int_range(pl.len()).is_in(long).alias(LONG)) if long else frame
    except pl.exceptions.PolarsError as error:
        raise damaged(path, error, separator) from None
    bad.total = frame.height
    breaks = _line_breaks(frame)
    if breaks.sum():
        frame = frame.with_columns(__line__=pl.int_range(pl.len()) + 2 + breaks.cum_sum() - breaks)
    return frame, bad


def _line_breaks(frame: pl.DataFrame) -> pl.Series:
    """Number of line breaks within the cells of each row of a CSV file, by which the lines of later rows move."""
    import polars as pl

    cells = pl.col(pl.String).str.count_matches("\n", literal=True).fill_null(0).cast(pl.Int64)
    return frame.select(pl.sum_horizontal(cells)).to_series()


def _too_long(path: Path, separator: str) -> list[int]:
    """Numbers, from 0, of the rows of a CSV file that have more cells than its header."""
    import csv

    from plackett.clicks.readers._pages import lines

    long: list[int] = []
    width = 0
    rows = csv.reader((f"{text}\n" for _, text in lines(path)), delimiter=separator)
    try:
        for number, row in enumerate(rows):
            width = width or len(row)
            if len(row) > width and any(row[width:]):
                long.append(number - 1)
    except csv.Error as error:
        raise DataError(f"{path}: line {rows.line_num}: {error}") from None
    return long


@contextmanager
def _plain_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The file, or a temporary one with what a compressed file contains."""
    from plackett._files.compression import codec_of, pieces

    with open(path, "rb") as file:
        codec = codec_of(os.fspath(path), file.read(16))
    if codec is None:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="plackett-clicks-") as folder:
        plain_path = Path(folder) / "table.csv"
        with open(plain_path, "wb") as out:
            for piece in pieces(os.fspath(path)):
                out.write(piece)
        yield plain_path


def damaged(path: Any, error: Exception, separator: str | None) -> DataError:
    """Why a table cannot be read, in our own words where it is text."""
    from plackett.data.file_bytes import bare_suffix, read_bytes
    from plackett.data.tables import what_is_wrong

    suffix = bare_suffix(path)
    if suffix in (".parquet", ".jsonl", ".ndjson", ".json"):
        return DataError(f"{path}: {str(error).strip().partition(chr(10))[0]}")
    return DataError(
        f"{path}: {what_is_wrong(read_bytes(path).tobytes(), separator or _separator(path, suffix), error)}"
    )


def _separator(path: Any, suffix: str) -> str:
    """The separator between the columns of the first line."""
    from plackett.clicks.readers._pages import lines

    first = "\t" if suffix in (".tsv", ".tab") else ","
    _, head = next(iter(lines(path)), (1, ""))
    return first if first in head else next((mark for mark in ",;\t|" if mark in head), first)


def _json_lines(path: Any, bad: BadLines) -> pl.DataFrame:
    frame = next(_json_frames(path, bad), None)
    if frame is None:
        raise DataError(f"{path}: no JSON objects; {bad}")
    return frame


def _json_frames(path: Any, bad: BadLines, n_rows: int | None = None) -> Iterator[pl.DataFrame]:
    """Tables of JSON lines, of at most this many rows."""
    import json

    from plackett.clicks.readers._pages import lines

    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    for number, text in lines(path):
        if not text.strip():
            continue
        bad.total += 1
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            bad.add("not a JSON object", number, text)
            continue
        rows.append(row)
        numbers.append(number)
        if n_rows is not None and len(rows) >= n_rows:
            yield _frame_of(rows, numbers)
            rows, numbers = [], []
    if rows:
        yield _frame_of(rows, numbers)


def _frame_of(rows: list[dict[str, Any]], numbers: list[int]) -> pl.DataFrame:
    import polars as pl

    names = dict.fromkeys(name for row in rows for name in row)
    table = {name: pl.Series(name, [row.get(name) for row in rows], strict=False) for name in names}
    return pl.DataFrame(table).with_columns(pl.Series("__line__", numbers))


def iter_table(path: str | os.PathLike[str], n_rows: int, **options: Any) -> Iterator[ClickLog]:
    """Read a table in parts of about ``n_rows`` rows with whole pages; see `plackett.clicks.iter_clicks`."""
    import polars as pl

    bad = BadLines(os.fspath(path))
    rest: pl.DataFrame | None = None
    separator = options.pop("separator", None)
    done = _PagesDone()
    parts = _Parts(bad, options)
    try:
        for batch in batches(path, bad, n_rows, separator):
            batch = batch if rest is None else pl.concat([rest, batch], how="diagonal_relaxed")
            table, names, _ = _joined_page(batch, options)
            document, page = (_column(table, role, names.get(role)) for role in ("document", "page"))
            if document is not None and table[document].dtype == pl.List:
                rest = None
                yield from parts(batch)
                continue
            if page is None:
                raise DataError(f"no column says which rows are one result page: {_name_it('page')}; {look(batch)}")
            run = table[page].rle_id()
            whole, rest = batch.filter(run < run[-1]), batch.filter(run == run[-1])
            if whole.height:
                done.add(table.filter(run < run[-1])[page], whole, bad)
                yield from parts(whole)
        if rest is not None and rest.height:
            table, _, _ = _joined_page(rest, options)
            done.add(table[str(page)], rest, bad)
            yield from parts(rest)
        if parts.empty:
            raise DataError(f"no result pages; {bad}")
    except pl.exceptions.PolarsError as error:
        raise damaged(path, error, separator) from None
    except DataError as error:
        named = str(error).startswith(os.fspath(path))
        raise DataError(str(error) if named else f"{path}: {error}") from None


class _Parts:
    """Makes logs of the parts of a table; the first one decides what the top rank is called."""

    def __init__(self, bad: BadLines, options: dict[str, Any]) -> None:
        self.bad, self.options, self.empty = bad, options, True

    def __call__(self, frame: pl.DataFrame) -> Iterator[ClickLog]:
        try:
            log = log_of_frame(frame, bad_lines=self.bad, **self.options)
        except NoPagesError:  # counted as bad lines; other parts may have pages
            return
        if self.options.get("first_rank") is None:
            self.options = self.options | {"first_rank": 0 if FROM_ZERO in self.bad.notes else 1}
        self.empty = False
        yield log


class NoPagesError(DataError):
    """No usable lines are left of a table."""


class _PagesDone:
    """Hashes of the pages returned so far: none of them may appear again."""

    def __init__(self) -> None:
        self.runs: list[np.ndarray] = []  # sorted, each less than half as long as the one before

    def add(self, pages: pl.Series, rows: pl.DataFrame, bad: BadLines) -> None:
        """Add the pages of a part; `DataError` if rows of one are not next to each other."""
        heads = pages.rle_id().diff().fill_null(1) != 0
        ids = pages.filter(heads).cast(str)
        hashes = ids.hash(seed=0).to_numpy()
        back = ids.is_duplicated().to_numpy() if ids.n_unique() < ids.len() else np.zeros(ids.len(), bool)
        for run in self.runs:
            at = np.minimum(np.searchsorted(run, hashes), run.size - 1)
            back |= run[at] == hashes
        back &= ids.is_not_null().to_numpy()  # rows without a page are counted as bad lines
        if back.any():
            last = int(np.flatnonzero(back)[-1])
            line = rows.filter(heads)["__line__"][last]
            name = ids[last].replace("\x1f", ",")
            raise DataError(
                f"{bad.unit} {line}: rows of the page {name!r} are not next to each other, as reading in parts needs: "
                "sort the table by page, or read it at once (read_clicks)"
            )
        self.runs.append(np.sort(hashes))
        while len(self.runs) > 1 and 2 * self.runs[-1].size >= self.runs[-2].size:
            shorter = self.runs.pop()
            self.runs[-1] = np.sort(np.concatenate((self.runs[-1], shorter)))


def batches(path: Any, bad: BadLines, n_rows: int, separator: str | None) -> Iterator[pl.DataFrame]:
    """Tables of at most about this many rows, with the line of each."""
    import polars as pl

    from plackett.data.file_bytes import bare_suffix

    check_regular(path)
    suffix = bare_suffix(path)
    if suffix in (".jsonl", ".ndjson", ".json"):
        yield from _json_frames(path, bad, n_rows)
        return
    long: list[int] = []
    with ExitStack() as stack:
        if suffix == ".parquet":
            bad.unit = "row"
            stack.enter_context(named_damage(path))
            lazy = pl.scan_parquet(os.fspath(path))
        else:
            separator = separator or _separator(path, suffix)
            plain_path = stack.enter_context(_plain_file(path))
            options: dict[str, Any] = {"separator": separator, "infer_schema": False, "encoding": "utf8-lossy"}
            lazy = pl.scan_csv(plain_path, truncate_ragged_lines=True, **options)
            try:  # parses every line, and keeps none
                pl.scan_csv(plain_path, **options).select(pl.all().null_count()).collect(engine="streaming")
            except pl.exceptions.ComputeError:
                long = _too_long(plain_path, separator)
        lazy = lazy.with_row_index("__line__", offset=bad.first)
        if long:
            lazy = lazy.with_columns((pl.col("__line__").cast(pl.Int64) - 2).is_in(long).alias(LONG))
        moved = 0
        for batch in lazy.collect_batches(chunk_size=n_rows, maintain_order=True):
            bad.total += batch.height
            if suffix != ".parquet":
                breaks = _line_breaks(batch)
                line = pl.col("__line__").cast(pl.Int64) + moved
                batch = batch.with_columns(__line__=line + breaks.cum_sum() - breaks)
                moved += int(breaks.sum())
            for start in range(0, batch.height, n_rows):
                yield batch[start : start + n_rows]


def log_of_frame(
    frame: Any,
    *,
    bad_lines: BadLines | None = None,
    key: bytes | str | None = None,
    first_rank: int | str | None = None,
    **names: Any,
) -> ClickLog:
    """Make a log from a table; see `plackett.clicks.read_clicks`."""
    import polars as pl

    if first_rank is not None and str(first_rank) not in ("0", "1"):
        raise DataError(f"first_rank={first_rank!r}; the top rank is called 0 or 1")
    first_rank = None if first_rank is None else int(first_rank)
    table = as_polars(frame)
    bad = bad_lines or BadLines("the table", total=table.height, unit="row")
    unknown = set(names) - set(COLUMNS)
    if unknown:
        raise DataError(
            f"there is no column role {sorted(unknown)[0]!r}; the roles are {', '.join(COLUMNS)}. {A_ROW_PER_EVENT}"
        )
    table, names, parts = _joined_page(table, names)
    column_of = {role: _column(table, role, names.get(role)) for role in COLUMNS}
    missing = [role for role in NEEDED if column_of[role] is None]
    if missing:
        from plackett.clicks.readers.proposals import propose

        table = table.drop("__line__", LONG, JOINED, strict=False)
        perhaps = propose(table.iter_rows(named=True), bad.source, sure=False)
        raise DataError(
            f"no column for the {missing[0]}: {_name_it(missing[0])}; {look(table)}. "
            f"{f'Or {perhaps}' if perhaps else A_ROW_PER_EVENT}"
        )
    chosen = {role: name for role, name in column_of.items() if name is not None}
    bad.columns = chosen | ({"page": ",".join(parts)} if parts else {})
    bad.unused = [name for name in table.columns if name not in {*chosen.values(), *parts, "__line__", JOINED, LONG}]
    line = pl.col("__line__") if "__line__" in table.columns else pl.int_range(pl.len()) + bad.first
    long = pl.col(LONG) if LONG in table.columns else pl.lit(False)
    data = table.select(**{role: pl.col(name) for role, name in chosen.items()}, line=line, long=long)
    _check_types(data, chosen)
    if data["document"].dtype == pl.List:
        if _are_ids(data):
            data = _clicks_of_ids(data.with_columns(page=pl.int_range(pl.len())), bad)
        lists = [role for role, kind in data.schema.items() if kind == pl.List]
        sizes = data.select(pl.col(role).list.len().fill_null(0) for role in lists)
        empty = sizes["document"] == 0
        uneven = ~sizes.select(pl.all_horizontal(pl.all() == pl.col("document"))).to_series() & ~empty
        for reason, left in (("a page without documents", empty), ("lists of unequal length", uneven)):
            bad.add_all(reason, data.filter(left).select("line", pl.lit("")))
        data = data.filter(~(empty | uneven)).with_columns(page=pl.int_range(pl.len())).explode(lists)
    elif "page" not in chosen:
        raise DataError(f"no column says which rows are one result page: {_name_it('page')}; {look(table)}")
    return assemble(data, bad, key, first_rank, parts)


def _check_types(data: pl.DataFrame, chosen: dict[str, str]) -> None:
    """Refuse columns that are neither ids nor numbers; cells may be lists if those of the documents are."""
    import polars as pl

    in_lists = data["document"].dtype == pl.List
    for role, name in chosen.items():
        kind = inner = data[role].dtype
        if in_lists and role in ("document", "rank", *_PER_ROW) and isinstance(kind, pl.List):
            inner = kind.inner  # type: ignore[assignment]
        plain_kind = inner in (pl.String, pl.Boolean, pl.Null, pl.Categorical, pl.Enum) or inner.is_numeric()
        if not (plain_kind or (role == "time" and inner.is_temporal())):
            shown = "of mixed types" if kind == pl.Object else str(kind)
            wanted = "ids are whole numbers or strings" if role not in (*_PER_ROW, "rank", "weight") else "give numbers"
            raise DataError(f"column {name!r} for the {role} is {shown}; {wanted}")


def _are_ids(data: pl.DataFrame) -> bool:
    """Whether the cells of the clicks are lists of clicked documents, not a number per document."""
    import polars as pl

    clicks = data["clicks"]
    if clicks.dtype == pl.List(pl.Null):  # nothing was clicked on any page
        return True
    if clicks.dtype != pl.List or data["document"].dtype.inner != clicks.dtype.inner:  # type: ignore[attr-defined]
        return False
    return clicks.dtype.inner == pl.String or bool((clicks.list.len() != data["document"].list.len()).any())  # type: ignore[attr-defined]


def _clicks_of_ids(data: pl.DataFrame, bad: BadLines) -> pl.DataFrame:
    """Replace lists of clicked documents by numbers of clicks, and their order."""
    import polars as pl

    hits = data.select("page", "line", document="clicks").explode("document").drop_nulls("document")
    hits = hits.cast({"document": data["document"].dtype.inner})  # type: ignore[attr-defined]
    hits = hits.with_columns(first=pl.int_range(pl.len()).over("page"))
    hits = hits.group_by("page", "document", maintain_order=True).agg(
        pl.len().alias("clicks"), pl.col("first").min(), pl.col("line").first()
    )
    shown = data.select("page", "document").explode("document")
    unseen = hits.join(shown, on=["page", "document"], how="anti").select("line", "document")
    bad.note_all("a click on a document that the page does not show", unseen)
    counted = shown.join(hits.drop("line"), on=["page", "document"], how="left", maintain_order="left").with_columns(
        pl.col("clicks").fill_null(0),
        click_order=pl.col("first").rank("dense").over("page").fill_null(0),
    )
    lists = counted.group_by("page", maintain_order=True).agg("clicks", "click_order")
    data = data.drop("clicks", *(["click_order"] if "click_order" in data.columns else []))
    return data.join(lists, on="page", how="left", maintain_order="left")


def _name_it(role: str) -> str:
    return f"name it ({role}=COLUMN, on the command line -c {role}=COLUMN)"


def _joined_page(table: pl.DataFrame, names: dict[str, Any]) -> tuple[pl.DataFrame, dict[str, Any], list[str]]:
    """A column for pages that are known by several columns together, such as session and query, and these columns."""
    import polars as pl

    page = names.get("page")
    if isinstance(page, str):
        page = page if page in table.columns or "," not in page else [name.strip() for name in page.split(",")]
    if page is None or isinstance(page, str):
        return table, names, []
    parts = [str(_column(table, "page", name)) for name in page]
    joined = pl.concat_str([pl.col(part).cast(pl.String) for part in parts], separator="\x1f")
    return table.with_columns(joined.alias(JOINED)), names | {"page": JOINED}, parts


def _column(table: pl.DataFrame, role: str, name: str | None) -> str | None:
    if name is not None:
        if name not in table.columns:
            raise DataError(f"{role}={name!r}: there is no such column; {look(table)}")
        return name
    for usual in COLUMNS[role]:
        for column in table.columns:
            if plain(column) == plain(usual):
                return column
    return None


def assemble(
    data: pl.DataFrame, bad: BadLines, key: bytes | str | None, first_rank: int | None, parts: Sequence[str] = ()
) -> ClickLog:
    """The log of rows with one document each; what is wrong is counted in ``bad``, and its page left out."""
    import polars as pl

    data = data.with_columns(
        _present(data[role]) for role in ("page", "query", "document", "user") if role in data.columns
    )
    numbers = [role for role in ("rank", *_PER_ROW, "weight") if role in data.columns]  # the first fault is reported
    wrong = pl.when("long").then(pl.lit(TOO_LONG)).otherwise(pl.lit(None, pl.String))
    no_page = f"no page: {' or '.join(parts)} is missing" if parts else "no page"
    for role, reason in (("page", no_page), ("query", "no query"), ("document", "no document")):
        wrong = pl.when(wrong.is_null() & pl.col(role).is_null()).then(pl.lit(reason)).otherwise(wrong)
    read = []
    for role in numbers:
        value = pl.col(role)
        if data[role].dtype == pl.String:
            flag = value.str.strip_chars().str.to_lowercase().replace({"true": "1", "false": "0"})
            value = flag.cast(pl.Float64, strict=False)
        elif data[role].dtype == pl.Boolean or data[role].dtype.is_numeric():
            value = value.cast(pl.Float64)
        else:
            raise DataError(f"column for the {role} is {data[role].dtype}; numbers are needed")
        read.append(value.alias(f"{role}_number"))
    data = data.with_columns(read)
    if "rank" in numbers:
        data = _from_one(data, bad, first_rank)
    if "dwell" in numbers:
        data = _dwell_times(data, bad)
    for role in (each for each in numbers if each != "dwell"):
        value = pl.col(f"{role}_number")
        what, low, high = _WANTED[role]
        broken = value.is_null() | ~value.is_between(low, high)
        if role in ("rank", "clicks", "click_order"):
            broken = broken | (value != value.round())
        wrong = pl.when(wrong.is_null() & broken).then(pl.lit(f"{role} is not {what}")).otherwise(wrong)
    if "click_order" in numbers:
        unlike = (pl.col("click_order_number") > 0) != (pl.col("clicks_number") > 0)
        reason = "click_order and clicks do not agree"
        wrong = pl.when(wrong.is_null() & unlike).then(pl.lit(reason)).otherwise(wrong)
    data = data.with_columns(wrong=wrong)
    duplicated = [pl.struct("page", "document").is_duplicated().alias("twice")]
    data = data.with_columns(duplicated)
    data = data.with_columns(
        wrong=pl.when(pl.col("wrong").is_null() & pl.col("twice") & pl.col("page").is_not_null())
        .then(pl.lit("a document is shown twice on one page"))
        .otherwise(pl.col("wrong"))
    )
    if "rank" in numbers:
        data = data.with_columns(
            wrong=pl.when(pl.col("wrong").is_null() & pl.struct("page", "rank_number").is_duplicated())
            .then(pl.lit("two documents at one rank of a page"))
            .otherwise(pl.col("wrong"))
        )
    left = data.filter(pl.col("wrong").is_not_null())
    if left.height:
        pages = left["page"].drop_nulls().unique()
        lost = pl.col("wrong").is_null() & pl.col("page").is_in(pages.implode())
        left = pl.concat([left, data.filter(lost).with_columns(wrong=pl.lit(""))])
        for (reason,), rows in left.group_by("wrong", maintain_order=True):
            full_reason = f"{reason} (its page is left out)" if reason else "another line of its page is wrong"
            full_reason = str(reason) if reason == no_page else full_reason
            shown = pl.format("document {}", "document").fill_null("no document")
            bad.add_all(full_reason, rows.select("line", shown))
        data = data.filter(pl.col("wrong").is_null() & ~lost)
        if left["wrong"].str.contains("twice|two documents").any():
            bad.hint = about_page(bad)
    if not data.height:
        raise NoPagesError(f"no result pages; {bad}")
    keys = ["first", "rank_number"] if "rank" in numbers else ["first"]
    data = data.with_row_index("row").with_columns(first=pl.col("row").min().over("page"))
    data = data.sort(keys, maintain_order=True)
    heads = data.group_by("first", maintain_order=True).agg(
        pl.len().alias("n"),
        *(
            pl.col(role).first()
            for role in ("query", "user", "time", "ranker", "weight_number")
            if role in data.columns
        ),
        pl.col("query").n_unique().alias("queries"),
        pl.col("line").first(),
    )
    if (heads["queries"] > 1).any():
        row = heads.filter(pl.col("queries") > 1).row(0, named=True)
        raise DataError(
            f"the page that begins in {bad.unit} {row['line']} has {row['queries']} queries, and a page has one; "
            f"{about_page(bad)}"
        )
    ranks = None
    if "rank" in numbers:
        ranks = data["rank_number"].to_numpy().astype(np.int64)
        sizes = heads["n"].to_numpy().astype(np.int64)
        plain_ranks = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
        ranks = None if np.array_equal(ranks, plain_ranks) else ranks
    return ClickLog.from_arrays(
        id_array(heads["query"]),
        id_array(data["document"]),
        lengths=heads["n"].to_numpy(),
        ranks=ranks,
        users=heads["user"].cast(pl.String).to_numpy() if "user" in heads.columns else None,
        times=seconds(heads, bad) if "time" in heads.columns else None,
        ranker=id_array(heads["ranker"]) if "ranker" in heads.columns else None,
        weight=heads["weight_number"].to_numpy() if "weight_number" in heads.columns else None,
        key=key,
        **{
            argument: data[f"{role}_number"].fill_null(float("nan")).to_numpy()
            for role, argument in _PER_ROW.items()
            if role in numbers
        },
    ).replace(bad_lines=bad)


def _present(ids: pl.Series) -> pl.Series:
    """The ids of a column, null where a text or NaN says that there is none."""
    import polars as pl

    if ids.dtype.is_float():
        return ids.fill_nan(None)
    return ids.set(missing_ids(ids), None) if ids.dtype == pl.String else ids


def _dwell_times(data: pl.DataFrame, bad: BadLines) -> pl.DataFrame:
    """Replace dwell times that are not seconds by missing values, and note them; an empty cell is missing anyway."""
    import polars as pl

    value = pl.col("dwell_number")
    fine = value.is_between(0.0, _LARGEST).fill_null(False)
    given = pl.col("dwell").cast(pl.String).str.strip_chars().str.to_lowercase()
    broken = data.filter(~fine & given.is_not_null() & ~given.is_in(["", "nan"]))
    bad.note_all("dwell is not a number from 0; left out", broken.select("line", "dwell"))
    return data.with_columns(dwell_number=pl.when(fine).then(value))


def _from_one(data: pl.DataFrame, bad: BadLines, first_rank: int | None) -> pl.DataFrame:
    """Ranks that count from 1."""
    import polars as pl

    if first_rank is None:  # zeros on most pages are not mistakes
        tops = data.group_by("page").agg((pl.col("rank_number") == 0).any().alias("zero"))["zero"]
        first_rank = 0 if tops.len() and tops.sum() > 0.5 * tops.len() else 1
        if first_rank == 0:
            bad.note(FROM_ZERO, data["line"][0], "")
    return data.with_columns(rank_number=pl.col("rank_number") + (1 - first_rank))


def about_page(bad: BadLines) -> str:
    """What to do if rows of several pages were taken for one."""
    name = bad.columns.get("page")
    if name is None or "," in name:
        return "are more columns needed to tell pages apart?"
    what = "a session may have several pages." if plain(name) in map(plain, SESSIONS) else "is that the result page?"
    return (
        f"the column {name!r} was taken for the page: {what} Name the column of the page (page=COLUMN, on the command "
        f"line -c page=COLUMN), or several that tell pages apart (-c page={name},COLUMN)"
    )


#: A date and a time of ISO 8601: date, hours and minutes, seconds, and the sign, hours and minutes of the offset.
_ISO = (
    r"^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2}(?:[.,]\d+)?))?)?"
    r"\s*(?:Z|UTC|GMT|([+-])(\d{2}):?(\d{2})?)?$"
)


def seconds(heads: pl.DataFrame, bad: BadLines) -> np.ndarray:
    """Seconds since 1970 of each page; NaN where the time is missing, or not understood, which is noted."""
    import polars as pl

    series = heads["time"]
    if series.dtype.is_temporal():
        return (series.cast(pl.Datetime("us")).dt.epoch("us") / 1e6).fill_null(float("nan")).to_numpy()
    moments = series.cast(pl.Float64, strict=False)
    if series.dtype == pl.String:
        text = series.str.strip_chars()
        parts = text.to_frame("t").select(
            *(pl.col("t").str.extract(_ISO, group).alias(str(group)) for group in range(1, 7))
        )
        moment = parts.select(
            pl.concat_str(pl.col("1"), pl.lit(" "), pl.col("2").fill_null("00:00"), pl.lit(":00"))
            .str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
            .dt.epoch("ms")
            / 1000.0
            + pl.col("3").str.replace(",", ".").cast(pl.Float64, strict=False).fill_null(0.0)
            - pl.when(pl.col("4") == "-").then(-60.0).otherwise(60.0)
            * (pl.col("5").cast(pl.Float64).fill_null(0.0) * 60 + pl.col("6").cast(pl.Float64).fill_null(0.0))
        ).to_series()
        moments = text.cast(pl.Float64, strict=False).fill_null(moment)
        wrong = heads.filter(moments.is_null() & text.is_not_null() & (text != ""))
        reason = "the time is neither a number nor a date and time such as 2026-05-01T09:30:00+02:00; left out"
        bad.note_all(reason, wrong.select("line", "time"))
    values = moments.fill_null(float("nan")).to_numpy().copy()
    for _ in range(3):
        values[np.abs(values) > MILLISECONDS] /= 1000.0
    return values


def is_table_file(path: str | os.PathLike[str]) -> bool:
    """Whether the name is that of a table."""
    from plackett.data.file_bytes import bare_suffix

    return bare_suffix(path) in (".csv", ".tsv", ".tab", ".parquet", ".jsonl", ".ndjson", ".json")
