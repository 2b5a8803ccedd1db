"""Exercises of chapters 1 to 5: the studies that they ask for, and facts that are short enough for a test."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett.losses import ListMLELoss, Logistic, SoftNDCG
from studies.convex_losses import convex_losses
from studies.essential_loss import essential_loss
from studies.measure_relations import measure_relations
from studies.measure_surfaces import measure_surfaces
from studies.optimise_and_test import optimise_and_test
from studies.pair_dependence import pair_dependence
from studies.pair_gap import pair_gap
from studies.push_and_owa import push_and_owa
from studies.regulariser import regulariser
from studies.soft_ranks import soft_ranks
from studies.top_k_loss import MIXED, top_k_loss

# ------------------------------------------------------------------------------------------------------- chapter 1


def test_measures_that_are_the_same_on_binary_labels_correlate_fully():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    data = pk.RankingDataset.from_arrays(np.zeros((300, 1)), y, qid=np.repeat(np.arange(30), 10))
    frame = measure_relations(data, measures=("P@1", "nDCG@1", 'nDCG(gain="linear")@1', "RR", "AP")).frame
    table = frame.drop("ρ").to_numpy()
    assert table[0, 1] == pytest.approx(1) and table[0, 2] == pytest.approx(1)
    assert 0 < table[0, 4] < 1 and np.allclose(table, table.T)


# ------------------------------------------------------------------------------------------------------- chapter 2


def test_the_penalty_trades_variance_for_bias():
    frame = regulariser(alphas=(0.01, 1.0, 10.0, 1000.0), n_samples=8).frame
    assert (frame["length of the weights"].diff().drop_nulls() < 0).all()
    assert (frame["variance"].diff().drop_nulls() < 0).all()
    assert frame["bias²"][-1] > 5 * frame["bias²"].min()
    assert frame["error"].arg_min() in (1, 2)  # neither no penalty nor all of it
    assert frame["nDCG@10, sample"].arg_max() == 0 and frame["nDCG@10, fresh"].arg_max() in (1, 2, 3)


def test_the_penalty_shrinks_weak_directions_first():
    """Ridge regression along a singular direction of the centred data: σ² / (σ² + ρ) of the least-squares solution."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2)) * [3.0, 0.3]
    y = X @ [1.0, 1.0] + 20
    data = pk.RankingDataset.from_arrays(X, y, qid=np.repeat(np.arange(6), 10))
    centred = data.X - data.X.mean(axis=0)
    _, sigma, V = np.linalg.svd(centred.astype(float), full_matrices=False)
    ratios = {}
    for alpha in (1e-9, 1.0, 4.0):
        parameters = {"alpha": alpha, "standardize": False, "max_iter": 5000, "tol": 1e-14}
        ratios[alpha] = V @ pk.LinearRegression(**parameters).fit(data).scorer_.weights[:, 0]
    shrink = [ratios[alpha] / ratios[1e-9] for alpha in (1.0, 4.0)]
    rho = [sigma**2 * (1 / s - 1) for s in shrink]  # the same for both directions, and proportional to α
    assert rho[0][0] == pytest.approx(rho[0][1], rel=1e-3)
    assert rho[1] == pytest.approx(4 * rho[0], rel=1e-3)
    assert shrink[0][0] > shrink[0][1]


def test_nominal_losses_do_not_know_the_order_of_classes():
    """Exercise 2.3: renaming the classes leaves a classifier's loss as it was, if its outputs are renamed too; the
    best that thresholds on one score can do depends on the order."""
    from plackett.losses import Softmax
    from plackett.rankers.pointwise.all_threshold import AllThreshold

    rng = np.random.default_rng(0)
    y, qid, other = np.tile([0, 1, 2], 4), np.repeat(np.arange(4), 3), np.array([1, 2, 0])
    outputs = rng.standard_normal((12, 3))
    renamed = np.empty_like(outputs)
    renamed[:, other] = outputs
    values = []
    for labels, s in ((y, outputs), (other[y], renamed)):
        data = pk.RankingDataset.from_arrays(None, labels, qid=qid)
        values.append(Softmax().settle(data).bind(data).evaluate(s)[0].sum())
    assert values[0] == pytest.approx(values[1])
    X = y[:, None] + 0.0
    right, turned = (AllThreshold().fit(X, labels, qid=qid).score(X, labels, qid=qid) for labels in (y, other[y]))
    assert right == pytest.approx(1) and turned < 0.95


