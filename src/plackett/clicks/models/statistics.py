"""What passes of EM add up: sums over pages, which may lie in several blocks of whole queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.pairs import PairTable


@dataclass(frozen=True, eq=False)
class Totals:
    """What is known of the pages before the first pass, and does not change."""

    #: The pairs of query and document.
    pairs: PairTable
    #: The largest rank of all blocks.
    n_ranks: int
    #: Number of pages, by weight.
    pages: float
    #: Pages that showed each pair, and that have a click on it.
    shown: np.ndarray
    clicks: np.ndarray
    #: The same for each cell (rank, or rank and last click); empty for models that read pages from the top.
    cell_shown: np.ndarray
    cell_clicks: np.ndarray

    @classmethod
    def join(cls, parts: Sequence[Totals]) -> Totals:
        """Totals of several blocks; pairs are numbered block by block."""
        if len({part.n_ranks for part in parts}) != 1:
            raise DataError("the blocks were counted with different numbers of ranks")
        return cls(
            pairs=PairTable.concat([part.pairs for part in parts]),
            n_ranks=parts[0].n_ranks,
            pages=sum(part.pages for part in parts),
            shown=np.concatenate([part.shown for part in parts]),
            clicks=np.concatenate([part.clicks for part in parts]),
            cell_shown=np.sum([part.cell_shown for part in parts], axis=0),
            cell_clicks=np.sum([part.cell_clicks for part in parts], axis=0),
        )


@dataclass(frozen=True, eq=False)
class Sums:
    """Expectations of one pass over a block of pages: all that the next parameters depend on."""

    log_likelihood: float
    #: Arrays with one entry per pair of the block.
    pairs: dict[str, np.ndarray] = field(default_factory=dict)
    #: Arrays over ranks, cells or kinds of users, which add up over blocks.
    shared: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def join(cls, parts: Sequence[Sums]) -> Sums:
        """Sums of several blocks, in the order in which their pairs are numbered."""
        return cls(
            sum(part.log_likelihood for part in parts),
            {name: np.concatenate([part.pairs[name] for part in parts]) for name in parts[0].pairs},
            {name: np.sum([part.shared[name] for part in parts], axis=0) for name in parts[0].shared},
        )
