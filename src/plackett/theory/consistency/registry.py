"""Known results on the consistency of algorithms: consistent, inconsistent or unknown, from ``known.tsv``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["consistency_table"]


def consistency_table(algorithm: str | None = None, true_loss: str | None = None) -> pl.DataFrame:
    """What is known about consistency: algorithm, true loss, framework, approach, condition, verdict, source.

    >>> consistency_table("ListMLE")["verdict"].to_list()
    ['consistent', 'inconsistent', 'consistent']

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, chapter 18.
    """
    import polars as pl

    table = pl.read_csv(Path(__file__).with_name("known.tsv"), separator="\t")
    wanted = {"algorithm": algorithm, "true_loss": true_loss}
    return table.filter(**{column: value for column, value in wanted.items() if value is not None})
