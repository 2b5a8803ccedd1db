"""Stochastic learners against plain loops, exact distributions and exact optima; streams against memory."""

from __future__ import annotations

import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.stats import chisquare

import plackett as pk
from plackett import RankingDataset, read_letor, write_letor
from plackett.data.canonical import canonical_order
from plackett.data.preferences import Preferences
from plackett.rankers import storage
from plackett.rankers.pairwise.stochastic.alias import alias_table
from plackett.rankers.pairwise.stochastic.descent import Descent
from plackett.rankers.pairwise.stochastic.learners import LEARNERS
from plackett.rankers.pairwise.stochastic.loops import IRRELEVANT, LOOPS, RELEVANT, draw, make_draws
from plackett.rankers.pairwise.stochastic.streaming import Survey
from plackett.rankers.pairwise.stochastic_rank import StochasticRank
from plackett.solvers.training_vectors import rows_of


def task(seed=0, n_queries=6, n_features=5, weighted=False, sparse=False):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(1, 8, n_queries))
    X = np.where(rng.random((qid.size, n_features)) < 0.4, 0.0, rng.normal(size=(qid.size, n_features)))
    X = X.astype(np.float32)
    y = rng.integers(-1, 3, qid.size).astype(float)
    weights = {}
    if weighted:
        weights = {"sample_weight": rng.integers(0, 4, qid.size), "query_weight": rng.integers(1, 3, n_queries)}
    return RankingDataset.from_arrays(csr_matrix(X) if sparse else X, y, qid, **weights)


def drawn(data, loop, n, seed=7, probability=0.3, margin=1.0):
    draws = make_draws(LOOPS[loop], data, rel=1.0, margin=margin, pair_probability=probability)
    first, second, margins = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    draw(np.uint64(seed), first, second, margins, draws)
    return first, second, margins, draws


# ----------------------------------------------------------------------------------------------------------- draws


@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=40))
def test_alias_tables_have_the_probabilities(weights):
    weights = np.array(weights)
    table = alias_table(weights)
    if weights.sum() == 0:
        assert table.keep.size == 0
        return
    result = np.zeros(weights.size)
    np.add.at(result, np.arange(weights.size), table.keep)
    np.add.at(result, table.other, 1.0 - table.keep)
    np.testing.assert_allclose(result / weights.size, weights / weights.sum(), atol=1e-12)


def exact(data, loop, probability):
    """Probability of each example, from the definition: a double loop over all documents."""
    weight = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
    query_weight = np.ones(data.n_queries) if data.query_weight is None else data.query_weight
    q, y = data.query_of_row, data.y
    both = weight * query_weight[q]
    pairs, roc, single, balanced = {}, {}, {}, {}
    for u in range(data.n_rows):
        for v in range(data.n_rows):
            if q[u] == q[v] and y[u] > y[v] >= 0 and weight[u] * weight[v] > 0:
                pairs[u, v] = weight[u] * weight[v] * query_weight[q[u]]
            if y[u] >= 1 > y[v] >= 0 and both[u] * both[v] > 0:
                roc[u, v] = both[u] * both[v]
        if y[u] >= 0 and both[u] > 0:
            single[u, RELEVANT if y[u] >= 1 else IRRELEVANT] = both[u]
    for side in (RELEVANT, IRRELEVANT):
        total = sum(w for (_, s), w in single.items() if s == side)
        balanced |= {key: w / total for key, w in single.items() if key[1] == side}
    by_query = {}
    for (u, v), w in pairs.items():
        by_query[u, v] = w / sum(w2 for (u2, _), w2 in pairs.items() if q[u2] == q[u]) * query_weight[q[u]]

    def scaled(table, share):
        total = sum(table.values())
        return {key: share * w / total for key, w in table.items()}

    return {
        "stochastic": scaled(single, 1.0),
        "balanced-stochastic": scaled(balanced, 1.0),
        "roc": scaled(roc, 1.0),
        "rank": scaled(pairs, 1.0),
        "query-norm-rank": scaled(by_query, 1.0),
        "combined-ranking": scaled(pairs, probability) | scaled(single, 1 - probability),
        "combined-roc": scaled(roc, probability) | scaled(single, 1 - probability),
    }[loop]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loop", LOOPS)
