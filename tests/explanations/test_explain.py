"""Contributions, reasons for pairs, and what would change an order."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import plackett as pk
from plackett import DataError, RankingDataset
from plackett._base.time_limit import time_limit
from plackett.explanations.explain import explain
from plackett.explanations.sampling import BATCH_ROWS, draw_orders, sampled_contributions, standard_error
from plackett.scorers.linear import LinearScorer
from plackett.testing.rankers import easy_task


@pytest.fixture(scope="module")
def data():
    X, y, qid = easy_task(n_queries=30)
    return RankingDataset.from_arrays(X, y, qid)


def shapley(value, d):
    """Shapley values by their definition: all subsets."""
    result = np.zeros(d)
    for j in range(d):
        others = [k for k in range(d) if k != j]
        for size in range(d):
            weight = math.factorial(size) * math.factorial(d - size - 1) / math.factorial(d)
            for subset in itertools.combinations(others, size):
                result[j] += weight * (value({*subset, j}) - value(set(subset)))
    return result


def by_definition(score, x, background):
    """Mean over the background of the score with the features outside a subset taken from there."""

    def value(subset):
        rows = background.copy()
        for j in subset:
            rows[:, j] = x[j]
        return score(rows).mean()

    return shapley(value, x.size)


def adds_up(result):
    np.testing.assert_allclose(result.base + result.contributions.sum(axis=1), result.scores, rtol=1e-5, atol=1e-6)


def test_linear_contributions_are_shapley_values(data):
    ranker = pk.rankers.ListNet().fit(data)
    result = explain(ranker, data, 3)
    assert result.method == "linear" and result.standard_error is None
    adds_up(result)
    np.testing.assert_allclose(
        result.contributions[0], by_definition(ranker.predict, result.X[0], result.X.astype(np.float64)), atol=1e-6
    )


def test_trees_use_exact_tree_contributions(data):
    ranker = pk.LambdaMART(n_estimators=10, num_leaves=6, min_child_samples=2).fit(data)
    result = explain(ranker, data, 3)
    assert result.method == "trees"
    adds_up(result)
    assert np.abs(result.contributions[:, :2]).sum() > 5 * np.abs(result.contributions[:, 2:]).sum()


def test_several_outputs_are_sampled(data):
    """McRank's score is no sum of its trees: the expected grade of a softmax."""
    ranker = pk.rankers.McRank(n_estimators=5, num_leaves=4, min_child_samples=2).fit(data)
    result = explain(ranker, data, 3, n_orders=300)
    assert result.method == "sampling"
    adds_up(result)
    for i in range(2):
        expected = by_definition(ranker.predict, result.X[i], result.X)
        error = np.maximum(result.standard_error[i], 1e-9)
        assert (np.abs(result.contributions[i] - expected) < 5 * error + 1e-6).all()


def test_sampling_matches_the_definition_with_interactions():
    rng = np.random.default_rng(0)
    background = rng.normal(size=(20, 4))
    x = rng.normal(size=4)

    def score(rows):
        return rows[:, 0] * rows[:, 1] + np.maximum(rows[:, 2], 0.3) - rows[:, 3] ** 2 * rows[:, 0]

    draws = sampled_contributions(score, x, *draw_orders(background, 4000, rng))
    result, error = draws.mean(axis=0), standard_error(draws)
    expected = by_definition(score, x, background)
    assert (np.abs(result - expected) < 4.5 * error).all() and error.max() < 0.1
    assert np.abs(expected).max() > 10 * error.max()


def test_list_aware_models_are_explained_in_their_list(data):
    pytest.importorskip("torch", reason="networks need the extra 'neural'")
    from plackett.models.networks.neural import Neural

    network = Neural(architecture="attention", hidden=(8,), n_heads=2, n_layers=1, max_epochs=2, device="cpu", n_jobs=1)
    ranker = pk.GradientRanker(loss="ListNet", model=network).fit(data)
    result = explain(ranker, data, 3, n_orders=4)
    assert result.method == "sampling"
    np.testing.assert_allclose(result.scores, ranker.predict(data.select([3])), rtol=1e-6)
    np.testing.assert_allclose(result._score(1, result.X[1:2], 1), result.scores[1:2], rtol=1e-5, atol=1e-6)


