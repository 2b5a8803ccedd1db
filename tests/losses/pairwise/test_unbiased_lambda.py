"""The lambda gradient of clicks: against plain loops, against `Lambda`, and its biases against XGBoost's."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plackett as pk
from click_simulation import simulate
from plackett.losses.pairwise.lambdas import Lambda
from plackett.losses.pairwise.unbiased_lambda import UnbiasedLambda
from plackett.measures import parse


def lists(seed=0, sizes=(7, 1, 12, 2, 40), labels=(-1, 0, 0, 1, 2)):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    data = pk.RankingDataset.from_arrays(
        None,
        rng.choice(labels, n),
        np.repeat(np.arange(len(sizes)), sizes),
        positions=rng.integers(1, 9, n),
        sample_weight=rng.choice([0.0, 0.5, 2.0], n),
        query_weight=rng.uniform(0.5, 2, len(sizes)),
    )
    return data, rng.normal(size=n)


def naive(loss, data, scores):
    """Gradient, curvature and the losses that biases are estimated from: a loop over all pairs."""
    out = np.zeros((4, data.n_rows))
    for q in range(data.n_queries):
        rows = np.arange(data.offsets[q], data.offsets[q + 1])
        order = rows[np.argsort(-scores[rows], kind="stable")]
        rank = {row: i for i, row in enumerate(order)}
        delta = parse(loss.measure).swap_deltas(data.y[order])
        result, mass = np.zeros((4, data.n_rows)), 0.0
        for u in rows:
            for v in rows:
                if not data.y[u] > data.y[v] >= 0 or min(rank[u], rank[v]) >= (loss.truncation or np.inf):
                    continue
                t_u = loss.click_bias[min(data.positions[u], len(loss.click_bias)) - 1]
                t_v = loss.skip_bias[min(data.positions[v], len(loss.skip_bias)) - 1]
                size = delta[rank[u], rank[v]] * data.sample_weight[u] * data.sample_weight[v]
                if loss.normalize and np.ptp(scores[rows]):
                    size /= 0.01 + abs(scores[u] - scores[v])
                gap = loss.sigma * (scores[u] - scores[v])
                doubt = 1 / (1 + np.exp(gap))
                force = loss.sigma * size * doubt / (t_u * t_v)
                result[0, u] -= force
                result[0, v] += force
                result[1, [u, v]] += loss.sigma * force * (1 - doubt)
                result[2, u] += size * np.log(1 + np.exp(-gap)) / t_v
                result[3, v] += size * np.log(1 + np.exp(-gap)) / t_u
                mass += 2 * force
        if loss.normalize and mass:
            result[:2] *= np.log2(1 + mass) / mass
        out += data.query_weight[q] * result
    return out


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"normalize": False, "truncation": None},
        {"measure": "AP", "truncation": 3, "sigma": 2.0},
        {"measure": "RR", "skip_bias": (1.0,)},
        {"measure": "GAP", "truncation": 10},
    ],
    ids=str,
)
def test_pairs_are_divided_by_the_biases_of_their_positions(parameters):
    data, scores = lists()
    biases = {"click_bias": (1.0, 0.5, 0.3, 0.25, 0.2), "skip_bias": (1.0, 1.1, 1.2)}
    loss = UnbiasedLambda(**biases | parameters)
    for s in (scores, np.zeros_like(scores), np.round(scores)):
        result = loss.bind(data).costs(s)
        np.testing.assert_allclose(result[1:], naive(loss, data, s), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(result[0], 0.0)


@pytest.mark.parametrize("measure", ["nDCG", "AP"])
def test_without_bias_it_is_the_lambda_gradient(measure):
    """Up to the float32 in which `Lambda` works."""
    data, scores = lists()
    result = UnbiasedLambda(measure=measure).gradient(scores, data.replace(positions=None))
    for mine, plain in zip(result, Lambda(measure=measure).gradient(scores, data), strict=True):
        np.testing.assert_allclose(mine, plain, rtol=1e-4, atol=1e-6)


def test_the_first_estimates_are_those_of_xgboost():
    """Before the first tree all pairs are in doubt, and the biases of both follow from clicks and exchanges alone.

    Later ones differ: XGBoost 3.2 takes log(1 + e^(s_u − s_v)) for the loss of a pair, which grows with the lead of the
    clicked document; the loss falls with it.
    """
    xgb = pytest.importorskip("xgboost", reason="compares with XGBoost")
    data, _ = simulate(n_queries=60, sessions=10)
    rows = np.lexsort((data.positions, data.query_of_row))  # XGBoost takes the order of the rows for the positions
    data = pk.RankingDataset.from_arrays(
        data.X[rows], data.y[rows], data.query_of_row[rows], positions=data.positions[rows]
    )
    options = {
        "objective": "rank:ndcg",
        "lambdarank_unbiased": True,
        "lambdarank_bias_norm": 1.0,
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": 30,
        "base_score": 0.0,
        "nthread": 1,
    }
    table = xgb.DMatrix(data.X, data.y, qid=data.query_of_row)

    def theirs(rounds):
        booster = xgb.train(options, table, rounds)
        settings = json.loads(booster.save_config())["learner"]["objective"]
        return booster, [np.array(settings[name][:10], float) for name in ("ti+", "tj-")]

    def biases(costs):
        totals = [np.bincount(data.positions - 1, cost, 10) for cost in costs]
        return [np.sqrt(total / total[0]) for total in totals]  # the power is 1 / (1 + bias norm)

    bound = UnbiasedLambda().bind(data)
    first = biases(bound.costs(np.zeros(data.n_rows))[3:])
    booster, expected = theirs(1)
    np.testing.assert_allclose(first, expected, rtol=1e-5)

    # the second round, at the scores of the first tree: the same gap by gap, only with the other sign
    scores = booster.predict(table, output_margin=True).astype(float)
    flipped = UnbiasedLambda(click_bias=first[0], skip_bias=first[1], truncation=None)
    costs = np.zeros((2, data.n_rows))
    for q in range(data.n_queries):
        r = np.arange(data.offsets[q], data.offsets[q + 1])
        order = np.argsort(-scores[r], kind="stable")
        rank = np.argsort(order, kind="stable")
        delta = parse("nDCG").swap_deltas(data.y[r][order])
        for u in np.flatnonzero(data.y[r] > 0):
            for v in np.flatnonzero(data.y[r] == 0):
                gap = scores[r[u]] - scores[r[v]]
                size = delta[rank[u], rank[v]] / (0.01 + abs(gap) if np.ptp(scores[r]) else 1.0)
                cost = size * np.log(1 + np.exp(gap))
                costs[0, r[u]] += cost / flipped.skip_bias[data.positions[r[v]] - 1]
                costs[1, r[v]] += cost / flipped.click_bias[data.positions[r[u]] - 1]
    np.testing.assert_allclose(biases(costs), theirs(2)[1], rtol=1e-5)


@pytest.mark.parametrize("biases", [(), (1.0, 0.0), (1.0, np.nan), (1.0, np.inf)])
def test_biases_are_positive_numbers(biases):
    for field in ("click_bias", "skip_bias"):
        with pytest.raises(pk.LossError, match=field):
            UnbiasedLambda(**{field: biases})


def test_biases_need_positions():
    data, scores = lists()
    with pytest.raises(pk.LossError, match="positions"):
        UnbiasedLambda(click_bias=(1.0, 0.5)).gradient(scores, data.replace(positions=None))
