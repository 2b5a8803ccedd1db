"""Definitions of the list losses, written out as plain loops for the battery of losses."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
from scipy.special import expit, ndtr

from plackett._kernels.randomness import mix
from plackett.data.dataset import RankingDataset
from plackett.losses.listwise._draws import label_key, score_key, unit
from plackett.measures import parse
from plackett.measures.gains import discount_table, gains_of
from plackett.measures.ranking import Scored


def logsumexp(values):
    """Logarithm of the sum of the exponentials; SciPy's takes several times as long for a few values."""
    values = np.asarray(values)
    top = values.max()
    return top + np.log(np.exp(values - top).sum()) if np.isfinite(top) else top


def log2_ranks(n):
    return 1.0 / np.log2(np.arange(n) + 2.0)


def ideal(gains):
    return np.sort(gains)[::-1] @ log2_ranks(len(gains))


def one_query(labels, weights):
    return RankingDataset.from_arrays(None, labels, group=[len(labels)], sample_weight=weights)


# ------------------------------------------------------------------------------------------- permutation models


def xendcg(loss, scores, labels, weights):
    gamma = np.full(len(labels), loss.gamma)
    if loss.random_state is not None:
        state = np.uint64(label_key(labels, np.uint64(loss.random_state)))
        for i in range(len(labels)):
            state = np.uint64(mix(state))
            gamma[i] = unit(state)
    judged = labels >= 0
    if not judged.any() or np.ptp(labels[judged]) == 0 or not (weights[judged] > 0).any():
        return 0.0
    with np.errstate(divide="ignore"):
        target = np.log(weights * (2.0 ** np.maximum(labels, 0) - gamma))[judged]
    log_p, log_q = target - logsumexp(target), scores[judged] - logsumexp(scores[judged])
    return sum(np.exp(p) * (p - q) for p, q in zip(log_p, log_q, strict=True) if np.exp(p) > 0)


def listmle_gamma(loss, scores, labels, weights):
    total = 0.0
    judged = [i for i in range(len(labels)) if labels[i] >= 0]
    for i in judged:
        if labels[i] > min(labels[j] for j in judged):
            above = sum(labels[j] > labels[i] for j in judged)
            block = sum(labels[j] == labels[i] for j in judged)
            share = 1.0 if loss.k is None else min(max((loss.k - above) / block, 0.0), 1.0)
            total += share * weights[i] * (logsumexp([scores[j] for j in judged if labels[j] <= labels[i]]) - scores[i])

    def prior(s):
        return loss.rate * np.exp(min(s, 700.0)) - (loss.shape - 1.0) * s

    has_mode = loss.shape > 1 and loss.rate > 0
    least = prior(np.log((loss.shape - 1.0) / loss.rate)) if has_mode else 0.0
    return total + sum(weights[i] * (prior(scores[i]) - least) for i in judged)


def counted(labels, weights):
    return [i for i in range(len(labels)) if labels[i] >= 0 and weights[i] > 0]


def listmle_set(loss, scores, labels, weights):
    """The integral over the time of the first clock of the lower documents, on a fine grid of its logarithm."""
    kept = counted(labels, weights)
    total = 0.0
    for label in {labels[i] for i in kept}:
        block = [i for i in kept if labels[i] == label]
        lower = [scores[j] for j in kept if labels[j] < label]
        if lower:
            z = np.arange(-60.0, np.log(len(block)) + 8.0, 0.02)
            log_f = z - np.exp(z)
            for i in block:
                x = z + scores[i] - logsumexp(lower)
                with np.errstate(divide="ignore", over="ignore"):
                    log_f += np.where(x < -20, x - 0.5 * np.exp(x), np.log(-np.expm1(-np.exp(x))))
            total -= np.mean([weights[i] for i in block]) * (logsumexp(log_f) + np.log(0.02))
    return total


def listmle_best(loss, scores, labels, weights):
    kept = sorted(counted(labels, weights), key=lambda i: (-labels[i], -scores[i]))
    if not kept or labels[kept[0]] == labels[kept[-1]]:
        return 0.0
    return sum(weights[i] * (logsumexp([scores[j] for j in kept[r:]]) - scores[i]) for r, i in enumerate(kept))


