"""The methods in the book's summary, and the rankers of this library that implement them, from ``algorithms.tsv``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plackett._names.provenance import fulfils

if TYPE_CHECKING:
    import polars as pl


@fulfils("summary.registry", paper="Liu 2011, Learning to rank for information retrieval, figure 19.1")
def algorithm_registry() -> pl.DataFrame:
    """The 39 methods of the book's summary, with their approach and the ranker that implements each.

    >>> algorithm_registry().filter(approach="pairwise")["ranker"].to_list()[:3]
    ['LambdaRank', 'RankNet', 'IRSVM']
    """
    import polars as pl

    return pl.read_csv(Path(__file__).with_name("algorithms.tsv"), separator="\t")
