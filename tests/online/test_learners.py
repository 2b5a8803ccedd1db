"""Learners: their gradients by brute force, their directions, their bounds, and the simulator."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from plackett.clicks.models.pbm import PBM
from plackett.clicks.simulate import simulate_log
from plackett.online.bandits.linear import LinearBandit
from plackett.online.learners.base import Page
from plackett.online.learners.dbgd import DBGD
from plackett.online.learners.network import NetworkPDGD
from plackett.online.learners.pdgd import PDGD
from plackett.online.learners.perceptron import ClickPerceptron
from plackett.online.simulate import simulate_online
from plackett.online.users import USERS, user_model


def chance(order, scores):
    """Probability of the beginning of a list under Plackett–Luce."""
    left, p = list(range(len(scores))), 1.0
    for d in order:
        p *= np.exp(scores[d]) / np.exp([scores[e] for e in left]).sum()
        left.remove(d)
    return p


def pair_step(order, clicks, scores):
    """Sum over preferred pairs of weight and slope, by document, from the definition."""
    pull, last = np.zeros(len(scores)), np.flatnonzero(clicks).max()
    for i, j in itertools.product(range(len(order)), repeat=2):
        if clicks[i] and not clicks[j] and j <= last + 1:
            swapped = list(order)
            swapped[i], swapped[j] = order[j], order[i]
            weight = chance(swapped, scores) / (chance(order, scores) + chance(swapped, scores))
            a, b = np.exp(scores[order[i]]), np.exp(scores[order[j]])
            step = weight * a * b / (a + b) ** 2
            pull[order[i]] += step
            pull[order[j]] -= step
    return pull


@pytest.mark.parametrize("k", [3, 5])
def test_gradient_is_that_of_the_definition(k):
    rng = np.random.default_rng(k)
    for _ in range(10):
        X = rng.normal(size=(5, 4))
        learner = PDGD(4, learning_rate=1.0, k=k)
        learner.weights = rng.normal(size=4)
        before, order = learner.weights.copy(), rng.permutation(5)[:k]
        clicks = rng.random(k) < 0.5
        clicks[rng.integers(k)] = True
        learner.learn(X, Page(order), clicks)
        np.testing.assert_allclose(learner.weights - before, pair_step(order, clicks, X @ before) @ X, atol=1e-12)


def test_expected_step_of_random_clicks_is_nothing():
    """Over all lists: what a pair gains in R it loses in R*, if clicks depend on the rank alone."""
    rng = np.random.default_rng(0)
    X, scores = np.eye(4), rng.normal(size=4)
    total = np.zeros(4)
    for order in itertools.permutations(range(4)):
        for clicks in itertools.product([False, True], repeat=4):
            if any(clicks):
                learner = PDGD(4, learning_rate=1.0, k=4)
                learner.weights = scores.copy()
                total += chance(order, scores) * (learner.learn(X, Page(np.array(order)), clicks).weights - scores)
    np.testing.assert_allclose(total, 0, atol=1e-12)


def test_lists_are_drawn_from_plackett_luce():
    learner = PDGD(3, k=2)
    learner.weights = np.array([1.0, 0.0, -0.5])
    seen = {}
    for _ in range(4000):
        order = tuple(learner.show(np.eye(3)).order)
        seen[order] = seen.get(order, 0) + 1
    assert len(seen) == 6
    for order, n in seen.items():
        assert n / 4000 == pytest.approx(chance(order, learner.weights), abs=0.025)


def test_exploration_stays_within_its_bound():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    learner = PDGD(3, k=5, least=0.97)
    learner.weights = np.array([0.6, -0.6, 0.3])
    scores = X @ learner.weights
    gain = 1 / (1 + np.exp(-(scores - scores.mean())))
    discount = 1 / np.log2(np.arange(2, 7))
    worth = [gain[learner.show(X).order] @ discount / (np.sort(gain)[::-1][:5] @ discount) for _ in range(200)]
    assert min(worth) >= 0.97 and len(set(worth)) > 5
    learner.least = 0.0
    assert min(gain[learner.show(X).order] @ discount for _ in range(50)) < 0.9 * (np.sort(gain)[::-1][:5] @ discount)


@pytest.mark.parametrize("kind", [PDGD, NetworkPDGD])
def test_nothing_is_learned_from_a_page_that_was_not_drawn(kind):
    X = np.random.default_rng(0).random((30, 4))
    learner = kind(4, k=5, least=0.98)
    learner.weights = learner.weights + 0.5 * (kind is PDGD)  # documents differ, and few lists are good enough
    not_drawn = 0
    for _ in range(300):
        page = learner.show(X)
        best = np.argsort(-learner.predict(X), kind="stable")[:5]
        before = learner.weights.copy()
        event = json.loads(json.dumps(learner.event(X, page, [0, 0, 1, 0, 0])))
        learner.check(event)
        learner.apply(event)
        if page.detail is not None:
            not_drawn += 1
            assert np.array_equal(page.order, best)
            assert np.array_equal(learner.weights, before)
    assert not_drawn > 30
    assert not np.array_equal(learner.weights, kind(4).weights)
    with pytest.raises(DataError, match="not the detail of a page of"):
        learner.check(event | {"detail": {"drawn": 3}})


def test_a_bound_gives_no_preference_to_what_is_on_top():
    """Clicks at random teach nothing on average, pages that were not drawn included."""
    X, start, steps = np.eye(8), np.linspace(1, 0, 8), []
    for seed in range(800):
        learner = PDGD(8, k=4, least=0.99, learning_rate=1.0, random_state=seed)
        learner.weights = start
        page = learner.show(X)
        clicks = np.random.default_rng(seed).random(4) < [0.9, 0.6, 0.3, 0.2]
        steps.append(learner.learn(X, page, clicks).weights - start)
    error = np.std(steps, axis=0) / np.sqrt(len(steps))
    assert error.max() > 0 and (np.abs(np.mean(steps, axis=0)) <= 4 * error).all()


def test_scores_far_apart_do_no_harm():
    learner = PDGD(1, k=3)
    learner.weights[:] = 1e4
    learner.learn(np.array([[0.0], [1.0], [2.0]]), Page(np.array([0, 2, 1])), [1, 0, 0])
    assert np.isfinite(learner.weights).all()


@pytest.mark.parametrize("options", [{}, {"n_candidates": 4}, {"null_space": 2}, {"project": True}])
def test_dueling_learns_the_direction(options):
    rng = np.random.default_rng(0)
    truth = np.array([1.0, -1.0, 0.5, 0.0])
    learner = DBGD(4, learning_rate=0.05, k=5, **options)
    for _ in range(1500):
        X = rng.normal(size=(8, 4))
        page = learner.show(X)
        learner.learn(X, page, (X @ truth)[page.order] > 1)
    w = learner.weights
    assert w @ truth / np.linalg.norm(w) / np.linalg.norm(truth) > 0.97


def test_steps_of_dueling():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 8))
    learner = DBGD(8, learning_rate=0.5, k=4, n_candidates=3, project=True)
    for _ in range(20):
        page = learner.show(X)
        counts = np.bincount(page.detail["teams"], minlength=4)
        assert np.ptp(counts) <= 1 and len(set(page.order)) == 4
        before = learner.weights.copy()
        assert np.array_equal(learner.learn(X, page, np.zeros(4)).weights, before)  # no click, no step
        clicks = np.array([0, 1, 0, 0])
        won = page.detail["teams"][1]
        step = learner.learn(X, page, clicks).weights - before
        if won == 0:
            assert not step.any()
            continue
        seen = X[page.order[:3]]  # down to one below the last click
        direction = np.array(page.detail["directions"][won - 1])
        assert np.linalg.norm(direction) == pytest.approx(1)
        np.testing.assert_allclose(step, 0.5 * np.linalg.pinv(seen) @ (seen @ direction), atol=1e-9)


def test_directions_leave_the_space_of_those_that_lost():
    X = np.random.default_rng(2).normal(size=(6, 5))
    learner = DBGD(5, k=2, null_space=2)
    lost = []
    for _ in range(40):
        page = learner.show(X)
        direction = np.array(page.detail["directions"][0])
        for each in lost[-2:]:
            assert abs(direction @ each) < 1e-9
        clicks = np.array(page.detail["teams"]) == 0
        learner.learn(X, page, clicks)
        lost.append(direction)


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(n_queries=40, docs_per_query=8, n_features=5, random_state=0)


@pytest.mark.parametrize("learner", [PDGD(5, k=4, learning_rate=0.05), DBGD(5, k=4, learning_rate=0.05)])
def test_simulated_learners_learn_and_repeat(data, learner):
    settings = {"users": "navigational", "n_interactions": 1500, "marks": 3}
    three = simulate_online(learner, data, runs=3, n_jobs=2, **settings)
    two = simulate_online(learner, data, runs=2, n_jobs=1, **settings)
    for name in ("online", "offline", "churn", "weights", "clicks"):
        assert np.array_equal(getattr(three, name)[:2], getattr(two, name))
    fresh = pk.evaluate(data, np.random.default_rng(0).random(data.n_rows), ["nDCG@4"]).mean["nDCG@4"]
    assert three.offline[:, -1].mean() > fresh + 0.18
    exact = pk.evaluate(data, np.asarray(data.X, float) @ three.weights[0], ["nDCG@4"]).mean["nDCG@4"]
    assert three.offline[0, -1] == pytest.approx(exact, abs=1e-6)
    assert not learner.weights.any()
    assert three.frame.height == 3
    assert three.regret[0, -1] == pytest.approx((1 - three.area()[0]) * 1500)


def test_drift_and_new_documents(data):
    learner = PDGD(5, k=4, learning_rate=0.1)
    other = data.labels.max() - data.labels
    curves = simulate_online(learner, data, drift=[other], n_interactions=3000, runs=4, marks=6)
    quality = curves.offline.mean(axis=0)  # margins are wide: rounding on other processors leads to other clicks
    assert quality[2] < quality[1] - 0.05  # the users want something else
    assert quality[5] > quality[2] + 0.1  # and it is learned
    never = np.where(np.arange(data.n_rows) % 8 < 4, 0, 10**9)
    late = simulate_online(learner, data, arrival=never, n_interactions=300, runs=1, marks=1)
    assert late.clicks[0] > 0
    with pytest.raises(DataError, match="one label per document"):
        simulate_online(learner, data, drift=[[1.0]])


@pytest.mark.parametrize("users", USERS)
def test_users_click_as_their_tables_say(data, users):
    model = user_model(users, data, k=1)
    learner = PDGD(5, k=1, learning_rate=1e-12)
    curves = simulate_online(learner, data, users=users, n_interactions=4000, runs=1, marks=1)
    a = model.attraction
    expected = (model.look[0] * (model.right[0] * a + model.wrong[0] * (1 - a))).mean()
    assert curves.clicks[0] / 4000 == pytest.approx(expected, abs=0.025)


def test_users_of_a_fitted_model(data):
    log = simulate_log(data, n_pages=3000, k=4, random_state=0)
    model = user_model(PBM(max_iter=5).fit(log), data, k=6)
    assert model.look.size == 6 and model.look[5] == model.look[3] and model.attraction.size == data.n_rows
    assert np.corrcoef(model.attraction, data.labels)[0, 1] > 0.5


def test_click_perceptron_takes_the_steps_of_the_definition(data):
    rng = np.random.default_rng(0)
    learner, w = ClickPerceptron(3, learning_rate=0.5, k=5, margin=0.3), np.zeros(3)
    for _ in range(30):
        X, clicks = rng.normal(size=(7, 3)), rng.random(5) < 0.4
        page = learner.show(X)
        assert np.array_equal(page.order, np.argsort(-(X @ w), kind="stable")[:5])
        step = np.zeros(3)
        for i, j in itertools.product(range(5), repeat=2):
            a, b = X[page.order[i]], X[page.order[j]]
            if j < i and clicks[i] and not clicks[j] and (a - b) @ w <= 0.3:
                step += 0.5 * (a - b)
        w += step
        np.testing.assert_allclose(learner.learn(X, page, clicks).weights, w, atol=1e-9)
    curves = simulate_online(ClickPerceptron(5, k=1 + 4), data, users="cascade", n_interactions=2000, runs=2, marks=4)
    assert curves.online[:, -1].mean() > curves.online[:, 0].mean()  # every page is judged before it is learned from


def test_wrong_input_is_named(data):
    with pytest.raises(DataError, match="4 features"):
        PDGD(4).show(np.zeros((3, 5)))
    with pytest.raises(DataError, match="the page has 2"):
        PDGD(1).learn(np.zeros((2, 1)), Page(np.array([0, 1])), [1])
    with pytest.raises(DataError, match="users='x'"):
        simulate_online(PDGD(5), data, users="x")
    with pytest.raises(DataError, match="delta"):
        DBGD(3, delta=0)


def test_expected_step_of_a_network_is_the_gradient_of_its_weighted_pairs():
    """Over all lists and clicks: finite differences of Σ P(R) P(c | R) ρ σ(f_k − f_l), with P and ρ held fixed."""
    rng = np.random.default_rng(0)
    X, attraction = rng.normal(size=(4, 2)), np.array([0.1, 0.8, 0.3, 0.5])
    learner = NetworkPDGD(2, hidden=3, k=3, learning_rate=1.0, random_state=1)
    w = learner.weights.copy()
    scores = learner.predict(X)
    inner, offsets, outer = w[:6].reshape(2, 3), w[6:9], w[9:]
    np.testing.assert_allclose(scores, 1 / (1 + np.exp(-(X @ inner + offsets))) @ outer, atol=1e-12)
    pairs, expected = [], np.zeros(w.size)
    for order in itertools.permutations(range(4), 3):
        for clicks in itertools.product([False, True], repeat=3):
            if not any(clicks):
                continue
            p = chance(order, scores) * np.prod(np.where(clicks, attraction[list(order)], 1 - attraction[list(order)]))
            learner.weights = w.copy()
            expected += p * (learner.learn(X, Page(np.array(order)), clicks).weights - w)
            last = np.flatnonzero(clicks).max()
            for i, j in itertools.product(range(3), repeat=2):
                if clicks[i] and not clicks[j] and j <= last + 1:
                    swapped = list(order)
                    swapped[i], swapped[j] = order[j], order[i]
                    weight = chance(swapped, scores) / (chance(order, scores) + chance(swapped, scores))
                    pairs.append((p * weight, order[i], order[j]))

    def objective(weights):
        learner.weights = weights
        f = learner.predict(X)
        return sum(weight / (1 + np.exp(f[low] - f[high])) for weight, high, low in pairs)

    steps = 1e-5 * np.eye(w.size)
    numeric = [(objective(w + step) - objective(w - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(expected, numeric, atol=1e-9)
    assert np.abs(expected).max() > 0.01


def test_a_network_learns_what_a_linear_model_cannot():
    rng = np.random.default_rng(0)
    X = rng.random((400, 1)).astype(np.float32)
    y = np.where(np.abs(X[:, 0] - 0.5) < 0.15, 2.0, 0.0)  # the middle is relevant
    middle = pk.RankingDataset.from_arrays(X, y, qid=np.repeat(np.arange(40), 10))
    settings = {"users": "navigational", "n_interactions": 6000, "runs": 2, "marks": 2}
    network = simulate_online(NetworkPDGD(1, k=5, hidden=8, learning_rate=0.5), middle, **settings)
    linear = simulate_online(PDGD(1, k=5), middle, **settings)
    assert network.offline[:, -1].min() > 0.9 > 0.75 > linear.offline[:, -1].max()


@pytest.mark.parametrize("learner", [PDGD, NetworkPDGD, DBGD])
def test_a_state_carries_on_as_if_nothing_had_happened(learner):
    rng = np.random.default_rng(0)
    pages = [(rng.random((6, 3)), rng.random(4) < 0.5) for _ in range(20)]
    straight, resumed = learner(3, k=4), learner(3, k=4, random_state=5)
    for i, (X, clicks) in enumerate(pages):
        if i == 10:
            resumed.set_state(json.loads(json.dumps(straight.state())))
        for each in (straight, resumed) if i >= 10 else (straight,):
            page = each.show(X)
            each.learn(X, page, clicks)
    assert np.array_equal(straight.weights, resumed.weights) and straight.state() == resumed.state()


LIMITED = {
    "PDGD": lambda least: PDGD(3, k=5, least=least),
    "network": lambda least: NetworkPDGD(3, k=5, least=least),
    "DBGD": lambda least: DBGD(3, k=5, learning_rate=0.1, least=least),
    "multileave": lambda least: DBGD(3, k=5, learning_rate=0.1, n_candidates=3, null_space=2, least=least),
    "LinUCB": lambda least: LinearBandit(3, k=5, width=2.0, random_state=0, least=least),
    "linear Thompson": lambda least: LinearBandit(3, k=5, width=2.0, policy="thompson", random_state=0, least=least),
}


def page_worth(learner, X, order):
    """nDCG of a page by the model itself."""
    scores = learner.predict(X)
    gain = np.maximum(scores, 0) if isinstance(learner, LinearBandit) else 1 / (1 + np.exp(scores.mean() - scores))
    discount = 1 / np.log2(np.arange(2, 2 + order.size))
    best = np.sort(gain)[::-1][: order.size] @ discount
    return gain[order] @ discount / best if best > 0 else 1.0


@pytest.mark.parametrize("name", LIMITED)
def test_no_page_of_any_learner_is_worse_than_the_limit(name):
    worst, changed = {}, 0
    for least in (0.0, 0.97, 1.0):
        rng, learner, worth = np.random.default_rng(0), LIMITED[name](least), []
        for _ in range(300):
            X = 2 * rng.random((12, 3))
            page = learner.show(X)
            worth.append(page_worth(learner, X, page.order))
            learner.learn(X, page, rng.random(5) < 0.2 * X[page.order] @ [1.0, 0.5, 0.0])
        worst[least] = min(worth)
        changed += least == 0.97 and sum(each < 1 - 1e-9 for each in worth) > 20
    assert worst[0.0] < 0.96  # without a limit there are such pages
    assert worst[0.97] >= 0.97 - 1e-12 and worst[1.0] >= 1 - 1e-12
    assert changed  # and within the limit there still is exploration


def test_drafts_within_the_limit_are_fair_at_every_place():
    X = np.random.default_rng(3).random((8, 3))
    learner = DBGD(3, k=4, delta=2.0, least=0.9, n_candidates=2)
    learner.weights = np.array([1.0, -1.0, 0.5])
    teams = np.array([learner.show(X).detail["teams"] for _ in range(3000)])
    teams = teams[teams[:, 0] >= 0]
    assert len(teams) > 1000
    for position in range(4):
        np.testing.assert_allclose(np.bincount(teams[:, position], minlength=3) / len(teams), 1 / 3, atol=0.05)


@pytest.mark.parametrize("weights", [[1, 2], np.array([1, 2]), (1.0, 2.0)])
def test_weights_to_begin_with_are_any_numbers(weights):
    learner = PDGD(2, k=2)
    learner.weights = weights
    learner.learn(np.eye(2), Page(np.array([1, 0])), [False, True])
    assert learner.weights.dtype == np.float64
    assert learner.weights[0] > 1 and learner.weights[1] < 2
    assert np.asarray(weights).tolist() == [1, 2]  # those given are not changed


@pytest.mark.parametrize("weights", [[1, 2, 3], [[1, 2]], ["a", "b"], [np.nan, 1.0], None])
def test_weights_that_do_not_fit_are_refused(weights):
    with pytest.raises(DataError, match="weights"):
        PDGD(2).weights = weights


@pytest.mark.parametrize("clicks", [["false", "false"], [np.nan, 0.0], [None, True], "no"])
def test_clicks_that_are_not_true_or_false_are_refused(clicks):
    page, X = Page(np.array([0, 1])), np.eye(2)
    for learner in (PDGD(2, k=2), LinearBandit(2, k=2)):
        for call in (learner.learn, learner.event):
            with pytest.raises(DataError, match="clicks is not a list of true and false"):
                call(X, page, clicks)


def test_a_page_keeps_its_directions_while_others_are_made_and_learned_from():
    learner, X = DBGD(3, k=3, n_candidates=2), np.eye(3)
    page = learner.show(X)
    before = learner.state()["memory"]
    learner.show(X)
    assert learner.state()["memory"] == before  # pages carry what they need
    assert np.linalg.norm(page.detail["directions"], axis=1).tolist() == pytest.approx([1, 1])


def test_users_and_arrivals_of_other_data_are_refused():
    data = pk.datasets.make_ranking(n_queries=3, docs_per_query=5, n_features=2, random_state=0)
    with pytest.raises(DataError, match="15 documents of which 10 are shown"):
        user_model(user_model("perfect", data, k=5), data, k=10)
    more = pk.datasets.make_ranking(n_queries=4, docs_per_query=5, n_features=2, random_state=0)
    with pytest.raises(DataError, match="15 documents"):
        user_model(user_model("perfect", more, k=5), data, k=5)
    with pytest.raises(DataError, match="arrival has shape"):
        simulate_online(PDGD(2, k=5), data, n_interactions=10, runs=1, arrival=np.zeros(20))