def listnet_top_k(loss, scores, labels, weights):
    judged = [i for i in range(len(labels)) if labels[i] >= 0]
    if len({labels[i] for i in judged}) < 2:
        return 0.0
    with np.errstate(divide="ignore"):
        target = gains_of(labels, loss.target) / loss.temperature + np.log(weights)
    ranks = discount_table(loss.discount, len(labels))
    ranks[loss.k or len(labels) :] = 0.0

    theta = {"mallows": loss.theta, "uniform": np.inf}.get(loss.distribution)

    @cache
    def ways(rest):
        """Sum over the orders of some labels of e^−θ for each pair that is the wrong way round."""
        if not rest:
            return 1.0
        total = 0.0
        for label in set(rest):  # sorted, so that those above are at the end
            first, n = rest.index(label), rest.count(label)
            total += n * worth(len(rest) - first - n) * ways(rest[:first] + rest[first + 1 :])
        return total

    def worth(turned):
        return np.exp(-theta * turned) if turned else 1.0

    def next_one(rest):
        """Logarithm of the weight of each document as the next one."""
        if theta is None:
            return target[list(rest)]
        drawn = tuple(sorted(labels[j] for j in rest if weights[j] > 0))
        weight = np.zeros(len(rest))
        for index, i in enumerate(rest):
            if weights[i] > 0:
                others = list(drawn)
                others.remove(labels[i])
                higher = sum(label > labels[i] for label in others)
                weight[index] = weights[i] * worth(higher) * ways(tuple(others))
        with np.errstate(divide="ignore"):
            return np.log(weight)

    def divergence(rest):
        """Of the choice of the next document, and the chances of each."""
        t, s = next_one(rest), scores[list(rest)]
        if np.isneginf(t).all():
            return 0.0, {}
        log_p, log_q = t - logsumexp(t), s - logsumexp(s)
        chances = dict(zip(rest, np.exp(log_p), strict=True))
        return sum(np.exp(p) * (p - q) for p, q in zip(log_p, log_q, strict=True) if np.exp(p) > 0), chances

    @cache
    def from_here(rest):
        rank = len(judged) - len(rest)
        if not rest or not ranks[rank:].any():
            return 0.0
        own, chances = divergence(rest)
        return ranks[rank] * own + sum(p * from_here(tuple(j for j in rest if j != i)) for i, p in chances.items() if p)

    if len(labels) <= loss.max_exact:
        return from_here(tuple(judged))
    orders = loss.bind(one_query(labels, weights)).constants.orders
    assert orders.shape[0] == loss.n_samples, "as many orders are drawn as asked for"
    total = 0.0
    for order in orders:
        rest = [i for i in order if labels[i] >= 0]
        total += sum(ranks[r] * divergence(tuple(rest[r:]))[0] for r in range(len(rest)))
    return total / loss.n_samples


def boltzrank(loss, scores, labels, weights):
    kept = counted(labels, weights)
    if len({labels[i] for i in kept}) < 2:
        return 0.0
    m = len(kept)
    if len(labels) <= loss.max_exact:
        orders = np.array(list(permutations(kept)))
    else:
        orders = np.array(
            [[i for i in order if i in kept] for order in loss.bind(one_query(labels, weights)).constants.orders]
        )

    def log_probability(s):
        energy = np.zeros(len(orders))
        for u in range(m):
            for v in range(u + 1, m):
                energy += 2 / (m * (m - 1)) * loss.alpha * (v - u) * (s[orders[:, v]] - s[orders[:, u]])
        return -energy - logsumexp(-energy)

    with np.errstate(divide="ignore"):
        log_p = log_probability(gains_of(labels, loss.target) + np.where(weights > 0, np.log(weights), 0.0))
    log_q = log_probability(scores)
    gains = gains_of(labels, loss.gain)
    best = ideal(gains)
    if loss.divergence == "likelihood":
        c = 2 * loss.alpha / (m - 1) * (np.arange(m) - (m - 1) / 2)
        energy = 0.0
        for i in kept:  # the mean of c over the ranks that the labels allow it
            first = sum(labels[j] > labels[i] for j in kept)
            energy += c[first : first + sum(labels[j] == labels[i] for j in kept)].mean() * scores[i]
        divergence = energy + logsumexp(-(scores[orders] @ c))
        ndcg = (gains * weights)[orders] @ log2_ranks(m) / best if best > 0 else np.zeros(len(orders))
        return loss.mix * (1 - np.exp(log_q) @ ndcg) + (1 - loss.mix) * divergence
    ndcg = (gains * weights)[orders] @ log2_ranks(m) / best if best > 0 else np.zeros(len(orders))
    return loss.mix * (1 - np.exp(log_q) @ ndcg) + (1 - loss.mix) * np.exp(log_p) @ (log_p - log_q)


