"""Tables of clicks with one row per page, whose cells are lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett.clicks.bad_lines import BadLines

if TYPE_CHECKING:
    import polars as pl


def rows_of_lists(data: pl.DataFrame, bad: BadLines) -> pl.DataFrame:
    """One row per document of a table whose documents are lists; pages that cannot be taken apart are counted."""
    import polars as pl

    if _are_ids(data):
        data = _clicks_of_ids(data.with_columns(page=pl.int_range(pl.len())), bad)
    lists = [role for role, kind in data.schema.items() if kind == pl.List]
    sizes = data.select(pl.col(role).list.len().fill_null(0) for role in lists)
    empty = sizes["document"] == 0
    uneven = ~sizes.select(pl.all_horizontal(pl.all() == pl.col("document"))).to_series() & ~empty
    for reason, left in (("a page without documents", empty), ("lists of unequal length", uneven)):
        bad.add_all(reason, data.filter(left).select("line", pl.lit("")))
    return data.filter(~(empty | uneven)).with_columns(page=pl.int_range(pl.len())).explode(lists)


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
