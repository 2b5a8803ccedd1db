"""Every bound of a measure by a loss, on thousands of random lists with ties; worked examples; what fails."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import plackett as pk
from plackett.losses import (
    Exponential,
    Hinge,
    ListMLEBest,
    ListMLELoss,
    ListNetLoss,
    Logistic,
    Sigmoid,
    Square,
    SquaredHinge,
)
from plackett.losses.bounds.joachims_map import joachims_map_bound
from plackett.losses.bounds.known import known_bounds
from plackett.losses.bounds.regression import regression_ap_bound, regression_bound
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.theory.bounds.essential_loss import essential_ap_bound, essential_loss, essential_ndcg_bound
from plackett.theory.bounds.multiclass_bound import multiclass_bound

LOSSES = [
    Hinge(), SquaredHinge(margin=1.0), Exponential(), Logistic(), Logistic(normalize=True), Sigmoid(),
    ListMLELoss(), ListMLEBest(), Square(target="exp2"), Square(),
]  # fmt: skip
#: And every other one that claims a bound, as the table in the docs does.
NAMED = {type(loss) for loss in LOSSES}
LOSSES += [loss() for loss in pk.losses().values() if loss not in NAMED and known_bounds(loss())]
MEASURES = ["nDCG", "nDCG@3", 'nDCG(gain="linear")@2', "AP", "AP(rel=2)", "RR", "AUC", "Misranking", "RC"]


def lists(binary=False, n=3000, seed=0):
    """Random lists of 1 to 8 documents: noisy labels, rounded scores, unjudged documents here and there."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n)
    qid = np.repeat(np.arange(n), sizes)
    y = rng.integers(0, 2 if binary else 4, qid.size).astype(float)
    noise = rng.choice([0.05, 0.5, 2.0, 10.0], n)[qid] * rng.standard_normal(qid.size)
    s = (2.0**y - 1 if seed % 2 else y) + noise
    s = np.where(np.arange(qid.size) % 3 == 0, np.round(s), s)
    return s, pk.RankingDataset.from_arrays(None, y, qid)


def error(measure, s, data):
    measure = parse(measure)
    values = measure(ties="pessimistic", empty=1.0 if measure.ascending else 0.0).per_query(Scored(data, s))
    return 1 - values if measure.ascending else values


CASES = [(loss, m) for loss, m in itertools.product(LOSSES, MEASURES) if known_bounds(loss, m)]


@pytest.mark.parametrize(("loss", "measure"), CASES, ids=lambda v: str(v))
def test_known_bounds_hold(loss, measure):
    for bound in loss.bounds(measure):
        tight = np.inf
        for seed in (0, 1):
            s, data = lists(bound.labels == "binary", seed=seed)
            wrong, limit = error(measure, s, data), bound(s, data)
            assert (wrong <= limit + 1e-9).all(), (str(bound), np.flatnonzero(wrong > limit + 1e-9)[:3])
            some = wrong > 1e-9
            tight = min(tight, (limit[some] / wrong[some]).min())
        assert tight < 4  # near enough somewhere that it could have failed


def test_pairs_of_loss_and_measure_that_have_a_bound():
    assert len(CASES) > 40
    assert known_bounds(ListNetLoss()) == [] == known_bounds(Square(), "nDCG")  # raw labels are not the gains
    assert {str(b.measure) for b in Logistic().bounds()} == {"nDCG", "AP", "RR", "AUC", "Misranking", "RC"}
    assert known_bounds(Hinge(margin=-1.0), "AP") == []  # a wrong pair may cost nothing
    assert not known_bounds(Hinge(), 'nDCG(short="zero")@5')


def test_logistic_loss_needs_the_logarithm_of_two():
    data = pk.RankingDataset.from_arrays(None, [1, 0])
    s = np.array([0.0, 0.001])
    assert essential_loss(s, data)[0] == 1.0
    assert Logistic()(s, data) == pytest.approx(0.6936, abs=1e-4)  # below
    assert Logistic().bounds("AP")[0](s, data)[0] >= 1.0


def test_essential_loss_is_the_least_over_all_orders_by_label():
    rng = np.random.default_rng(0)
    for _ in range(150):
        m = rng.integers(1, 6)
        y, s = rng.integers(0, 3, m).astype(float), rng.integers(0, 4, m).astype(float)
        beta = np.sort(rng.random(m))[::-1]
        values = []
        for order in itertools.permutations(range(m)):
            if all(y[a] >= y[b] for a, b in itertools.pairwise(order)):
                along = s[list(order)]
                values.append(sum(beta[t] for t in range(m - 1) if (along[t + 1 :] >= along[t]).any()))
        data = pk.RankingDataset.from_arrays(None, y)
        assert essential_loss(s, data, beta)[0] == pytest.approx(min(values))
    figure = pk.RankingDataset.from_arrays(None, [3, 2, 1, -1])
    assert essential_loss([2.0, 3.0, 1.0, 9.0], figure, [0.8, 0.3, 0.1])[0] == 0.8  # an unjudged one does not count
    with pytest.raises(pk.DataError, match="beta has shape"):
        essential_loss([2.0, 3.0, 1.0, 9.0], figure, [0.8])


