"""Early exits: scores against a plain loop over lists, the choice, the frontier, storage."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.evaluation.evaluate import evaluate
from plackett.rankers.early_exit import early_exit, exit_scorer
from plackett.scorers.early_exit import EarlyExitScorer, leaf_spread


@pytest.fixture(scope="module")
def fitted():
    train, valid = (pk.datasets.make_ranking(40, n_features=6, random_state=seed) for seed in (0, 1))
    return pk.LambdaMART(n_estimators=30, num_leaves=6, n_jobs=1).fit(train), valid


def test_scores_are_those_of_a_plain_cascade(fitted, tmp_path):
    ranker, valid = fitted
    result = early_exit(ranker, valid, trees=(4,), keep=(3,), max_loss=1.0)
    assert (result.trees, result.keep) == (4, 3)
    full = ranker.booster_.predict(valid.X, raw_score=True, num_threads=1)
    first = ranker.booster_.predict(valid.X, raw_score=True, num_iteration=4, num_threads=1)
    scores = result.ranker.predict(valid)
    for a, b in zip(valid.offsets[:-1], valid.offsets[1:], strict=True):
        last = np.sort(first[a:b])[::-1][min(3, b - a) - 1]
        on = first[a:b] >= last  # ties with the third go on too
        order = np.lexsort((-np.where(on, full[a:b], first[a:b]), ~on))
        np.testing.assert_array_equal(np.argsort(-scores[a:b], kind="stable"), order)
    row = result.frame.row(0, named=True)
    assert row["value"] == pytest.approx(evaluate(valid, scores, ["nDCG@10"]).mean["nDCG@10"])
    result.ranker.save(tmp_path / "m")
    np.testing.assert_array_equal(pk.load(tmp_path / "m").predict(valid), scores)
    assert result.ranker.card_["exit"]["trees"] == 4 and "exit" not in ranker.card_


def test_exact_exits_never_change_the_top(fitted):
    """For several exits and k, the best k documents and their order are those of all trees, with less work."""
    ranker, valid = fitted
    full = ranker.predict(valid)
    spread = np.array([t.max() - t.min() for t in _leaves(ranker)])
    work = []
    for s in (5, 15, 25, 29):
        for k in (1, 3, 8):
            scorer = exit_scorer(ranker.scorer_, s, k, leaf_spread(ranker.scorer_, s))
            assert scorer.slack[0] == pytest.approx(spread[s:].sum()) and scorer.slack[0] >= spread[s:].sum()
            scores = scorer.predict(valid.X, valid.offsets, 1)
            for a, b in zip(valid.offsets[:-1], valid.offsets[1:], strict=True):
                ours, theirs = (np.argsort(-v[a:b], kind="stable")[:k] for v in (scores, full))
                np.testing.assert_array_equal(ours, theirs)
        work.append(scorer.work(valid.X, valid.offsets).sum())
    assert min(work) < 30 * valid.n_rows  # documents did leave
    result = early_exit(ranker, valid, rule="exact", keep=(10,), max_loss=0.0)
    assert (result.frame["loss"] <= 0).all() and (result.frame["same_top"] == 1.0).all()


def _leaves(ranker):
    trees = ranker.scorer_.trees
    return np.split(trees.leaf_value, trees.leaf_offsets[1:-1])


def test_rules_of_exits_against_a_plain_loop(fitted):
    ranker, valid = fitted
    X, offsets = valid.X, valid.offsets
    booster = ranker.booster_
    sums = [booster.predict(X, raw_score=True, num_iteration=n, num_threads=1) for n in (4, 12)]
    full = booster.predict(X, raw_score=True, num_threads=1)
    floor = float(np.median(sums[1]))
    scorer = EarlyExitScorer(
        ranker.scorer_, np.array([4, 12]), np.array([5, 2]), np.array([0.0, 0.02]), np.array([-np.inf, floor])
    )
    passed, scores = np.full(valid.n_rows, 4), scorer.predict(X, offsets, 1)
    for a, b in itertools.pairwise(offsets):
        one = sums[0][a:b] >= np.sort(sums[0][a:b])[::-1][min(5, b - a) - 1]
        best = np.sort(sums[1][a:b][one])[::-1]
        two = one & (sums[1][a:b] >= max(best[min(2, best.size) - 1] - 0.02, floor))
        passed[a:b] += 8 * one + 18 * two
        last = np.where(two, full[a:b], np.where(one, sums[1][a:b], sums[0][a:b]))
        order = np.lexsort((-last, -(one.astype(int) + two)))
        np.testing.assert_array_equal(np.argsort(-scores[a:b], kind="stable"), order)
    np.testing.assert_array_equal(scorer.work(X, offsets), passed)


def test_exits_that_keep_all_are_the_ensemble_and_larger_slack_is_more_work(fitted):
    ranker, valid = fitted
    full = ranker.predict(valid)
    for s in (1, 7, 29):
        scorer = exit_scorer(ranker.scorer_, s, 10_000)
        np.testing.assert_array_equal(scorer.predict(valid.X, valid.offsets), full)  # bit for bit
        for rows in (1, 40):  # the kernels for few rows too
            part = scorer.predict(valid.X[:rows], np.array([0, rows]))
            np.testing.assert_array_equal(part, full[:rows])
    work = [
        exit_scorer(ranker.scorer_, 5, 2, d).work(valid.X, valid.offsets).sum() for d in (0.0, 0.01, 0.05, 0.2, 1.0)
    ]
    assert work == sorted(work) and work[0] < work[-1]


def test_an_exit_for_one_call(fitted):
    ranker, valid = fitted
    exiting = early_exit(ranker, valid, trees=(4,), keep=(3,), max_loss=1.0).ranker
    expected = exiting.predict(valid)
    for model in (ranker, early_exit(ranker, valid, trees=(9,), keep=(2,), max_loss=1.0).ranker):
        before = model.predict(valid)
        np.testing.assert_array_equal(model.predict(valid, exit=(4, 3)), expected)
        np.testing.assert_array_equal(model.predict(valid), before)
    for wrong in ((0, 3), (30, 3), (4, 0), (4,), (4.5, 3), "ab"):
        with pytest.raises(DataError, match="two whole numbers: trees from 1 to 29"):
            ranker.predict(valid, exit=wrong)
    with pytest.raises(DataError, match="an early exit needs a fitted ranker with trees"):
        pk.ListNet(max_iter=1).fit(valid).predict(valid, exit=(4, 3))


def test_the_exit_of_a_pipeline(fitted, tmp_path):
    from plackett.rankers.pipelines import Pipeline
    from plackett.rankers.storage import save

    _, valid = fitted
    normaliser = pk.QueryNormalizer("zscore").fit(valid)
    scaled = normaliser.transform(valid)
    ranker = pk.LambdaMART(n_estimators=10, num_leaves=6, n_jobs=1).fit(scaled)
    result = early_exit(Pipeline([("n", normaliser), ("r", ranker)]), valid, trees=(4,), keep=(3,), max_loss=1.0)
    expected = ranker.predict(scaled, exit=(4, 3))
    save(result.ranker, tmp_path / "m")
    for model in (result.ranker, pk.load(tmp_path / "m")):
        np.testing.assert_array_equal(model.predict(valid), expected)
        np.testing.assert_array_equal(model.predict(valid, exit=False), ranker.predict(scaled))


def test_predict_with_and_without_the_exit(fitted, tmp_path):
    ranker, valid = fitted
    result = early_exit(ranker, valid, trees=(4,), keep=(3,), max_loss=1.0)
    result.ranker.save(tmp_path / "m")
    loaded = pk.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(valid, exit=False), ranker.predict(valid))
    np.testing.assert_array_equal(loaded.predict(valid, exit=True), loaded.predict(valid))
    np.testing.assert_array_equal(ranker.predict(valid, exit=False), ranker.predict(valid))
    with pytest.raises(DataError, match="has no early exit"):
        ranker.predict(valid, exit=True)
    with pytest.raises(DataError, match="export the ranker it was made from"):
        pk.write_vespa(loaded, tmp_path / "v")


def test_damaged_exits_are_refused(fitted):
    arrays = exit_scorer(fitted[0].scorer_, 4, 3).to_arrays()
    for name, value in (("after", [0]), ("after", [30]), ("after", [4, 3]), ("keep", [0]), ("slack", [np.nan]),
                        ("slack", [-1.0]), ("floor", [np.nan]), ("keep", [1, 2])):  # fmt: skip
        with pytest.raises(DataError):
            EarlyExitScorer.from_arrays(arrays | {name: np.array(value)})


def test_whole_lists_lose_nothing(fitted):
    ranker, valid = fitted
    result = early_exit(ranker, valid, trees=(1, 10), keep=(10_000,), max_loss=0.0)
    assert result.frame["loss"].to_list() == [0.0, 0.0]
    assert result.trees is None and result.ranker is ranker  # more work than without


def test_the_cheapest_that_loses_little_is_chosen(fitted):
    ranker, valid = fitted
    result = early_exit(ranker, valid, max_loss=0.01, keep=(1, 2, 3, 5, 8))
    rows = result.frame.rows(named=True)
    assert [row["work"] for row in rows] == sorted(row["work"] for row in rows)
    good = [row for row in rows if row["loss"] <= 0.01 and row["work"] < 1]
    assert (result.trees, result.keep) == (good[0]["trees"], good[0]["keep"])
    for i, row in enumerate(rows):
        assert row["frontier"] == all(row["loss"] < other["loss"] for other in rows[:i])
    assert len(pk.plot.exit_frontier(result).data) == 2


def test_what_is_wrong_is_named(fitted):
    ranker, valid = fitted
    for parameters, message in (
        ({"trees": (30,)}, "1 to 29"),
        ({"keep": (0,)}, "keep"),
        ({"trees": ()}, "trees"),
        ({"rule": "x"}, "rule='x'"),
        ({"slack": (0.1,)}, "belongs to"),
        ({"rule": "proximity", "slack": (-1,)}, "slack"),
    ):
        with pytest.raises(DataError, match=message):
            early_exit(ranker, valid, **parameters)
    with pytest.raises(DataError, match="ListNet"):
        early_exit(pk.ListNet(max_iter=2).fit(valid), valid)
    once = early_exit(ranker, valid, max_loss=1.0).ranker
    with pytest.raises(DataError, match="has an early exit already"):
        early_exit(once, valid)
    with pytest.raises(DataError, match="no exits"):
        pk.plot.exit_frontier(ranker)


def test_settled_lists_exit_as_a_whole(fitted):
    ranker, valid = fitted
    first = ranker.booster_.predict(valid.X, raw_score=True, num_iteration=9, num_threads=1)
    full = ranker.booster_.predict(valid.X, raw_score=True, num_threads=1)
    for apart, slack in itertools.product((0.0, 0.01, 0.05, 10.0), (0.0, np.inf)):
        scorer = exit_scorer(ranker.scorer_, 9, 3, slack, apart)
        passed, scores = scorer.work(valid.X, valid.offsets), scorer.predict(valid.X, valid.offsets, 1)
        for a, b in itertools.pairwise(valid.offsets):
            best = np.sort(first[a:b])[::-1][:4]
            settled = bool((-np.diff(best) >= apart).all())
            on = (first[a:b] >= best[min(3, b - a) - 1] - slack) & (not settled)
            np.testing.assert_array_equal(passed[a:b], 9 + 21 * on)
            order = np.lexsort((-np.where(on, full[a:b], first[a:b]), ~on))
            np.testing.assert_array_equal(np.argsort(-scores[a:b], kind="stable"), order)
    one = scorer.work(valid.X[:1], np.array([0, 1]))
    assert one.tolist() == [9]  # a list of one document is settled
    again = EarlyExitScorer.from_arrays(scorer.to_arrays())
    np.testing.assert_array_equal(again.predict(valid.X, valid.offsets, 1), scores)
    with pytest.raises(DataError):
        EarlyExitScorer.from_arrays(scorer.to_arrays() | {"settled": np.array([-1.0])})


@pytest.mark.parametrize("rule", ["capacity", "proximity", "exact", "query", "combined"])
def test_the_bound_of_changed_tops_is_of_the_lists_that_change(fitted, rule):
    from scipy.stats import binom

    ranker, valid = fitted
    full = ranker.predict(valid)
    result = early_exit(ranker, valid, rule=rule, max_loss=1.0, trees=(5, 20), keep=(4,))
    for row in result.frame.rows(named=True):
        scorer = exit_scorer(ranker.scorer_, row["trees"], row["keep"], row["slack"], row["settled"])
        scores = scorer.predict(valid.X, valid.offsets, 1)
        assert row["work"] == pytest.approx(scorer.work(valid.X, valid.offsets).mean() / 30)
        tops = [
            [np.argsort(-v[a:b], kind="stable")[:10].tolist() for v in (scores, full)]
            for a, b in itertools.pairwise(valid.offsets)
        ]
        changed = sum(ours != theirs for ours, theirs in tops)
        assert row["same_top"] == pytest.approx(1 - changed / valid.n_queries)
        if changed < valid.n_queries:  # so few changes or fewer happen with probability .05 at the bound
            assert binom.cdf(changed, valid.n_queries, row["change_bound"]) == pytest.approx(0.05)
        else:
            assert row["change_bound"] == 1.0


def test_a_limit_of_changes_is_kept(fitted, tmp_path):
    ranker, valid = fitted
    free = early_exit(ranker, valid, max_loss=1.0, keep=(2, 5, 9))
    limit = 0.3
    result = early_exit(ranker, valid, max_loss=1.0, keep=(2, 5, 9), max_change=limit)
    assert free.ranker.card_["exit"]["change_bound"] > limit
    if result.trees is not None:
        assert result.ranker.card_["exit"]["change_bound"] <= limit
    assert early_exit(ranker, valid, max_loss=1.0, max_change=0.0).trees is None  # no sample proves that none changes
    for parameters, message in (
        ({"max_change": 2}, "max_change"),
        ({"settled": (1.0,)}, "settled belongs"),
        ({"rule": "query", "settled": (-1.0,)}, "settled"),
    ):
        with pytest.raises(DataError, match=message):
            early_exit(ranker, valid, **parameters)
    listed = early_exit(ranker, valid, rule="query", settled=(0.0,), trees=(5,), max_loss=1.0).ranker
    listed.save(tmp_path / "m")
    np.testing.assert_array_equal(pk.load(tmp_path / "m").predict(valid), listed.predict(valid))


def test_the_bound_of_the_loss_counts_if_it_should(fitted):
    from scipy.stats import ttest_rel

    ranker, valid = fitted
    full = evaluate(valid, ranker.predict(valid), ["nDCG@10"]).values["nDCG@10"]
    result = early_exit(ranker, valid, max_loss=0.04, sure=True, keep=(2, 4, 8))
    for row in result.frame.rows(named=True):
        scores = exit_scorer(ranker.scorer_, row["trees"], row["keep"]).predict(valid.X, valid.offsets, 1)
        ours = evaluate(valid, scores, ["nDCG@10"]).values["nDCG@10"]
        if (full != ours).any():
            high = ttest_rel(full, ours).confidence_interval(0.9).high
            assert row["loss_bound"] == pytest.approx(high)
    good = result.frame.filter((result.frame["loss_bound"] <= 0.04) & (result.frame["work"] < 1))
    assert (result.trees, result.keep) == good.select("trees", "keep").row(0)
    assert good.height < result.frame.filter(result.frame["loss"] <= 0.04).height


def test_one_tree_and_data_without_relevant_documents_are_refused(fitted):
    ranker, valid = fitted
    one = pk.LambdaMART(n_estimators=1, num_leaves=4, n_jobs=1).fit(valid)
    with pytest.raises(DataError, match="two trees or more; this LambdaMART has 1"):
        early_exit(one, valid)
    with pytest.raises(DataError, match="has no value on the data"):
        early_exit(
            ranker, valid.replace(y=np.zeros(valid.n_rows)), measure='nDCG(empty="skip")@10', trees=(2,), keep=(3,)
        )


def test_exits_that_save_nothing_are_never_chosen(fitted):
    ranker, valid = fitted
    total = ranker.scorer_.trees.n_trees
    result = early_exit(ranker, valid, trees=range(1, total), keep=(1000,), max_loss=1.0)
    assert (result.frame["work"] == 1.0).all() and result.trees is None


@pytest.mark.parametrize("parameters", [{"trees": (2.5,)}, {"keep": (2.5,)}, {"keep": ("3",)}])
def test_numbers_of_an_exit_are_whole(fitted, parameters):
    with pytest.raises(DataError, match="whole numbers"):
        early_exit(*fitted, **parameters)


def test_a_scorer_alone_is_refused(fitted, tmp_path):
    ranker, valid = fitted
    ranker.save(tmp_path / "m.plackett")
    with pytest.raises(DataError, match=r"not to a SavedScorer; read it with plackett\.load"):
        early_exit(pk.load_scorer(tmp_path / "m.plackett"), valid)
