"""What ListMLE is good for: the whole order, but not its top."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plackett.losses.listwise.listmle import ListMLELoss
from plackett.theory.consistency.minimiser import expected_minimiser
from plackett.theory.consistency.permutation_space import PermutationSpace
from plackett.theory.consistency.true_risks import true_risks
from plackett.theory.risks.permutation_zero_one import TopKZeroOne
from studies.base import Study

Order = tuple[int, ...]

#: A distribution over orders of three documents whose most probable first document ListMLE does not find.
MIXED: Mapping[Order, float] = {(0, 2, 1): 0.52, (1, 2, 0): 0.33, (2, 0, 1): 0.10, (2, 1, 0): 0.05}


def top_k_loss() -> Study:
    """Does the minimiser of the expected ListMLE loss rank best?

    For two distributions over the orders of three documents, the study finds the scores that minimise the expected
    ListMLE loss, over all positions and over the first one only. If the orders come from a Plackett–Luce model, the
    minimiser gives the most probable order, so the expected permutation-level 0–1 loss is also minimal. The second
    distribution is a mixture designed so that the full loss puts document 2 first, which is first with probability only
    .15; the loss of the first position puts document 0 first, which is right if only the top counts.

    References
    ----------
    Xia, Liu, Li: Statistical consistency of top-k ranking. NIPS 2009.
    Liu: Learning to rank for information retrieval. Springer 2011, exercises 4.8 and 4.9.
    """
    import polars as pl

    model = PermutationSpace.plackett_luce(np.log([2.0, 1.0, 0.5]))
    rows = []
    for name, space in (("Plackett–Luce", model), ("mixed", PermutationSpace(MIXED))):
        whole, first = true_risks("permutation 0-1", space), true_risks(TopKZeroOne(1), space)
        for what, k in (("all positions", None), ("first position", 1)):
            order = np.argsort(-expected_minimiser(ListMLELoss(k=k), space).scores)
            order_index = int(np.flatnonzero((space.orders == order).all(axis=1))[0])
            rows.append(
                {
                    "orders": name,
                    "loss": what,
                    "ranking": str(tuple(order.tolist())),
                    "most probable": str(tuple(space.mode.tolist())),
                    "0–1 loss": float(whole[order_index]),
                    "top-1 loss": float(first[order_index]),
                    "least top-1 loss": float(first.min()),
                }
            )
    return Study(pl.DataFrame(rows), "Minimisers of the expected ListMLE loss on three documents")
