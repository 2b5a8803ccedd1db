"""Tables of clicks in memory: one row per shown document, or one per page with lists in its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.readers.cells import rows_of_lists
from plackett.clicks.readers.page_arrays import page_arrays
from plackett.clicks.readers.proposals import propose
from plackett.clicks.readers.roles import COLUMNS, JOINED, NEEDED, PER_ROW, column_of, joined_page, name_it, no_page
from plackett.clicks.readers.table_format import LINE, LONG
from plackett.data.frame_columns import as_polars, look

if TYPE_CHECKING:
    import polars as pl

A_ROW_PER_EVENT = (
    "If each row is an event (impression, click, purchase): format 'events', on the command line --format events, "
    "says which names it needs"
)


def arrays_of_frame(
    frame: Any,
    *,
    bad_lines: BadLines | None = None,
    key: bytes | str | None = None,
    first_rank: int | str | None = None,
    **names: Any,
) -> tuple[dict[str, Any], BadLines]:
    """The arguments of `ClickLog.from_arrays` for a table, and what was left out; see `plackett.clicks.read_clicks`."""
    import polars as pl

    if first_rank is not None and str(first_rank) not in ("0", "1"):
        raise DataError(f"first_rank={first_rank!r}; the top rank is called 0 or 1")
    table = as_polars(frame)
    bad = bad_lines or BadLines("the table", total=table.height, unit="row")
    unknown = set(names) - set(COLUMNS)
    if unknown:
        raise DataError(
            f"there is no column role {sorted(unknown)[0]!r}; the roles are {', '.join(COLUMNS)}. {A_ROW_PER_EVENT}"
        )
    table, names, parts = joined_page(table, names)
    chosen = _chosen(table, names, bad)
    bad.columns = chosen | ({"page": ",".join(parts)} if parts else {})
    bad.unused = [name for name in table.columns if name not in {*chosen.values(), *parts, LINE, JOINED, LONG}]
    line = pl.col(LINE) if LINE in table.columns else pl.int_range(pl.len()) + bad.first
    long = pl.col(LONG) if LONG in table.columns else pl.lit(False)
    data = table.select(**{role: pl.col(name) for role, name in chosen.items()}, line=line, long=long)
    _check_types(data, chosen)
    if data["document"].dtype == pl.List:
        data = rows_of_lists(data, bad)
    elif "page" not in chosen:
        raise no_page(table)
    return page_arrays(data, bad, None if first_rank is None else int(first_rank), parts) | {"key": key}, bad


def _chosen(table: pl.DataFrame, names: dict[str, Any], bad: BadLines) -> dict[str, str]:
    """The column of each role that there is; a refusal, with a proposal, if one that is needed has none."""
    chosen: dict[str, str] = {}
    for role in COLUMNS:
        column = column_of(table, role, names.get(role))
        if column is not None:
            chosen[role] = column
    missing = [role for role in NEEDED if role not in chosen]
    if missing:
        table = table.drop(LINE, LONG, JOINED, strict=False)
        perhaps = propose(table.iter_rows(named=True), bad.source, sure=False)
        raise DataError(
            f"no column for the {missing[0]}: {name_it(missing[0])}; {look(table)}. "
            f"{f'Or {perhaps}' if perhaps else A_ROW_PER_EVENT}"
        )
    return chosen


def _check_types(data: pl.DataFrame, chosen: dict[str, str]) -> None:
    """Refuse columns that are neither ids nor numbers; cells may be lists if those of the documents are."""
    import polars as pl

    in_lists = data["document"].dtype == pl.List
    for role, name in chosen.items():
        kind = inner = data[role].dtype
        if in_lists and role in ("document", "rank", *PER_ROW) and isinstance(kind, pl.List):
            inner = kind.inner  # type: ignore[assignment]
        plain_kind = inner in (pl.String, pl.Boolean, pl.Null, pl.Categorical, pl.Enum) or inner.is_numeric()
        if not (plain_kind or (role == "time" and inner.is_temporal())):
            shown = "of mixed types" if kind == pl.Object else str(kind)
            wanted = "ids are whole numbers or strings" if role not in (*PER_ROW, "rank", "weight") else "give numbers"
            raise DataError(f"column {name!r} for the {role} is {shown}; {wanted}")
