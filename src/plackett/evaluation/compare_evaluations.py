"""Comparison of results per query: tests, intervals, effect sizes, risk."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from plackett._base.errors import DataError, MeasureError
from plackett.evaluation.comparison import Comparison
from plackett.evaluation.evaluate import Evaluation
from plackett.evaluation.risk import geo_risk, reward_risk, trisk, urisk
from plackett.evaluation.significance import EFFECTS, FAMILYWISE, PAIRED, correct, win_tie_loss
from plackett.evaluation.significance.bootstrap import resampled_means
from plackett.evaluation.significance.effects import TOLERANCE
from plackett.evaluation.significance.intervals import interval as interval_function
from plackett.measures.base import Measure

__all__ = ["compare_evaluations"]

#: A test by name, or a function of two arrays that returns a p-value.
Test = str | Callable[[np.ndarray, np.ndarray], Any]


def compare_evaluations(
    evaluations: Mapping[str, Evaluation | Any],
    *,
    test: Test = "fisher",
    correction: str | None = "holm",
    baseline: str | None = None,
    alpha: float = 0.05,
    interval: str = "t",
    risk_alpha: float = 1.0,
    tolerance: float = TOLERANCE,
    random_state: int = 0,
) -> Comparison:
    """Compare systems that are already evaluated: results of `evaluate`, `evaluate_run` or `cross_validate` by name.

    All results must have the same measures and the same queries, in any order. Parameters as in `compare`.
    """
    import polars as pl

    systems = list(named_systems(evaluations, "evaluations"))
    if baseline is not None and baseline not in systems:
        raise DataError(f"baseline={baseline!r} is not one of the systems: {', '.join(systems)}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r}; the level must be between 0 and 1")
    if test in FAMILYWISE:
        correction = None
    bounds = interval_function(interval)
    measures, qids, values = _aligned(evaluations)
    doubts = _doubts(evaluations, values)
    if baseline is None:
        pairs = list(itertools.combinations(range(len(systems)), 2))
    else:
        pairs = [(i, systems.index(baseline)) for i in range(len(systems)) if systems[i] != baseline]
    table: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for name, measure in measures.items():
        kept = _kept(values[name], measure)
        means = np.empty((0, len(systems))) if interval == "t" else resampled_means(kept, random_state=random_state)
        p = _p_values(kept, pairs, test, random_state)
        better: list[set[str]] = [set() for _ in systems]
        for (i, j), raw, adjusted in zip(pairs, p, correct(p, correction), strict=True):
            row = _pair(kept[:, i], kept[:, j], measure.ascending, risk_alpha, tolerance)
            low, high = bounds(kept[:, i] - kept[:, j], means[:, i] - means[:, j], 1 - alpha)
            winner, loser = (i, j) if (row["difference"] > 0) == measure.ascending else (j, i)
            significant = bool(adjusted <= alpha and row["difference"] != 0)
            if significant:
                better[winner].add(systems[loser])
            rows.append(
                {"measure": name, "a": systems[i], "b": systems[j], "difference": row.pop("difference")}
                | {"low": low, "high": high, "p": float(raw), "p_corrected": float(adjusted)}
                | {"significant": significant, "better": systems[winner] if significant else None}
                | row
            )
        mean = kept.mean(axis=0)
        best = mean.max() if measure.ascending else mean.min()
        risk = geo_risk(kept, alpha=risk_alpha) if measure.ascending and (kept >= 0).all() else None
        for i, system in enumerate(systems):
            low, high = np.clip(bounds(kept[:, i], means[:, i], 1 - alpha), *measure.bounds).tolist()
            table.append(
                {"measure": name, "system": system, "mean": float(mean[i]), "low": low, "high": high}
                | {"best": bool(abs(mean[i] - best) <= TOLERANCE)}
                | {"better_than": [other for other in systems if other in better[i]]}
                | {"geo_risk": None if risk is None else float(risk[i])}
            )
    return Comparison(
        systems=tuple(systems),
        measures=measures,
        qids=qids,
        values=values,
        table=pl.DataFrame(table, schema_overrides={"better_than": pl.List(pl.String), "geo_risk": pl.Float64}),
        pairs=pl.DataFrame(rows, schema_overrides={"better": pl.String}),
        test=test if isinstance(test, str) else getattr(test, "__name__", str(test)),
        correction=correction or "none",
        baseline=baseline,
        alpha=alpha,
        interval=interval,
        doubts=doubts,
    )


def _doubts(evaluations: Mapping[str, Any], values: dict[str, np.ndarray]) -> dict[str, str]:
    """Why a measure does not distinguish the systems: it never could, or their values are the same."""
    doubts: dict[str, str] = {}
    for evaluation in evaluations.values():
        doubts |= getattr(evaluation, "doubts", {})
    for name, columns in values.items():
        if name not in doubts and (np.abs(columns - columns[:, :1])[~np.isnan(columns).any(axis=1)] <= TOLERANCE).all():
            doubts[name] = f"all systems have the same {name} on every query."
    return doubts


def _kept(values: np.ndarray, measure: Measure) -> np.ndarray:
    """The queries on which the measure has a value for every system."""
    if type(measure).mean is not Measure.mean:
        raise MeasureError(f"{measure} is not a plain mean over queries, which the tests assume; use evaluate instead")
    kept = values[~np.isnan(values).any(axis=1)]
    if not len(kept):
        raise DataError(f"{measure} skipped every query; there is nothing to compare")
    return kept


def _pair(a: np.ndarray, b: np.ndarray, ascending: bool, risk_alpha: float, tolerance: float) -> dict[str, Any]:
    """Size of the difference of two systems; wins and risk respect whether larger or smaller values are better."""
    good_a, good_b = (a, b) if ascending else (-a, -b)
    return (
        {"difference": float(a.mean() - b.mean())}
        | {name: effect(a, b) for name, effect in EFFECTS.items()}
        | win_tie_loss(good_a, good_b, tolerance=tolerance)._asdict()
        | reward_risk(good_a, good_b)._asdict()
        | {"urisk": urisk(good_a, good_b, alpha=risk_alpha), "trisk": trisk(good_a, good_b, alpha=risk_alpha)}
    )


def named_systems(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The systems by name; an error if there are fewer than two."""
    if not isinstance(given, Mapping) or len(given) < 2:
        raise DataError(f"{name} must be a dict of two systems or more: {{name: …}}")
    return {str(system): value for system, value in given.items()}


