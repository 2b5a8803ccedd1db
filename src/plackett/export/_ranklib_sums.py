"""RankLib's models of one line: ``feature:weight`` of linear ones, ``feature:threshold:weight`` of RankBoost."""

from __future__ import annotations

import numpy as np

from plackett._base.errors import DataError
from plackett.export._lines import ModelText, below32
from plackett.scorers.additive import AdditiveScorer, AdditiveTerms
from plackett.scorers.linear import LinearScorer

#: Below every float32 but the lowest: what is above it is everything.
_LOWEST = float(np.finfo(np.float32).min)


def _line(model: ModelText) -> tuple[int, list[str]]:
    for number, line in model.lines():
        if not line.startswith("##"):
            tokens = line.partition("#")[0].split()
            if tokens:
                return number, tokens
    raise DataError(f"{model.path}: the file ends before the weights")


def read_linear(model: ModelText, n_features: int | None) -> tuple[LinearScorer, int]:
    """Weights of features; repeated features are summed, and feature 0 is the constant."""
    number, tokens = _line(model)
    pairs = model.pairs(tokens, number, least=0)
    size = model.width(max(feature for feature, _ in pairs), n_features)
    weights = np.zeros(size + 1)
    for feature, weight in pairs:
        weights[feature] += weight
    return LinearScorer(weights[1:, None].copy(), weights[:1].copy()), size


def write_linear(scorer: LinearScorer) -> str:
    """The line of a linear model; its constant comes first, if it has one."""
    if scorer.weights.shape[1] != 1:
        raise DataError(f"RankLib's linear models have one score, and this one has {scorer.weights.shape[1]}")
    constant = [f"0:{float(scorer.intercept[0])!r}"] if scorer.intercept[0] else []
    return (
        " ".join([*constant, *(f"{j + 1}:{weight!r}" for j, weight in enumerate(scorer.weights[:, 0].tolist()))]) + "\n"
    )


def read_rankboost(model: ModelText, n_features: int | None) -> tuple[AdditiveScorer, int]:
    """Weak rankers, each of which adds its weight where the feature is above the threshold; a missing value is 0."""
    number, tokens = _line(model)
    terms, largest = AdditiveTerms(), 0
    for token in tokens:
        parts = token.split(":")
        if len(parts) != 3:
            model.fail(number, f"expected feature:threshold:weight, found {token[:40]!r}")
        feature = model.whole(parts[0], number, "a feature number", 1)
        threshold = below32(model.real(parts[1], number, f"a threshold of feature {feature}"))
        weight = model.real(parts[2], number, f"a weight of feature {feature}")
        terms.step(feature - 1, max(threshold, _LOWEST), weight, weight * (threshold < 0.0))
        largest = max(largest, feature)
    size = model.width(largest, n_features)
    return terms.scorer(size), size


def write_rankboost(scorer: AdditiveScorer) -> str:
    """The line of a sum of steps. It has no term for missing values: RankLib treats them as 0."""
    if scorer.slopes.any():
        raise DataError(
            "RankLib's RankBoost has weak rankers with thresholds only; train with weak='threshold' to export"
        )
    terms = []
    for feature in scorer.features.tolist():
        function = scorer.function(feature)
        edges = [_LOWEST, *function.edges.tolist()]
        heights = np.diff(function.values, prepend=0.0).tolist()
        terms += [f"{feature + 1}:{edge!r}:{height!r}" for edge, height in zip(edges, heights, strict=True) if height]
    return (" ".join(terms) or "1:0.0:0.0") + "\n"
