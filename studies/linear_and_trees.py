"""One loss, trained on a linear model and on trees."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from plackett.datasets.generate import make_ranking
from studies.base import Study, named_folds_of, per_query

_LOSSES = ("Square", "Logistic", "ListNet", "Lambda")


def linear_and_trees(data: Any = None, *, random_state: int = 0, n_jobs: int | None = None) -> Study:
    """What do non-linear models add to a linear one, with the same loss?

    Each loss trains a linear model (three penalties) and boosted trees of 4 and of 16 leaves (with early stopping); the
    setting is chosen in each fold by nDCG@10 on the validation part. The study reports nDCG@10 on the training and test
    parts, as means over folds: the gap between the two is what the model has memorised.

    Parameters
    ----------
    data
        Folds; None generates data whose relevance contains products of factors, which no linear model can express.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 11.5.
    """
    import polars as pl

    given = make_ranking(200, (10, 40), 12, random_state=random_state) if data is None else data
    name, folds = named_folds_of(given)
    rows = []
    for loss in _LOSSES:
        for model, settings in _models(random_state, n_jobs).items():
            values, seconds = [], 0.0
            for fold in folds.values():
                start = perf_counter()
                ranker = _best(loss, settings, fold, random_state, n_jobs)
                seconds += perf_counter() - start
                parts = (fold.train, fold.test)
                values.append([per_query(p, ranker.predict(p), "nDCG@10").mean() for p in parts])
            train, test = np.mean(values, axis=0).tolist()
            rows.append({"loss": loss, "model": model, "train": train, "test": test, "seconds": seconds})
    return Study(
        pl.DataFrame(rows),
        f"nDCG@10 of linear and non-linear models with the same loss on {name}",
        ("Seconds are of all trials in all folds.",),
    )


def _models(random_state: int, n_jobs: int | None) -> dict[str, list[Any]]:
    from plackett.models.linear import Linear
    from plackett.models.trees.model import Trees

    common: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs}
    trees: dict[str, Any] = {"n_estimators": 200, "learning_rate": 0.1, **common}
    return {
        "linear": [Linear(alpha=alpha, max_iter=100, **common) for alpha in (1e-3, 1e-2, 1e-1)],
        "trees": [Trees(num_leaves=n, **trees) for n in (4, 16)],
    }


def _best(loss: str, models: list[Any], fold: Any, random_state: int, n_jobs: int | None) -> Any:
    """The ranker of the model that is best on the validation part."""
    from plackett.rankers.gradient_ranker import GradientRanker

    fitted = [
        GradientRanker(
            loss=loss,
            model=model,
            early_stopping_rounds=25,
            eval_measure="nDCG@10",
            random_state=random_state,
            n_jobs=n_jobs,
        ).fit(fold.train, eval_set=fold.valid)
        for model in models
    ]
    return max(fitted, key=lambda ranker: ranker.score(fold.valid))