def _p_values(values: np.ndarray, pairs: list[tuple[int, int]], test: Test, random_state: int) -> np.ndarray:
    """p-value of each pair of columns, not corrected."""
    if callable(test):
        return np.array([_p_of(test(values[:, i], values[:, j])) for i, j in pairs])
    if test in FAMILYWISE:
        p = FAMILYWISE[test](values, random_state=random_state).pvalue
        return np.array([p[i, j] for i, j in pairs])
    if test not in PAIRED:
        raise ValueError(f"test={test!r}; give one of {', '.join([*PAIRED, *FAMILYWISE])} or a function of two arrays")
    return np.array([PAIRED[test](values[:, i], values[:, j], random_state=random_state).pvalue for i, j in pairs])


def _p_of(result: Any) -> float:
    """The p-value in the result of a user's test."""
    return float(getattr(result, "pvalue", result))


def _aligned(evaluations: Mapping[str, Any]) -> tuple[dict[str, Measure], np.ndarray, dict[str, np.ndarray]]:
    """Measures, sorted queries and, for each measure, the matrix queries × systems."""
    (first_name, first), *others = evaluations.items()
    orders = {name: np.argsort(evaluation.qids, kind="stable") for name, evaluation in evaluations.items()}
    qids = first.qids[orders[first_name]]
    if (qids[1:] == qids[:-1]).any():
        raise DataError(f"{first_name!r} has a query twice; systems are compared query by query")
    for name, evaluation in others:
        if evaluation.measures != first.measures:
            raise DataError(
                f"{name!r} was evaluated with {', '.join(evaluation.measures)} and {first_name!r} with "
                f"{', '.join(first.measures)} (or with other parameters); give the same measures for all"
            )
        if not np.array_equal(evaluation.qids[orders[name]], qids):
            lonely = set(evaluation.qids.tolist()) ^ set(qids.tolist())
            raise DataError(
                f"{name!r} and {first_name!r} were evaluated on different queries ({len(lonely)} of them in only one, "
                f"such as {next(iter(lonely), None)!r}); compare on the same ones"
            )
    values = {
        measure: np.column_stack([evaluation.values[measure][orders[name]] for name, evaluation in evaluations.items()])
        for measure in first.measures
    }
    return dict(first.measures), qids, values
