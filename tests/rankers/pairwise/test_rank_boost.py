"""RankBoost against explicit pairs, exhaustive search, line searches and worked numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from plackett import RankingDataset
from plackett.data.canonical import canonical_order
from plackett.data.preferences import Preferences
from plackett.losses.pairwise.exponential import Exponential
from plackett.losses.pairwise.logistic import Logistic
from plackett.rankers.pairwise.rank_boost import RankBoost
from plackett.testing import parametrize_with_checks
from plackett.testing.rankers import small
from plackett.theory.bounds.bipartite_boosting import bipartite_rankboost
from plackett.theory.bounds.rankboost_bounds import boosted_distribution, rankboost_error_bounds

from .boosting_reference import best_edge, explicit_pairs, weak_values


def random_data(seed, kind="labels", missing=True):
    """Short lists with tied features, several grades, unjudged documents, missing values and weights."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(5), rng.integers(5, 12, 5))
    n = qid.size
    X = rng.integers(0, 5, (n, 3)).astype(np.float32)
    y = np.clip(np.rint(X[:, 0] * 0.4 + 1.3 * rng.normal(size=n)), -1, 3)
    if missing:
        X[rng.random(n) < 0.2, 1] = np.nan
    preferences = None
    if kind == "preferences":
        pairs = [(i, j) for i in range(n) for j in range(n) if i != j and qid[i] == qid[j] and rng.random() < 0.3]
        preferences = Preferences.from_pairs(
            pairs, margin=rng.uniform(0, 1, len(pairs)), weight=rng.uniform(0.5, 2, len(pairs))
        )
    # canonical, as `fit` sees it: the rows of the ranker and of the reference are the same then
    return canonical_order(
        RankingDataset.from_arrays(
            X,
            y,
            qid,
            sample_weight=rng.uniform(0.5, 2, n),
            query_weight=rng.uniform(0.5, 2, 5),
            preferences=preferences,
        )
    )


def values_of(ranker, data):
    """h of each kept round, one column each."""
    rounds = ranker.rounds_
    return np.stack([weak_values(data.X[:, r["feature"]], r["threshold"], r["default"]) for r in rounds], axis=1)


