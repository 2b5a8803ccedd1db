"""Bounds hold in at least 1 − δ of the samples of a world whose risks are known exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plackett as pk
from plackett.losses import Exponential, Hinge
from plackett.theory.bounds.document_stability import DocumentStabilityBound
from plackett.theory.bounds.ir_svm import IRSVMBound
from plackett.theory.bounds.listwise_rademacher import ListwiseBound
from plackett.theory.bounds.margin import KernelMarginBound, MarginBound, UniformMarginBound
from plackett.theory.bounds.query_stability import QueryStabilityBound
from plackett.theory.bounds.rank_shatter_bound import RankShatterBound
from plackett.theory.bounds.rank_svm_moments import RankSVMMomentsBound
from plackett.theory.bounds.rank_svm_worst import RankSVMWorstBound
from plackett.theory.bounds.rankboost_vc import RankBoostVCBound
from plackett.theory.bounds.two_layer import TwoLayerBound
from plackett.theory.bounds.u_statistic_surrogate import UStatisticSurrogateBound
from plackett.theory.bounds.u_statistic_vc import UStatisticVCBound
from plackett.theory.risks.finite_world import FiniteWorld
from plackett.theory.risks.risk import Risk
from plackett.theory.stability.rank_svm import (
    hinge_loss_bound,
    rank_svm_document_stability,
    rank_svm_query_stability,
)

TRIALS = 60
DELTA = 0.2
ANGLES = np.linspace(0, 2 * np.pi, 16, endpoint=False)
DIRECTIONS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def check(gaps, bound):
    """The bound covers, says something, and is not so large that it could not have been missed."""
    gaps = np.asarray(gaps)
    assert (gaps <= bound.value).mean() >= 1 - bound.delta
    assert not bound.vacuous
    assert gaps.max() > bound.value / 200


def circle_world(n_queries=3, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((6, 2)) for _ in range(n_queries)]
    X = [x / np.linalg.norm(x, axis=1).max() for x in X]
    return FiniteWorld(X, [(x[:, 0] + 0.5 * rng.standard_normal(6) > 0).astype(float) for x in X])


def bipartite(rng, m, n, levels=8):
    """Scores on a ladder, where positives stand higher, and the exact pair error of every threshold ranker."""
    up = np.arange(1, levels + 1) / np.sum(np.arange(1, levels + 1))
    return rng.choice(levels, m, p=up), rng.choice(levels, n, p=up[::-1]), up


def stump_errors(positive, negative):
    """Expected strict pair error P(h(x⁺) < h(x⁻)) of each threshold, from the distributions on the ladder."""
    above_p, above_n = (np.cumsum(p[::-1])[::-1] for p in (positive, negative))
    return (1 - above_p) * above_n


def test_uniform_bounds_of_the_pair_error_cover():
    rng = np.random.default_rng(0)
    m = n = 3000
    gaps, signed = [], []
    for _ in range(TRIALS):
        P, N, up = bipartite(rng, m, n)
        shares = [np.bincount(x, minlength=8) / x.size for x in (P, N)]
        gaps.append(np.abs(stump_errors(*shares) - stump_errors(up, up[::-1])).max())
        # linear functions of one feature: the score itself and its opposite
        strict = lambda p, q: float(np.triu(np.outer(p, q), 1).sum())  # noqa: E731
        exact, seen = strict(up, up[::-1]), strict(*shares)
        back, back_seen = strict(up[::-1], up), strict(shares[1], shares[0])
        signed.append(max(abs(exact - seen), abs(back - back_seen)))
    check(gaps, RankBoostVCBound(positives=m, negatives=n, vc=1, rounds=1, delta=DELTA))
    check(signed, RankShatterBound(positives=m, negatives=n, delta=DELTA))

    world = circle_world().merged()
    risk = Risk("pairwise 0-1", "document", "u-statistic")
    exact = [world.expected(risk, lambda X, w=w: X @ w) for w in DIRECTIONS]
    gaps = []
    for i in range(TRIALS):
        data = world.sample_documents(800, random_state=i)
        gaps.append(max(abs(risk(data.X @ w, data) - e) for w, e in zip(DIRECTIONS, exact, strict=True)))
    check(gaps, UStatisticVCBound(documents=800, vc=2, delta=DELTA))


def test_uniform_bound_of_a_surrogate_covers():
    world = circle_world().merged()
    risk = Risk(Exponential(), "document", "u-statistic")
    exact = [world.expected(risk, lambda X, w=w: X @ w / 2) for w in DIRECTIONS]
    gaps = []
    for i in range(TRIALS):
        data = world.sample_documents(400, random_state=i)
        gaps.append(max(abs(risk(data.X @ w / 2, data) - e) for w, e in zip(DIRECTIONS, exact, strict=True)))
    check(gaps, UStatisticSurrogateBound(documents=400, vc=2, largest=1.0, vc_power=0.5, delta=DELTA))


def test_listwise_bound_covers():
    """ListMLE with linear strengths 2 + s, scaled to at most 1, of lists of four."""
    rng = np.random.default_rng(0)
    m, kinds = 4, 6
    lists = rng.standard_normal((kinds, m, 2))
    lists /= np.linalg.norm(lists, axis=2).max()
    orders = np.array([rng.permutation(m) for _ in range(kinds)])
    largest = m * (math.log(m) + math.log(3.0))  # strengths lie between 1 and 3
    losses = np.array(
        [
            [-pk.PlackettLuce(2.0 + lists[q] @ w, transform="linear").log_prob([orders[q]])[0] for q in range(kinds)]
            for w in DIRECTIONS
        ]
    )
    losses /= largest
    assert 0 < losses.max() < 1
    gaps = []
    for _ in range(TRIALS):
        share = np.bincount(rng.integers(0, kinds, 150), minlength=kinds) / 150
        gaps.append((losses.mean(axis=1) - losses @ share).max())
    check(gaps, ListwiseBound(queries=150, documents=m, delta=DELTA))


def test_two_layer_bound_covers():
    world = circle_world(6, seed=1)
    risk = Risk("pairwise 0-1", "two-layer", "u-statistic")
    exact = [world.expected(risk, lambda X, w=w: X @ w) for w in DIRECTIONS]
    gaps = []
    for i in range(TRIALS):
        data = world.sample(60, 40, random_state=i)
        gaps.append(max(e - risk(data.X @ w, data) for w, e in zip(DIRECTIONS, exact, strict=True)))
    check(gaps, TwoLayerBound(queries=60, documents=40, vc=1, delta=DELTA))


def test_margin_bounds_cover():
    world = circle_world(1)
    pairs, norm = 2500, 3.0
    wrong = Risk("pairwise 0-1", "document", "average", tie="loss")
    exact = np.array([world.expected(wrong, lambda X, w=w: X @ w) for w in DIRECTIONS])
    gaps = {0.5: [], 1.0: []}
    for i in range(TRIALS):
        data = world.sample_pairs(1, pairs, random_state=i)
        chosen = data.preferences
        margins = norm * (data.X[chosen.winner] - data.X[chosen.loser]) @ DIRECTIONS.T
        for rho, result in gaps.items():
            result.append((exact - np.clip(1 - margins / rho, 0, 1).mean(axis=0)).max())
    complexity = norm / math.sqrt(pairs)
    for bound in (
        KernelMarginBound(pairs=pairs, norm=norm, rho=0.5, delta=DELTA),
        MarginBound(pairs=pairs, first=complexity, second=complexity, rho=0.5, delta=DELTA),
        UniformMarginBound(pairs=pairs, first=complexity, second=complexity, rho=1.0, delta=DELTA),
    ):
        assert (np.array(gaps[bound.rho]) <= bound.value).mean() >= 1 - DELTA and not bound.vacuous


def test_bounds_of_ranking_svm_with_uneven_queries_cover():
    """The query-level risk of a function that was trained on the pair-level one."""
    world = circle_world(5, seed=4)
    penalty, r = 2.0, 120
    risk = Risk(Hinge(), "two-layer", "average")
    gaps, taus, counts = [], [], []
    for i in range(15):
        sizes = np.random.default_rng(i).integers(3, 16, r)
        data = world.sample(r, sizes, random_state=i)
        n = risk.associate_loss.associates.labelled(data)
        w = pk.RankSVM(C=1 / (2 * penalty * n.sum()), loss="hinge", standardize=False, tol=1e-4).fit(data).coef_
        gaps.append(world.expected(risk, lambda X, w=w: X @ w) - risk(np.asarray(data.X, float) @ w, data))
        taus.append(rank_svm_query_stability(n, penalty))
        counts.append(n)
    gaps, counts = np.array(gaps), np.concatenate(counts)
    assert gaps.max() > 0
    largest = hinge_loss_bound(penalty)
    each = np.array([QueryStabilityBound(queries=r, tau=t, loss_bound=largest, delta=DELTA).value for t in taus])
    assert (gaps <= each).mean() >= 1 - DELTA
    moments = RankSVMMomentsBound(
        queries=r,
        mean=counts.mean(),
        deviation=counts.std(),
        slack=0.2 * counts.mean(),
        penalty=penalty,
        delta=DELTA / 2,
    )
    worst = RankSVMWorstBound(queries=r, penalty=penalty, delta=DELTA)
    assert (gaps <= moments.value).mean() >= moments.confidence
    assert (gaps <= worst.value).all() and each.max() < moments.value < worst.value


@pytest.mark.parametrize("level", ["document", "query"])
def test_bounds_of_support_vector_machines_cover(level):
    """Trained on the sample, whose risk the bound compares with that of the world."""
    world = circle_world(5, seed=2)
    penalty, kappa = 2.0, 1.0
    gaps = []
    for i in range(20):
        if level == "document":
            data = world.sample_documents(300, random_state=i)
            risk = Risk(Hinge(), "document", "bipartite")
            n = risk.associate_loss.associates.labelled(data).sum()
            ranker = pk.RankSVM(C=1 / (2 * penalty * n), loss="hinge", standardize=False, tol=1e-4)
        else:
            data = world.sample(200, 8, random_state=i)
            risk = Risk(Hinge(), "two-layer", "average")
            r = (risk.associate_loss.associates.labelled(data) > 0).sum()
            ranker = pk.IRSVM(C=1 / (2 * penalty * r), loss="hinge", standardize=False, tol=1e-4)
        w = ranker.fit(data).coef_
        gaps.append(world.expected(risk, lambda X, w=w: X @ w) - risk(np.asarray(data.X, float) @ w, data))
    bound = {
        "document": DocumentStabilityBound(
            documents=300,
            beta=lambda m: rank_svm_document_stability(m, penalty, kappa),
            loss_bound=hinge_loss_bound(penalty, kappa),
            delta=DELTA,
        ),
        "query": IRSVMBound(queries=200, penalty=penalty, kappa=kappa, delta=DELTA),
    }[level]
    check(gaps, bound)
