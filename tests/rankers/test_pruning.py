"""Pruned ensembles against sums of single trees, and the choices of trees against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.rankers.pruning import METHODS, prune


def noisy(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(0, 0.7, 400), [-0.5, 0.7]).astype(float)
    return pk.RankingDataset.from_arrays(X, y, np.arange(400) // 10)


@pytest.fixture(scope="module")
def fitted():
    return pk.LambdaMART(n_estimators=12, num_leaves=5, min_child_samples=3, learning_rate=0.3, n_jobs=1).fit(noisy())


def single_trees(ranker, data):
    booster = ranker.scorer_.booster
    return np.array([booster.predict(data.X, start_iteration=t, num_iteration=1) for t in range(booster.num_trees())])


def mean(data, scores, measure="nDCG@10"):
    return pk.evaluate(data, scores, [measure]).mean[measure]


def kept_trees(ranker, small):
    texts = ranker.scorer_.text.split("Tree=")[1:]
    return [
        next(t for t, text in enumerate(texts) if line in text)
        for line in (part.split("threshold=")[1].split("\n")[0] for part in small.scorer_.text.split("Tree=")[1:])
    ]


@pytest.mark.parametrize("method", METHODS)
def test_a_pruned_ensemble_is_the_sum_of_its_trees(fitted, method):
    data = noisy(1)
    small = prune(fitted, data, 5, method=method, reweight=False, n_jobs=1)
    kept = kept_trees(fitted, small)
    assert len(kept) == 5 and sorted(set(kept)) == kept
    np.testing.assert_allclose(small.predict(data), single_trees(fitted, data)[kept].sum(axis=0), atol=1e-12)
    assert fitted.scorer_.booster.num_trees() == 12  # as it was
    assert small.card_["pruned"]["of"] == 12


def test_simple_choices(fitted):
    data = noisy(1)
    for method, expected in (("last", [0, 1, 2]), ("skip", [0, 4, 8])):
        assert kept_trees(fitted, prune(fitted, data, 3, method=method, reweight=False)) == expected
    drawn = [
        tuple(kept_trees(fitted, prune(fitted, data, 3, method="random", reweight=False, random_state=s)))
        for s in (0, 0, 1, 2)
    ]
    assert drawn[0] == drawn[1] and len(set(drawn)) > 1


def test_quality_loss_and_greedy_against_loops(fitted):
    data = noisy(1)
    trees = single_trees(fitted, data)
    loss = [mean(data, trees.sum(axis=0) - tree) for tree in trees]
    expected = sorted(np.argsort(loss, kind="stable")[:5])  # the measure suffers most without these
    assert kept_trees(fitted, prune(fitted, data, 5, reweight=False)) == expected
    kept = list(range(12))
    while len(kept) > 5:
        values = [mean(data, trees[[t for t in kept if t != gone]].sum(axis=0)) for gone in kept]
        kept.pop(int(np.argmax(values)))
    assert kept_trees(fitted, prune(fitted, data, 5, method="greedy", reweight=False)) == kept


@pytest.mark.parametrize("method", ["last", "low_weights", "quality_loss"])
def test_new_weights_are_at_least_as_good(fitted, method, tmp_path):
    data = noisy(1)
    for measure in ("nDCG@10", "AP"):
        plain = prune(fitted, data, 4, method="last", reweight=False, measure=measure)
        small = prune(fitted, data, 4, method=method, measure=measure, n_jobs=1)
        if method == "last":
            assert mean(data, small.predict(data), measure) > mean(data, plain.predict(data), measure)
        kept = kept_trees(fitted, small)
        ratios = [s / f for s, f in zip(single_trees(small, data), single_trees(fitted, data)[kept], strict=True)]
        weights = np.array([np.nanmedian(r) for r in ratios])
        np.testing.assert_allclose(
            small.predict(data), weights @ single_trees(fitted, data)[kept], rtol=1e-9, atol=1e-12
        )
    small.save(tmp_path / "small.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "small.plackett").predict(data), small.predict(data))


def test_all_trees_and_no_new_weights_change_nothing(fitted):
    data = noisy(2)
    np.testing.assert_array_equal(prune(fitted, data, 12, reweight=False).predict(data), fitted.predict(data))


@pytest.mark.parametrize(
    ("match", "arguments"),
    [("n_trees=0", {"n_trees": 0}), ("12 trees", {"n_trees": 13}), ("method='best'", {"n_trees": 2, "method": "best"})],
)
def test_refusals(fitted, match, arguments):
    with pytest.raises(ValueError, match=match):
        prune(fitted, noisy(), **arguments)


def test_other_rankers_are_refused():
    data = noisy()
    with pytest.raises(ValueError, match="has no trees"):
        prune(pk.ListNet().fit(data), data, 1)
    with pytest.raises(ValueError, match="3 scores per document"):
        prune(pk.McRank(n_estimators=2, n_jobs=1).fit(data), data, 1)


def test_what_a_pruned_ranker_says_of_itself_is_true():
    train, valid = noisy(), noisy(seed=1)
    ranker = pk.LambdaMART(n_estimators=12, num_leaves=5, min_child_samples=3, calibration="isotonic", n_jobs=1)
    ranker.fit(train, eval_set=valid)
    small = prune(ranker, valid, 2, measure="AP")
    assert small.history_ == [] and "validation" not in small.card_ and small.best_iteration_ is None
    assert small.card_["pruned"]["measure"] == "AP"
    assert small.card_["pruned"]["value"] == pytest.approx(mean(valid, small.predict(valid), "AP"), rel=1e-9)
    expected = pk.calibrate(small.predict(valid), valid.y, "isotonic").probability(small.predict(valid))
    np.testing.assert_array_equal(small.predict_relevance(valid), expected)
    assert not np.array_equal(expected, ranker.calibration_.probability(small.predict(valid)))
    assert "validation" in ranker.card_ and ranker.history_  # it stays as it is