def test_essential_losses_bound_ndcg_and_ap_and_vanish_with_them():
    for seed in range(2):
        s, data = lists(seed=seed)
        for k in (None, 3):
            wrong, limit = error(f"nDCG{'' if k is None else '@3'}", s, data), essential_ndcg_bound(s, data, k=k)
            some = data.sorted_labels[data.offsets[:-1]] > 0
            assert (wrong[some] <= limit[some] + 1e-9).all()
            if k is None:
                apart = s + 1e-7 * np.random.default_rng(1).standard_normal(s.size)  # ties of scores are errors
                perfect = error("nDCG", apart, data)[some] < 1e-12
                assert (
                    perfect == (essential_ndcg_bound(apart, data)[some] < 1e-12)
                ).all() and 0.1 < perfect.mean() < 0.9
        for rel in (1, 2, 3):
            relevant = np.bincount(data.query_of_row, data.y >= rel, data.n_queries) > 0
            assert (error(f"AP(rel={rel})", s, data) <= essential_ap_bound(s, data, rel=rel) + 1e-9)[relevant].all()
    s, data = lists(binary=True)
    some = np.bincount(data.query_of_row, data.y, data.n_queries) > 0
    apart = s + 1e-7 * np.random.default_rng(0).standard_normal(s.size)  # without ties among the irrelevant
    zero = essential_ap_bound(apart, data) < 1e-12
    assert (zero == (error("AP", apart, data) < 1e-12))[some].all() and 0.1 < zero.mean() < 0.9


def test_regression_bound_needs_the_gains_and_has_no_converse():
    data = pk.RankingDataset.from_arrays(None, [4, 3])
    s = np.array([3.49, 3.51])
    wrong = error("nDCG", s, data)[0]
    assert wrong == pytest.approx(0.152, abs=5e-4)
    Z = 15 + 7 / math.log2(3)
    raw = math.sqrt(2 * (1 + 1 / math.log2(3) ** 2)) * math.sqrt(0.51**2 + 0.51**2) / Z
    assert raw == pytest.approx(0.062, abs=5e-4) and raw < wrong <= regression_bound(s, data)[0]
    far = np.array([1500.0, 700.0])
    assert error("nDCG", far, data)[0] == 0 and regression_bound(far, data)[0] > 50


def test_a_small_square_loss_of_binary_labels_means_perfect_ap():
    rng = np.random.default_rng(0)
    s, data = lists(binary=True)
    near = data.y + 0.3 * rng.standard_normal(s.size)
    limit, wrong = regression_ap_bound(near, data), error("AP", near, data)
    relevant = np.bincount(data.query_of_row, data.y, data.n_queries) > 0
    assert (wrong <= limit + 1e-9)[relevant].all() and (limit[relevant] == 0).any() and (limit == 1).any()


def test_multiclass_bound():
    data = pk.RankingDataset.from_arrays(None, [4, 3, 2, 1])
    assert multiclass_bound([3, 2, 1, 0], data)[0] == pytest.approx(25.43 / 21.347, abs=2e-4)
    rng = np.random.default_rng(0)
    _, random = lists(n=3000)
    for share in (0.1, 0.5, 1.0):
        guess = np.where(rng.random(random.n_rows) < share, rng.integers(0, 4, random.n_rows), random.y)
        some = random.sorted_labels[random.offsets[:-1]] > 0
        assert (error("nDCG", guess, random)[some] <= multiclass_bound(guess, random)[some] + 1e-9).all()
    assert multiclass_bound(data.y, data)[0] == 0


def test_joachims_bound_by_inversions_and_its_slack():
    assert joachims_map_bound([0.0], [1])[0] == 0 < joachims_map_bound([0.0], [3])[0]
    s, data = lists(binary=True)
    m1 = np.bincount(data.query_of_row, data.y, data.n_queries).astype(int)
    inversions = pk.theory.PairZeroOne("loss").sums(s, data)
    assert (error("AP", s, data) <= joachims_map_bound(inversions, m1) + 1e-9)[m1 > 0].all()
    # natural logarithms count too little: one inversion of a single relevant document, half of AP lost
    one = pk.RankingDataset.from_arrays(None, [1, 0])
    loss = Logistic()(np.array([0.0, 1e-3]), one)
    assert joachims_map_bound([loss], [1])[0] < 0.5 <= joachims_map_bound([loss / math.log(2)], [1])[0]
