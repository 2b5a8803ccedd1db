"""The battery that every loss passes, whoever wrote it.

`check_loss` holds a loss to the rules that all have in common, and to its definition, which is written out below a
second time as plain loops over documents and pairs (`NAIVE`). ``tests/losses/test_all.py`` runs it on everything in the
catalogue.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import time

import numpy as np
import pytest
from scipy.special import logsumexp

import naive_listwise
import naive_pairwise
import naive_pointwise
from naive_pairwise import PHI, learns_from_ties, pairs_of
from plackett._errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.losses.base import Loss
from plackett.losses.pairwise.base import PairLoss
from plackett.measures import parse
from plackett.measures.gains import discount_table, gains_of

LABELS = (-2, -1, 0, 0, 1, 2, 2, 3)
SIZES = (7, 1, 5, 12, 2, 3)


def check_loss(loss: Loss, seed: int = 0) -> None:
    """Every rule that losses have in common."""
    for check in CHECKS:
        check(loss, np.random.default_rng(seed))


def lists(rng, sizes=SIZES, *, labels=LABELS, weighted=True, **columns):
    """Dataset of lists of the given sizes with weights of documents and queries."""
    n = sum(sizes)
    if weighted:
        columns = {
            "sample_weight": rng.choice([0.0, 0.5, 1.0, 2.5], n, p=[0.1, 0.3, 0.3, 0.3]),
            "query_weight": rng.choice([0.5, 1.0, 3.0], len(sizes)),
        } | columns
    return RankingDataset.from_arrays(
        None, rng.choice(labels, n).astype(float), np.repeat(np.arange(len(sizes)), sizes), **columns
    )


def random_scores(loss, data, rng, spread=2.0, levels=None):
    """Scores of the right shape, without ties or, with ``levels``, with many."""
    n_outputs = loss.bind(data).n_outputs
    shape = (data.n_rows,) if n_outputs == 1 else (data.n_rows, n_outputs)
    return rng.normal(0, spread, shape) if levels is None else rng.integers(0, levels, shape).astype(float)


def evaluate(loss, data, scores, **options):
    bound = loss.bind(data, **options)
    return bound.evaluate(bound.check(scores))


def part(data, q):
    return slice(data.offsets[q], data.offsets[q + 1])


def columns_of(data, rows):
    """Sample weights of some rows as keyword for `from_arrays`."""
    return {} if data.sample_weight is None else {"sample_weight": data.sample_weight[rows]}


# ------------------------------------------------------------------------------------------ definitions, as plain loops


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


#: Value of one query from scores, labels and sample weights. A new loss is written out here, a pair loss in `PHI`;
#: until it is, `tests/losses/test_all.py` says so and the other checks hold it to the common rules only.
def naive_query_mean(loss, scores, labels, weights):
    """The inner loss divided by the weight of its terms: pairs of unequal labels, or judged documents."""
    inner = loss.inner
    if "pairwise" in type(inner).__module__:
        n = len(labels)
        count = sum(weights[u] * weights[v] for u in range(n) for v in range(n) if labels[u] > labels[v] >= 0)
    else:
        count = sum(w for w, label in zip(weights, labels, strict=True) if label >= 0)
    return NAIVE[inner.name](inner, scores, labels, weights) / count if count else 0.0


NAIVE = {
    "QueryMean": naive_query_mean,
    **naive_pairwise.NAIVE,
    **naive_listwise.NAIVE,
    **naive_pointwise.NAIVE,
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
NAIVE_GRADIENT = {
    "Lambda": naive_lambdas,
    "UnbiasedLambda": naive_lambdas,  # without biases; with them in tests/losses/pairwise/test_unbiased_lambda.py
    **naive_pairwise.NAIVE_GRADIENT,
    **naive_listwise.NAIVE_GRADIENT,
}


def assert_naive(loss, data, scores, **close):
    """Equal to the definition: the value, or for the lambdas gradient and curvature."""
    if loss.name not in NAIVE and loss.name not in NAIVE_GRADIENT:
        return
    value, gradient, curvature = evaluate(loss, data, scores)
    loss = loss.settle(data)
    weights = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
    query_weight = np.ones(data.n_queries) if data.query_weight is None else data.query_weight
    for q in range(data.n_queries):
        r = part(data, q)
        if loss.has_value:
            found = query_weight[q] * NAIVE[loss.name](loss.settle(data), scores[r], data.labels[r], weights[r])
            np.testing.assert_allclose(value[q], found, **({"rtol": 1e-9, "atol": 1e-11} | close))
        else:
            found = NAIVE_GRADIENT[loss.name](loss, scores[r], data.labels[r], weights[r])
            close = {"rtol": 1e-4, "atol": 1e-5 * max(1.0, np.abs(found[0]).max(initial=0.0))} | close
            np.testing.assert_allclose(gradient[r], query_weight[q] * found[0], **close)
            np.testing.assert_allclose(curvature[r], query_weight[q] * found[1], **close)


# ----------------------------------------------------------------------------------------------------------- the checks


def check_definition(loss, rng):
    """The kernel against plain loops: ties in labels and scores, weights, unjudged documents, any list length."""
    for weighted in (True, False):
        data = lists(rng, weighted=weighted)
        assert_naive(loss, data, random_scores(loss, data, rng))
        assert_naive(loss, data, random_scores(loss, data, rng, levels=3))
        assert_naive(loss, data, random_scores(loss, data, rng, levels=1))
    data = lists(rng, [60], weighted=False)
    assert_naive(loss, data, random_scores(loss, data, rng, spread=0.1))


def check_gradient(loss, rng):
    """The gradient against differences of the value, at ties too where the loss is smooth."""
    if not loss.has_value:
        return
    data = lists(rng, labels=(*LABELS, 1.5)) if not hasattr(loss, "n_classes") else lists(rng)
    for levels in (None, 3) if loss.smooth else (None,):
        scores = random_scores(loss, data, rng, levels=levels)
        if levels is not None:
            scores *= 0.37  # ties, but no difference at the kink of a squared hinge
        gradient = evaluate(loss, data, scores)[1]
        found = differences(lambda s: evaluate(loss, data, s)[0].sum(), scores)
        np.testing.assert_allclose(gradient, found, rtol=1e-5, atol=1e-6 * max(1.0, np.abs(gradient).max()))


def differences(function, scores, step=1e-5):
    """Central differences of a function of the scores for each of them."""
    out = np.empty(scores.shape)
    for i in np.ndindex(scores.shape):
        up, down = scores.copy(), scores.copy()
        up[i] += step
        down[i] -= step
        out[i] = (function(up) - function(down)) / (2 * step)
    return out


def check_curvature(loss, rng):
    """The diagonal of the Hessian where it is exact, something of the right sign where it serves in its place."""
    assert loss.curvature in ("exact", "surrogate", "none")
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    _, gradient, curvature = evaluate(loss, data, scores)
    assert curvature.shape == gradient.shape
    if loss.curvature == "none":
        np.testing.assert_array_equal(curvature, 0.0)
        return
    assert (curvature >= -1e-12).all()
    if loss.curvature == "surrogate":
        # whoever is pushed has a curvature, or a Newton step would have no length
        assert (curvature[np.abs(gradient) > 1e-9] > 0).all()
        return
    found = np.empty(scores.shape)
    for i in np.ndindex(scores.shape):
        up, down = scores.copy(), scores.copy()
        up[i] += 1e-5
        down[i] -= 1e-5
        found[i] = (evaluate(loss, data, up)[1][i] - evaluate(loss, data, down)[1][i]) / 2e-5
    np.testing.assert_allclose(curvature, found, rtol=1e-5, atol=1e-6 * max(1.0, np.abs(curvature).max()))


def check_nothing_to_learn(loss, rng):
    """Loss and gradient 0 for a query without documents or judgements and, but for pointwise losses, of one label."""
    pointwise = not loss.shift_invariant
    for labels in ([], [-1.0, -1.0], *([] if pointwise else [[2.0], [0.0], [-1.0, 1.0], [0.0] * 5, [3.0, 3.0]])):
        if loss.name in naive_listwise.OF_RANKS and max(labels, default=0) > 0 and len(labels) > 1:
            continue  # ranks of relevant documents are at stake without pairs of labels
        if learns_from_ties(loss) and sum(label >= 0 for label in labels) > 1:
            continue
        sizes = [5, len(labels), 3]
        data = RankingDataset.from_arrays(None, [1.0, 0.0, 0.0, 0.0, 0.0, *labels, 1.0, 0.0, 0.0], group=sizes)
        assert data.group.tolist() == sizes
        scores = random_scores(loss, data, rng)
        scores[data.labels == 1.0] -= 3.0  # something is wrong in the other queries
        value, gradient, curvature = evaluate(loss, data, scores)
        assert value[1] == 0.0
        np.testing.assert_array_equal(gradient[part(data, 1)], 0.0)
        np.testing.assert_array_equal(curvature[part(data, 1)], 0.0)
        if loss.name in naive_listwise.DRAWN:
            continue
        assert value[0] > 0 or np.abs(gradient[part(data, 0)]).max() > 0  # a ramp does not pull from afar


def check_one_relevant_document_alone(loss, rng):
    """Loss and gradient 0 for one document alone: it stands at rank 1 whatever its score."""
    if loss.shift_invariant:
        data = RankingDataset.from_arrays(None, [2.0])
        value, gradient, _ = evaluate(loss, data, np.array([0.3]))
        np.testing.assert_allclose(value, 0.0, atol=1e-12)
        np.testing.assert_array_equal(gradient, 0.0)


def check_far_scores(loss, rng):
    """Right, and not just finite, for scores up to 10,000 apart from 0; the exponential loss is clipped there."""
    for spread in (250.0, 450.0, 1e4):
        data = lists(rng, (8, 2, 30, 5))
        scores = random_scores(loss, data, rng, levels=2)
        for s in (rng.uniform(-spread, spread, scores.shape), spread * (2 * scores - 1)):
            for array in evaluate(loss, data, s):
                assert np.isfinite(array).all()
            if loss.has_value and loss.name != "Exponential":
                assert_naive(loss, data, s, atol=1e-15 * spread**2)


def check_huge_scores(loss, rng):
    """Finite for scores as far apart as numbers go: they count as ±1e100, and squares of that are numbers."""
    data = lists(rng, (8, 2, 30, 5))
    signs = 2 * random_scores(loss, data, rng, levels=2) - 1
    for scores in (1e300 * signs, 1e100 * random_scores(loss, data, rng), 1e45 * random_scores(loss, data, rng)):
        for array in evaluate(loss, data, scores):
            assert np.isfinite(array).all()
    for huge, far in zip(evaluate(loss, data, 1e300 * signs), evaluate(loss, data, 1e100 * signs), strict=True):
        np.testing.assert_array_equal(huge, far)


def check_row_order(loss, rng):
    """Rows of a query in another order: the same loss, and gradients that go with their documents."""
    # longer lists may be looked at by orders drawn once, which belong to places
    data = lists(rng, [min(n, getattr(loss, "max_exact", n)) for n in SIZES])
    scores = random_scores(loss, data, rng)
    rows = np.concatenate([rng.permutation(np.arange(*data.offsets[q : q + 2])) for q in range(data.n_queries)])
    other = RankingDataset.from_arrays(
        None, data.y[rows], data.qid[rows], query_weight=data.query_weight, **columns_of(data, rows)
    )
    value, gradient, curvature = evaluate(loss, data, scores)
    again = evaluate(loss, other, scores[rows])
    close = {"rtol": 1e-9, "atol": 1e-11} if loss.has_value else {"rtol": 1e-4, "atol": 1e-6}
    for first, second in zip((value, gradient[rows], curvature[rows]), again, strict=True):
        np.testing.assert_allclose(second, first, **close)


def check_query_order(loss, rng):
    """Queries in another order: the same to the last bit."""
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    queries = rng.permutation(data.n_queries)
    rows = np.concatenate([np.arange(*data.offsets[q : q + 2]) for q in queries])
    value, gradient, curvature = evaluate(loss, data, scores)
    settled = loss.settle(data)
    again = evaluate(settled, data.select(queries), scores[rows])
    for first, second in zip((value[queries], gradient[rows], curvature[rows]), again, strict=True):
        np.testing.assert_array_equal(second, first)


def check_alone(loss, rng):
    """A query alone has the same loss and gradient to the last bit as among others, longer ones too, each time."""
    data = lists(rng, (*SIZES, 200))
    scores = random_scores(loss, data, rng)
    value, gradient, curvature = evaluate(loss, data, scores)
    settled = loss.settle(data)
    kept = []  # memory comes from another place each time
    for q in [*range(data.n_queries)] * 5:
        alone = evaluate(settled, data.select(np.array([q])), scores[part(data, q)])
        kept.append(np.empty(rng.integers(1, 50)))
        for first, second in zip((value[[q]], gradient[part(data, q)], curvature[part(data, q)]), alone, strict=True):
            np.testing.assert_array_equal(second, first)


def check_shift(loss, rng):
    """A constant per query changes nothing, where the loss says so."""
    if not loss.shift_invariant:
        return
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    moved = scores + rng.normal(0, 50, data.n_queries)[data.query_of_row]
    close = {"rtol": 1e-8, "atol": 1e-10} if loss.has_value else {"rtol": 1e-3, "atol": 1e-5}
    for first, second in zip(evaluate(loss, data, scores), evaluate(loss, data, moved), strict=True):
        np.testing.assert_allclose(second, first, **close)


def check_query_weight(loss, rng):
    """A query's weight multiplies its loss, gradient and curvature."""
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    ones = dataclasses.replace(data, query_weight=None)
    value, gradient, curvature = evaluate(loss, ones, scores)
    rows = data.query_weight[data.query_of_row].reshape((-1,) + (1,) * (gradient.ndim - 1))
    found = evaluate(loss, data, scores)
    for first, second in zip((data.query_weight * value, rows * gradient, rows * curvature), found, strict=True):
        np.testing.assert_allclose(second, first, rtol=1e-12)


