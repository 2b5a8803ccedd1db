"""One call from a log to a ranker: which way it takes, and that it is the one that the study measured."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

import plackett as pk
from plackett import clicks
from plackett.clicks.log import ClickLog
from plackett.clicks.simulate import PositionUsers, simulate_log
from plackett.clicks.unbiased import learning
from plackett.clicks.unbiased.guarded import BlendedRanker, _blended
from plackett.datasets import make_ranking


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=25, docs_per_query=8, n_features=4, random_state=0)


@pytest.fixture(scope="module")
def log(data):
    users = PositionUsers(strength=1.0)
    return clicks.simulate_log(data, data.X[:, 0], n_pages=1500, users=users, temperature=1.0, random_state=0)


def test_lists_that_never_change_are_learned_plainly(data):
    queries = data.qids[[0, 1]]
    documents = [[0, 1, 2], [8, 9, 10]]  # rows of the data
    fixed = ClickLog.from_arrays(queries.tolist() * 2, documents * 2, [[0, 1, 0], [1, 0, 0]] * 2)
    result = clicks.learn_from_clicks(fixed, data)
    assert (result.name, result.weight) == ("click rates", 0.0)
    assert "one rank only" in result.reason
    assert np.isfinite(result.ranker.predict(data)).all()


def test_without_clicks_nothing_is_learned(log, data):
    """Rates of a log without clicks are the prior, least for what was shown most: the logged order reversed."""
    with pytest.raises(pk.DataError, match="the log has no clicks"):
        clicks.learn_from_clicks(dataclasses.replace(log, clicks=np.zeros_like(log.clicks)), data)
    with pytest.raises(pk.DataError, match="the log has no clicks"):
        clicks.learn_from_clicks(dataclasses.replace(log, weight=np.zeros(log.n_pages)), data)
    first = np.where(log.query[log.page] == 0, log.clicks, 0)  # clicks on one query, features for the others
    others = data.replace(docids=np.arange(data.n_rows)).select(np.flatnonzero(data.qids != log.queries[0]))
    with pytest.raises(pk.DataError, match="no document with features was clicked"):
        clicks.learn_from_clicks(dataclasses.replace(log, clicks=first), others)


@pytest.mark.parametrize("enough", [1, 10_000])
def test_what_has_no_features_is_told(log, data, monkeypatch, enough):
    monkeypatch.setattr(learning, "ENOUGH_PAGES", enough)
    assert "no features" not in clicks.learn_from_clicks(log, data).reason
    few = data.replace(docids=np.arange(data.n_rows)).select(range(8))
    with pytest.warns(pk.PlackettWarning, match="of what was shown has no features.*ids agree"):
        result = clicks.learn_from_clicks(log, few)
    share = np.isin(log.query[log.page], np.flatnonzero(~np.isin(log.queries, few.qids))).mean()
    assert f"{share:.1%} of what was shown has no features" in result.reason
    with pytest.raises(pk.DataError, match=r"data is of type ndarray; make a dataset"):
        clicks.learn_from_clicks(log, data.X)


@pytest.mark.parametrize("enough", [1, 10_000])
def test_labels_and_weights_of_the_data_are_not_used(log, data, monkeypatch, enough):
    monkeypatch.setattr(learning, "ENOUGH_PAGES", enough)
    other = data.replace(y=data.y[::-1], sample_weight=np.arange(1.0, data.n_rows + 1))
    ours, theirs = clicks.learn_from_clicks(log, data), clicks.learn_from_clicks(log, other)
    np.testing.assert_array_equal(ours.ranker.predict(data), theirs.ranker.predict(data))


def test_a_hole_is_not_a_score_of_zero_for_its_whole_query(log, data):
    """A blend standardises scores within queries, where one NaN made all of them 0."""
    result = clicks.learn_from_clicks(log, data)
    holes = data.X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(pk.DataError, match=r"ExposureSoftmax does not accept.*make_pipeline\(pk.Imputer\(\)"):
        result.ranker.predict(data.replace(X=holes))


def test_columns_in_another_order_are_found_by_their_names(log, data):
    named = data.replace(feature_names=["a", "b", "c", "d"])
    ranker = clicks.learn_from_clicks(log, named).ranker
    turned = named.replace(X=data.X[:, ::-1], feature_names=["d", "c", "b", "a"])
    np.testing.assert_allclose(ranker.predict(turned), ranker.predict(named), rtol=1e-12, atol=1e-12)
    with pytest.raises(pk.DataError):
        ranker.predict(named.replace(feature_names=["a", "b", "c", "z"]))


def test_why_the_baseline_could_not_be_judged_is_told(log, data):
    def refuse(part):
        if part.n_queries < data.n_queries:
            raise pk.DataError("too few of them")
        return clicks.ExposureSoftmax().fit(part)

    choice = clicks.guarded_choice(log, data, {"a": refuse, "b": clicks.ExposureSoftmax().fit})
    assert choice.reason.endswith(": too few of them")


def test_steps_are_counted(data):
    assert clicks.ExposureSoftmax(max_iter=1).fit(data).n_iter_ == 1
    with pytest.raises(pk.DataError, match="max_iter=0"):
        clicks.ExposureSoftmax(max_iter=0).fit(data)


def test_a_blend_keeps_holes(data):
    class Fixed:
        def __init__(self, scores):
            self.scores = scores

        def predict(self, data):
            return self.scores

    scores = data.X[:, 0].astype(float)
    scores[3] = np.nan
    blended = BlendedRanker(Fixed(scores), Fixed(data.X[:, 1]), 0.5).predict(data)
    assert np.isnan(blended[:8]).all()
    assert np.isfinite(blended[8:]).all()


def test_queries_that_were_never_logged_change_nothing(log, data):
    """Not even with holes: they are neither learned from nor judged by."""
    with_ids = data.replace(docids=np.arange(data.n_rows))
    more = pk.RankingDataset.from_arrays(
        np.concatenate((np.full_like(data.X, np.nan), data.X)),
        None,
        qid=np.concatenate((data.query_of_row + 10_000, data.qids[data.query_of_row])),
        docids=np.tile(with_ids.docids, 2),
        feature_names=data.feature_names,
    )
    ours, theirs = clicks.learn_from_clicks(log, with_ids), clicks.learn_from_clicks(log, more)
    assert (theirs.name, theirs.weight, theirs.reason) == (ours.name, ours.weight, ours.reason)
    np.testing.assert_allclose(theirs.ranker.predict(data), ours.ranker.predict(data), rtol=1e-9, atol=1e-12)
    one = log.select(np.flatnonzero(log.query == 0))
    assert clicks.learn_from_clicks(one, with_ids).reason.startswith("there is one query only")


def saved_and_loaded(ranker, data, path):
    ranker.save(path)
    again = pk.load(path)
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))
    assert again.get_params(deep=False).keys() == ranker.get_params(deep=False).keys()
    return again


def test_what_it_returns_is_saved(log, data, tmp_path, monkeypatch):
    result = clicks.learn_from_clicks(log, data)
    blend = result.ranker
    assert isinstance(blend, pk.Blend) and 0 < result.weight < 1
    assert [type(each).__name__ for each in blend.members_] == ["ExposureSoftmax"] * 2
    by_hand = BlendedRanker(*blend.members_, result.weight).predict(data)
    np.testing.assert_allclose(saved_and_loaded(blend, data, tmp_path / "blend").predict(data), by_hand, rtol=1e-12)
    with pytest.raises(pk.DataError, match="export one of its members_"):
        pk.export.write_ranklib(blend, tmp_path / "no.txt")
    monkeypatch.setattr(learning, "ENOUGH_PAGES", 1)
    linear = clicks.learn_from_clicks(log, data).ranker
    again = saved_and_loaded(linear, data, tmp_path / "linear")
    assert again.alpha == linear.alpha and again.n_iter_ == linear.n_iter_
    np.testing.assert_array_equal(again.coef_, linear.coef_)
    assert again.feature_names_in_.tolist() == list(data.feature_names)
    pk.export.write_ranklib(linear, tmp_path / "linear.txt")
    back = pk.export.read_ranklib(tmp_path / "linear.txt", n_features=data.n_features)
    np.testing.assert_allclose(back.predict(data), linear.predict(data), rtol=1e-5, atol=1e-6)


def test_without_weight_one_of_the_two_is_the_ranker(data):
    rankers = [clicks.ExposureSoftmax().fit(data), pk.ListNet(alpha=1.0).fit(data)]
    assert [_blended(*rankers, weight, data) for weight in (0.0, 1.0)] == rankers
    with pytest.raises(pk.DataError, match="scale='x'"):
        pk.Blend(scale="x").fit(data)


def with_holes(data):
    X = data.X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return data.replace(X=X)


@pytest.mark.parametrize("enough", [1, 10_000])
def test_missing_features_name_the_way_out_which_works(log, data, monkeypatch, enough):
    monkeypatch.setattr(learning, "ENOUGH_PAGES", enough)
    holes = with_holes(data)
    with pytest.raises(pk.DataError, match=r"make_pipeline\(pk.Imputer\(\), clicks.ExposureSoftmax\(\)\).*LambdaMART"):
        clicks.learn_from_clicks(log, holes)
    for ranker in (make_pipeline(pk.Imputer(), clicks.ExposureSoftmax()), pk.LambdaMART(n_estimators=5)):
        result = clicks.learn_from_clicks(log, holes, ranker)
        assert np.isfinite(result.ranker.predict(holes)).all()
    plain = clicks.learn_from_clicks(log, data).ranker.predict(data)
    piped = clicks.learn_from_clicks(log, data, make_pipeline(pk.Imputer(), clicks.ExposureSoftmax())).ranker
    np.testing.assert_allclose(piped.predict(data), plain, rtol=1e-9, atol=1e-12)  # weighs by examinations, once


def test_other_learners_of_features_refuse_holes_too(log, data):
    for fit in (clicks.FeatureAttraction(clicks.PBM()).fit, clicks.DualLearning(n_epochs=1).fit):
        with pytest.raises(pk.DataError, match=r"missing values.*pk.Imputer\(\).fit_transform\(data\)"):
            fit(log, with_holes(data))
        fitted = fit(log, pk.Imputer().fit_transform(with_holes(data)))
        score = getattr(fitted, "attraction", getattr(fitted, "predict", None))
        with pytest.raises(pk.DataError, match="missing values"):
            score(with_holes(data))


def test_categories_of_the_features_stay_categories(log, data, monkeypatch):
    """Their numbers are no amounts: trees split them by value, and what takes numbers refuses them."""
    codes = data.X.copy()
    codes[:, 1] = np.arange(data.n_rows) * 7 % 5
    shop = data.replace(X=codes, feature_names=("a", "brand", "c", "d"), categories={"brand": [*"zyxwv"]})
    monkeypatch.setattr(learning, "ENOUGH_PAGES", 1)
    trees = clicks.learn_from_clicks(log, shop, pk.LambdaMART(n_estimators=5)).ranker
    assert np.isfinite(trees.predict(shop)).all()
    labels = clicks.labelled_dataset(clicks.model_labels(clicks.PBM().fit(log)), shop).data
    assert labels.categories == clicks.page_dataset(log, shop).data.categories == shop.categories
    learner = pk.GradientRanker(loss="BinaryLogistic", model="trees")
    assert np.isfinite(
        clicks.FeatureAttraction(clicks.PBM(), learner, n_rounds=2).fit(log, shop).attraction(shop)
    ).all()
    for fit in (clicks.learn_from_clicks, clicks.FeatureAttraction(clicks.PBM()).fit, clicks.DualLearning().fit):
        with pytest.raises(pk.DataError, match=r"'brand': \w+ takes numbers, not categories"):
            fit(log, shop)


def test_trees_learn_what_a_line_cannot(tmp_path):
    """Grades that are best in the middle of a feature; lists are shown in an order that has nothing to do with it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.digitize(-np.abs(X[:, 0]), [-1.5, -1.0, -0.6, -0.25]).astype(float)
    shop = pk.RankingDataset.from_arrays(X, y, qid=np.arange(600) // 10)
    pages = clicks.simulate_log(
        shop, shop.X[:, 1], n_pages=12_000, users=PositionUsers(), temperature=1.0, random_state=0
    )
    trees = clicks.learn_from_clicks(pages, shop, pk.LambdaMART(n_estimators=30, num_leaves=4))
    line = clicks.learn_from_clicks(pages, shop)
    assert trees.name == line.name == "harvested propensities"
    result, straight = (
        pk.evaluate(shop, each.ranker.predict(shop), ["nDCG@5"]).mean["nDCG@5"] for each in (trees, line)
    )
    assert result > straight + 0.1
    naive = clicks.model_labels(clicks.IndependentClickModel().fit(pages))
    plain = pk.LambdaMART(n_estimators=30, num_leaves=4).fit(clicks.labelled_dataset(naive, shop).data)
    assert result > pk.evaluate(shop, plain.predict(shop), ["nDCG@5"]).mean["nDCG@5"]  # the correction helps trees too
    saved_and_loaded(trees.ranker, shop, tmp_path / "trees")


def test_what_is_no_ranker_is_refused(log, data):
    for wrong in ("LambdaMART", pk.LambdaMART):
        with pytest.raises(pk.DataError, match=r"give a ranker that is not fitted yet, such as pk.LambdaMART\(\)"):
            clicks.learn_from_clicks(log, data, wrong)


def test_categories_are_learned_with_few_pages_too():
    """Few pages: two rankers are mixed, and each knows the categories by itself."""
    rng = np.random.default_rng(0)
    brand, x = rng.integers(0, 5, 400), rng.standard_normal(400)
    frame = pl.DataFrame({"qid": np.repeat(np.arange(40), 10), "docid": [f"d{i}" for i in range(400)]})
    frame = frame.with_columns(
        label=pl.Series(np.digitize(x + (brand == 3), [0.5, 1.5])),
        x=pl.Series(x),
        brand=pl.Series([f"b{b}" for b in brand], dtype=pl.Categorical),
    )
    data = pk.RankingDataset.from_frame(frame)
    log = simulate_log(data, n_pages=1500, k=10, random_state=0)
    result = pk.clicks.learn_from_clicks(log, data, pk.LambdaMART(n_estimators=5))
    assert 0 < result.weight < 1 and np.isfinite(result.ranker.predict(data)).all()
