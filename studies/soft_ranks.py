"""SoftRank's expected ranks and Approximate Rank's smooth ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies.base import Study


def soft_ranks(
    scores: Sequence[float] = (2.0, 1.2, 1.0, 0.1, -1.0),
    *,
    sigma: float = 0.5,
    n_draws: int = 200_000,
    random_state: int = 0,
) -> Study:
    r"""Is SoftRank an approximate rank, and with which sigmoid?

    SoftRank adds normal noise of deviation σ to every score. The expected rank of document j is then
    :math:`1 + \sum_u \frac12 (1 + \mathrm{erf}\frac{s_u - s_j}{2\sigma})`: the sigmoid is the error function.
    Approximate Rank has the logistic one, which is within .01 of it for :math:`\alpha = 1.702 / (\sqrt2 \sigma)`.
    The table also shows the mean rank over draws of the noise, and the discount 1/log2(1 + rank), both for the mean
    rank (as in ApproxNDCG) and as a mean over the draws (as in SoftNDCG). The discount is convex, so the second is
    never smaller (Jensen's inequality).

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 4.2.
    """
    import polars as pl
    from scipy.special import erf, expit

    s = np.asarray(scores, np.float64)
    ahead = s[None, :] - s[:, None]
    others = ~np.eye(s.size, dtype=bool)
    by_erf = 1 + np.where(others, 0.5 * (1 + erf(ahead / (2 * sigma))), 0.0).sum(axis=1)
    logistic = 1 + np.where(others, expit(1.702 / (np.sqrt(2) * sigma) * ahead), 0.0).sum(axis=1)
    rng = np.random.default_rng(random_state)
    ranks = 1 + np.argsort(np.argsort(-(s + sigma * rng.standard_normal((n_draws, s.size))), axis=1), axis=1)
    frame = pl.DataFrame(
        {
            "score": s,
            "rank": 1 + np.argsort(np.argsort(-s)),
            "mean rank in draws": ranks.mean(axis=0),
            "expected rank (erf)": by_erf,
            "approximate rank (logistic)": logistic,
            "discount of the mean rank": 1 / np.log2(1 + by_erf),
            "mean discount": (1 / np.log2(1 + ranks)).mean(axis=0),
        }
    )
    return Study(frame, f"Expected and approximate ranks, σ = {sigma:g}", (f"{n_draws} draws of the noise",))
