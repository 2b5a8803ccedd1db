"""Steps over a file, block by block: how many each block gets, and how much memory that takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.moments import Moments, deviation, merged_moments, moments, weight_of_rows
from plackett.rankers.pairwise.stochastic.loops import Draws


@dataclass
class Survey:
    """What the first pass over a file collects: the spread of the features, and what each block has to draw from."""

    pair_mass: list[float] = field(default_factory=list)
    single_mass: list[float] = field(default_factory=list)
    n_queries: int = 0
    n_rows: int = 0
    _moments: Moments | None = None

    def add(self, block: RankingDataset, draws: Draws) -> None:
        """Add one more block."""
        self.pair_mass.append(draws.pairs.mass)
        self.single_mass.append(draws.singles.mass)
        self.n_queries += block.n_queries
        self.n_rows += block.n_rows
        block_moments = moments(block.X, weight_of_rows(block))
        self._moments = block_moments if self._moments is None else merged_moments(self._moments, block_moments)

    @property
    def scale(self) -> np.ndarray:
        """Standard deviation of each feature, 1 for constant ones."""
        assert self._moments is not None
        return deviation(*self._moments)

    def shares(self, pair_probability: float) -> tuple[np.ndarray, np.ndarray]:
        """Share of the steps that each block gets, and the probability of a pair in it.

        Steps are shared out by the weight of each block's pairs (or documents), so that over a pass each pair is as
        likely as if it had been drawn from the whole file.
        """
        pairs, singles = np.array(self.pair_mass), np.array(self.single_mass)
        if not pairs.any() or not singles.any():
            pair_probability = float(pairs.any())
        from_pairs = pair_probability * pairs / max(pairs.sum(), np.finfo(float).tiny)
        share = from_pairs + (1.0 - pair_probability) * singles / max(singles.sum(), np.finfo(float).tiny)
        return share, np.divide(from_pairs, share, out=np.zeros_like(share), where=share > 0)

    def schedule(self, n_steps: int, passes: int, pair_probability: float) -> Iterator[list[tuple[int, float]]]:
        """For each pass, the steps and the probability of a pair of each block; the steps sum to ``n_steps``."""
        share, probability = self.shares(pair_probability)
        ends = np.rint(np.cumsum(np.tile(share, passes)) * (n_steps / passes)).astype(np.int64)
        steps = np.diff(ends, prepend=0).reshape(passes, -1)
        for row in steps.tolist():
            yield list(zip(row, probability.tolist(), strict=True))
