"""What a penalty on the weights does to regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.base import Study, of_queries, per_query


def regulariser(
    *,
    alphas: Sequence[float] = (1e-4, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0),
    n_samples: int = 20,
    n_queries: int = 4,
    n_docs: int = 10,
    n_features: int = 25,
    random_state: int = 0,
) -> Study:
    r"""What does the regularisation term contribute when a regression learns to rank?

    Linear regression is trained on ``n_samples`` small samples of the same synthetic problem for each strength α of the
    penalty. For new documents, the mean squared error of the predictions is split into squared bias and variance over
    samples (without the noise of the labels, which no model can avoid). The study also reports the length of the
    weights, and nDCG@10 on the sample and on new queries. Along a direction of the data with singular value σ, the
    penalty shrinks the solution by :math:`\sigma^2 / (\sigma^2 + \rho)`: directions with little data shrink first.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 2.2.
    Hoerl, Kennard: Ridge regression: biased estimation for nonorthogonal problems. Technometrics 1970.
    """
    import polars as pl

    from plackett.rankers.pointwise.linear_regression import LinearRegression

    rng = np.random.default_rng(random_state)
    truth = rng.standard_normal(n_features) / np.sqrt(n_features)
    mixing = rng.standard_normal((n_features, n_features)) * np.geomspace(1.0, 0.05, n_features)

    def draw(queries: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.standard_normal((queries * n_docs, n_features)) @ mixing.T
        return X, X @ truth

    fresh, expected = draw(50)
    test = of_queries(fresh, _grades(expected), [n_docs] * 50)
    samples = []
    for _ in range(n_samples):
        X, clean = draw(n_queries)
        samples.append((X, clean + expected.std() * rng.standard_normal(clean.size)))
    rows = []
    for alpha in alphas:
        predictions, lengths, quality = [], [], []
        for X, y in samples:
            # labels below 0 would count as unjudged: shifting them changes only the intercept
            lowest = y.min()
            sample = of_queries(X, y - lowest, [n_docs] * n_queries)
            ranker: Any = LinearRegression(alpha=alpha, max_iter=300, tol=1e-8, standardize=False, n_jobs=1).fit(sample)
            predictions.append(ranker.predict(fresh, qid=test.qid) + lowest)
            lengths.append(np.linalg.norm(ranker.scorer_.weights))
            graded = sample.replace(y=_grades(y))
            quality.append(
                [
                    per_query(graded, ranker.predict(graded), "nDCG@10").mean(),
                    per_query(test, predictions[-1], "nDCG@10").mean(),
                ]
            )
        train, unseen = np.mean(quality, axis=0).tolist()
        centre = np.mean(predictions, axis=0)
        rows.append(
            {
                "alpha": alpha,
                "length of the weights": float(np.mean(lengths)),
                "bias²": float(np.mean((centre - expected) ** 2)),
                "variance": float(np.mean(np.var(predictions, axis=0))),
                "nDCG@10, sample": train,
                "nDCG@10, fresh": unseen,
            }
        )
    frame = pl.DataFrame(rows).with_columns((pl.col("bias²") + pl.col("variance")).alias("error"))
    return Study(frame, f"Linear regression on {n_samples} samples of {n_queries} queries: bias, variance, ranking")


def _grades(values: np.ndarray) -> np.ndarray:
    """Grades 0 to 2 by level."""
    return np.digitize(values, np.quantile(values, [0.6, 0.85])).astype(float)