def check_sample_weight(loss, rng):
    """Weights of 1 are no weights; a pair weighs the product of its two, a pointwise term its own."""
    data = lists(rng, weighted=False)
    scores = random_scores(loss, data, rng)
    ones = dataclasses.replace(data, sample_weight=np.ones(data.n_rows))
    for first, second in zip(evaluate(loss, data, scores), evaluate(loss, ones, scores), strict=True):
        np.testing.assert_array_equal(second, first)
    if isinstance(loss, PairLoss) and not loss.normalize:
        heavy = dataclasses.replace(data, sample_weight=np.full(data.n_rows, 3.0))
        np.testing.assert_allclose(evaluate(loss, heavy, scores)[1], 9.0 * evaluate(loss, data, scores)[1])
        # a document of weight 0 might as well not be there
        weights = rng.choice([0.0, 1.0], data.n_rows)
        light = dataclasses.replace(data, sample_weight=weights)
        gone = dataclasses.replace(data, y=np.where(weights > 0, data.y, -1.0))
        for first, second in zip(evaluate(loss, light, scores), evaluate(loss, gone, scores), strict=True):
            np.testing.assert_allclose(second, first, rtol=1e-9, atol=1e-11)


def check_without_value(loss, rng):
    """The same gradient whether or not the value is asked for; `gradient` and a call give the same numbers."""
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    bound = loss.bind(data)
    value, gradient, curvature = bound.evaluate(scores)
    _, again, curved = bound.evaluate(scores, value=False)
    np.testing.assert_array_equal(again, gradient)
    np.testing.assert_array_equal(curved, curvature)
    np.testing.assert_array_equal(loss.gradient(scores, data), (gradient, curvature))
    if loss.has_value:
        assert loss(scores, data) == value.sum()
    else:
        with pytest.raises(LossError, match="without a value"):
            loss(scores, data)


