from __future__ import annotations

import numpy as np
import pytest

from plackett.graph import LinkGraph


@pytest.fixture
def random_graph():
    """Makes random graphs with dangling pages, self links and, if asked for, weights."""

    def make(n: int = 40, links: int = 160, seed: int = 0, weighted: bool = False) -> LinkGraph:
        rng = np.random.default_rng(seed)
        source, target = rng.integers(0, int(n * 0.8), links), rng.integers(0, n, links)
        return LinkGraph.from_arrays(source, target, n, weights=rng.uniform(0.5, 2.0, links) if weighted else None)

    return make
