"""IsoRank against QBRank, as the IsoRank paper compares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from plackett.evaluation.significance.fisher import fisher
from plackett.measures.language import parse
from plackett.measures.presets import with_preset
from studies.base import Study, named_folds_of, per_query

_PUBLISHED = {"IsoRank": 0.457, "QBRank, sum over pairs": 0.452}

#: Precision at the K % of pairs with the largest difference of scores, on the IsoRank paper's search-engine data.
PRECISION_AT_PERCENT = {
    "IsoRank": {20: 0.9852, 40: 0.9224, 60: 0.8519, 80: 0.7927, 100: 0.7413},
    "QBRank": {20: 0.9785, 40: 0.9123, 60: 0.8427, 80: 0.7858, 100: 0.7372},
    "RankSVM": {20: 0.9543, 40: 0.8900, 60: 0.8222, 80: 0.7656, 100: 0.7185},
}

#: What is known about this data, which is not public: numbers of queries and documents, documents by grade.
SEARCH_ENGINE = {
    "queries": 4_372,
    "documents": 115_278,
    "grades": {"perfect": 768, "excellent": 4_288, "good": 30_325, "fair": 42_571, "bad": 37_326},
}


def isorank_and_qbrank(
    data: Any = "ohsumed-letor2",
    *,
    num_leaves: Sequence[int] = (5, 10, 20),
    learning_rate: Sequence[float] = (0.05, 0.1),
    n_estimators: int = 300,
    preset: str | None = "letor3",
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Study:
    """Is IsoRank better than QBRank, and is the difference more than chance?

    Both are trained with every setting of the grid in every fold. QBRank takes part twice: with the sum over all pairs
    as in its paper, and with each query's loss divided by its number of pairs, so that queries count equally, as in
    IsoRank. The paper reports MAP .457 for IsoRank and .452 for QBRank on OHSUMED of LETOR 2.0, with tree parameters
    and number of trees tuned "on the validation data". That can mean a choice in each fold, or one choice for all folds
    by the mean over their validation parts; the study shows both. Beware of the second if folds rotate, as LETOR's do:
    the validation part of one fold is the test part of another.

    Parameters
    ----------
    data
        Folds, in any form that `plackett.experiment` accepts.
    num_leaves, learning_rate
        The grid.
    n_estimators
        Maximum number of trees.
    preset
        Rules of AP.

    Returns
    -------
    Study
        For each method, MAP (mean over folds) of the setting and number of trees chosen in each fold, of those chosen
        for all folds, and the mean over all settings with the number of trees chosen in each fold. Also IsoRank's
        difference from each: the mean over queries of the paired difference, its standard error, and the p-value of
        Fisher's randomisation test.

    References
    ----------
    Zheng, Zha, Sun: Query-level learning to rank using isotonic regression. Allerton 2008.
    """
    import polars as pl

    name, folds = named_folds_of(data)
    settings = [{"num_leaves": n, "learning_rate": r} for n, r in product(num_leaves, learning_rate)]
    common: dict[str, Any] = {
        "eval_measure": str(with_preset(parse("AP"), preset)),
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    by_figure: dict[str, dict[str, list[np.ndarray]]] = {figure: {} for figure in ("each fold", "all folds", "mean")}
    for method, make in _methods().items():
        tried = [
            [_trial(make(**s, **common, n_estimators=n_estimators), f, preset) for f in folds.values()]
            for s in settings
        ]
        curves = np.array([[curve for curve, _ in row] for row in tried])  # setting, fold, round
        best = curves.max(axis=2).argmax(axis=0)  # the first one if tied
        by_figure["each fold"][method] = [tried[setting][fold][1] for fold, setting in enumerate(best)]
        by_figure["mean"][method] = [np.mean([row[fold][1] for row in tried], axis=0) for fold in range(len(folds))]
        setting, rounds = np.unravel_index(curves.mean(axis=1).argmax(), curves[:, 0].shape)
        ranker = make(**settings[setting], **common, n_estimators=int(rounds) + 1)
        by_figure["all folds"][method] = [_tested(ranker.fit(fold.train), fold, preset) for fold in folds.values()]
    titles = ("chosen in each fold", "chosen for all folds", f"mean over {len(settings)} settings")
    rows = [
        {"figure": title, "method": method}
        | _figures(values["IsoRank"], values[method])
        | {"published": _PUBLISHED.get(method) if title.startswith("chosen") and name == "ohsumed-letor2" else None}
        for title, values in zip(titles, by_figure.values(), strict=True)
        for method in values
    ]
    n = sum(values.size for values in by_figure["mean"]["IsoRank"])
    return Study(
        pl.DataFrame(rows, schema_overrides={"published": pl.Float64}),
        f"Is IsoRank better than QBRank on {name} ({len(folds)} folds, {n} queries)?",
        ("Difference: IsoRank minus the method, mean over queries; p by Fisher's randomisation test.",),
    )


def _methods() -> Mapping[str, Any]:
    from plackett.rankers.pairwise.isorank import IsoRank
    from plackett.rankers.pairwise.qbrank import QBRank

    return {
        "IsoRank": IsoRank,
        "QBRank, sum over pairs": lambda **parameters: QBRank(normalize=False, **parameters),
        "QBRank, mean over pairs": lambda **parameters: QBRank(normalize=True, **parameters),
    }


def _trial(ranker: Any, fold: Any, preset: str | None) -> tuple[list[float], np.ndarray]:
    """Validation value after each round, and test values per query of the best round."""
    ranker.fit(fold.train, eval_set=fold.valid)
    return ranker.history_, _tested(ranker, fold, preset)


def _tested(ranker: Any, fold: Any, preset: str | None) -> np.ndarray:
    return per_query(fold.test, ranker.predict(fold.test), "AP", preset)


def _figures(ours: list[np.ndarray], theirs: list[np.ndarray]) -> dict[str, float | None]:
    value = float(np.mean([values.mean() for values in theirs]))
    difference = np.concatenate(ours) - np.concatenate(theirs)
    if ours is theirs:
        return {"MAP": value, "difference": None, "standard error": None, "p": None}
    return {
        "MAP": value,
        "difference": float(difference.mean()),
        "standard error": float(difference.std(ddof=1) / np.sqrt(difference.size)),
        "p": fisher(np.concatenate(ours), np.concatenate(theirs)).pvalue,
    }
