"""Pairs that share a document are not independent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies.base import Study


def pair_dependence(
    *, sizes: Sequence[int] = (5, 10, 20, 40, 80), separation: float = 1.0, n_lists: int = 2000, random_state: int = 0
) -> Study:
    r"""How much information do the m² pairs of 2m documents carry?

    Lists have m relevant and m irrelevant documents with independent normal scores, the relevant ones
    ``separation`` higher. The loss of a pair is 1 if it is in the wrong order. Two pairs without a common document are
    independent; two pairs that share one are not, and there are of the order of m³ such pairs of pairs. So the variance
    of the mean over the m² pairs of a list falls like 1/m, as if there were only m pairs, and not like 1/m²: bounds for
    independent pairs promise too much.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 3.4.
    """
    import polars as pl

    rng = np.random.default_rng(random_state)
    rows, variances = [], []
    for m in sizes:
        good = separation + rng.standard_normal((n_lists, m))
        bad = rng.standard_normal((n_lists, m))
        wrong = (good[:, :, None] < bad[:, None, :]).astype(np.float64)
        mean = wrong.mean(axis=(1, 2))
        centred = wrong[:, :2, :2] - wrong.mean()
        variances.append(float(mean.var()))
        rows.append(
            {
                "m": m,
                "pairs": m * m,
                "variance of a pair": float(wrong.var()),
                "covariance, shared document": float((centred[:, 0, 0] * centred[:, 0, 1]).mean()),
                "covariance, nothing shared": float((centred[:, 0, 0] * centred[:, 1, 1]).mean()),
                "variance of the mean": variances[-1],
                "if independent": float(wrong.var()) / m**2,
            }
        )
    slope = float(np.polyfit(np.log(sizes), np.log(variances), 1)[0])
    return Study(
        pl.DataFrame(rows),
        "Variance of the mean loss over the pairs of a list",
        (f"The variance falls like m to the power {slope:.2f}.",),
    )