def check_results_are_the_callers(loss, rng):
    """What comes back may be overwritten, and what went in is left alone."""
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    kept = scores.copy()
    bound = loss.bind(data)
    first = [array.copy() for array in bound.evaluate(scores)]
    for array in bound.evaluate(scores):
        array[...] = np.nan
    np.testing.assert_array_equal(scores, kept)
    for array, again in zip(first, bound.evaluate(scores), strict=True):
        np.testing.assert_array_equal(again, array)


def check_threads(loss, rng):
    """The same to the last bit for any number of threads."""
    data = lists(rng, rng.integers(1, 130, 400).tolist())
    scores = random_scores(loss, data, rng)
    for one, two in zip(evaluate(loss, data, scores, n_jobs=1), evaluate(loss, data, scores, n_jobs=2), strict=True):
        np.testing.assert_array_equal(one, two)


def check_long_list(loss, rng):
    """10,000 documents: no table of 10,000 × 10,000, and no more than a pass over all pairs."""
    seconds = {}
    for size in (1_000, 10_000):
        data = lists(rng, [size])
        scores = random_scores(loss, data, rng)
        bound = loss.bind(data)
        if size == 1_000:
            bound.evaluate(scores)  # compiled now
        before = peak_memory()
        start = time.process_time()
        for array in bound.evaluate(scores):
            assert np.isfinite(array).all()
        seconds[size] = time.process_time() - start
    # processor time, which other programs hardly change: 100 times as much for all pairs, 1000 for triples
    assert seconds[10_000] < 400 * max(seconds[1_000], 1e-3)
    assert peak_memory() - before < 200e6