def structrank(loss, scores, labels, weights):
    total = 0.0
    one, two = loss.theta
    if loss.structure == "all":
        edges = [(u, v) for u in range(len(labels)) for v in range(len(labels)) if labels[u] > labels[v] >= 0]
        if not edges:
            return 0.0
        x = np.array([scores[v] - scores[u] for u, v in edges])
        w = np.array([weights[u] * weights[v] for u, v in edges])
        terms = w[:, None] * w * np.logaddexp(0.0, np.logaddexp(one * x[:, None], two * x))
        return terms.mean() if loss.normalize else terms.sum()
    for u in range(len(labels)):
        lower = [v for v in range(len(labels)) if labels[u] > labels[v] >= 0]
        if not lower:
            continue
        x, w = scores[lower] - scores[u], weights[lower]
        if loss.structure == "document":
            total += weights[u] * logsumexp(np.append(one * x, 0.0))
        elif loss.structure == "edge":
            terms = w * np.logaddexp(0.0, one * x)
            total += weights[u] * (terms.mean() if loss.normalize else terms.sum())
        else:
            terms = w[:, None] * w * np.logaddexp(0.0, np.logaddexp(one * x[:, None], two * x))
            total += weights[u] * (terms.mean() if loss.normalize else terms.sum())
    return total


# ------------------------------------------------------------------------------------------------------- measures


def rank_chances(chances):
    """Distribution of how many of some independent events happen."""
    out = np.ones(1)
    for p in chances:
        out = np.convolve(out, [1 - p, p])
    return out


def ahead(loss, scores):
    return ndtr((scores[:, None] - scores) / (np.sqrt(2) * loss.sigma))  # [u, j]: u ahead of j


def soft_gains(loss, scores, gains, best, table):
    if not (gains > 0).any():
        return 0.0
    p = ahead(loss, scores)
    n = len(scores)
    return 1.0 - sum(gains[j] / best * rank_chances(np.delete(p[:, j], j)) @ table for j in range(n) if gains[j] > 0)


def soft_ndcg(loss, scores, labels, weights):
    gains = gains_of(labels, loss.gain)
    return soft_gains(loss, scores, gains * weights, ideal(gains), log2_ranks(len(labels)))


def soft_pc(loss, scores, labels, weights):
    relevant = (labels >= loss.rel).astype(float)
    table = (np.arange(len(labels)) < loss.k).astype(float)
    return soft_gains(loss, scores, relevant * weights, min(loss.k, relevant.sum()), table)


def soft_ap(loss, scores, labels, weights):
    """The sum over ranks, with the chance that i is above j given the rank of j by leaving i out."""
    relevant = np.flatnonzero(labels >= loss.rel)
    p = ahead(loss, scores)
    total = 0.0
    for j in relevant:
        of_rank = rank_chances(np.delete(p[:, j], j))
        total += weights[j] * (of_rank / np.arange(1, of_rank.size + 1)).sum()
        for i in relevant:
            if i != j:
                without = rank_chances(np.delete(p[:, j], [i, j]))
                total += weights[j] * p[i, j] * (without / np.arange(2, without.size + 2)).sum()
    return 1.0 - total / relevant.size if relevant.size else 0.0


def smooth_ranks(loss, scores):
    return 0.5 + expit(loss.alpha * (scores - scores[:, None])).sum(axis=1)


