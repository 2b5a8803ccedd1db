from __future__ import annotations

import contextlib

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from plackett._files import storage
from plackett.applications import (
    AlternatingLeastSquares,
    FactorRecommender,
    Ratings,
    candidates,
    popularity,
    read_ratings,
)
from plackett.applications.factors import _Problem
from plackett.losses.listwise.query_softmax import QuerySoftmaxLoss
from plackett.losses.pairwise.exponential import Exponential
from plackett.losses.pairwise.logistic import Logistic
from plackett.losses.pointwise.square import Square
from plackett.models.linear import Linear

LOSSES = [Logistic(), Exponential(), QuerySoftmaxLoss(), Square()]


def _ratings(n_users=8, n_items=12, share=0.4, seed=0):
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((n_users, n_items)) < share)
    return Ratings.from_arrays(user, item, rng.integers(1, 6, user.size), catalogue=np.arange(n_items))


@pytest.mark.parametrize("negatives", [0, 2])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_gradient_by_finite_differences(loss, negatives):
    ratings, rng = _ratings(), np.random.default_rng(1)
    model = FactorRecommender(loss=loss, n_factors=3, negatives=negatives, penalty=0.3)
    x, z = rng.normal(size=(ratings.n_users, 2)), rng.normal(size=(ratings.n_items, 3))
    problem = _Problem(model, ratings, x, z)
    problem.draw(1)
    at = rng.normal(0, 0.5, problem.start(rng).size)

    def value(parameters):
        return problem.evaluate(parameters)[0] + 0.3 * parameters @ parameters

    result = problem.evaluate(at)[1]
    for direction in rng.normal(size=(5, at.size)):
        step = 1e-6 * direction
        assert (value(at + step) - value(at - step)) / 2e-6 == pytest.approx(result @ direction, rel=1e-5, abs=1e-5)


def test_gradient_of_the_formula_by_a_plain_loop():
    """Exponential pairs over items rated differently, written out."""
    ratings = _ratings(5, 6, 0.7)
    model = FactorRecommender(loss=Exponential(), n_factors=2, negatives=0, penalty=0.0)
    problem = _Problem(model, ratings, None, None)
    problem.draw(1)
    at = np.random.default_rng(0).normal(size=problem.start(np.random.default_rng(0)).size)
    P, Q, b = problem.factors(at)
    dP, total = np.zeros_like(P), 0.0
    for u in range(ratings.n_users):
        rows = np.flatnonzero(ratings.user == u)
        for r in rows:
            for s in rows[ratings.values[rows] < ratings.values[r]]:
                i, j = ratings.item[r], ratings.item[s]
                wrong = np.exp(-(P[u] @ (Q[i] - Q[j]) + b[i] - b[j]))
                total += wrong
                dP[u] -= wrong * (Q[i] - Q[j])
    value, gradient = problem.evaluate(at)
    assert value == pytest.approx(total)
    np.testing.assert_allclose(problem.parts(gradient)["P"], dP, rtol=1e-8)


def test_planted_preferences_are_recovered():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    user, item = np.nonzero(rng.random(truth.shape) < 0.6)
    ratings = Ratings.from_arrays(user, item, 1 + np.digitize(truth[user, item], [-1, 0, 1]))
    model = FactorRecommender(loss=Logistic(), n_factors=2, negatives=0, penalty=0.1, n_steps=100).fit(ratings)
    scores = model.user_factors_ @ model.item_factors_.T + model.item_bias_
    unseen = np.ones(truth.shape, bool)
    unseen[user, item] = False
    right = [
        np.mean(np.sign(np.subtract.outer(s, s)) == np.sign(np.subtract.outer(t, t)))
        for s, t in ((scores[u, unseen[u]], truth[u, unseen[u]]) for u in range(60))
    ]
    assert np.mean(right) > 0.85
    assert model.losses_[-1] < 0.5 * model.losses_[0]


