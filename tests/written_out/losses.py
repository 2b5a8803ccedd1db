"""Every loss a second time, as plain loops over documents and pairs."""

from __future__ import annotations

import numpy as np

from plackett.measures import parse
from plackett.measures.gains import discount_table, gains_of
from written_out import listwise, pairwise, pointwise
from written_out.listwise import logsumexp
from written_out.pairwise import pairs_of


def naive_listnet(loss, scores, labels, weights):
    judged = labels >= 0
    if not judged.any() or np.ptp(labels[judged]) == 0 or not (weights[judged] > 0).any():
        return 0.0
    with np.errstate(divide="ignore"):
        target = gains_of(labels[judged], loss.target) / loss.temperature + np.log(weights[judged])
    log_p = target - logsumexp(target)
    log_q = scores[judged] - logsumexp(scores[judged])
    return sum(np.exp(p) * (p - q) for p, q in zip(log_p, log_q, strict=True) if np.exp(p) > 0)


def naive_listmle(loss, scores, labels, weights):
    judged = [i for i in range(len(labels)) if labels[i] >= 0]
    total = 0.0
    for i in judged:
        if labels[i] == min(labels[j] for j in judged):
            continue  # the lowest block has no order
        above = sum(labels[j] > labels[i] for j in judged)
        block = sum(labels[j] == labels[i] for j in judged)
        ranks = discount_table(loss.discount, len(judged))
        ranks[loss.k or len(judged) :] = 0.0
        share = ranks[above : above + block].mean()
        rest = logsumexp([scores[j] for j in judged if labels[j] <= labels[i]])
        total += share * weights[i] * (rest - scores[i])
    return total


def naive_approx_ndcg(loss, scores, labels, weights):
    gains = gains_of(labels, loss.gain)
    ideal = sum(g / np.log2(r + 2) for r, g in enumerate(sorted(gains, reverse=True)))
    if not (gains * weights > 0).any():
        return 0.0
    reached = 0.0
    for j in range(len(scores)):
        x = [loss.alpha * (scores[j] - scores[u]) for u in range(len(scores)) if u != j]
        rank = 1.0 + sum(np.exp(-np.logaddexp(0.0, d)) for d in x)
        reached += weights[j] * gains[j] / np.log2(1.0 + rank)
    return 1.0 - reached / ideal


def naive_square(loss, scores, labels, weights):
    target = gains_of(labels, loss.target)
    return sum(0.5 * weights[i] * (scores[i] - target[i]) ** 2 for i in range(len(labels)) if labels[i] >= 0)


def naive_softmax(loss, scores, labels, weights):
    return sum(
        weights[i] * (logsumexp(loss.gamma * scores[i]) - loss.gamma * scores[i][int(labels[i])])
        for i in range(len(labels))
        if labels[i] >= 0
    )


def naive_cumulative(loss, scores, labels, weights):
    return sum(
        weights[i] * np.logaddexp(0.0, -scores[i][k] if labels[i] > k else scores[i][k])
        for i in range(len(labels))
        if labels[i] >= 0
        for k in range(len(scores[i]))
    )


def naive_query_mean(loss, scores, labels, weights):
    """The inner loss divided by the weight of its terms: pairs of unequal labels, or judged documents."""
    inner = loss.inner
    if inner.approach == "pairwise":
        n = len(labels)
        count = sum(weights[u] * weights[v] for u in range(n) for v in range(n) if labels[u] > labels[v] >= 0)
    else:
        count = sum(w for w, label in zip(weights, labels, strict=True) if label >= 0)
    return VALUES[inner.name](inner, scores, labels, weights) / count if count else 0.0


#: Value of one query from the loss, its scores, labels and sample weights. A new loss is written out here or in the
#: files next to this one, a pair loss as an entry of `pairwise.PHI`.
VALUES = {
    "QueryMean": naive_query_mean,
    **pairwise.VALUES,
    **listwise.VALUES,
    **pointwise.VALUES,
    "ListNet": naive_listnet,
    "ListMLE": naive_listmle,
    "ApproxNDCG": naive_approx_ndcg,
    "Square": naive_square,
    "Softmax": naive_softmax,
    "Cumulative": naive_cumulative,
}


def naive_lambdas(loss, scores, labels, weights):
    """Gradient and curvature of the lambda gradient for one query: a loop over pairs."""
    n = len(scores)
    order = np.argsort(-scores, kind="stable")
    rank = np.empty(n, int)
    rank[order] = np.arange(n)
    delta = parse(loss.measure).swap_deltas(labels[order])
    gradient, curvature = np.zeros(n), np.zeros(n)
    mass = 0.0
    for u, v in pairs_of(labels):
        if loss.truncation is not None and min(rank[u], rank[v]) >= loss.truncation:
            continue
        size = delta[rank[u], rank[v]] * weights[u] * weights[v]
        if loss.normalize and scores.max() != scores.min():
            size /= 0.01 + abs(scores[u] - scores[v])
        wrong = np.exp(-np.logaddexp(0.0, loss.sigma * (scores[u] - scores[v])))
        force = loss.sigma * size * wrong
        gradient[u] -= force
        gradient[v] += force
        curvature[[u, v]] += loss.sigma * force * (1.0 - wrong)
        mass += 2.0 * force
    scale = np.log2(1.0 + mass) / mass if loss.normalize and mass > 0 else 1.0
    return scale * gradient, scale * curvature


#: Gradient and curvature of one query, for losses that have no value.
GRADIENTS = {
    "Lambda": naive_lambdas,
    "UnbiasedLambda": naive_lambdas,  # without biases; with them in tests/losses/pairwise/test_unbiased_lambda.py
    **pairwise.GRADIENTS,
    **listwise.GRADIENTS,
}