def test_categories_are_shown_by_their_values(tmp_path):
    """Their codes mean nothing to a reader."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), np.arange(300) % 3]).astype(np.float32)
    X[7, 1] = np.nan
    shop = RankingDataset.from_arrays(
        X,
        X[:, 1] == 2,
        qid=np.arange(300) // 10,
        feature_names=("bm25", "brand"),
        categories={"brand": ["a", "b", "ç"]},
    )
    ranker = pk.LambdaMART(n_estimators=10, min_child_samples=5).fit(shop)
    explanation = pk.explain(ranker, shop, 0)
    brands = explanation.document(7).filter(feature="brand")["category"].to_list()
    assert brands == [None] and explanation.document(2).filter(feature="brand")["category"].to_list() == ["ç"]
    assert explanation.document(2).filter(feature="bm25")["category"].to_list() == [None]
    pair = explanation.pair(2, 0).row(by_predicate=pl.col("feature") == "brand", named=True)
    assert (pair["above_category"], pair["below_category"]) == ("ç", "a")
    way = explanation.to_pass(0, 2).row(by_predicate=pl.col("feature") == "brand", named=True)
    assert (way["from_category"], way["to_category"]) == ("a", "ç")
    result = pk.experiment(shop, ranker, "nDCG", search=None, n_jobs=1, folds=3)
    result.report(tmp_path / "report")  # which explains a list, too
    assert "ç | " in (tmp_path / "report" / "report.md").read_text()


@pytest.mark.parametrize("ranker", [pk.rankers.ListNet(), pk.LambdaMART(n_estimators=10, min_child_samples=2)])
def test_pair_adds_up_to_the_difference(data, ranker):
    result = explain(ranker.fit(data), data, 5)
    best, worst = int(np.argmax(result.scores)), int(np.argmin(result.scores))
    pair = result.pair(best, worst)
    np.testing.assert_allclose(pair["contribution"].sum(), result.scores[best] - result.scores[worst], rtol=1e-5)
    assert (np.diff(pair["contribution"].abs().to_numpy()) <= 0).all()


@pytest.mark.parametrize("ranker", [pk.rankers.ListNet(), pk.LambdaMART(n_estimators=10, min_child_samples=2)])
def test_the_change_really_passes_and_none_nearer_does(data, ranker):
    result = explain(ranker.fit(data), data, 5)
    order = np.argsort(-result.scores)
    above, below = int(order[1]), int(order[-1])
    ways = result.to_pass(below, above)
    assert ways.height > 0
    if not ways["together"][0]:
        for row in ways.iter_rows(named=True):  # every value seen that is nearer is tried
            j = result.feature_names.index(row["feature"])
            seen = np.unique(np.append(result._seen[:, j], data.X[:, j]))
            nearer = seen[np.abs(seen - row["from"]) < abs(row["to"] - row["from"]) - 1e-6]
            rows = np.tile(result.X[below], (nearer.size + 1, 1))
            rows[:, j] = [*nearer, row["to"]]
            scores = ranker.predict(rows, qid=np.zeros(nearer.size + 1))
            assert (scores[:-1] <= result.scores[above]).all() and scores[-1] > result.scores[above]
    else:
        x = result.X[below].copy()
        for row in ways.iter_rows(named=True):
            x[result.feature_names.index(row["feature"])] = row["to"]
        assert ranker.predict(x[None], qid=[0])[0] > result.scores[above]


def test_pairs_of_sampled_contributions_add_up(data):
    """All documents of the query are explained with the same orders and background."""
    ranker = pk.rankers.McRank(n_estimators=5, num_leaves=4, min_child_samples=2).fit(data)
    result = explain(ranker, data, 3, n_orders=5)
    assert result.method == "sampling" and np.ptp(result.base) < 1e-6
    best, worst = int(np.argmax(result.scores)), int(np.argmin(result.scores))
    pair = result.pair(best, worst)
    assert pair.height == data.n_features
    np.testing.assert_allclose(pair["contribution"].sum(), result.scores[best] - result.scores[worst], rtol=1e-5)
    # the error of a difference is that of the differences, not of two independent estimates
    more = explain(ranker, data, 3, n_orders=2000)
    exact = more.pair(best, worst).sort("feature")["contribution"].to_numpy()
    rough = pair.sort("feature")
    assert (np.abs(rough["contribution"].to_numpy() - exact) < 8 * rough["standard_error"].to_numpy() + 0.02).all()
    other = result.document(best)["standard_error"].sum() + result.document(worst)["standard_error"].sum()
    assert pair["standard_error"].sum() <= other + 1e-6


def test_neighbours_are_a_row_of_their_own_in_list_aware_models():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)).astype(np.float32), rng.integers(0, 3, 40)
    data = RankingDataset.from_arrays(X, y, np.repeat(np.arange(8), 5))
    ranker = pk.rankers.MultipleHyperplaneRanker(n_jobs=1).fit(data)
    rows = 0
    for qid in range(8):
        result = explain(ranker, data, qid, n_orders=4)
        pair = result.pair(0, 1)
        np.testing.assert_allclose(
            pair["contribution"].sum(), result.scores[0] - result.scores[1], rtol=1e-5, atol=1e-6
        )
        rows += (pair["feature"] == "(other documents)").sum()
    assert rows > 0


@pytest.mark.parametrize(
    "ids",
    [list("abc"), ["1", "2", "3"], [1, 2, 3], [10**12, 7, -1], ["a b", "ü", "3"]],
    ids=["text", "digits", "int", "big", "odd"],
)
def test_query_ids_of_any_kind(ids):
    X, y, qid = easy_task(n_queries=3)
    data = RankingDataset.from_arrays(X, y, np.array(ids)[np.unique(qid, return_inverse=True)[1]])
    ranker = pk.rankers.ListNet(max_iter=5).fit(data)
    for name in ids:
        result = explain(ranker, data, name)
        assert result.qid == name and str(explain(ranker, data, str(name)).qid) == str(name)
        np.testing.assert_array_equal(result.scores, ranker.predict(data)[data.qids[data.query_of_row] == name])
    with pytest.raises(DataError, match="no query"):
        explain(ranker, data, "nobody")


def test_changes_together_where_no_feature_suffices():
    """With weights (1, 1), the document (0, 0) passes (0.9, 0.9) with 1 in one feature and 0.9 or more in the other."""
    X = np.array([[0.0, 0.0], [0.9, 0.9], [0.0, 1.0], [1.0, 0.0]], np.float32)
    data = RankingDataset.from_arrays(X, [0, 2, 1, 1], [1] * 4)
    ranker = pk.rankers.LinearRegression().fit(data)
    ranker.scorer_ = LinearScorer(np.ones((2, 1)), np.zeros(1))
    ways = explain(ranker, data).to_pass(0, 1)
    assert ways["together"].all() and ways["feature"].to_list() == ["1", "2"]
    np.testing.assert_allclose(ways["to"], [1.0, 0.9], rtol=1e-6)


def test_errors(data):
    ranker = pk.rankers.ListNet().fit(data)
    with pytest.raises(DataError, match="choose one with qid"):
        explain(ranker, data)
    with pytest.raises(DataError, match="no query 'x'"):
        explain(ranker, data, "x")
    result = explain(ranker, data, 3)
    with pytest.raises(DataError, match="no document 99"):
        result.document(99)
    best, worst = int(np.argmax(result.scores)), int(np.argmin(result.scores))
    with pytest.raises(DataError, match="already above"):
        result.to_pass(best, worst)
    with pytest.raises(DataError, match="not a Pipeline"):
        explain(make_pipeline(StandardScaler(), ranker), data, 3)


def test_ranking_is_in_order_of_scores(data):
    result = explain(pk.rankers.ListNet().fit(data), data, 3)
    frame = result.ranking()
    assert (np.diff(frame["score"].to_numpy()) <= 0).all() and frame["position"][0] == 1


def test_to_pass_in_a_model_that_looks_at_the_whole_list():
    """Borda counts: who passes the best document takes its places, and never has more points than it had."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)).astype(np.float32), rng.integers(0, 3, 40)
    data = pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(8), 5))
    ranker = pk.rankers.MultipleHyperplaneRanker(n_jobs=1).fit(data)
    assert ranker.scorer_.list_aware
    for qid in range(8):
        result = pk.explain(ranker, data, qid, n_orders=2)
        order = np.argsort(-result.scores)
        last, first = int(order[-1]), int(order[0])
        if result.scores[last] == result.scores[first]:
            continue
        ways = result.to_pass(last, first)
        assert ways.height > 0
        table = result.X.copy()
        changed = ways if ways["together"][0] else ways[:1]
        for feature, value in changed.select("feature", "to").iter_rows():
            table[last, int(feature) - 1] = value
        scores = ranker.predict(table, qid=np.zeros(5))
        assert scores[last] > scores[first]


