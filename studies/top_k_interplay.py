"""Which top-l losses suit a top-k true loss."""

from __future__ import annotations

import numpy as np

from plackett.losses.listwise.listmle import ListMLELoss
from plackett.theory.consistency.minimiser import expected_minimiser
from plackett.theory.consistency.permutation_space import PermutationSpace
from plackett.theory.consistency.true_risks import true_risks
from plackett.theory.risks.permutation_zero_one import TopKZeroOne
from studies.base import Study


def top_k_interplay(*, n_documents: int = 4, n_spaces: int = 60, random_state: int = 0) -> Study:
    """If only the first k documents count, how many positions should the loss look at?

    For each k, the study draws distributions over orders that are order preserving for the first k documents, and
    computes the exact minimiser of the expected ListMLE loss of the first l positions. It has the smallest possible
    top-k loss whenever l ≤ k. A loss that looks further (l > k) is misled by the order of documents that do not count.

    References
    ----------
    Xia, Liu, Li: Statistical consistency of top-k ranking. NIPS 2009.
    Liu: Learning to rank for information retrieval. Springer 2011, section 18.3.3.
    """
    import polars as pl

    levels = range(1, n_documents)
    rows = []
    for k in levels:
        missed = dict.fromkeys(levels, 0)
        for i in range(n_spaces):
            seed = [random_state, k, i]
            space = PermutationSpace.order_preserving(n_documents, k=k, random_state=seed, noise=2.0)
            risks = true_risks(TopKZeroOne(k), space)
            for level in levels:
                scores = expected_minimiser(ListMLELoss(k=level), space, n_starts=1).scores
                ranking = int(np.flatnonzero((space.orders == np.argsort(-scores)).all(axis=1))[0])
                missed[level] += bool(risks[ranking] > risks.min() + 1e-9)
        rows.append({"true loss": f"top-{k}"} | {f"ListMLE, l = {level}": missed[level] / n_spaces for level in levels})
    return Study(
        pl.DataFrame(rows),
        f"Share of {n_spaces} distributions on which the minimiser of the top-l loss misses the best top-k ranking",
    )
