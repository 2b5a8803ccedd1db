"""Which combinations of framework and approach have results, and which results."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["known_results"]

FRAMEWORKS = ("document", "subset", "two-layer")
APPROACHES = ("pointwise", "pairwise", "listwise")
#: Column of the table by kind of bound: margin bounds are uniform.
_COLUMNS = {"uniform": "uniform bounds", "margin": "uniform bounds", "algorithm": "algorithm-dependent bounds"}


def known_results() -> pl.DataFrame:
    """Table of the results: a row per framework and approach, the names of bounds and of consistent algorithms.

    An empty cell means that no results for this combination are listed here.

    >>> known_results().filter(framework="two-layer", approach="pairwise")["uniform bounds"].to_list()
    ['TwoLayerBound']

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, tables 17.2, 17.3 and 18.1.
    """
    import polars as pl

    from plackett.theory.bounds.base import bounds
    from plackett.theory.consistency.registry import consistency_table

    cells: dict[tuple[str, str, str], list[str]] = {}
    for name, bound in bounds().items():
        cells.setdefault((bound.framework, bound.approach, _COLUMNS[bound.kind]), []).append(name)
    for entry in consistency_table().filter(verdict="consistent").iter_rows(named=True):
        algorithms = cells.setdefault((entry["framework"], entry["approach"], "consistent"), [])
        if entry["algorithm"] not in algorithms:
            algorithms.append(entry["algorithm"])
    columns = ("uniform bounds", "algorithm-dependent bounds", "consistent")
    return pl.DataFrame(
        [
            {"framework": framework, "approach": approach}
            | {column: ", ".join(sorted(cells.get((framework, approach, column), []))) for column in columns}
            for framework in FRAMEWORKS
            for approach in APPROACHES
        ]
    )