def test_what_cannot_be_explained_is_refused():
    X, y, qid = easy_task()
    data = pk.RankingDataset.from_arrays(X, y, qid)
    ranker = pk.rankers.RankSVM(n_jobs=1).fit(data)
    with pytest.raises(pk.DataError, match="n_orders=0"):
        pk.explain(ranker, data, 0, n_orders=0)
    with pytest.raises(pk.DataError, match="background has shape"):
        pk.explain(ranker, data, 0, background=data.select(np.array([], int)))
    with pytest.raises(pk.DataError, match="cannot pass itself"):
        pk.explain(ranker, data, 0).to_pass(1, 1)


def test_a_pipeline_of_our_own_steps_is_explained_after_them(data):
    """The last step on the transformed data, and any background transformed too."""
    holes = data.replace(X=np.where(np.random.default_rng(0).random(data.X.shape) < 0.1, np.nan, data.X))
    pipeline = make_pipeline(pk.Imputer(), pk.ListNet()).fit(holes)
    filled = pipeline[0].transform(holes)
    for parameters, same in (({}, {}), ({"background": holes}, {"background": filled})):
        result = explain(pipeline, holes, 3, **parameters)
        expected = explain(pipeline[1], filled, 3, **same)
        np.testing.assert_array_equal(result.contributions, expected.contributions)
        np.testing.assert_allclose(result.base + result.contributions.sum(axis=1), result.scores, rtol=1e-5)