def test_loops_draw_from_the_exact_distribution(loop, weighted):
    data = task(seed=3, n_queries=9, weighted=weighted)
    n = 100_000
    first, second, _, _ = drawn(data, loop, n)
    expected = exact(data, loop, 0.3)
    result = dict.fromkeys(expected, 0)
    for key, count in zip(*np.unique(np.stack([first, second], axis=1), axis=0, return_counts=True), strict=True):
        result[tuple(key.tolist())] += int(count)  # a KeyError is a draw that must not be
    assert len(expected) > 5
    assert chisquare(list(result.values()), n * np.array(list(expected.values()))).pvalue > 1e-3


def test_preferences_are_drawn_in_place_of_labels():
    data = task()
    pairs = Preferences.from_pairs([(0, 1), (1, 0), (0, 1)], margin=[3.0, 0.5, 2.0], weight=[1.0, 2.0, 0.0])
    data = data.replace(y=None, preferences=pairs)
    first, second, margins, _ = drawn(data, "rank", 3000)
    assert set(zip(first, second, margins, strict=True)) == {(0, 1, 3.0), (1, 0, 0.5)}
    assert abs((first == 1).mean() - 2 / 3) < 0.03
    with pytest.raises(ValueError, match="labels"):
        drawn(data, "roc", 1)


def test_nothing_to_draw():
    data = RankingDataset.from_arrays(np.eye(3), [1, 1, -1], [1, 1, 1])
    assert make_draws(LOOPS["rank"], data, rel=1.0, margin=1.0, pair_probability=1.0).empty
    # a combined loop without pairs draws documents
    _, second, _, draws = drawn(data, "combined-ranking", 50)
    assert draws.pair_probability == 0.0 and set(second) == {RELEVANT}


# ----------------------------------------------------------------------------------------------------------- steps


def reference(learner, examples, margins, alpha, eta0, C):
    """The learners as their papers have them; all weights, one after another."""
    w, path = np.zeros(examples.shape[1]), []
    for t, (x, margin) in enumerate(zip(examples, margins, strict=True), 1):
        eta, z = 1 / (alpha * t), w @ x
        if learner in ("pegasos", "sgd-svm"):
            w = (1 - eta * alpha) * w + (eta * x if z < margin else 0.0)
        elif learner in ("logreg", "logreg-pegasos"):
            w = (1 - eta * alpha) * w + eta * x / (1 + np.exp(z - margin))
        elif learner == "passive-aggressive":
            if z < margin and x.any():
                w = w + min(C, (margin - z) / (x @ x)) * x
        elif learner == "margin-perceptron":
            w = w + (eta0 * x if z <= margin else 0.0)
        elif learner == "romma" and z < margin and x.any():
            w = shortest(w, x, margin)
        if learner in ("pegasos", "logreg-pegasos"):
            w = w * min(1.0, 1 / np.sqrt(alpha) / max(np.linalg.norm(w), 1e-300))
        path.append(w)
    return np.array(path)


def shortest(w, x, margin):
    """The least |w'| with w'·x ≥ margin and w'·w ≥ |w|², by the equations of its two active constraints."""
    A = np.array([x, w])
    if np.linalg.matrix_rank(A, tol=1e-9) < 2:
        return margin * x / (x @ x)
    return A.T @ np.linalg.solve(A @ A.T, [margin, w @ w])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loop", ["rank", "combined-ranking"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_steps_against_a_plain_loop(learner, loop, sparse):
    data, n, alpha = task(seed=5, sparse=sparse), 700, 0.05
    ranker = StochasticRank(learner=learner, loop=loop, alpha=alpha, rank_step_probability=0.3, C=0.3)
    kind, settings = ranker._learner()
    scale = np.arange(1.0, data.n_features + 1)
    descent = Descent(data.n_features, scale, 7)
    descent.run(kind.run, rows_of(data.X, scale), ranker._draws(data), settings, 300)
    descent.run(kind.run, rows_of(data.X, scale), ranker._draws(data), settings, n - 300)
    first, second, margins, _ = drawn(data, loop, n, margin=kind.margin)
    X = np.column_stack([(data.X.toarray() if sparse else data.X) / scale, np.ones(data.n_rows)])
    single = np.where(second == RELEVANT, 1.0, -1.0)[:, None] * X[first]
    path = reference(learner, np.where((second < 0)[:, None], single, X[first] - X[second]), margins, alpha, 0.02, 0.3)
    w, intercept = descent.weights(average=False)
    np.testing.assert_allclose(np.append(w * scale, intercept), path[-1], rtol=1e-7, atol=1e-9)
    w, intercept = descent.weights(average=True)  # over the steps after 256, the last power of two but one
    np.testing.assert_allclose(np.append(w * scale, intercept), path[256:].mean(axis=0), rtol=1e-7, atol=1e-9)


