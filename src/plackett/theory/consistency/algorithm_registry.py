"""The methods in the book's summary, and the rankers of this library that implement them, from ``algorithms.tsv``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["algorithm_registry"]


def algorithm_registry() -> pl.DataFrame:
    """The 39 methods of the book's summary, with their approach and the ranker that implements each.

    >>> algorithm_registry().filter(approach="pairwise")["ranker"].to_list()[:3]
    ['LambdaRank', 'RankNet', 'IRSVM']

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, figure 19.1.
    """
    import polars as pl

    return pl.read_csv(Path(__file__).with_name("algorithms.tsv"), separator="\t")