def test_losses_are_convex_if_and_only_if_they_say_so():
    frame = convex_losses(n_draws=1000).frame
    gaps = dict(zip(frame["loss"], frame["largest gap"], strict=True))
    convex = set(frame.filter(pl.col("claims") == "convex")["loss"])
    assert {"Hinge", "Exponential", "Logistic", "Square", "BinaryHinge", "ListNet", "ListMLE"} <= convex
    assert all(gaps[loss] == 0 for loss in convex)
    assert all(gaps[loss] > 0.1 for loss in ("Sigmoid", "Ramp", "Fidelity", "ApproxNDCG", "SoftNDCG", "Cosine"))


# ------------------------------------------------------------------------------------------------------- chapter 3


def test_pairs_that_share_a_document_depend_on_each_other():
    study = pair_dependence(sizes=(5, 20, 80), n_lists=2000)
    frame = study.frame
    assert (frame["covariance, shared document"] > 0.03).all()
    assert (frame["covariance, nothing shared"].abs() < 0.02).all()
    slope = float(study.notes[0].rstrip(".").rpartition(" ")[2])
    assert slope == pytest.approx(-1, abs=0.15)


def test_push_and_owa_on_the_worked_example():
    frame = push_and_owa(("dABCef", "AdBeCf")).frame
    assert frame["push, p = 1"].to_list() == [3, 3]
    assert frame["push, p = 2"].to_list() == [9, 4 + 1]
    assert frame["push, p = 4"].to_list() == [81, 16 + 1]
    assert frame["OWA, uniform"].to_list() == pytest.approx([1, 1])
    assert frame["OWA, falling"].to_list() == pytest.approx([3 * 1 / 2, 1 / 2 + (1 / 2 + 1 / 3)])
    assert frame["AP"].to_list() == pytest.approx([(1 / 2 + 2 / 3 + 3 / 4) / 3, (1 + 2 / 3 + 3 / 5) / 3])


def test_only_preferences_without_scores_have_a_gap():
    svm, tree = pair_gap(n_queries=20).frame.iter_rows(named=True)
    assert svm["circular triples"] == 0 and tree["circular triples"] > 0
    assert svm["pair error of the classifier"] == pytest.approx(svm["pair error of its ranking"])
    assert tree["pair error of the classifier"] != pytest.approx(tree["pair error of its ranking"])


def test_the_margin_is_the_least_distance_of_a_pair_along_the_weights():
    """Exercise 3.5: Ranking SVM with a high price of errors finds the direction in which the closest pair is furthest
    apart, and its weights have the length 1 / margin."""
    X = np.array([[0.0, 0.0], [1.0, 0.4], [2.0, 1.6], [2.2, 3.0]])
    weights = pk.RankSVM(C=1e4, tol=1e-8).fit(X, [0, 1, 2, 3], qid=[1] * 4).scorer_.weights[:, 0]
    steps = np.array([X[u] - X[v] for u in range(4) for v in range(u)])
    angles = np.linspace(0, 2 * np.pi, 100_001)
    margins = (steps @ np.array([np.cos(angles), np.sin(angles)])).min(axis=0)
    best = angles[margins.argmax()]
    assert weights / np.linalg.norm(weights) == pytest.approx([np.cos(best), np.sin(best)], abs=1e-3)
    assert 1 / np.linalg.norm(weights) == pytest.approx(margins.max(), rel=1e-3)


def test_ranknets_gradient_for_a_linear_model():
    """Exercise 3.7: the sum over pairs of −(x_u − x_v) / (1 + e^(s_u − s_v))."""
    rng = np.random.default_rng(0)
    X, y, w = rng.standard_normal((6, 3)), np.array([2, 1, 0, 0, 1, 2]), rng.standard_normal(3)
    data = pk.RankingDataset.from_arrays(X, y, qid=[1] * 6)
    X = np.asarray(data.X, float)
    result = X.T @ Logistic(normalize=False).gradient(X @ w, data)[0]
    pairs = [(u, v) for u in range(6) for v in range(6) if y[u] > y[v]]
    expected = sum(-(X[u] - X[v]) / (1 + np.exp((X[u] - X[v]) @ w)) for u, v in pairs)
    assert result == pytest.approx(expected)


# ------------------------------------------------------------------------------------------------------- chapter 4


