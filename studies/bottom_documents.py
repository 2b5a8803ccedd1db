"""A weakness of the pointwise approach: documents at the bottom dominate the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies._tilted import bottom_heavy_queries
from studies.base import Study, per_query


def bottom_documents(*, n_bottom: Sequence[int] = (0, 10, 30, 100), random_state: int = 0) -> Study:
    """Do the many documents at the bottom of the list dominate the model?

    Lists have ten documents of grades 2 and 1, whose order users see, and more and more of grade 0 below them. One
    feature orders the top, another separates the bottom from the rest. A pointwise loss ignores positions. For each
    method, the study reports nDCG@3 on the first ten documents of new lists, so that all rows measure the same task,
    and the share of the first feature in the model: |w₁| / (|w₁| + |w₂|), in standard deviations. The notes give the
    share of the regression's squared error that comes from the documents at the bottom.

    Parameters
    ----------
    n_bottom
        Numbers of documents of grade 0 in a list.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 2.5.2.
    """
    import polars as pl

    test = bottom_heavy_queries(0, random_state + 1000)
    rows, notes = [], []
    for n in n_bottom:
        train = bottom_heavy_queries(n, random_state)
        for method, ranker in _methods(random_state).items():
            ranker.fit(train)
            size = np.abs(ranker.scorer_.weights[:, 0])
            value = per_query(test, ranker.predict(test), "nDCG@3").mean()
            row = {"method": method, "documents of grade 0": n, "nDCG@3 of the others": float(value)}
            rows.append(row | {"share of the first feature": float(size[0] / size.sum())})
            if method == "LinearRegression" and n:
                error = (ranker.predict(train) - train.labels) ** 2
                notes.append(f"{n}: {error[train.labels == 0].sum() / error.sum():.0%}")
    frame = pl.DataFrame(rows).sort("method", "documents of grade 0", maintain_order=True)
    note = f"Share of the squared error that documents of grade 0 have, by their number: {', '.join(notes)}"
    return Study(frame, "The bottom of the list grows: who still orders the top?", (note,))


def _methods(random_state: int) -> dict[str, Any]:
    from plackett.rankers.gradient_ranker import GradientRanker
    from plackett.rankers.listwise.approx_ndcg import ApproxNDCG
    from plackett.rankers.listwise.listnet import ListNet
    from plackett.rankers.pointwise.linear_regression import LinearRegression

    return {
        "LinearRegression": LinearRegression(alpha=1e-3),
        "ListNet": ListNet(alpha=1e-3),
        "ApproxNDCG": ApproxNDCG(alpha=1e-3),
        "linear lambdas": GradientRanker(loss="Lambda", model="linear", random_state=random_state),
    }