def peak_memory():
    """Largest resident memory of the process so far, in bytes; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def check_any_labels(loss, rng):
    """Labels are numbers, not grades: fractions, close together, large."""
    large = () if "ERR" in str(loss) else (3.25, 40, 400)  # ERR must be told the largest grade
    data = lists(rng, labels=(-1, 0, 1e-9, 0.5, 0.5 + 1e-9, 3.0, *large))
    if hasattr(loss, "n_classes"):  # labels are classes
        with pytest.raises(LossError, match="whole-number"):
            loss.bind(data)
        return
    scores = random_scores(loss, data, rng)
    assert_naive(loss, data, scores)
    for array in evaluate(loss, data, scores):
        assert np.isfinite(array).all()


def check_convex(loss, rng):
    """The value at the middle of a line is at most the mean of the values at its ends."""
    if not loss.convex:
        return
    data = lists(rng)
    for spread in (0.1, 1.0, 10.0):
        a, b = (random_scores(loss, data, rng, spread=spread) for _ in range(2))
        ends = 0.5 * (evaluate(loss, data, a)[0] + evaluate(loss, data, b)[0])
        assert (evaluate(loss, data, 0.5 * (a + b))[0] <= ends * (1 + 1e-12) + 1e-12).all()


def check_smooth(loss, rng):
    """A small step changes the gradient little, also away from ties and at the margin."""
    if not loss.smooth:
        return
    data = lists(rng)
    scores = random_scores(loss, data, rng, levels=3)
    gradient = evaluate(loss, data, scores)[1]
    near = evaluate(loss, data, scores + 1e-7 * rng.normal(size=scores.shape))[1]
    assert np.abs(near - gradient).max() < 1e-4 * max(1.0, np.abs(gradient).max())


def check_preferences(loss, rng):
    """Pair losses: the pairs of unequal labels, given one by one, are the same; others have margins and weights."""
    if not isinstance(loss, PairLoss):
        return
    data = lists(rng)
    listed = dataclasses.replace(data, preferences=Preferences.from_labels(data, margin=False))
    for scores in (random_scores(loss, data, rng), random_scores(loss, data, rng, levels=3)):
        for first, second in zip(evaluate(loss, data, scores), evaluate(loss, listed, scores), strict=True):
            np.testing.assert_allclose(second, first, rtol=1e-9, atol=1e-11)

    # a cycle, a pair twice, a pair in both directions; labels play no part
    pairs = [(0, 1), (1, 2), (2, 0), (0, 1), (5, 3), (3, 5)]
    margin, weight = np.array([0.0, 1.5, 0.2, 0.3, 0.0, 4.0]), np.array([1.0, 2.0, 0.5, 0.0, 3.0, 1.0])
    sample_weight, query_weight = rng.uniform(0.5, 2, 6), np.array([2.0, 0.5])
    scores = rng.normal(size=6)
    for given in (None, margin):
        for weights in (None, weight):
            data = RankingDataset.from_arrays(
                None,
                None,
                [1, 1, 1, 2, 2, 2],
                sample_weight=sample_weight,
                query_weight=query_weight,
                preferences=Preferences.from_pairs(pairs, margin=given, weight=weights),
            )
            expected, mass = np.zeros(2), np.zeros(2)
            for i, (u, v) in enumerate(pairs):
                w = sample_weight[u] * sample_weight[v] * (1.0 if weights is None else weights[i])
                gap = scores[u] - scores[v] - (loss.margin if given is None else given[i])
                expected[u // 3] += w * PHI[loss.name](loss, gap) if loss.name in PHI else 0.0
                mass[u // 3] += w
            expected *= query_weight / (mass if loss.normalize else 1.0)
            value, gradient, _ = evaluate(loss, data, scores)
            if loss.name in PHI:
                np.testing.assert_allclose(value, expected, rtol=1e-12)
            found = differences(lambda s, data=data: evaluate(loss, data, s)[0].sum(), scores)
            np.testing.assert_allclose(gradient, found, rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(np.add.reduceat(gradient, [0, 3]), 0.0, atol=1e-12)


def check_shape(loss, rng):
    """Scores of another shape are refused with what was expected."""
    data = lists(rng)
    for wrong in (np.zeros(data.n_rows + 1), np.zeros((data.n_rows, 17))):
        with pytest.raises(LossError, match=re.escape(str(wrong.shape))):
            loss.gradient(wrong, data)


def check_copies(loss, rng):
    """A frozen value: equal to its copy, usable as a key."""
    copy = loss.replace()
    assert copy == loss and hash(copy) == hash(loss)
    assert str(loss).startswith(f"{loss.name}(")
    assert len({loss, copy}) == 1


CHECKS = [
    check_definition,
    check_gradient,
    check_curvature,
    check_nothing_to_learn,
    check_one_relevant_document_alone,
    check_far_scores,
    check_row_order,
    check_query_order,
    check_alone,
    check_shift,
    check_query_weight,
    check_sample_weight,
    check_without_value,
    check_results_are_the_callers,
    check_threads,
    check_long_list,
    check_any_labels,
    check_convex,
    check_smooth,
    check_preferences,
    check_shape,
    check_copies,
]
