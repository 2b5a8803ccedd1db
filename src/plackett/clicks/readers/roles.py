"""What the columns of a table of clicks mean: their usual names, and what to say if a role has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett._names.nearest import plain
from plackett.clicks.bad_lines import BadLines
from plackett.data.frame_columns import look

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
#: Numbers per row: the column and the argument of `ClickLog.from_arrays`.
PER_ROW = {
    "clicks": "clicks",
    "click_order": "click_order",
    "dwell": "dwell",
    "actions": "actions",
    "propensity": "propensities",
    "conditional_propensity": "conditional_propensities",
}
NEEDED = ("query", "document", "clicks")
#: Name of the column made of several.
JOINED = "__page__"


def column_of(table: pl.DataFrame, role: str, name: str | None) -> str | None:
    """The column with this role: the one that was named, or one with a usual name."""
    if name is not None:
        if name not in table.columns:
            raise DataError(f"{role}={name!r}: there is no such column; {look(table)}")
        return name
    for usual in COLUMNS[role]:
        for column in table.columns:
            if plain(column) == plain(usual):
                return column
    return None


def joined_page(table: pl.DataFrame, names: dict[str, Any]) -> tuple[pl.DataFrame, dict[str, Any], list[str]]:
    """A column for pages that are known by several columns together, such as session and query, and these columns."""
    import polars as pl

    page = names.get("page")
    if isinstance(page, str):
        page = page if page in table.columns or "," not in page else [name.strip() for name in page.split(",")]
    if page is None or isinstance(page, str):
        return table, names, []
    parts = [str(column_of(table, "page", name)) for name in page]
    joined = pl.concat_str([pl.col(part).cast(pl.String) for part in parts], separator="\x1f")
    return table.with_columns(joined.alias(JOINED)), names | {"page": JOINED}, parts


def name_it(role: str) -> str:
    """How to name the column of a role."""
    return f"name it ({role}=COLUMN, on the command line -c {role}=COLUMN)"


def no_page(table: pl.DataFrame) -> DataError:
    """The refusal of a table without a column for the page."""
    return DataError(f"no column says which rows are one result page: {name_it('page')}; {look(table)}")


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