def related_task(n_queries=8, n=5):
    rng = np.random.default_rng(0)
    X, offsets = rng.normal(size=(n_queries * n, 3)).astype(np.float32), np.arange(0, n_queries * n, n)
    pairs = [(int(first + i), int(first + i + 1)) for first in offsets for i in (0, 2)]
    return pk.RankingDataset.from_arrays(
        X,
        np.digitize(X[:, 0] + X[:, 1], [0.0, 1.0]),
        np.repeat(np.arange(n_queries), n),
        relations={"similarity": pk.Relation.from_pairs(pairs)},
        query_features=rng.normal(size=(n_queries, 2)),
    )


@pytest.mark.parametrize(
    "ranker",
    [pk.RelationalFeedback(beta=0.5), pk.ClassRankers(base=pk.ListNet(max_iter=5))],
    ids=["RelationalFeedback", "ClassRankers"],
)
def test_relations_and_query_features_are_kept(ranker):
    """Versions of a document are scored in the list that it is in, for the query that it answers."""
    data = related_task()
    explanation = pk.explain(ranker.fit(data), data, 2, n_orders=4)
    assert explanation.method == "sampling"
    np.testing.assert_allclose(explanation.scores, ranker.predict(data)[10:15])
    np.testing.assert_allclose(explanation._score(1, explanation.X[1:2], 1), explanation.scores[1:2])
    np.testing.assert_allclose(explanation._score(1, explanation.X[[1, 1]], 0), explanation.scores[[0, 0]])


def explained(data):
    trees = pk.LambdaMART(n_estimators=5, min_child_samples=2, n_jobs=1).fit(data)
    return {"trees": trees, "linear": pk.ListNet(n_jobs=1).fit(data), "sampling": trees.with_exit((2, 3))}


@pytest.mark.parametrize("method", ["trees", "linear", "sampling"])
def test_some_documents_are_explained_as_among_all(data, method):
    ranker = explained(data)[method]
    everything = explain(ranker, data, 3, n_orders=4)
    some = explain(ranker, data, 3, documents=[4, 1], n_orders=4)
    assert some.method == method and some.documents == [4, 1]
    for name in ("X", "scores", "contributions", "base"):
        np.testing.assert_array_equal(getattr(some, name), getattr(everything, name)[[4, 1]])
    below, above = sorted([4, 1], key=lambda i: everything.scores[i])
    assert some.to_pass(below, above).equals(everything.to_pass(below, above))
    assert some.pair(above, below).equals(everything.pair(above, below))
    with pytest.raises(DataError, match="documents: 99 is none of the query; it has"):
        explain(ranker, data, 3, documents=[99])
    with pytest.raises(DataError, match="at least one"):
        explain(ranker, data, 3, documents=[])


@pytest.mark.parametrize("method", ["trees", "linear", "sampling"])
def test_a_time_limit_ends_the_work(data, method):
    def up():
        raise TimeoutError

    with time_limit(up), pytest.raises(TimeoutError):
        explain(explained(data)[method], data, 3)


def test_copies_of_a_long_list_are_made_a_few_at_a_time(data, monkeypatch):
    """All versions of a document at once, each in its copy of a list of 3,000, would be 1.5 million rows."""
    ranker = explained(data)["sampling"]
    X = np.random.default_rng(0).normal(size=(3_000, data.n_features)).astype(np.float32)
    one_list = RankingDataset.from_arrays(X, None, np.zeros(3_000, int))
    rows, predict = [], type(ranker.scorer_).predict
    monkeypatch.setattr(
        type(ranker.scorer_), "predict", lambda self, X, *others: rows.append(len(X)) or predict(self, X, *others)
    )
    adds_up(explain(ranker, one_list, documents=[7], n_orders=8))
    assert len(rows) > 1 and max(rows) <= BATCH_ROWS
