"""The rules that the rows of a click log keep, one after another; of a row that breaks some, the first is reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plackett.clicks.bad_lines import BadLines
from plackett.clicks.fields import MAX_RANK
from plackett.clicks.readers.roles import about_page

if TYPE_CHECKING:
    import polars as pl

TOO_LONG = "more cells than the header has columns"
#: The largest number of single precision.
LARGEST = float(np.finfo(np.float32).max)
_CHANCE = ("a number above 0, at most 1", float(np.nextafter(0.0, 1.0)), 1.0)
#: What a number should be, in words, and its bounds.
_WANTED: dict[str, tuple[str, float, float]] = {
    "rank": (f"a whole number from 1 to {MAX_RANK}", 1.0, MAX_RANK),
    "clicks": ("a whole number from 0", 0.0, 2.0**31 - 1),
    "click_order": ("a whole number from 0", 0.0, 2.0**31 - 1),
    "actions": ("a number", -LARGEST, LARGEST),
    "propensity": _CHANCE,
    "conditional_propensity": _CHANCE,
    "weight": ("a number from 0", 0.0, LARGEST),
}
_WHOLE = ("rank", "clicks", "click_order")


class Rule(NamedTuple):
    """What is wrong with the rows for which an expression is true."""

    reason: str
    broken: pl.Expr
    #: Whether a row that breaks it has a page, which is left out with it.
    on_page: bool = True
    #: Whether the rows of several pages may have been taken for one.
    mixed_pages: bool = False

    @property
    def told(self) -> str:
        """What is reported."""
        return f"{self.reason} (its page is left out)" if self.on_page else self.reason


def row_rules(numbers: Sequence[str], parts: Sequence[str]) -> list[Rule]:
    """The rules for rows with these numbers, which are in the columns ``…_number``.

    Parameters
    ----------
    numbers
        The roles of the columns with numbers.
    parts
        The columns that tell pages apart together, if these are several.
    """
    import polars as pl

    no_page = f"no page: {' or '.join(parts)} is missing" if parts else "no page"
    rules = [
        Rule(TOO_LONG, pl.col("long")),
        Rule(no_page, pl.col("page").is_null(), on_page=False),
        Rule("no query", pl.col("query").is_null()),
        Rule("no document", pl.col("document").is_null()),
    ]
    for role in (each for each in numbers if each in _WANTED):
        value = pl.col(f"{role}_number")
        what, low, high = _WANTED[role]
        broken = value.is_null() | ~value.is_between(low, high)
        if role in _WHOLE:
            broken = broken | (value != value.round())
        rules.append(Rule(f"{role} is not {what}", broken))
    if "click_order" in numbers:
        unlike = (pl.col("click_order_number") > 0) != (pl.col("clicks_number") > 0)
        rules.append(Rule("click_order and clicks do not agree", unlike))
    twice = pl.struct("page", "document").is_duplicated() & pl.col("page").is_not_null()
    rules.append(Rule("a document is shown twice on one page", twice, mixed_pages=True))
    if "rank" in numbers:
        same_rank = pl.struct("page", "rank_number").is_duplicated()
        rules.append(Rule("two documents at one rank of a page", same_rank, mixed_pages=True))
    return rules


def rows_that_keep(data: pl.DataFrame, rules: Sequence[Rule], bad: BadLines) -> pl.DataFrame:
    """The rows of pages on which no row breaks a rule; the others are counted."""
    import polars as pl

    broken = (pl.when(rule.broken).then(pl.lit(i, pl.Int8)) for i, rule in enumerate(rules))
    data = data.with_columns(broken=pl.coalesce(broken))
    wrong = data.filter(pl.col("broken").is_not_null())
    if not wrong.height:
        return data
    lost = pl.col("broken").is_null() & pl.col("page").is_in(wrong["page"].drop_nulls().unique().implode())
    shown = pl.format("document {}", "document").fill_null("no document")
    for (number,), rows in wrong.group_by("broken", maintain_order=True):
        bad.add_all(rules[int(str(number))].told, rows.select("line", shown))
    bad.add_all("another line of its page is wrong", data.filter(lost).select("line", shown))
    if any(rules[number].mixed_pages for number in wrong["broken"].unique()):
        bad.hint = about_page(bad)
    return data.filter(pl.col("broken").is_null() & ~lost)