@pytest.mark.parametrize("kind", ["labels", "preferences"])
@pytest.mark.parametrize("step", ["closed", "bound", "search"])
@pytest.mark.parametrize("seed", range(3))
def test_every_round_is_that_of_explicit_pairs(seed, step, kind):
    data = random_data(seed, kind)
    extra = 0.01
    ranker = RankBoost(n_estimators=6, step=step, smoothing=extra).fit(data)
    assert len(ranker.rounds_) == 6
    u, v, weight = explicit_pairs(data)
    D, loss, scores = weight / weight.sum(), 1.0, np.zeros(data.n_rows)
    for row, h in zip(ranker.rounds_, values_of(ranker, data).T, strict=True):
        # the implicit distribution, as potentials of the documents
        gradient = Exponential().gradient(scores, data)[0]
        total = Exponential()(scores, data)
        potential = np.bincount(u, D, data.n_rows) - np.bincount(v, D, data.n_rows)
        np.testing.assert_allclose(-gradient / total, potential, atol=1e-12)
        # the search
        difference = h[u] - h[v]
        np.testing.assert_allclose(row["edge"], D @ difference, atol=1e-12)
        np.testing.assert_allclose(abs(row["edge"]), best_edge(data.X, u, v, D), rtol=1e-9)
        np.testing.assert_allclose(row["plus"], D[difference > 0].sum(), atol=1e-12)
        np.testing.assert_allclose(row["minus"], D[difference < 0].sum(), atol=1e-12)
        # the step
        r, alpha = row["edge"], row["alpha"]
        smoothed = lambda a, terms: float(terms(a) + 2 * extra * np.cosh(a))  # noqa: E731
        exact = lambda a, D=D, d=difference: D @ np.exp(-a * d)  # noqa: E731
        above = lambda a, r=r: np.cosh(a) - r * np.sinh(a)  # noqa: E731
        assert exact(alpha) <= above(alpha) + 1e-12
        least = minimize_scalar(smoothed, bracket=(-1, 1), args=(above if step == "bound" else exact,), tol=1e-12)
        np.testing.assert_allclose(alpha, least.x, atol=1e-6)
        # the update
        D = D * np.exp(-row["alpha"] * difference)
        loss *= D.sum()
        D /= D.sum()
        scores += row["alpha"] * h
        np.testing.assert_allclose(row["loss"], loss, rtol=1e-9)
    np.testing.assert_allclose(ranker.predict(data), scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_distribution_identity_and_error_bounds_hold_after_each_round(seed):
    data = random_data(seed, missing=False).replace(sample_weight=None, query_weight=None)
    ranker = RankBoost(n_estimators=12, step="closed", smoothing=0.0).fit(data)
    u, v, _ = explicit_pairs(data)
    h, rounds = values_of(ranker, data), ranker.rounds_
    differences = h[u] - h[v]
    D = np.full(u.size, 1 / u.size)
    bounds = rankboost_error_bounds(rounds["plus"], rounds["minus"])
    for t in range(len(rounds)):
        D = D * np.exp(-rounds["alpha"][t] * differences[:, t])
        D /= D.sum()
        closed, product = boosted_distribution(differences[:, : t + 1], rounds["alpha"][: t + 1])
        np.testing.assert_allclose(D, closed, atol=1e-12)
        np.testing.assert_allclose([rounds["loss"][t], bounds.product[t]], product, rtol=1e-10)
        assert abs(D @ differences[:, t]) < 1e-12  # the chosen ranker has no edge left
        error = np.mean(differences[:, : t + 1] @ rounds["alpha"][: t + 1] <= 0)
        assert error <= bounds.product[t] <= bounds.normalised[t] <= bounds.edges[t]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_is_coordinate_descent_on_the_exponential_loss(seed):
    """Steepest coordinate and exact line search on F(ᾱ) itself, by derivatives and a scalar minimiser."""
    data = random_data(seed, missing=False).replace(sample_weight=None, query_weight=None)
    u, v, _ = explicit_pairs(data)
    rows = np.unique(np.concatenate([u, v]))
    weak = [
        (j, (a + b) / 2)
        for j in range(data.n_features)
        for a, b in zip(np.unique(data.X[rows, j])[:-1], np.unique(data.X[rows, j])[1:], strict=True)
    ]
    M = np.stack([weak_values(data.X[u, j], t, 0.0) - weak_values(data.X[v, j], t, 0.0) for j, t in weak], axis=1)
    F = lambda a: float(np.exp(-M @ a).sum())  # noqa: E731
    weights, before = np.zeros(len(weak)), np.inf
    for _ in range(8):
        slopes = -M.T @ np.exp(-M @ weights)
        k = int(np.argmax(np.abs(slopes)))
        unit = np.eye(len(weak))[k]
        weights = weights + minimize_scalar(lambda eta: F(weights + eta * unit), bracket=(-1, 1), tol=1e-13).x * unit  # noqa: B023
        assert F(weights) < before
        before = F(weights)
    ranker = RankBoost(n_estimators=8, step="closed", smoothing=0.0).fit(data)
    assert (ranker.rounds_["minus"] > 0).all()  # every step has a finite minimum
    result = np.zeros(len(weak))
    for row in ranker.rounds_:
        result[weak.index((row["feature"], row["threshold"]))] += row["alpha"]
    # equally steep coordinates may be taken in either order: the functions must agree
    np.testing.assert_allclose(M @ result, M @ weights, atol=1e-5)


def test_worked_bipartite_numbers():
    positives = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]])
    negatives = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0]])
    data = RankingDataset.from_arrays(np.vstack([positives, negatives]), [1, 1, 1, 0, 0, 0, 0], qid=np.zeros(7, int))
    ranker = RankBoost(n_estimators=4, step="closed", smoothing=0.0).fit(data)
    rounds = ranker.rounds_
    normalisers = rounds["loss"] / np.append(1.0, rounds["loss"][:-1])
    np.testing.assert_allclose(normalisers, [0.824915, 0.648910, 0.445021, 0.587258], atol=1e-6)
    weights = np.bincount(rounds["feature"], rounds["alpha"], 3)
    np.testing.assert_allclose(weights, [2.420865, 1.365508, 1.924099], atol=1e-6)
    product = bipartite_rankboost(positives, negatives, 4)
    np.testing.assert_allclose(product.weights, weights, rtol=1e-10)
    np.testing.assert_array_equal(product.rankers, rounds["feature"])


def test_prefix_sums_over_grades_are_the_sum_over_pairs():
    rng = np.random.default_rng(0)
    f = rng.normal(size=9)
    y = np.repeat([0.0, 1.0, 2.0], [3, 4, 2])
    U, V = np.exp(f), np.exp(-f)
    brute = sum(np.exp(f[a] - f[b]) for a in range(9) for b in range(9) if y[a] < y[b])
    prefix = sum(U[y == a].sum() * V[y > a].sum() for a in (0, 1))
    data = RankingDataset.from_arrays(None, y, np.zeros(9, int))
    np.testing.assert_allclose([Exponential()(f, data), prefix], brute)