def approx_ap(loss, scores, labels, weights):
    rank = smooth_ranks(loss, scores)
    relevant = np.flatnonzero(labels >= loss.rel)
    total = 0.0
    for j in relevant:
        others = sum(expit(loss.beta * (rank[j] - rank[i])) for i in relevant if i != j)
        total += weights[j] * (1 + others) / rank[j]
    return 1.0 - total / relevant.size if relevant.size else 0.0


def approx_cascade(loss, scores, satisfaction, weights, best=1.0):
    if not (satisfaction > 0).any():
        return 0.0
    rank = smooth_ranks(loss, scores)
    total = 0.0
    for j in range(len(scores)):
        term = weights[j] * satisfaction[j] / rank[j]
        for i in range(len(scores)):
            if i != j:  # 1 − R·σ(x), without losing the digits of 1 − σ
                x = loss.beta * (rank[i] - rank[j])
                term *= 1 - satisfaction[i] + satisfaction[i] * expit(x)
        total += term
    return 1.0 - total / best


def approx_err(loss, scores, labels, weights):
    assert loss.max_label is not None, "a settled loss knows the largest label"
    satisfaction = gains_of(labels, "exp2") / 2.0**loss.max_label
    best, doubt = 0.0, 1.0
    for rank, r in enumerate(sorted(satisfaction, reverse=True), 1):
        best += doubt * r / rank
        doubt *= 1 - r
    return approx_cascade(loss, scores, satisfaction, weights, best)


def approx_rr(loss, scores, labels, weights):
    return approx_cascade(loss, scores, (labels >= loss.rel).astype(float), weights)


def smoothrank(loss, scores, labels, weights):
    gains = gains_of(labels, loss.gain)
    averages = loss.measure == "AP"
    x = ((gains > 0).astype(float) if averages else gains) * weights
    if not (x > 0).any():
        return 0.0
    at = []
    for t in np.sort(scores)[::-1]:
        logits = -((scores - t) ** 2) / loss.sigma
        at.append(np.exp(logits - logsumexp(logits)) @ x)
    if averages:
        return 1.0 - sum(r / (u + 1) * (1 + sum(at[:u])) for u, r in enumerate(at)) / (gains > 0).sum()
    return 1.0 - np.array(at) @ log2_ranks(len(at)) / ideal(gains)


def policy(loss, scores, labels, weights):
    """Policy gradient from the same draws; there is no curvature."""
    n = len(scores)
    data = RankingDataset.from_arrays(None, np.where(weights > 0, labels, -1.0), group=[n])
    order = np.lexsort((-data.labels, -scores))
    state = np.uint64(label_key(data.labels[order], np.uint64(loss.random_state)))
    measure = parse(loss.measure)
    k = getattr(measure, "k", None) or n
    values, slopes = [], []
    for _ in range(loss.n_samples):
        noisy = np.empty(n)
        for i in order:
            state = np.uint64(mix(state))
            noisy[i] = scores[i] - np.log(-np.log(unit(state)))
        values.append(measure.per_query(Scored(data, noisy))[0])
        drawn = np.argsort(-noisy, kind="stable")
        slope = np.zeros(n)
        for r in range(min(k, n)):
            slope[drawn[r]] += 1.0
            rest = drawn[r:]
            slope[rest] -= np.exp(scores[rest] - logsumexp(scores[rest]))
        slopes.append(slope)
    values = np.nan_to_num(values) * (1 if measure.ascending else -1)
    gradient = -(values - values.mean()) @ np.array(slopes) / (loss.n_samples - 1) if n else np.zeros(0)
    return gradient, np.zeros(n)


def listpl(loss, scores, labels, weights):
    """Gradient and curvature of the likelihood of the same drawn orders, one rank after the other."""
    n = len(scores)
    gradient, curvature = np.zeros(n), np.zeros(n)
    if len(set(labels[labels >= 0])) < 2:
        return gradient, curvature
    order = np.lexsort((-labels, -scores))
    state = np.uint64(label_key(labels[order], np.uint64(loss.random_state)))
    with np.errstate(divide="ignore"):
        target = gains_of(labels, loss.target) / loss.temperature + np.log(weights)
    for _ in range(loss.n_samples):
        noisy = np.empty(n)
        for i in order:
            state = np.uint64(mix(state))
            noisy[i] = target[i] - np.log(-np.log(unit(state)))
        drawn = [i for i in np.argsort(-noisy, kind="stable") if labels[i] >= 0]
        for r, i in enumerate(drawn[: loss.k]):
            if weights[i] > 0:
                rest = drawn[r:]
                p = np.exp(scores[rest] - logsumexp(scores[rest]))
                gradient[rest] += p / loss.n_samples
                gradient[i] -= 1 / loss.n_samples
                curvature[rest] += p * (1 - p) / loss.n_samples
    return gradient, curvature


