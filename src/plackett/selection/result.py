"""What a strategy chose: pairs of a query and a document to judge, with the reason for each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Selection"]


@dataclass(frozen=True, eq=False)
class Selection:
    """Pairs to judge, in the order in which to judge them.

    Attributes
    ----------
    frame
        ``qid``, ``docid``, ``reason``, ``priority`` (larger: judge first) and ``inclusion``, the probability with which
        the strategy chooses the document: 1 where the choice is not random, null where it depends on earlier
        judgements, so that estimates for samples do not apply.
    method
        Name of the strategy.
    frame_of_candidates
        The same for every candidate without a judgement, chosen or not: ``qid``, ``docid``, ``inclusion``.
    """

    frame: pl.DataFrame
    method: str
    frame_of_candidates: pl.DataFrame

    def __len__(self) -> int:
        return self.frame.height

    @classmethod
    def of(
        cls, candidates: Any, rows: np.ndarray, method: str, reason: Any, priority: np.ndarray, inclusion: np.ndarray
    ) -> Selection:
        """Selection of rows of `Candidates`; reason, priority and inclusion are those of all rows.

        The best row of every query comes first, then the second of every query, …: a list that is cut short still
        covers the queries.
        """
        import polars as pl

        from plackett.data._tables import id_series

        chosen = np.zeros(candidates.n_rows, bool)
        chosen[rows] = True
        position = candidates.place(priority, chosen)
        rows = rows[np.lexsort((candidates.query_of_row[rows], position[rows]))]

        def columns(at: np.ndarray) -> list[pl.Series]:
            return [
                id_series("qid", candidates.qids).gather(candidates.query_of_row[at]),
                id_series("docid", candidates.docids).gather(at),
            ]

        everywhere = pl.Series("inclusion", inclusion).fill_nan(None)
        frame = pl.DataFrame(
            [
                *columns(rows),
                pl.Series("reason", [reason(row) for row in rows.tolist()], pl.String),
                pl.Series("priority", priority[rows].astype(np.float64)),
                everywhere.gather(rows),
            ]
        )
        unjudged = np.flatnonzero(candidates.open)
        return cls(frame, method, pl.DataFrame([*columns(unjudged), everywhere.gather(unjudged)]))

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the pairs with reason, priority, inclusion probability and an empty column ``label`` to fill in."""
        import polars as pl

        from plackett._files.atomic import replacing

        with replacing(path) as file:
            self.frame.with_columns(label=pl.lit(None, pl.Int64)).write_csv(file)

    def write_qrels(self, path: str | os.PathLike[str]) -> None:
        """Write the pairs as TREC judgements with label −1, "to be judged"."""
        import polars as pl

        from plackett.data.trec import write_qrels

        write_qrels(self.frame.select("qid", "docid", label=pl.lit(-1.0)), path)