def test_fixed_items_give_a_linear_ranker_for_each_user():
    """Folding a user in is what a linear model with the same loss and penalty finds."""
    ratings = _ratings(20, 15)
    model = FactorRecommender(loss=Logistic(), n_factors=3, negatives=0, penalty=0.5, n_steps=20).fit(ratings)
    model.item_bias_[:] = 0.0
    items, values = np.array([3, 1, 7, 9, 4]), np.array([5, 1, 4, 2, 2])
    result = model.fold_in(items, values)
    data = pk.RankingDataset.from_arrays(model.item_factors_[items], values)
    linear = Linear(alpha=2 * 0.5, standardize=False, tol=1e-12)
    ranker = pk.GradientRanker(loss=Logistic(), model=linear).fit(data)
    centred = model.item_factors_ @ result
    expected = ranker.predict(pk.RankingDataset.from_arrays(model.item_factors_))
    np.testing.assert_allclose(centred - centred[0], expected - expected[0], atol=2e-4)


def test_cold_start_by_features():
    """Two tastes and two kinds of items: an item without a single rating goes to those who like its kind."""
    rng = np.random.default_rng(0)
    taste, kind = np.arange(40) % 2, np.arange(20) % 2
    user, item = np.nonzero((taste[:, None] == kind) & (rng.random((40, 20)) < 0.5) & (np.arange(20) < 18))
    ratings = Ratings.from_arrays(user, item, catalogue=np.arange(20))
    features = np.eye(2)[kind]
    model = FactorRecommender(n_factors=4, penalty=0.1).fit(ratings, item_features=features)
    factors, _ = model.new_items(features[18:])
    scores = model.user_factors_ @ factors.T
    assert ((scores[:, 0] > scores[:, 1]) == (taste == kind[18])).all()


def test_draws_are_unrated_items():
    ratings = _ratings(6, 9, 0.5)
    problem = _Problem(FactorRecommender(negatives=2), ratings, None, None)
    problem.draw(1)
    rated = set(zip(ratings.user.tolist(), ratings.item.tolist(), strict=True))
    drawn = np.setdiff1d(np.arange(problem.user.size), problem.rows)
    pairs = set(zip(problem.user[drawn].tolist(), problem.item[drawn].tolist(), strict=True))
    assert pairs
    assert not pairs & rated
    first = problem.item.copy()
    problem.draw(2)
    assert (first != problem.item).any()


def test_a_user_who_rated_everything():
    ratings = Ratings.from_arrays([0, 0, 1], [0, 1, 0], [1, 2, 1])
    model = FactorRecommender(n_factors=2, n_steps=30).fit(ratings)
    assert model.recommend(0) == []
    assert model.recommend(1) == [1]
    assert sorted(model.recommend(99)) == [0, 1]


def test_candidates_are_all_items_not_rated_before():
    ratings = _ratings(10, 8, 0.6)
    train, test = ratings.split(np.arange(ratings.n_rows) % 3 == 0)
    data = candidates(train, test, relevant=4)
    for q, u in enumerate(data.qids):
        rows = slice(data.offsets[q], data.offsets[q + 1])
        seen = train.item[train.user == u]
        assert set(data.docids[rows]) == set(range(8)) - set(seen)
        good = test.item[(test.user == u) & (test.values >= 4)]
        assert set(data.docids[rows][data.y[rows] > 0]) == set(good)
    assert data.n_queries == np.unique(test.user[test.values >= 4]).size
    counts = popularity(train, data)
    assert counts.tolist() == [float((train.item == i).sum()) for i in data.docids]


