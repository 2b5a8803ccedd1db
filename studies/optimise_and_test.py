"""Optimise one measure, test on the same or another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett.datasets.generate import make_ranking
from studies.base import Study, per_query


def optimise_and_test(
    *,
    optimised: Sequence[str] = ("nDCG@1", "nDCG@10"),
    tested: str = "nDCG@1",
    sizes: Sequence[int] = (5, 20, 80),
    n_samples: int = 20,
    random_state: int = 0,
) -> Study:
    """Is optimising nDCG@1 the best way to a good nDCG@1?

    A linear model is trained by direct search (`CoordinateAscent`) for each measure on samples of few and of many
    queries; all are tested by the same measure on 300 new queries. nDCG@1 looks at one document per list, so with few
    queries it can become perfect by chance. A measure that looks at more of the list extracts more information from
    the same judgements (`plackett.informativeness`), and may do better even on the measure that it does not optimise.
    With more queries, the advantage should fade.

    Returns
    -------
    Study
        The tested measure on training and test data, as means over samples, and the difference on test data from the
        first of the measures, with its standard error, paired by sample.

    References
    ----------
    Yilmaz, Robertson: On the choice of effectiveness measures for learning to rank. Information Retrieval 2010.
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 5.5.
    """
    import polars as pl

    from plackett.rankers.listwise.coordinate_ascent import CoordinateAscent

    whole: Any = make_ranking(300 + max(sizes) * n_samples, 20, 8, random_state=random_state)
    test, pool = (whole.select(np.arange(a, b)) for a, b in ((0, 300), (300, whole.n_queries)))
    rows = []
    for size in sizes:
        on_test: dict[str, np.ndarray] = {}
        for measure in optimised:
            values = np.empty((n_samples, 2))
            for i in range(n_samples):
                sample = pool.select(np.arange(i * size, (i + 1) * size))
                ranker = CoordinateAscent(measure=measure, random_state=random_state, n_jobs=1).fit(sample)
                values[i] = [per_query(part, ranker.predict(part), tested).mean() for part in (sample, test)]
            on_test[measure] = values[:, 1]
            gain = values[:, 1] - on_test[optimised[0]]
            same = measure == optimised[0]
            rows.append(
                {
                    "optimised": measure,
                    "queries": size,
                    f"{tested}, training": float(values[:, 0].mean()),
                    f"{tested}, test": float(values[:, 1].mean()),
                    "difference": None if same else float(gain.mean()),
                    "standard error": None if same else float(gain.std(ddof=1) / np.sqrt(n_samples)),
                }
            )
    frame = pl.DataFrame(rows, schema_overrides={"difference": pl.Float64, "standard error": pl.Float64})
    return Study(frame, f"Which measure to optimise for {tested}, {n_samples} samples each")