@pytest.mark.parametrize("missing", [False, True])
def test_real_valued_rankers(missing):
    """The chosen feature has the largest |r|; the searched step minimises Z and beats that of the bound."""
    rng = np.random.default_rng(1)
    data = random_data(4, missing=False)
    X = rng.normal(size=data.X.shape).astype(np.float32)
    if missing:
        X[rng.random(data.n_rows) < 0.3, 2] = np.nan
    data = canonical_order(data.replace(X=X))
    u, v, weight = explicit_pairs(data)
    rows = np.unique(np.concatenate([u, v]))
    low, high = np.nanmin(data.X[rows], axis=0), np.nanmax(data.X[rows], axis=0)
    H = (data.X - low) / (high - low)
    for step in ("search", "bound"):
        ranker = RankBoost(weak="real", step=step, n_estimators=5, smoothing=0.0).fit(data)
        D, scores = weight / weight.sum(), np.zeros(data.n_rows)
        for row in ranker.rounds_:
            options = [(np.where(np.isnan(H[:, j]), q, H[:, j]), j, q) for j in range(3) for q in (0.0, 1.0)]
            edges = [abs(D @ (h[u] - h[v])) for h, _, _ in options]
            h = next(h for h, j, q in options if (j, q) == (row["feature"], row["default"]))
            d = h[u] - h[v]
            np.testing.assert_allclose(row["edge"], D @ d, atol=1e-6)
            np.testing.assert_allclose(abs(row["edge"]), max(edges), atol=1e-6)
            Z = lambda a, D=D, d=d: float(D @ np.exp(-a * d))  # noqa: E731
            closed = np.arctanh(D @ d)
            assert Z(closed) <= np.sqrt(1 - (D @ d) ** 2) + 1e-12
            if step == "search":
                assert Z(row["alpha"]) <= min(minimize_scalar(Z).fun, Z(closed)) + 1e-10
            else:
                np.testing.assert_allclose(row["alpha"], closed, rtol=1e-5)
            D = D * np.exp(-row["alpha"] * d)
            D /= D.sum()
            scores += row["alpha"] * h
        np.testing.assert_allclose(ranker.predict(data), scores, rtol=1e-5, atol=1e-5)


def test_the_three_steps_agree_where_they_should():
    """On rankers of 0 and 1 the line search is the closed form, and without ties among the pairs so is the bound."""
    data = random_data(2)
    searched, closed = (
        RankBoost(n_estimators=8, step=step).fit(data).rounds_["alpha"] for step in ("search", "closed")
    )
    np.testing.assert_allclose(searched, closed, atol=1e-9)
    # pairs of their own two documents, one of them 1: no pair is tied
    rng = np.random.default_rng(0)
    first = rng.random((20, 3)) < 0.7
    X = np.empty((40, 3))
    X[::2], X[1::2] = first, ~first
    pairs = RankingDataset.from_arrays(X, np.tile([1.0, 0.0], 20), np.repeat(np.arange(20), 2))
    bound, closed = (RankBoost(n_estimators=8, step=step).fit(pairs).rounds_["alpha"] for step in ("bound", "closed"))
    np.testing.assert_allclose(bound, closed, rtol=1e-5)


def test_logistic_loss_descends_and_cares_less_for_a_hopeless_pair():
    data = random_data(3)
    ranker = RankBoost(loss="logistic", n_estimators=10).fit(data)
    losses = ranker.rounds_["loss"]
    assert (np.diff(np.append(1.0, losses)) < 0).all()
    np.testing.assert_allclose(
        losses[-1], Logistic()(ranker.predict(data), data) / Logistic()(np.zeros(data.n_rows), data), rtol=1e-9
    )
    # each step is the minimum along its ranker, up to the smoothing
    scores = np.zeros(data.n_rows)
    for row, h in zip(ranker.rounds_, values_of(ranker, data).T, strict=True):
        scores += row["alpha"] * h
        assert abs(Logistic().gradient(scores, data)[0] @ h) < 1e-5 * Logistic()(scores, data)
    # one pair against thirty: its share of the weight after some rounds
    X = np.tile([[1.0], [0.0]], (31, 1))
    y = np.tile([1.0, 0.0], 31)
    y[:2] = [0.0, 1.0]
    outlier = RankingDataset.from_arrays(X, y, np.repeat(np.arange(31), 2))
    share = {}
    for loss, made in (("exponential", Exponential()), ("logistic", Logistic())):
        scores = RankBoost(loss=loss, step="search", n_estimators=3).fit(outlier).predict(outlier)
        slope = np.abs(made.gradient(3.0 * scores, outlier)[0])
        share[loss] = slope[0] / slope.sum()
    assert share["logistic"] < share["exponential"]