def test_files(tmp_path):
    whole, part = tmp_path / "u.data", tmp_path / "u1.test"
    whole.write_text("1\t10\t5\t100\n2\t10\t3\t90\n1\t11\t1\t95\n")
    part.write_text("1\t11\t1\t95\n9\t10\t3\t90\n")
    ratings = read_ratings(whole)
    assert ratings.rows_in(read_ratings(part)).tolist() == [False, True, False]
    assert ratings.times.tolist() == [100, 95, 90]
    for text, message in [
        ("1\t2\n", "2 columns"),
        ("1\t2\tgood\n", "line 1: value 'good' is not a number"),
        ("1\t2\t0\n", "above 0"),
        ("1\t2\t3\n1\t2\t4\n", "twice"),
    ]:
        part.write_text(text)
        with pytest.raises(DataError, match=f"u1.test.*{message}"):
            read_ratings(part)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"n_factors": 0}, "n_factors=0"), ({"negatives": -1}, "negatives=-1"), ({"penalty": -1}, "penalty=-1")],
)
def test_parameters(change, message):
    with pytest.raises(DataError, match=message):
        FactorRecommender(**change).fit(_ratings())
    with pytest.raises(DataError, match="item_features"):
        FactorRecommender().fit(_ratings(), item_features=np.ones((2, 2)))
    with pytest.raises(DataError, match="not trained"):
        FactorRecommender().recommend(1)
    for parameters, message in [({"n_factors": 2.5}, "n_factors=2.5"), ({"penalty": 0.0}, "penalty=0.0")]:
        with pytest.raises(DataError, match=message):
            AlternatingLeastSquares(**parameters).fit(_ratings())


def _objective(model, ratings, P, Q):
    """The formula, over all pairs."""
    used = np.zeros((ratings.n_users, ratings.n_items))
    used[ratings.user, ratings.item] = 1.0
    weight = np.where(used > 0, model.confidence, 1.0)
    total = (weight * (used - P @ Q.T) ** 2).sum()
    for factors, counts, size in ((P, used.sum(1), ratings.n_items), (Q, used.sum(0), ratings.n_users)):
        scale = (counts + size / model.confidence) ** model.exponent
        total += (model.penalty * scale / scale.mean() * (factors**2).sum(axis=1)).sum()
    return total


def test_least_squares_solves_each_users_system():
    """With many steps the last half pass, over the items, is the exact solution; each pass lowers the objective."""
    ratings = _ratings(30, 20)
    model = AlternatingLeastSquares(n_factors=4, penalty=2.0, confidence=4.0, n_steps=50, n_iterations=6).fit(ratings)
    P, Q = model.user_factors_, model.item_factors_
    used = np.zeros((30, 20))
    used[ratings.user, ratings.item] = 1.0
    penalty = model._penalties(used.sum(0), used.sum(0), 30)
    for i in range(20):
        weight = np.where(used[:, i] > 0, 4.0, 1.0)
        A = (P * weight[:, None]).T @ P + penalty[i] * np.eye(4)
        np.testing.assert_allclose(Q[i], np.linalg.solve(A, P.T @ (weight * used[:, i])), atol=2e-5)
    values = []
    for n in (1, 2, 4, 8):
        fitted = AlternatingLeastSquares(n_factors=4, penalty=2.0, confidence=4.0, n_iterations=n).fit(ratings)
        values.append(_objective(fitted, ratings, fitted.user_factors_, fitted.item_factors_))
    assert (np.diff(values) < 1e-6 * values[0]).all()


def test_least_squares_ends_in_a_stationary_point():
    ratings = _ratings(15, 10)
    model = AlternatingLeastSquares(n_factors=2, penalty=1.0, exponent=1.0, n_iterations=300, n_steps=20).fit(ratings)
    P, Q, rng = model.user_factors_, model.item_factors_, np.random.default_rng(0)
    for _ in range(5):
        dP, dQ = rng.normal(size=P.shape), rng.normal(size=Q.shape)
        up, down = (_objective(model, ratings, P + s * dP, Q + s * dQ) for s in (1e-4, -1e-4))
        assert abs(up - down) / 2e-4 < 1e-2
        assert up + down > 2 * _objective(model, ratings, P, Q)


