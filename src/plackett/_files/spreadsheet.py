"""Tables that people open in a spreadsheet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

#: Text that a spreadsheet runs as a formula. A plain number is not one.
_FORMULA = r"^\s*[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def harmless(table: pl.DataFrame) -> pl.DataFrame:
    """Prefix texts and names that a spreadsheet would run as formulas with an apostrophe.

    >>> import polars as pl
    >>> harmless(pl.DataFrame({"qid": ["=1+1", "-3.5", "a"]}))["qid"].to_list()
    ["'=1+1", '-3.5', 'a']
    """
    import polars as pl

    texts = [name for name, dtype in table.schema.items() if dtype in (pl.String, pl.Categorical, pl.Enum)]
    table = table.with_columns(_quoted(pl.col(name).cast(pl.String)).alias(name) for name in texts)
    return table.rename({name: f"'{name}" for name in table.columns if _is_formula(name)})


def original(text: str) -> str:
    """The text that `harmless` was given.

    >>> original("'=1+1"), original("'tis"), original("a")
    ('=1+1', "'tis", 'a')
    """
    return text[1:] if text[:1] == "'" and _is_formula(text[1:]) else text


def _quoted(text: pl.Expr) -> pl.Expr:
    import polars as pl

    formula = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
    return pl.when(formula).then(pl.concat_str(pl.lit("'"), text)).otherwise(text)


def _is_formula(text: str) -> bool:
    return re.search(_FORMULA, text) is not None and re.search(_NUMBER, text) is None