def test_softranks_sigmoid_is_the_error_function():
    frame = soft_ranks(n_draws=50_000).frame
    expected = frame["expected rank (erf)"].to_numpy()
    assert frame["mean rank in draws"].to_numpy() == pytest.approx(expected, abs=0.02)
    assert frame["approximate rank (logistic)"].to_numpy() == pytest.approx(expected, abs=0.01 * 4)
    assert (frame["mean discount"] > frame["discount of the mean rank"]).all()  # Jensen
    from scipy.special import erf

    pair = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    first = 0.5 * (1 + erf(0.7 / (2 * 0.5)))  # the relevant one is first
    loss = SoftNDCG(sigma=0.5)(np.array([0.7, 0.0]), pair)
    assert 1 - loss == pytest.approx(first + (1 - first) / np.log2(3))


def test_the_closer_the_surface_the_more_maxima():
    frame = measure_surfaces(alphas=(0.3, 3.0, 30.0), sigmas=(3.0, 0.3, 0.03), n_lines=6).frame
    for _, part in frame.group_by("surface", maintain_order=True):
        assert (part["largest distance"].diff().drop_nulls() < 0).all()
        assert (part["maxima per line"].diff().drop_nulls() > 0).all()
        assert part["uphill to the top"][0] == 1 and part["uphill to the top"][-1] < 0.5
        assert part["nDCG at the top"][-1] >= part["nDCG at the top"][0]


def test_ndcg_knows_no_length_of_the_weights():
    X = np.random.default_rng(0).standard_normal((10, 2))
    data = pk.RankingDataset.from_arrays(X, np.arange(10) % 3, qid=[1] * 10)
    scores = X @ [0.3, -0.8]
    values = [pk.evaluate(data, c * scores, ["nDCG"]).mean["nDCG"] for c in (0.1, 1, 10)]
    smooth = [SoftNDCG()(c * scores, data) for c in (0.1, 1, 10)]
    assert len(set(values)) == 1 and len(set(smooth)) == 3
    assert smooth == pytest.approx([SoftNDCG(sigma=1 / c)(scores, data) for c in (0.1, 1, 10)])


def test_permutation_models_sum_to_one():
    """Exercise 4.6."""
    orders = np.array(list(permutations(range(4))))
    for model in (pk.PlackettLuce([0.3, 1.0, -1.0, 0.2]), pk.Mallows([2, 0, 3, 1], theta=0.7)):
        assert np.exp(model.log_prob(orders)).sum() == pytest.approx(1)


def test_listmle_is_right_for_orders_and_top_one_for_the_top():
    space = pk.theory.PermutationSpace(MIXED)
    full, top = (pk.theory.expected_minimiser(ListMLELoss(k=k), space).scores for k in (None, 1))
    assert full.argmax() == 2
    chances = np.log([0.52, 0.33, 0.10 + 0.05])
    assert top == pytest.approx(chances - chances.mean(), abs=1e-5)
    frame = top_k_loss().frame.filter(pl.col("orders") == "Plackett–Luce")
    assert (frame["ranking"] == frame["most probable"]).all()


# ------------------------------------------------------------------------------------------------------- chapter 5


def test_the_bounds_hold_and_are_not_tight():
    frame = essential_loss(n_lists=4000).frame
    assert (frame["violations"] == 0).all()
    assert (frame["least ratio"] >= 1).all() and (frame["median ratio"] > 1.2).all()


def test_essential_loss_is_the_least_over_the_orders_that_agree_with_the_labels():
    rng = np.random.default_rng(0)
    for _ in range(30):
        y, s = rng.integers(0, 3, 5).astype(float), rng.standard_normal(5)
        result = pk.theory.essential_loss(s, pk.RankingDataset.from_arrays(None, y))[0]
        agreeing = [o for o in permutations(range(5)) if (np.diff(y[list(o)]) <= 0).all()]
        assert result == min(sum(max(s[list(o[t + 1 :])]) >= s[o[t]] for t in range(4)) for o in agreeing)


def test_listmle_is_a_sequence_of_classifications():
    """Exercise 5.4: at each stage a multi-class logistic loss over the documents that are left."""
    s = np.random.default_rng(0).standard_normal(5)
    data = pk.RankingDataset.from_arrays(None, [4, 3, 2, 1, 0], qid=[1] * 5)
    stages = sum(np.log(np.exp(s[t:]).sum()) - s[t] for t in range(5))
    assert ListMLELoss()(s, data) == pytest.approx(stages)


def test_with_few_queries_the_measure_that_looks_at_more_wins():
    short, long = optimise_and_test(sizes=(5,), n_samples=12).frame.iter_rows(named=True)
    assert short["nDCG@1, training"] > long["nDCG@1, training"] - 0.05
    assert long["difference"] > 0
    assert long["difference"] == pytest.approx(long["nDCG@1, test"] - short["nDCG@1, test"])