def test_least_squares_by_threads_and_for_the_new():
    ratings = _ratings(400, 60)
    one, two = (AlternatingLeastSquares(n_factors=5, n_jobs=n).fit(ratings) for n in (1, 2))
    assert (one.user_factors_ == two.user_factors_).all()
    rated = ratings.item[ratings.user == 3]
    again = AlternatingLeastSquares(n_factors=5, n_steps=30, n_iterations=20).fit(ratings)
    # someone with the ratings of user 3 gets that user's factors, up to the pass over the items after them
    np.testing.assert_allclose(again.fold_in(rated), again.user_factors_[3], atol=0.02)
    assert again.recommend_for(rated, k=5) == again.recommend(3, 5)
    assert len(again.recommend("who", 5)) == 5


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("kind", [AlternatingLeastSquares, FactorRecommender])
def test_saved_recommenders_give_the_same_lists(tmp_path, kind, text):
    ratings = _ratings()
    if text:
        ratings = Ratings.from_arrays([f"u{u}" for u in ratings.user], [f"ï{i}" for i in ratings.item], ratings.values)
    model = kind(n_factors=3).fit(ratings)
    path = tmp_path / "films.plackett"
    model.save(path)
    loaded = pk.load(path)
    assert type(loaded) is kind
    data = candidates(*ratings.split(np.arange(ratings.n_rows) % 4 == 0))
    assert (loaded.predict(data) == model.predict(data)).all()
    for user in [*ratings.users.tolist(), "nobody" if text else 99]:
        assert loaded.recommend(user, 4) == model.recommend(user, 4)
    items = ratings.items[:2].tolist()
    np.testing.assert_allclose(loaded.fold_in(items), model.fold_in(items))


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "films.plackett"
    AlternatingLeastSquares(n_factors=2).fit(_ratings()).save(path)
    arrays, metadata = storage.read(path, mmap=False)
    bad = {
        "user_factors": arrays["user_factors"][1:],
        "item_factors": arrays["item_factors"] * np.nan,
        "seen_items": arrays["seen_items"] + 5,
        "seen_offsets": arrays["seen_offsets"][::-1],
        "items": arrays["items"][::-1],
    }
    for name, array in bad.items():
        storage.write(path, arrays | {name: array}, metadata)
        with pytest.raises(DataError, match=f"{name} is damaged"):
            pk.load(path)
    for tokens in (
        '{"algorithm": "Ratings", "parameters": {}}',
        '{"algorithm": "Recommender", "parameters": {}}',
        "[1]",
    ):
        storage.write(path, arrays, metadata | {"recommender": tokens})
        with pytest.raises(DataError):
            pk.load(path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(50):  # never anything but an error of ours, or a recommender
        at = int(rng.integers(len(whole)))
        path.write_bytes(whole[:at] + bytes([rng.integers(256)]) + whole[at + 1 :])
        with contextlib.suppress(DataError):
            pk.load(path)


@pytest.mark.full
def test_numbers_of_the_page(data_dir):
    """MovieLens 100k, split u5: least squares as in the benchmark, and popularity."""
    folder = data_dir / "movielens-100k"
    if not folder.is_dir():
        pytest.skip("needs movielens-100k")
    ratings = read_ratings(folder / "u.data")
    train, test = ratings.split(ratings.rows_in(read_ratings(folder / "u5.test")))
    data = candidates(train, test, relevant=0.0)
    model = AlternatingLeastSquares(n_factors=32, n_iterations=5, penalty=13.2, confidence=1.58, exponent=0.25)
    value = pk.evaluate(data, model.fit(train).predict(data), "nDCG@10").mean["nDCG@10"]
    assert value == pytest.approx(0.4161, abs=0.002)
    assert pk.evaluate(data, popularity(train, data), "nDCG@10").mean["nDCG@10"] < 0.6 * value


def test_ids_and_values_do_not_depend_on_the_first_lines(tmp_path):
    """Whole numbers may be followed by others, and ids that look like numbers by names."""
    path = tmp_path / "ratings.csv"
    rows = [f"{i},{i % 7},4" for i in range(300)]
    path.write_text("\n".join([*rows, "ann,07,3.5"]), encoding="utf-8")
    ratings = read_ratings(path, separator=",")
    assert ratings.n_rows == 301 and 3.5 in ratings.values.tolist()
    assert {"ann", "7", "299"} <= {*ratings.users.tolist()} and {"07", "0"} <= {*ratings.items.tolist()}
    path.write_text("\n".join(rows), encoding="utf-8")
    numbers = read_ratings(path, separator=",")
    assert numbers.users.dtype.kind == "i"
    assert ratings.rows_in(numbers).sum() == 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,item,value\na,b,3\n", "line 1: value 'value' is not a number; the file must not have a header"),
        ("a,b,3\na,c,x\n", "line 2: value 'x' is not a number"),
        ("a,b,3\n,c,3\n", "line 2: the user is missing"),
        ("a,b,3\na,c\n", "line 2: the value is missing"),
        ("a;b;3\n", "1 column with ',' between them"),
        ("a,b,3\na,c,3,4,5\n", "ratings.csv"),
        ("", "ratings.csv"),
    ],
)
def test_a_file_of_ratings_with_a_fault(tmp_path, text, message):
    path = tmp_path / "ratings.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_ratings(path, separator=",")