def query_softmax(loss, scores, labels, weights):
    judged = labels >= 0
    if not judged.any() or np.ptp(labels[judged]) == 0:
        return 0.0
    amount = gains_of(labels, loss.target)[judged] * weights[judged]
    if not amount.sum() > 0:
        return 0.0
    log_q = loss.beta * scores[judged] - logsumexp(loss.beta * scores[judged])
    return sum(a * (np.log(a / amount.sum()) - q) for a, q in zip(amount, log_q, strict=True) if a > 0)


def query_square(loss, scores, labels, weights):
    """Over pairs, which knows nothing of a level."""
    kept = [i for i in range(len(labels)) if labels[i] >= 0 and weights[i] > 0]
    if len({labels[i] for i in kept}) < 2:
        return 0.0
    rest = scores - gains_of(labels, loss.target)
    pairs = sum(weights[u] * weights[v] * (rest[u] - rest[v]) ** 2 for u in kept for v in kept if u < v)
    return 0.5 * pairs / sum(weights[i] for i in kept)


def stochastic_smoothing(loss, scores, labels, weights):
    """The steps of the measure from lists written out, one with i just above and one with i just below each other."""
    n = len(scores)
    labels = np.where(weights > 0, labels, -1.0)
    measure = parse(loss.measure)
    order = np.lexsort((-labels, -scores))
    key = score_key(labels[order], scores, order, np.uint64(loss.random_state))
    centre = scores - loss.sigma * loss.mu * np.maximum(labels, 0)
    gradient = np.zeros(n)

    gains = gains_of(labels, "exp2")
    discounts = log2_ranks(n)
    discounts[getattr(measure, "k", None) or n :] = 0.0
    best = np.sort(gains)[::-1] @ discounts if loss.measure.startswith("nDCG") else 1.0

    def value(ranked):
        return gains[ranked] @ discounts / best if best > 0 else 0.0

    for t in range(loss.n_samples):
        state = np.uint64(mix(np.uint64(key) ^ np.uint64(t)))
        noisy = np.empty(n)
        for i in order:
            state = np.uint64(mix(state))
            radius = np.sqrt(-2 * np.log(unit(state)))
            state = np.uint64(mix(state))
            noisy[i] = centre[i] + loss.sigma * radius * np.cos(2 * np.pi * unit(state))
        for i in range(n):
            others = [j for j in np.lexsort((np.argsort(order), -noisy)) if j != i]
            inserted = [value([*others[:position], i, *others[position:]]) for position in range(n)]
            for position, j in enumerate(others):
                x = (noisy[j] - centre[i]) / loss.sigma
                density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) / loss.sigma
                gradient[i] -= (inserted[position] - inserted[position + 1]) * density / loss.n_samples
    return gradient, np.zeros(n)


VALUES = {
    "QuerySoftmax": query_softmax,
    "QuerySquare": query_square,
    "XENDCG": xendcg,
    "ListMLEGamma": listmle_gamma,
    "ListMLESet": listmle_set,
    "ListMLEBest": listmle_best,
    "ListNetTopK": listnet_top_k,
    "BoltzRank": boltzrank,
    "StructRank": structrank,
    "SoftNDCG": soft_ndcg,
    "SoftPC": soft_pc,
    "SoftAP": soft_ap,
    "ApproxAP": approx_ap,
    "ApproxERR": approx_err,
    "ApproxRR": approx_rr,
    "SmoothRank": smoothrank,
}
GRADIENTS = {"PlackettLucePolicy": policy, "ListPL": listpl, "StochasticSmoothing": stochastic_smoothing}
