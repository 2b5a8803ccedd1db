"""Pointwise losses and the isotonic one a second time, as plain loops and a general quadratic program."""

from __future__ import annotations

import numpy as np

from plackett.measures.gains import gains_of
from written_out.isotonic import least_moves


def judged(labels):
    return [i for i in range(len(labels)) if labels[i] >= 0]


def naive_binary(phi):
    return lambda loss, scores, labels, weights: sum(
        weights[i] * phi(scores[i] if labels[i] >= loss.rel else -scores[i]) for i in judged(labels)
    )


def naive_weighted_square(loss, scores, labels, weights):
    target, importance = gains_of(labels, loss.target), gains_of(labels, loss.importance)
    return sum(
        0.5 * weights[i] * (1 + loss.strength * importance[i]) * (scores[i] - target[i]) ** 2 for i in judged(labels)
    )


def naive_subset_square(loss, scores, labels, weights):
    target = gains_of(labels, loss.target)
    total, worst = 0.0, 0.0
    for i in judged(labels):
        if labels[i] >= loss.rel:
            total += 0.5 * weights[i] * (scores[i] - target[i]) ** 2
        else:
            worst = max(worst, 0.5 * loss.over * weights[i] * max(0.0, scores[i] - loss.level) ** 2)
    return total + worst


PHI = {
    "logistic": lambda z: np.logaddexp(0.0, -z),
    "hinge": lambda z: max(0.0, 1.0 - z),
    "squared_hinge": lambda z: max(0.0, 1.0 - z) ** 2,
    "square": lambda z: (1.0 - z) ** 2,
    "exponential": lambda z: np.exp(-z),
    "perceptron": lambda z: max(0.0, -z),
}


def naive_threshold(every):
    def value(loss, scores, labels, weights):
        """Labels of a list may miss grades of the dataset: the cuts must be given, as `settle` does."""
        total = 0.0
        for i in judged(labels):
            grade = sum(labels[i] > cut for cut in loss.cuts)
            for k, cut in enumerate(loss.cuts):
                if every or k in (grade - 1, grade):
                    total += weights[i] * PHI[loss.penalty](scores[i] - cut if grade > k else cut - scores[i])
        return total

    return value


def naive_cosine(loss, scores, labels, weights):
    phi = {"exp": np.exp, "logistic": lambda x: np.exp(-np.logaddexp(0.0, -x)), "linear": lambda x: x}[loss.transform]
    rows = [i for i in judged(labels) if weights[i] > 0]
    if not rows:
        return 0.0
    shift = max(scores[rows]) if loss.transform != "linear" else 0.0
    if loss.transform == "logistic":
        log_scores = -np.logaddexp(0.0, -scores)
        moved = np.exp(log_scores - max(log_scores[rows]))
    else:
        moved = phi(np.minimum(scores - shift, 0.0)) if loss.transform == "exp" else scores
    target = phi(labels - max(labels)) if loss.transform == "exp" else phi(labels)
    dot, a, b = (
        sum(weights[i] * u[i] * v[i] for i in rows) for u, v in ((target, moved), (target, target), (moved, moved))
    )
    if a == 0:
        return 0.0
    return 0.5 if b == 0 else 0.5 - 0.5 * dot / np.sqrt(a * b)


def naive_isotonic(loss, scores, labels, weights):
    rows = [i for i in judged(labels) if weights[i] > 0]
    gains = gains_of(labels, loss.gain)
    pairs = [(i, j) for i in range(len(rows)) for j in range(len(rows)) if labels[rows[i]] > labels[rows[j]]]
    if not pairs:
        return 0.0
    tied = [(i, j) for i in range(len(rows)) for j in range(i) if labels[rows[i]] == labels[rows[j]]]
    margins = [gains[rows[i]] - gains[rows[j]] for i, j in pairs]
    w = weights[rows]
    delta, zeta, tie_gap = least_moves(scores[rows], w, pairs, margins, loss.slack, tied, loss.ties)
    value = (w * delta**2).sum()
    for price, size in ((loss.slack, zeta), (loss.ties, tie_gap)):
        value += price * w.sum() * size**2 if 0 < price < np.inf else 0.0
    return 0.5 * value


VALUES = {
    "BinaryLogistic": naive_binary(PHI["logistic"]),
    "BinaryHinge": naive_binary(PHI["hinge"]),
    "WeightedSquare": naive_weighted_square,
    "SubsetSquare": naive_subset_square,
    "ImmediateThreshold": naive_threshold(False),
    "AllThreshold": naive_threshold(True),
    "PRank": naive_threshold(True),
    "Cosine": naive_cosine,
    "Isotonic": naive_isotonic,
}