@pytest.mark.parametrize(
    "model",
    [
        AlternatingLeastSquares(n_factors=2, confidence=1e39),
        AlternatingLeastSquares(n_factors=2, penalty=np.inf),
        AlternatingLeastSquares(n_factors=2, exponent=np.nan),
        FactorRecommender(n_factors=2, n_steps=3, penalty=np.nan),
        FactorRecommender(n_factors=2, n_steps=3, learning_rate=1e300),
    ],
)
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_numbers_too_large_are_an_error(model):
    ratings = Ratings.from_arrays(["a", "a", "b", "b", "c"], ["x", "y", "x", "z", "w"])
    with pytest.raises(DataError, match="give|not finite"):
        model.fit(ratings)


def test_fewer_than_no_items():
    ratings = Ratings.from_arrays(["a", "a", "b", "b", "c"], ["x", "y", "x", "z", "w"])
    with pytest.raises(DataError, match="k=-1"):
        AlternatingLeastSquares(n_factors=2).fit(ratings).recommend("a", -1)


def test_damaged_maps_of_features_are_refused(tmp_path):
    path, ratings = tmp_path / "films.plackett", _ratings()
    features = np.random.default_rng(0).normal(size=(ratings.n_items, 2))
    FactorRecommender(n_factors=2, n_steps=1).fit(ratings, item_features=features).save(path)
    arrays, metadata = storage.read(path, mmap=False)
    for changed in (arrays["item_map"][:, :1], arrays["item_map"] * np.nan):
        storage.write(path, arrays | {"item_map": np.ascontiguousarray(changed)}, metadata)
        with pytest.raises(DataError, match="item_map is damaged"):
            pk.load(path)


def test_a_new_user_by_a_loss_without_a_value():
    """Two tastes; the loss has a gradient only, so that nothing can be solved for."""
    pairs = [(f"u{u}", f"{'ab'[u % 2]}{i}") for u in range(12) for i in range(8) if (u + i) % 3]
    ratings = Ratings.from_arrays(*zip(*pairs, strict=True))
    model = FactorRecommender(n_factors=2, n_steps=60, penalty=0.01, loss=pk.losses.Lambda()).fit(ratings)
    assert not model.losses_
    for taste in "ab":
        result = model.recommend_for([f"{taste}0", f"{taste}1"], k=6)
        assert {item[0] for item in result} == {taste}