def test_romma_takes_the_shortest_weights():
    rng = np.random.default_rng(0)
    for _ in range(5):
        w, x = rng.normal(size=4), rng.normal(size=4)
        if w @ x >= 1:
            continue
        limits = [
            {"type": "ineq", "fun": lambda v, x=x: v @ x - 1},
            {"type": "ineq", "fun": lambda v, w=w: v @ w - w @ w},
        ]
        solved = minimize(lambda v: v @ v, w, jac=lambda v: 2 * v, constraints=limits, options={"ftol": 1e-14})
        np.testing.assert_allclose(shortest(w, x, 1.0), solved.x, atol=1e-5)


def test_passive_aggressive_is_a_projection():
    """One pair: the nearest weights that reach the margin; at most C times the pair."""
    data = RankingDataset.from_arrays([[3.0, 0.0], [0.0, 4.0]], [1, 0], [1, 1])
    x = np.array([3.0, -4.0])
    for C, expected in ((1.0, x / 25.0), (0.01, 0.01 * x)):
        ranker = StochasticRank(learner="passive-aggressive", C=C, n_steps=1, average=False, standardize=False)
        np.testing.assert_allclose(ranker.fit(data).scorer_.weights[:, 0], expected)


def pair_table(data):
    pairs = Preferences.from_labels(data)
    return data.X[pairs.winner].astype(float) - data.X[pairs.loser]


@pytest.mark.parametrize("learner", ["pegasos", "sgd-svm"])
def test_pegasos_comes_near_the_exact_optimum(learner):
    data, alpha = task(seed=2, n_queries=20), 0.05
    Z = pair_table(data)
    P = len(Z)

    def dual(a):
        v = Z.T @ a
        return v @ v / (2 * alpha) - a.sum(), Z @ v / alpha - 1

    exactly = {"ftol": 1e-15, "gtol": 1e-9}
    solved = minimize(dual, np.full(P, 0.5 / P), jac=True, bounds=[(0, 1 / P)] * P, options=exactly)
    ranker = StochasticRank(learner=learner, loop="rank", alpha=alpha, standardize=False, n_steps=300_000).fit(data)
    w = ranker.scorer_.weights[:, 0]
    primal = alpha / 2 * w @ w + np.maximum(0, 1 - Z @ w).mean()
    assert 0 <= primal + solved.fun < 1e-4
    np.testing.assert_allclose(w, Z.T @ solved.x / alpha, atol=0.02)


@pytest.mark.parametrize("learner", ["logreg-pegasos", "logreg"])
def test_logistic_learners_come_near_the_exact_optimum(learner):
    data, alpha = task(seed=2, n_queries=20), 0.05
    Z = pair_table(data)
    solved = minimize(lambda w: alpha / 2 * w @ w + np.logaddexp(0, -Z @ w).mean(), np.zeros(Z.shape[1]))
    ranker = StochasticRank(learner=learner, loop="rank", alpha=alpha, standardize=False, n_steps=300_000).fit(data)
    np.testing.assert_allclose(ranker.scorer_.weights[:, 0], solved.x, atol=0.02)


