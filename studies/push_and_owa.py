"""P-norm push and ordered weighted averages on one example."""

from __future__ import annotations

import numpy as np

from studies.base import Study, of_queries, per_query


def push_and_owa(rankings: tuple[str, ...] = ("dABCef", "AdBeCf", "ABCdef", "defABC")) -> Study:
    r"""How do P-norm push and OWA distinguish rankings with the same number of wrong pairs?

    Capital letters are relevant documents. With the 0–1 loss of a pair, the push is
    :math:`\sum_v (\sum_u \ell_{uv})^p` over irrelevant v, and OWA is :math:`\sum_u \sum_t \alpha_t \ell_{u(t)}` over
    relevant u, with the losses of u sorted in decreasing order. The first two rankings have three wrong pairs each. The
    larger p is, the more the push penalises the one irrelevant document at the very top; OWA with decreasing weights
    penalises relevant documents that have any irrelevant one before them.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 3.8.
    """
    import polars as pl

    rows = []
    for ranking in rankings:
        good = np.array([i for i, letter in enumerate(ranking) if letter.isupper()])
        bad = np.array([i for i, letter in enumerate(ranking) if letter.islower()])
        wrong = (good[:, None] > bad[None, :]).astype(float)
        falling = np.arange(bad.size, 0, -1.0)
        alpha = falling / falling.sum()
        ordered = -np.sort(-wrong, axis=1)
        data = of_queries(np.zeros((len(ranking), 1)), [float(c.isupper()) for c in ranking], [len(ranking)])
        rows.append(
            {"ranking": ranking, "wrong pairs": int(wrong.sum())}
            | {f"push, p = {p}": float((wrong.sum(axis=0) ** p).sum()) for p in (1, 2, 4)}
            | {"OWA, uniform": float(wrong.mean(axis=1).sum()), "OWA, falling": float((ordered @ alpha).sum())}
            | {"AP": float(per_query(data, -np.arange(len(ranking), dtype=float))[0])}
        )
    return Study(pl.DataFrame(rows), "P-norm push and OWA on rankings of three relevant and three irrelevant documents")