def test_zero_weight_and_unjudged_documents_do_not_matter():
    data = random_data(5, missing=False)
    expected = RankBoost(n_estimators=10).fit(data)
    more = data.X.copy()
    more[data.y < 0] = 1e6  # would make thresholds of their own
    result = RankBoost(n_estimators=10).fit(data.replace(X=more))
    np.testing.assert_allclose(result.rounds_["alpha"], expected.rounds_["alpha"], rtol=1e-9)
    np.testing.assert_array_equal(result.rounds_["threshold"], expected.rounds_["threshold"])


def test_missing_values_that_tell_something_are_used():
    X = np.array([[1.0], [np.nan], [2.0], [np.nan]], np.float32)
    ranker = RankBoost(n_estimators=1).fit(X, [0, 1, 0, 1], qid=[0, 0, 1, 1])
    assert ranker.rounds_["threshold"].tolist() == [-np.inf]
    assert ranker.rank(X, qid=[0, 0, 1, 1]).tolist() == [2, 1, 2, 1]


def test_a_perfect_ranker_has_a_finite_weight():
    for smoothing, most in ((1e-6, 0.5 * np.log(1e6) + 1e-3), (0.0, 30.0)):
        for step in ("closed", "bound", "search"):
            ranker = RankBoost(n_estimators=1, step=step, smoothing=smoothing)
            alpha = ranker.fit([[1.0], [0.0]], [1, 0], qid=[1, 1]).rounds_["alpha"][0]
            np.testing.assert_allclose(alpha, most, atol=1e-3)


@pytest.mark.filterwarnings("ignore:RankBoost learned nothing")
def test_normalised_queries_weigh_the_same():
    """Ten copies of a document in one query do not outvote another query."""
    X = np.array([[1, 0], [0, 1]] + [[0, 1], [1, 0]] + [[1, 0]] * 9, np.float32)
    y = np.array([1, 0, 1, 0] + [0] * 9)
    qid = np.array([0, 0] + [1] * 11)
    plain = RankBoost(n_estimators=1, step="closed").fit(X, y, qid=qid)
    even = RankBoost(n_estimators=1, step="closed", normalize=True).fit(X, y, qid=qid)
    assert plain.rounds_["edge"][0] == pytest.approx(-9 / 11)
    assert len(even.rounds_) == 0  # one query for, one against: no ranker has an edge


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"step": "large"}, "step='large'"),
        ({"loss": "hinge"}, "loss='hinge'"),
        ({"weak": "strong"}, "weak='strong'"),
        ({"n_thresholds": 256}, "n_thresholds=256"),
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"smoothing": -1.0}, "smoothing"),
        ({"weak": "real", "step": "closed"}, 'step="closed"'),
        ({"loss": "logistic", "step": "bound"}, 'step="bound"'),
    ],
)
def test_refusals_name_the_parameter(parameters, match):
    with pytest.raises(ValueError, match=match):
        RankBoost(**parameters).fit([[1.0], [0.0]], [1, 0], qid=[1, 1])


@pytest.mark.parametrize("weak", ["threshold", "real"])
def test_sparse_is_dense(weak):
    from scipy.sparse import csr_matrix

    data = random_data(6, missing=False)
    dense = RankBoost(n_estimators=6, weak=weak).fit(data)
    sparse = RankBoost(n_estimators=6, weak=weak).fit(data.replace(X=csr_matrix(data.X)))
    np.testing.assert_array_equal(sparse.predict(csr_matrix(data.X), qid=data.qid), dense.predict(data))


@parametrize_with_checks([small(RankBoost, weak="real", n_estimators=15), small(RankBoost, loss="logistic")])
def test_battery_of_the_other_forms(check):
    check()


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_training_ends_at_the_minimum(loss):
    """Two real features: after some rounds the edges are rounding, and the loss is the least there is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)).astype(np.float32)
    y = (X[:, 0] + 2 * rng.normal(size=400) > 0) * 1.0
    data = RankingDataset.from_arrays(X, y, group=np.full(20, 20))
    ranker = RankBoost(weak="real", step="search", loss=loss, n_estimators=200, smoothing=0.0).fit(data)
    assert len(ranker.rounds_) < 200
    made = {"exponential": Exponential, "logistic": Logistic}[loss]()
    X64 = data.X.astype(float)
    least = minimize(lambda w: made(X64 @ w, data), np.zeros(2), jac=lambda w: X64.T @ made.gradient(X64 @ w, data)[0])
    np.testing.assert_allclose(made(ranker.predict(data), data), least.fun, rtol=1e-9)
