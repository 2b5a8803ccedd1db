"""Propensities, inverse-propensity weights, selection bias, streaming."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest

import plackett as pk
from plackett.clicks.features import FeatureAttraction, dataset_rows, likelihood_slope
from plackett.clicks.loading import make_model
from plackett.clicks.log import ClickLog
from plackett.clicks.models.pbm import PBM
from plackett.clicks.models.trust_bias import TrustBias
from plackett.clicks.simulate import PositionUsers, TrustUsers, simulate_log
from plackett.clicks.unbiased.dual_learning import DualLearning
from plackett.clicks.unbiased.propensities import em_propensities, harvest_propensities, randomised_propensities
from plackett.clicks.unbiased.weights import ips_dataset, ips_labels, ips_weights
from plackett.models.networks.neural import Neural
from plackett.selection.selection_bias import selection_weights, two_phase
from plackett.solvers.logistic_rates import LogisticRates

LOOK = 1 / np.arange(1, 7)


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(n_queries=30, docs_per_query=6, n_features=8, random_state=0)


@pytest.fixture(scope="module")
def moved(data):
    """Lists of a ranker that changes a little every time."""
    return simulate_log(data, data.X[:, 0], n_pages=30_000, k=6, temperature=1.0, random_state=0)


def test_all_estimates_of_propensities_agree(data, moved):
    shuffled = simulate_log(data, n_pages=30_000, k=6, random_state=1)
    result = [
        randomised_propensities(shuffled),
        harvest_propensities(moved),
        em_propensities(moved),
        em_propensities(moved, data, max_iter=40),
        randomised_propensities(moved, swapped=True),
    ]
    for each in result[:3]:
        np.testing.assert_allclose(each.examination, LOOK, rtol=0.17)
    np.testing.assert_allclose(result[3].examination, LOOK, rtol=0.35)  # the features do not tell all of the relevance
    assert np.array_equal(result[4].examination, result[1].examination)


def world(seed, n_queries, n_pages, m, order, users="independent"):
    """A log of users who look at rank k with probability k ** -0.8, in dependent ways or not."""
    rng = np.random.default_rng(seed)
    look = np.arange(1, m + 1) ** -0.8
    query, page = np.repeat(np.arange(n_queries), n_pages), np.arange(n_queries * n_pages)
    documents = np.tile(np.arange(m), (page.size, 1))
    if order == "shuffled":
        documents = rng.permuted(documents, axis=1)
    elif order == "swapped":
        k, first = rng.integers(0, m, page.size), documents[:, 0].copy()
        documents[:, 0] = documents[page, k]
        documents[page, k] = first
    else:  # of so many rankers
        orders = (rng.normal(size=(n_queries, order, m)) * 0.7 + np.arange(m) * 0.5).argsort(axis=2)
        documents = orders[query, rng.integers(0, order, page.size)]
    if users == "one click":  # at most: clicks of a page exclude each other
        chance = look * 0.95 / look.sum()
        below = np.cumsum(chance)
        draw = rng.random((page.size, 1))
        clicks = (draw < below) & (draw >= below - chance)
    else:
        relevance = rng.beta(1, 2, size=(n_queries, m))[query[:, None], documents]
        depth = rng.random((page.size, 1 if users == "from the top" else m))  # those stop somewhere
        clicks = (depth < look) & (rng.random((page.size, m)) < relevance)
    return ClickLog.from_arrays(query, documents, clicks), look


@pytest.mark.parametrize(
    ("method", "setting"),
    [
        (harvest_propensities, (20, 500, 10, "shuffled")),
        (harvest_propensities, (1000, 4, 5, "shuffled")),
        (harvest_propensities, (200, 50, 6, 2)),
        (harvest_propensities, (200, 50, 6, 4)),
        (harvest_propensities, (50, 100, 5, "shuffled", "from the top")),
        (harvest_propensities, (50, 100, 3, "shuffled", "one click")),
        (partial(randomised_propensities, swapped=True), (50, 100, 10, "swapped")),
        (randomised_propensities, (50, 100, 10, "shuffled")),
        (randomised_propensities, (50, 100, 3, "shuffled", "one click")),
    ],
)
def test_intervals_of_propensities_cover_as_often_as_they_say(method, setting):
    covered = []
    for seed in range(200):
        log, look = world(seed, *setting)
        lower, upper = method(log).interval(0.95)
        covered.append(((lower <= look) & (look <= upper))[1:])
    assert 0.92 <= np.mean(covered) <= 0.98


def test_a_rank_without_clicks_has_no_upper_end():
    clicks = np.tile([[True, False], [False, False]], (10, 1))
    log = ClickLog.from_arrays(np.zeros(20, int), np.tile(["a", "b"], (20, 1)), clicks)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lower, upper = randomised_propensities(log).interval()
    assert (lower.tolist(), upper.tolist()) == ([1.0, 0.0], [1.0, np.inf])


def test_errors_of_propensities_count_weights_as_pages():
    log, _ = world(0, 30, 100, 4, 3)
    error, collapsed = harvest_propensities(log).log_error, log.collapse()
    assert collapsed.n_pages < log.n_pages
    np.testing.assert_allclose(harvest_propensities(collapsed).log_error, error)
    light = harvest_propensities(log.replace(weight=np.full(log.n_pages, 0.25))).log_error
    np.testing.assert_allclose(light[1:], error[1:], rtol=0.02)
    half = np.arange(log.n_pages // 2)
    ignored = harvest_propensities(log.replace(weight=(np.arange(log.n_pages) < half.size) * 1.0))
    np.testing.assert_allclose(ignored.log_error, harvest_propensities(log.select(half)).log_error)


def test_em_says_when_its_intervals_are_too_narrow():
    with pytest.warns(pk.PlackettWarning, match=r"shown 50 times on average"):
        em_propensities(world(0, 200, 50, 6, 4)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        em_propensities(world(0, 4, 500, 4, "shuffled")[0])


def test_errors_of_harvested_propensities_are_honest(data):
    scores = np.asarray(data.X[:, 0])
    covered = []
    for seed in range(40):
        log = simulate_log(data, scores, n_pages=3000, k=4, temperature=1.0, random_state=seed)
        lower, upper = harvest_propensities(log).interval(0.9)
        covered.append((lower <= LOOK[:4]) & (upper >= LOOK[:4]))
    assert 0.8 < np.mean(covered, axis=0)[1:].mean() < 0.98


def test_ranks_that_nothing_connects_are_not_known():
    log = ClickLog.from_arrays(
        ["q"] * 40, [["a", "b", "c"], ["b", "a", "c"]] * 20, [[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 1, 0]] * 10
    )
    result = harvest_propensities(log).examination
    assert np.isnan(result[2])
    assert np.isfinite(result[:2]).all()
    fixed = ClickLog.from_arrays(["q"] * 4, [["a", "b"]] * 4, [[1, 1]] * 4)
    with pytest.raises(pk.DataError, match="no two ranks can be compared"):
        harvest_propensities(fixed)


def test_dual_learning(data):
    log = simulate_log(data, data.X[:, 0], n_pages=6000, k=6, temperature=1.0, random_state=0)
    true = 1 / (1 + np.exp(-2 * np.asarray(data.X)[:, 1]))
    rng = np.random.default_rng(0)
    chance = LOOK[log.rank - 1] * true[dataset_rows(log, data)[log.pair]]
    log = log.replace(clicks=(rng.random(log.n_rows) < chance).astype(np.int32))
    model = DualLearning(n_epochs=15, random_state=0).fit(log, data)
    np.testing.assert_allclose(model.examination_, LOOK, atol=0.15)
    assert np.corrcoef(model.predict(data), data.X[:, 1])[0, 1] > 0.9


def test_trust_bias(data):
    users = TrustUsers(strength=0.5, trust=0.4)
    log = simulate_log(data, n_pages=40_000, k=6, users=users, random_state=0)
    model = TrustBias(prior=None, max_iter=400, tol=1e-9).fit(log)
    assert np.diff(model.log_likelihoods_).min() > -1e-6
    right, wrong = users.click_rates(6)
    look = users.examination(6)
    r = users.attraction(data.labels, data.labels.max())[dataset_rows(log, data)]
    truth = look[:, None] * (right[:, None] * r + wrong[:, None] * (1 - r))
    result = model.relevant_[:, None] * model.attraction_ + model.irrelevant_[:, None] * (1 - model.attraction_)
    assert np.abs(result - truth).mean() < 0.015
    told = TrustBias(prior=None, max_iter=1).fit(log)
    told.relevant_, told.irrelevant_ = look * right, look * wrong
    corrected = told.corrected_clicks(log)
    mean = np.bincount(log.pair, corrected) / np.bincount(log.pair)
    assert np.abs(mean - r).mean() < 0.06  # without bias
    assert abs((mean - r).mean()) < 0.01


def test_the_worked_example_of_inverse_propensities():
    rng = np.random.default_rng(0)
    logged, new = np.array([3, 1, 5, 2, 4]), np.arange(1, 6)
    relevant = np.array([1, 0, 1, 0, 1])
    look = 1 / np.arange(1, 6)
    n = 40_000
    shown = np.argsort(logged)  # document at each rank
    clicks = (rng.random((n, 5)) < look) & (relevant[shown] > 0)
    log = ClickLog.from_arrays(np.zeros(n, int), np.tile(shown, (n, 1)), clicks)
    document = log.documents[log.document]
    for weight, expected in ((ips_weights(log, look, clip=None), 9.0), (np.ones(log.n_rows), 2.1833)):
        estimate = (weight * log.clicked * new[document]).sum() / n
        assert estimate == pytest.approx(expected, abs=0.15)
    sums = [
        (ips_weights(log, look, clip=clip) * log.clicked * new[document]).sum() / n for clip in (None, 0.3, 0.5, 1.0)
    ]
    assert sums == sorted(sums, reverse=True)  # more clipping, more bias


def test_labels_of_the_three_estimates(data, moved):
    r = PositionUsers().attraction(data.labels, data.labels.max())[dataset_rows(moved, data)]
    shown = np.bincount(moved.pair)
    often = shown > 300
    for estimate in ("ips", "ratio", "doubly-robust"):
        frame = ips_labels(moved, LOOK, estimate=estimate, clip=None, expected=np.full(moved.n_pairs, 0.4))
        assert np.abs(frame["label"].to_numpy() - r)[often].mean() < 0.06
    exact = ips_labels(moved, np.full(6, 0.5), estimate="doubly-robust", clip=None, expected=r)
    wrong = ips_labels(moved, np.full(6, 0.5), estimate="ips", clip=None)
    assert np.isfinite(exact["label"].to_numpy()).all()
    assert np.abs(wrong["label"].to_numpy() - r)[often].mean() > 0.06
    plain = ips_labels(moved, np.ones(6))
    rate = moved.pair_frame()
    np.testing.assert_allclose(plain["label"], rate["clicked"] / rate["shown"])
    with pytest.raises(pk.DataError, match="one per rank"):
        ips_labels(moved, [1.0])
    with pytest.raises(pk.DataError, match="needs expected"):
        ips_labels(moved, LOOK, estimate="doubly-robust")


@pytest.mark.parametrize("estimate", ["ips", "ratio", "doubly-robust"])
def test_labels_are_those_of_single_rows(moved, estimate):
    log = moved.replace(weight=np.random.default_rng(0).random(moved.n_pages))
    n, weight, look = log.n_pairs, log.row_weight, LOOK[log.rank - 1]
    expected = np.linspace(0.1, 0.9, n)
    frame = ips_labels(log, LOOK, estimate=estimate, clip=0.3, expected=expected)
    shown, seen = np.bincount(log.pair, weight), np.bincount(log.pair, weight * look)
    clipped = np.maximum(look, 0.3)
    label = {
        "ratio": np.bincount(log.pair, weight * log.clicked) / seen,
        "ips": np.bincount(log.pair, weight * log.clicked / clipped) / shown,
        "doubly-robust": expected
        + np.bincount(log.pair, weight * (log.clicked - look * expected[log.pair]) / clipped) / shown,
    }
    np.testing.assert_allclose(frame["label"], label[estimate])
    np.testing.assert_allclose(frame["weight"], seen)


@pytest.mark.parametrize("wrong", [0.0, np.nan])
def test_a_rank_without_propensity_is_named(moved, wrong):
    with pytest.raises(pk.DataError, match="the propensity of rank 3 is"):
        ips_labels(moved, np.where(np.arange(6) == 2, wrong, LOOK))


@pytest.mark.parametrize("model", ["linear", "trees"])
def test_every_model_learns_from_weighted_pages(data, model):
    order = np.random.default_rng(3).normal(size=data.n_rows)
    log = simulate_log(data, order, n_pages=1500, k=6, users=PositionUsers(strength=1.5), random_state=0)
    look = np.arange(1, 7) ** -1.5
    join = ips_dataset(log, data, look)
    assert join.data.sample_weight.max() == pytest.approx(6**1.5)
    ranker = pk.GradientRanker(loss="Logistic", model=model).fit(join.data)
    naive = pk.GradientRanker(loss="Logistic", model=model).fit(join.data.replace(sample_weight=None))
    assert not np.allclose(ranker.predict(data), naive.predict(data))
    same = ips_dataset(log, data, np.ones(6)).data
    np.testing.assert_allclose(same.sample_weight, 1.0)


@pytest.mark.parametrize("loss", ["BinaryLogistic", "Logistic", "QuerySoftmax"])
def test_networks_learn_from_weighted_pages(data, loss):
    """Weights change what a network learns, towards the truth; weights of 1 are none."""
    pytest.importorskip("torch")
    order = -pk.GradientRanker(loss="Square", model="linear").fit(data).predict(data)
    log = simulate_log(data, order, n_pages=500, k=6, users=PositionUsers(strength=2.0), random_state=0)

    def learn(weighted):
        made = pk.GradientRanker(loss=loss, model=Neural(max_epochs=5, hidden=(8,), random_state=0))
        return made.fit(weighted).predict(data)

    pages = ips_dataset(log, data, np.arange(1, 7) ** -2.0, clip=None).data
    plain = learn(pages.replace(sample_weight=None))
    np.testing.assert_allclose(learn(ips_dataset(log, data, np.ones(6)).data), plain, rtol=1e-4, atol=1e-5)
    quality = [pk.evaluate(data, scores, ["nDCG@5"]).mean["nDCG@5"] for scores in (learn(pages), plain)]
    assert quality[0] > quality[1]


@pytest.mark.parametrize("name", ["PBM", "UBM", "DCM", "DBN", "SDBN"])
def test_the_slope_of_the_likelihood(name):
    rng = np.random.default_rng(0)
    lists = np.argsort(rng.random((60, 5)), axis=1)[:, :4]
    log = ClickLog.from_arrays(np.zeros(60, int), lists, rng.random((60, 4)) < 0.35)
    model = make_model(name, max_iter=3).fit(log)
    scores = rng.normal(size=log.n_pairs)
    _, slope = likelihood_slope(model, log, scores)
    for i in range(log.n_pairs):
        step = np.zeros(log.n_pairs)
        step[i] = 1e-5
        up, down = (likelihood_slope(model, log, scores + sign * step)[0] for sign in (1, -1))
        assert slope[i] == pytest.approx((up - down) / 2e-5, abs=1e-4)


def test_one_feature_per_document_is_the_click_model():
    rng = np.random.default_rng(0)
    lists = np.argsort(rng.random((8000, 5)), axis=1)
    r = np.array([0.7, 0.5, 0.4, 0.2, 0.1])
    log = ClickLog.from_arrays(np.zeros(8000, int), lists, rng.random(lists.shape) < LOOK[:5] * r[lists])
    data = pk.RankingDataset.from_arrays(np.eye(5), np.zeros(5), qid=np.zeros(5, int), docids=np.arange(5))
    result = FeatureAttraction(PBM(tol=1e-10), LogisticRates(alpha=1e-6), n_rounds=200).fit(log, data)
    plain = PBM(prior=None, max_iter=200, tol=1e-10).fit(log)
    np.testing.assert_allclose(result.model_.attraction_, plain.attraction_, atol=1e-3)
    even = FeatureAttraction(PBM(), LogisticRates(), n_rounds=1)
    assert even.fit(log.truncate(1), data).model_.examination_.tolist() == [1.0]  # no bias: a logistic regression


def test_selection_weights():
    rng = np.random.default_rng(0)
    train, test = rng.normal(0, 1, (50_000, 1)), rng.normal(1, 1, (20_000, 1))
    weight = selection_weights(train, test, clip=None)
    assert weight.mean() == pytest.approx(1.0)
    slope, level = np.polyfit(train[:, 0], np.log(weight), 1)
    assert slope == pytest.approx(1.0, abs=0.05)
    assert level == pytest.approx(-0.5, abs=0.05)
    same = selection_weights(train, rng.normal(0, 1, (50_000, 1)))
    assert np.abs(same - 1).max() < 0.1
    assert selection_weights(train, test, clip=3.0).max() < 4
    # a risk weighted by them is the risk of the test sample
    loss = np.sin(train[:, 0])
    assert (weight * loss).mean() == pytest.approx(np.sin(test[:, 0]).mean(), abs=0.03)


def test_weights_of_one_change_nothing_and_whole_weights_are_copies(data):
    copies = np.random.default_rng(0).integers(1, 3, data.n_rows)
    rows = np.repeat(np.arange(data.n_rows), copies)
    doubled = pk.RankingDataset.from_arrays(data.X[rows], data.y[rows], qid=data.qids[data.query_of_row[rows]])
    for loss in ("Square", "Logistic"):
        plain = pk.GradientRanker(loss=loss, model="linear").fit(data).predict(data)
        ones = pk.GradientRanker(loss=loss, model="linear").fit(data.replace(sample_weight=np.ones(data.n_rows)))
        np.testing.assert_allclose(ones.predict(data), plain)
        weighted = data.replace(sample_weight=copies.astype(float))
        made = getattr(pk.losses, loss)()
        scores = np.random.default_rng(1).normal(size=data.n_rows)
        ratio = made(scores, weighted) / made(doubled.from_input_order(scores[rows]), doubled)
        assert ratio == pytest.approx(1.0, rel=1e-9)


def test_two_phases(data):
    perfect = two_phase(data, data.y, k=6)
    assert np.nanmin(perfect.recall) == 1.0
    assert perfect.candidates.n_rows == data.n_rows
    short = two_phase(data, data.X[:, 0], k=4, pool_depth=2, tail=1, random_state=0)
    assert short.candidates.n_rows == 30 * 4
    assert short.pool.n_rows == 30 * 3
    in_candidates = set(zip(short.candidates.query_of_row, short.candidates.docids, strict=True))
    assert set(zip(short.pool.query_of_row, short.pool.docids, strict=True)) <= in_candidates
    top_only = two_phase(data, data.X[:, 0], k=4, pool_depth=2)
    assert top_only.shift[0] > short.shift[0] > 0  # the random tail brings the pool closer
    assert 0 < np.nanmean(short.recall) < 1


@pytest.mark.parametrize("name", ["ICM", "Cascade", "PBM", "DBN", "BBM"])
def test_streamed_parts_are_the_whole(moved, name):
    log = moved.select(np.arange(2000))
    whole = make_model(name, max_iter=10).fit(log.collapse())
    parts = make_model(name, max_iter=10)
    for start in range(0, 2000, 500):
        parts.partial_fit(log.select(np.arange(start, start + 500)))
    at = parts.pairs_.in_log(log)
    here = whole.pairs_.in_log(log)
    np.testing.assert_allclose(parts.attraction_[at], whole.attraction_[here], rtol=1e-9)
    forgetting = make_model(name, max_iter=10).partial_fit(log).partial_fit(log, decay=0.5)
    assert forgetting.shown_.sum() == pytest.approx(1.5 * log.n_rows)


def test_trust_bias_draws_rare_documents_to_the_mean():
    """Documents that were shown once or twice must not rank above those that were seen often and clicked often."""
    rng = np.random.default_rng(0)
    r = rng.beta(0.5, 3, 4000)
    pages = np.argsort(rng.random((3000, 40)), axis=1)[:, :8] + 40 * rng.integers(0, 100, 3000)[:, None]
    pages[1500:] = np.sort(pages[1500:] % 40 % 12, axis=1) + pages[1500:] // 40 * 40  # half of them show few documents
    look, trust = 1 / np.arange(1, 9.0), 0.3 / np.arange(1, 9.0)
    clicks = rng.random(pages.shape) < look * (0.9 * r[pages] + trust * (1 - r[pages]))
    keep = np.array([len(set(page)) == 8 for page in pages.tolist()])
    log = ClickLog.from_arrays((pages // 40)[keep, 0], pages[keep], clicks[keep])
    model = TrustBias().fit(log)
    flat = TrustBias(prior=(1.0, 1.0)).fit(log)
    true = r[log.documents[log.pair_document].astype(int)]
    error, former = (np.abs(m.attraction_ - true).mean() for m in (model, flat))
    assert model.prior_.mean < 0.4
    assert error < 0.75 * former


def test_trust_bias_warns_where_documents_do_not_move():
    pages = [[f"d{i}" for i in range(4)]] * 50
    log = ClickLog.from_arrays(["q"] * 50, pages, np.eye(4, dtype=int)[np.arange(50) % 4])
    with pytest.warns(pk.PlackettWarning, match=r"TrustBias cannot tell trust from relevance here\. Every document"):
        TrustBias().fit(log)
    pages[0] = ["d1", "d0", "d2", "d3"]
    log = ClickLog.from_arrays(["q"] * 50, pages, np.eye(4, dtype=int)[np.arange(50) % 4])
    with pytest.warns(pk.PlackettWarning, match="Only 2 of 4 ranks are connected"):
        TrustBias().fit(log)
    pages = [[f"d{i}" for i in range(4)]] * 3000 + [["d3", "d2", "d1", "d0"], ["d1", "d2", "d3", "d0"]]
    log = ClickLog.from_arrays(["q"] * 3002, pages, np.eye(4, dtype=int)[np.arange(3002) % 4])
    with pytest.warns(pk.PlackettWarning, match=r"Documents hardly moved: 0\.\d\d%"):
        TrustBias().fit(log)


def test_rank_variation_is_the_share_within_pairs():
    from plackett.clicks.profile import rank_variation

    rng = np.random.default_rng(0)
    pages = rng.permuted(np.tile(np.arange(6), (300, 1)), axis=1)
    shuffled = ClickLog.from_arrays(np.zeros(300, int), pages, np.zeros((300, 6), int))
    rank = np.tile(np.arange(6.0), 300)
    within = sum(((rank - rank[pages.ravel() == d].mean())[pages.ravel() == d] ** 2).sum() for d in range(6))
    assert rank_variation(shuffled) == pytest.approx(within / ((rank - rank.mean()) ** 2).sum())
    fixed = ClickLog.from_arrays(np.zeros(9, int), np.tile(np.arange(6), (9, 1)), np.zeros((9, 6), int))
    assert rank_variation(fixed) == 0
    assert np.isnan(rank_variation(ClickLog.from_arrays(["q"], [["a"]], [[1]])))


@pytest.mark.filterwarnings("ignore:intervals of EM")
def test_em_without_clicks():
    log = ClickLog.from_arrays(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[0, 0]] * 4)
    with pytest.raises(pk.DataError, match="no clicks at the first rank"):
        em_propensities(log)
    log = ClickLog.from_arrays(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[1, 0]] * 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        _, upper = em_propensities(log).interval()
    assert np.isinf(upper[1])
