"""The pair losses once more, as plain loops over documents and pairs, for the battery of losses."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr

from plackett._kernels.randomness import mix
from plackett.data.dataset import RankingDataset
from plackett.losses.listwise.draws import score_key, unit
from plackett.measures import parse
from plackett.measures.gains import gains_of
from plackett.measures.ranking import Scored


def pairs_of(labels):
    n = len(labels)
    return [(u, v) for u in range(n) for v in range(n) if labels[u] > labels[v] >= 0]


def tied_pairs_of(labels):
    n = len(labels)
    return [(u, v) for u in range(n) for v in range(u + 1, n) if labels[u] == labels[v] >= 0]


def _sigmoid(x):
    return np.exp(-np.logaddexp(0.0, -x))


def fidelity(loss, z):
    p, wanted = _sigmoid(z), loss.target
    return 1.0 - np.sqrt(wanted * p) - np.sqrt((1.0 - wanted) * _sigmoid(-z))


#: Loss of a pair from the loss and the difference minus the margin.
PHI = {
    "Logistic": lambda loss, z: np.logaddexp(0.0, -z),
    "Exponential": lambda loss, z: np.exp(-z),
    "Hinge": lambda loss, z: max(0.0, -z),
    "SquaredHinge": lambda loss, z: max(0.0, -z) ** 2,
    "QuadraticBound": lambda loss, z: max(0.0, -z) ** 2,
    "Fidelity": fidelity,
    "Sigmoid": lambda loss, z: _sigmoid(-loss.sigma * z),
    "Ramp": lambda loss, z: max(0.0, -z) - max(0.0, -loss.height - z),
}


def naive_pairs(loss, scores, labels, weights):
    total = mass = 0.0
    for u, v in pairs_of(labels):
        w = weights[u] * weights[v]
        if getattr(loss, "graded", False):
            w *= labels[u] - labels[v]
        total += w * PHI[loss.name](loss, scores[u] - scores[v] - loss.margin)
        mass += w
    return _per_mass(loss, total, mass)


def _per_mass(loss, total, mass):
    if loss.normalize:
        return total / mass if mass > 0 else 0.0
    return total


def magnitude_preserving(loss, gap, target):
    return abs(gap - target) ** loss.beta


def hinge_magnitude(loss, gap, target):
    return abs(gap - target) ** loss.beta if gap * target < 0 else 0.0


def pair_svr(loss, gap, target):
    return max(0.0, abs(gap - target) - loss.epsilon) ** loss.beta


MAGNITUDE = {
    "MagnitudePreserving": magnitude_preserving,
    "HingeMagnitude": hinge_magnitude,
    "PairSVR": pair_svr,
}


def naive_magnitudes(loss, scores, labels, weights):
    total = mass = 0.0
    for u, v in pairs_of(labels) + tied_pairs_of(labels):
        w = weights[u] * weights[v]
        total += w * MAGNITUDE[loss.name](loss, scores[u] - scores[v], labels[u] - labels[v])
        mass += w
    return _per_mass(loss, total, mass)


def naive_pnorm_push(loss, scores, labels, weights):
    total = mass = 0.0
    for v in range(len(labels)):
        better = [u for u, other in pairs_of(labels) if other == v and weights[u] > 0]
        if not better or weights[v] == 0:
            continue
        inner = np.logaddexp.reduce([np.log(weights[u]) - (scores[u] - scores[v]) for u in better])
        if loss.normalize:
            inner -= np.log(sum(weights[u] for u in better))
        total += weights[v] * np.exp(min(loss.p * inner, 600.0))
        mass += weights[v]
    return _per_mass(loss, total, mass)


def naive_revenue(loss, scores, labels, weights):
    total = 0.0
    for j in range(len(labels)):
        for k in range(len(labels)):
            if labels[j] > 0 and k != j and labels[k] >= 0:
                total += labels[j] * weights[j] * weights[k] * np.logaddexp(0.0, scores[k] - scores[j])
    return total


def naive_guttman(loss, scores, labels, weights):
    ahead = apart = 0.0
    for u, v in pairs_of(labels):
        gap, weight = scores[u] - scores[v], weights[u] * weights[v]
        ahead += weight * gap
        apart += weight * np.hypot(gap, loss.epsilon)
    return 1.0 - ahead / apart if apart > 0 else 0.0


def naive_owa(loss, scores, labels, weights):
    """Weighted documents become copies of weight ½: the weights are multiples of ½ here."""
    total = mass = 0.0
    for u in sorted({u for u, _ in pairs_of(labels)}):
        losses = []
        for _, v in (pair for pair in pairs_of(labels) if pair[0] == u):
            halves = round(2 * weights[v])
            assert halves == 2 * weights[v], "the definition takes weights that are multiples of one half"
            losses += [max(0.0, loss.margin - (scores[u] - scores[v]))] * halves
        mass += weights[u]
        if losses:
            alpha = np.zeros(len(losses))
            known = np.repeat(loss.table(len(losses)), 2)[: len(losses)]  # each position is two halves
            alpha[: known.size] = known
            total += weights[u] * (alpha @ np.sort(losses)[::-1]) / alpha.sum()
    return _per_mass(loss, total, mass)


def rao_kupper(loss, gap):
    """Logarithms of the probabilities that the first wins and that the two tie."""
    won = -np.logaddexp(0.0, np.log(loss.theta) - gap)
    lost = -np.logaddexp(0.0, np.log(loss.theta) + gap)
    with np.errstate(divide="ignore"):
        return won, won + lost + np.log(loss.theta**2 - 1.0)


def thurstone_mosteller(loss, gap):
    gap = abs(gap), gap
    a, b = loss.epsilon - gap[0], -loss.epsilon - gap[0]
    with np.errstate(divide="ignore"):
        tied = log_ndtr(a) + np.log(-np.expm1(log_ndtr(b) - log_ndtr(a)))
        if a > -5:
            tied = np.log(ndtr(a) - ndtr(b))
    return log_ndtr(gap[1] - loss.epsilon), tied


TIES = {"RaoKupper": rao_kupper, "ThurstoneMosteller": thurstone_mosteller}


def naive_ties(loss, scores, labels, weights):
    total = mass = 0.0
    for u, v in pairs_of(labels):
        w = weights[u] * weights[v]
        total -= w * TIES[loss.name](loss, scores[u] - scores[v])[0]
        mass += w
    for u, v in tied_pairs_of(labels) if loss.tie_weight else ():
        w = weights[u] * weights[v] * loss.tie_weight
        total -= w * TIES[loss.name](loss, scores[u] - scores[v])[1]
        mass += w
    return _per_mass(loss, total, mass)


def lambda_loss_weights(loss, scores, labels):
    """Weight of each ordered pair of documents, from the ranks of the scores."""
    n = len(labels)
    rank = np.empty(n, int)
    rank[np.argsort(-scores, kind="stable")] = np.arange(1, n + 1)

    def discount(r):
        return 1.0 / np.log2(1.0 + r)

    gains = gains_of(labels, loss.gain)
    ideal = sum(g * discount(r + 1) for r, g in enumerate(sorted(gains, reverse=True)))
    gains = gains / ideal if ideal > 0 else 0.0 * gains
    omega = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            if u == v or labels[u] < 0 or labels[v] < 0:
                continue
            apart = abs(rank[u] - rank[v])
            delta = discount(apart) - discount(apart + 1)
            rho = abs(discount(rank[u]) - discount(rank[v]))
            more = max(gains[u] - gains[v], 0.0)
            omega[u, v] = {
                "nDCG1": gains[u] * discount(rank[u]),
                "nDCG2": delta * more,
                "nDCG2++": (rho + loss.mu * delta) * more,
                "ARP1": labels[u],
                "ARP2": max(labels[u] - labels[v], 0.0),
            }[loss.bound]
    return omega


def naive_lambda_loss(loss, scores, labels, weights):
    omega = lambda_loss_weights(loss, scores, labels) * np.outer(weights, weights)
    gap = loss.sigma * (scores[:, None] - scores[None, :])
    return (omega * np.logaddexp(0.0, -gap)).sum() / np.log(2.0)


#: Value of one query from scores, labels and sample weights.
VALUES = {
    **dict.fromkeys(PHI, naive_pairs),
    **dict.fromkeys(MAGNITUDE, naive_magnitudes),
    **dict.fromkeys(TIES, naive_ties),
    "PNormPush": naive_pnorm_push,
    "Revenue": naive_revenue,
    "Guttman": naive_guttman,
    "OWA": naive_owa,
    "LambdaLoss": naive_lambda_loss,
}


def risk_sensitive(loss, scores, labels, weights):
    """Lambdas of the risk-sensitive utility against a random order, one pair after the other."""
    n = len(scores)
    order = np.argsort(-scores, kind="stable")
    rank = np.empty(n, int)
    rank[order] = np.arange(n)
    measure = parse(loss.measure)
    delta = measure.swap_deltas(labels[order])
    data = RankingDataset.from_arrays(None, labels, group=[n])
    sign = 1 if measure.ascending else -1
    now, base = (sign * measure.per_query(Scored(data, s))[0] for s in (scores, np.zeros(n)))
    gap = 0.0 if np.isnan(now) else now - base
    alpha = loss.alpha
    if loss.risk != "urisk":
        alpha *= 1.0 - ndtr(gap / loss.deviation if loss.deviation else 0.0)
    gradient, curvature, mass = np.zeros(n), np.zeros(n), 0.0
    for u, v in pairs_of(labels):
        if loss.truncation is not None and min(rank[u], rank[v]) >= loss.truncation:
            continue
        change = delta[rank[u], rank[v]] * (-1 if rank[u] < rank[v] else 1)  # what exchanging them would bring
        size = abs(sum(sign * d * (1 + alpha * (d < 0)) for sign, d in ((1, gap + change), (-1, gap))))
        if loss.risk == "faro":
            size = (1 + alpha) * abs(change)
        size *= weights[u] * weights[v]
        if loss.normalize and scores.max() != scores.min():
            size /= 0.01 + abs(scores[u] - scores[v])
        doubt = _sigmoid(-loss.sigma * (scores[u] - scores[v]))
        force = loss.sigma * size * doubt
        gradient[[u, v]] += -force, force
        curvature[[u, v]] += loss.sigma * force * (1.0 - doubt)
        mass += 2.0 * force
    scale = np.log2(1.0 + mass) / mass if loss.normalize and mass > 0 else 1.0
    return scale * gradient, scale * curvature


def yetirank(loss, scores, labels, weights):
    """Neighbours in the same noisy orders, one pair after the other."""
    n = len(scores)
    gradient, curvature = np.zeros(n), np.zeros(n)
    if n == 0:
        return gradient, curvature
    by_score = np.lexsort((-labels, -scores))
    key = score_key(labels[by_score], scores, by_score, np.uint64(loss.random_state))
    for draw in range(loss.n_permutations):
        state = np.uint64(mix(np.uint64(key) ^ np.uint64(draw)))
        noisy = np.empty(n)
        for i in by_score:
            state = np.uint64(mix(state))
            noisy[i] = scores[i] + loss.noise * np.log(unit(state) / (1 - unit(state)))
        order = np.argsort(-noisy, kind="stable")
        for first in range(n):
            for second in range(first + 1, min(first + 1 + loss.n_neighbors, n)):
                u, v = sorted((order[first], order[second]), key=lambda i: -labels[i])
                if not labels[u] > labels[v] >= 0:
                    continue
                if loss.measure is None:
                    size = loss.decay**first * (labels[u] - labels[v])
                else:
                    size = parse(loss.measure).swap_deltas(labels[order])[first, second]
                size *= weights[u] * weights[v] / loss.n_permutations
                wrong = np.exp(-np.logaddexp(0.0, scores[u] - scores[v]))
                gradient[u] -= size * wrong
                gradient[v] += size * wrong
                curvature[[u, v]] += size * wrong * (1 - wrong)
    return gradient, curvature


GRADIENTS = {"RiskSensitive": risk_sensitive, "YetiRank": yetirank}
