"""Which losses are convex in the scores."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from plackett.losses.base import Loss
from studies.base import Study, of_queries


def convex_losses(*, n_draws: int = 2000, random_state: int = 0) -> Study:
    r"""Which losses are convex, and where are the others not?

    For random scores a and b of random lists, the value at the midpoint is compared with the mean of the values:
    :math:`L((a+b)/2) - (L(a) + L(b))/2`, relative to the largest of the three. For a convex loss this never exceeds
    rounding; for the others, the study shows the largest value found. All losses of the package that have a value take
    part. A value of 0 does not prove that a loss is convex.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercises 2.1, 3.3 and 4.4.
    """
    import polars as pl

    from plackett import losses
    from plackett._names.catalogue import items

    public = {
        item.name for item in items("loss") if "._" not in item.module
    }  # losses that belong to one ranker are left out
    rows = []
    for name, loss_class in losses().items():
        if loss_class.has_value and name in public:
            # separate draws for each loss, so that a new loss changes no other row
            gap = largest_gap(loss_class(), np.random.default_rng([random_state, crc32(name.encode())]), n_draws)
            rows.append({"loss": name, "claims": "convex" if loss_class.convex else "–", "largest gap": gap})
    frame = pl.DataFrame(rows).sort("claims", "largest gap", "loss", descending=[True, True, False])
    return Study(frame, "Midpoint test of convexity in the scores", (f"{n_draws} pairs of score vectors per loss",))


def largest_gap(loss: Loss, rng: np.random.Generator, n_draws: int, n_docs: int = 4) -> float:
    """Largest relative excess of the midpoint over the mean, at least 0; every draw is a query of one dataset."""
    labels = rng.integers(0, 3, (n_draws, n_docs)).astype(float)
    data = of_queries(np.zeros((labels.size, 1)), labels.ravel(), [n_docs] * n_draws)
    bound: Any = loss.settle(data).bind(data)
    shape = (labels.size,) if bound.n_outputs == 1 else (labels.size, bound.n_outputs)
    # short and long lines, since a loss may be straight far from 0 and curved only near it, or vice versa
    length = np.repeat(rng.choice([0.3, 1.0, 4.0, 10.0], n_draws), n_docs).reshape(-1, *[1] * (len(shape) - 1))
    a, b = (length * rng.standard_normal(shape) for _ in range(2))
    ends = [bound.evaluate(scores)[0].copy() for scores in (a, b)]
    middle = bound.evaluate((a + b) / 2)[0]
    mean = (ends[0] + ends[1]) / 2
    largest = np.max(np.abs([*ends, middle]), axis=0)
    gap = (middle - mean) / np.maximum(largest, 1e-12)
    return float(max(0.0, np.max(np.where(gap > 1e-9, gap, 0.0))))