def test_weights_stay_in_the_ball():
    data = task(seed=1)
    for steps in (1, 2, 3, 50):
        ranker = StochasticRank(loop="rank", alpha=4.0, standardize=False, n_steps=steps, average=False).fit(data)
        assert np.linalg.norm(ranker.scorer_.weights) <= 0.5 + 1e-12


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_everything_with_everything_learns(learner, loop):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.digitize(X[:, 0] - X[:, 1], [0.0, 1.0])
    ranker = StochasticRank(learner=learner, loop=loop, n_steps=20_000).fit(X, y, qid=np.arange(300) // 10)
    assert ranker.score(X, y, qid=np.arange(300) // 10) > 0.97


# ------------------------------------------------------------------------------------------------------ partial_fit


def test_partial_fit_goes_on():
    data = task(seed=6, n_queries=15)
    whole = StochasticRank(n_steps=1000).fit(data)
    parts = StochasticRank(n_steps=1).partial_fit(data, n_steps=400).partial_fit(data, n_steps=600)
    np.testing.assert_array_equal(whole.predict(data), parts.predict(data))
    whole.partial_fit(data)
    assert whole.descent_.steps == 1000 + data.n_rows


def test_partial_fit_learns_from_batches():
    rng = np.random.default_rng(0)
    ranker = StochasticRank(standardize=False)
    for _ in range(30):
        X = rng.normal(size=(40, 3))
        ranker.partial_fit(X, X[:, 0] > 0.5 * X[:, 2], qid=np.arange(40) // 10)
    X = rng.normal(size=(200, 3))
    assert ranker.score(X, X[:, 0] > 0.5 * X[:, 2], qid=np.arange(200) // 10) > 0.95
    with pytest.raises(ValueError, match="2 features"):
        ranker.partial_fit(X[:, :2], X[:, 0] > 0, qid=np.arange(200) // 10)
    for n_steps in (0, -5, 2.5):
        with pytest.raises(ValueError, match=f"n_steps={n_steps}; give a whole number"):
            ranker.partial_fit(X, X[:, 0] > 0, qid=np.arange(200) // 10, n_steps=n_steps)


def test_loaded_rankers_do_not_go_on(tmp_path, monkeypatch):
    from plackett._names.catalogue import Item, items

    name = "StochasticRank"
    mine = [Item("ranker", name, StochasticRank.__module__, name, "rankers", True, (), "", "")]
    monkeypatch.setattr(storage, "items", lambda kind: items(kind) + mine)
    data = task(seed=6)
    StochasticRank(n_steps=10).fit(data).save(tmp_path / "model")
    with pytest.raises(ValueError, match="cannot continue"):
        storage.load(tmp_path / "model").partial_fit(data)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"learner": "pegasus"}, "learner='pegasus'; give one of 'pegasos', 'sgd-svm', 'passive-aggressive'"),
        ({"loop": "ranking"}, "query-norm-rank"),
        ({"rate": "fast"}, "constant"),
        ({"n_steps": 0}, "n_steps=0"),
        ({"alpha": 0.0}, "positive alpha"),
        ({"alpha": float("nan")}, "alpha=nan"),
        ({"rank_step_probability": 1.5}, "from 0 to 1"),
        ({"loop": "roc", "rel": 9.0}, "choose another rel"),
    ],
)
def test_refusals(parameters, match):
    with pytest.raises(ValueError, match=match):
        StochasticRank(**parameters).fit(task())


# ------------------------------------------------------------------------------------------------------------ files


@pytest.fixture(scope="module")
def letor(tmp_path_factory):
    """A file of 400 queries, plain and compressed."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(400), rng.integers(2, 40, 400))
    X = rng.normal(size=(qid.size, 20)).astype(np.float32)
    y = np.digitize(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=qid.size), [0.0, 1.0])
    path = tmp_path_factory.mktemp("letor") / "train.txt"
    write_letor(RankingDataset.from_arrays(X, y, qid), path)
    packed = path.with_suffix(".txt.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return path, packed


@pytest.mark.parametrize("loop", LOOPS)
def test_a_file_of_one_block_is_the_same_as_memory(letor, loop):
    data = read_letor(letor[0])
    expected = StochasticRank(loop=loop, n_steps=3000).fit(data).predict(data)
    for path, sparse in ((letor[0], False), (letor[1], False), (letor[0], True)):
        result = StochasticRank(loop=loop, n_steps=3000).fit_file(path, sparse=sparse).predict(data)
        if sparse:  # sums in another order
            np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-8)
        else:
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("loop", ["rank", "query-norm-rank", "stochastic", "combined-ranking"])
def test_blocks_together_have_the_distribution_of_the_file(letor, loop):
    """Share of a block times the probability in the block is the probability in the file, for pairs and documents."""
    data = canonical_order(read_letor(letor[0])).select(np.arange(30))
    probability = 0.3 if loop == "combined-ranking" else 1.0

    def tables(part):
        return make_draws(LOOPS[loop], part, rel=1.0, margin=1.0, pair_probability=probability)

    survey, blocks = Survey(), [data.select(np.arange(a, b)) for a, b in ((0, 5), (5, 6), (6, 20), (20, 30))]
    for block in blocks:
        survey.add(block, tables(block))
    shares, pair_shares = survey.shares(probability)
    np.testing.assert_allclose(shares.sum(), 1.0)
    whole = exact(data, loop, probability)
    start = 0
    for block, share, pair_share in zip(blocks, shares, pair_shares, strict=True):
        for (u, v), p in exact(block, loop, pair_share).items():
            np.testing.assert_allclose(share * p, whole[u + start, v + start if v >= 0 else v], rtol=1e-9)
        start += block.n_rows
    plans = list(survey.schedule(1001, 3, probability))
    assert sum(steps for plan in plans for steps, _ in plan) == 1001
    np.testing.assert_allclose(
        [[steps for steps, _ in plan] for plan in plans], np.tile(shares * 1001 / 3, (3, 1)), atol=1
    )
    np.testing.assert_allclose(survey.scale, data.X.std(axis=0), rtol=1e-5)


def test_many_blocks_learn_in_bounded_memory(letor):
    data = read_letor(letor[0])
    size, chunk = letor[0].stat().st_size, 1 << 16
    assert size > 20 * chunk
    settings = {"loop": "rank", "n_steps": 100_000}
    StochasticRank(**settings).fit_file(letor[0], chunk_bytes=chunk)  # compiled, and imported

    def peak(**options):
        tracemalloc.start()
        ranker = StochasticRank(**settings).fit_file(letor[0], n_features=20, **options)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return ranker, most

    ranker, blocks = peak(chunk_bytes=chunk, passes=3)
    _, everything = peak(chunk_bytes=1 << 26)
    # a block reads pieces of a megabyte of plain text
    assert blocks < (1 << 20) + 25 * chunk < everything
    assert ranker.score(data) > 0.97 * StochasticRank(**settings).fit(data).score(data)
    assert ranker.card_["data"] == {"file": "train.txt", "queries": 400, "rows": data.n_rows, "features": 20}
    assert ranker.descent_.steps == 100_000


def test_files_with_validation_data(letor):
    data = read_letor(letor[0])
    ranker = StochasticRank(n_steps=4000).fit_file(letor[1], passes=4, chunk_bytes=1 << 18, eval_set=data)
    assert len(ranker.history_) == 4 and ranker.score(data) == pytest.approx(max(ranker.history_), rel=1e-12)
    again = StochasticRank(n_steps=4000).fit_file(letor[0], passes=4, chunk_bytes=1 << 18, eval_set=data)
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))


def test_files_that_are_refused(letor, tmp_path):
    for passes in (0, 1.5):
        with pytest.raises(ValueError, match=f"passes={passes}; give a whole number"):
            StochasticRank().fit_file(letor[0], passes=passes)
    broken = tmp_path / "broken.txt"
    broken.write_text("1 qid:1 1:nan\n0 qid:1 1:1\n")
    with pytest.raises(ValueError, match="broken.txt has missing values"):
        StochasticRank().fit_file(broken)
    with pytest.raises(IsADirectoryError):
        StochasticRank().fit_file(tmp_path)


def test_weights_of_a_native_file(tmp_path):
    """One block gives the result of `fit`, with weights too; several have the same spread of the features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    weights = {"sample_weight": rng.random(60), "query_weight": rng.integers(0, 3, 6)}
    data = RankingDataset.from_arrays(X, np.digitize(X[:, 0], [0.0]), np.repeat(np.arange(6), 10), **weights)
    path = tmp_path / "a.plackett"
    pk.write(data, path)
    ranker = StochasticRank(n_steps=500)
    whole = ranker.fit(data).descent_.scale
    weights_of_fit = ranker.coef_
    assert np.array_equal(ranker.fit_file(path).coef_, weights_of_fit)
    np.testing.assert_allclose(ranker.fit_file(path, chunk_bytes=1).descent_.scale, whole, rtol=1e-12)
    for chunk_bytes in (0, "1"):
        with pytest.raises(pk.DataError, match="chunk_bytes=.*; give a whole number of 1 or more"):
            ranker.fit_file(path, chunk_bytes=chunk_bytes)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_are_converted_first(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    pk.write(RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], [1, 1]), path)
    with pytest.raises(pk.DataError, match=f"convert the table first .plackett convert {path} "):
        StochasticRank().fit_file(path)
