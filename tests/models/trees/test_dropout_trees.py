"""Trees with dropout against plain boosting, and against a loop that scores whole ensembles again and again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from plackett import RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.losses.pairwise.lambdas import Lambda
from plackett.losses.pairwise.logistic import Logistic
from plackett.losses.pointwise.softmax import Softmax
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.models.trees import dropout_trees
from plackett.models.trees.dropout_trees import DropoutTrees
from plackett.models.trees.model import Trees
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import join_trees, scale_tree, split_trees
from plackett.solvers.monitor import Monitor

SETTINGS = {"n_estimators": 14, "num_leaves": 6, "min_child_samples": 2, "learning_rate": 0.4, "n_jobs": 1}


def task(seed=0, n_queries=30):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 8)
    X = rng.normal(size=(qid.size, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=qid.size), [-0.5, 0.7]).astype(float)
    return RankingDataset.from_arrays(X, y, qid)


def scores(scorer, data):
    return scorer.predict(data.X, data.offsets, 1)


@pytest.fixture
def rounds(monkeypatch):
    """What happened in each round of a training: places dropped, members and scores afterwards."""
    seen = []
    draw, played = dropout_trees._Ensemble._draw, dropout_trees._Ensemble.round

    def record_draw(self):
        self.drawn = draw(self)
        return self.drawn

    def record_round(self):
        played(self)
        seen.append((self.drawn.tolist(), self.members(), self.text(self.members()), [s.copy() for s in self.scores]))

    monkeypatch.setattr(dropout_trees._Ensemble, "_draw", record_draw)
    monkeypatch.setattr(dropout_trees._Ensemble, "round", record_round)
    return seen


@pytest.mark.parametrize("loss", [Lambda(), Logistic(), Softmax()], ids=["Lambda", "Logistic", "Softmax"])
@pytest.mark.parametrize("more", [{}, {"subsample": 0.6, "colsample_bytree": 0.7}, {"gradient_bins": 254}], ids=str)
def test_dropping_nothing_is_plain_boosting(loss, more):
    data, valid = task(), task(seed=1)
    for settings in ({"drop_rate": 0.0}, {"skip_drop": 1.0}, {"drop_rate": 0.0, "drop_growth": 0.5}):
        one, two = Monitor(valid, parse("nDCG")), Monitor(valid, parse("nDCG"))
        plain = Trees(**SETTINGS, **more).train(loss, data, one)
        result = DropoutTrees(**SETTINGS, **more, **settings).train(loss, data, two)
        assert one.history == two.history
        assert result.booster.num_trees() == plain.booster.num_trees()
        np.testing.assert_allclose(scores(result, valid), scores(plain, valid), rtol=1e-12, atol=1e-12)


def weigh(trees, weights, rate):
    """The scorer of some trees, None of none."""
    some = [scale_tree(tree, w / rate) for tree, w in zip(trees, weights, strict=True) if w > 0]
    return TreeScorer(join_trees(HEAD, some)) if some else None


def measured(scorer, data, measure="nDCG@10"):
    return evaluate(data, scores(scorer, data), [measure]).mean[measure]


HEAD = split_trees(Trees(n_estimators=1, n_jobs=1).train(Logistic(), task(), Monitor()).text)[0]


@pytest.mark.parametrize("judge_on_train", [False, True])
@pytest.mark.parametrize(
    ("drop_for_good", "rescale", "more"),
    [
        ("never", "tree", {}),
        ("best", "tree", {}),
        ("last", "line_search", {}),
        ("last", "forest", {"drop_growth": 0.5}),
    ],
)
def test_rounds_are_those_of_a_plain_loop(rounds, drop_for_good, rescale, more, judge_on_train):
    """Each round again from what was drawn: the ensemble without the dropped trees is gone on from by one tree."""
    data, valid = task(), task(seed=1)
    rate = SETTINGS["learning_rate"]
    options = {"drop_rate": 0.35, "drop_for_good": drop_for_good, "rescale": rescale, "judge_on_train": judge_on_train}
    DropoutTrees(**SETTINGS, **options, **more).train(Logistic(), data, Monitor(valid, parse("AP")))
    judges = data if judge_on_train else valid
    trees, weights = [], np.empty(0)
    last = best = -np.inf
    removals = returns = 0
    for dropped, members, _, _ in rounds:
        rest = weights.copy()
        rest[dropped] = 0
        start = weigh(trees, rest, rate)
        new = split_trees(Trees(**SETTINGS | {"n_estimators": 1}).train(Logistic(), data, Monitor(), start).text)[1][-1]
        step = rate
        if rescale == "line_search":
            tried = np.arange(1, 17) / 8
            values = [measured(weigh([*trees, new], [*rest, w], rate), data) for w in tried]
            step = tried[np.argmax(np.round(values, 12))]
        k = len(dropped) if rescale != "forest" else 1
        without = weigh([*trees, new], [*rest, step], rate)
        reference = {"never": np.inf, "last": last, "best": best}[drop_for_good]
        if dropped and measured(without, judges) > reference + 1e-12:
            trees, weights = [*(t for t, w in zip(trees, rest, strict=True) if w), new], np.append(rest[rest > 0], step)
            removals += 1
        elif dropped:
            weights[dropped] *= k / (k + step)
            trees, weights = [*trees, new], np.append(weights, step / (k + step))
            returns += 1
        else:
            trees, weights = [*trees, new], np.append(weights, step)
        last = measured(weigh(trees, weights, rate), judges)
        best = max(best, last)
        result = [(grown.texts[0], times) for grown, times in members]
        np.testing.assert_allclose([times for _, times in result], weights / rate, rtol=1e-12)
        for (tokens, _), tree in zip(result, trees, strict=True):
            assert tokens["split_feature"] == tree["split_feature"] and tokens["threshold"] == tree["threshold"]
            ours, theirs = (np.array(w["leaf_value"].split(), float) for w in (tokens, tree))
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-9)
    assert returns > 0 and (removals > 0) == (drop_for_good != "never")


@pytest.mark.parametrize("loss", [Lambda(), Softmax()], ids=["Lambda", "Softmax"])
@pytest.mark.parametrize("drop_for_good", ["never", "last"])
def test_scores_are_those_of_the_ensemble(rounds, loss, drop_for_good):
    """To the last bit, on training and validation data, also where trees were gone on from."""
    data, valid = task(), task(seed=1)
    start = Trees(**SETTINGS).train(loss, data, Monitor())
    for begin in (None, start):
        rounds.clear()
        options = {"drop_rate": 0.4, "drop_for_good": drop_for_good, "drop_sample": "contribution"}
        monitor = Monitor(valid, parse("nDCG"))
        scorer = DropoutTrees(**SETTINGS, **options).train(loss, data, monitor, begin)
        for _, _, text, result in rounds:
            for part, kept in zip((data, valid), result, strict=True):
                expected = scores(TreeScorer(text), part)
                np.testing.assert_array_equal(kept.T.reshape(expected.shape), expected)
        values = parse("nDCG")
        best = values.mean(values.per_query(Scored(valid, loss.ranking_scores(scores(scorer, valid)))))
        assert best == max(monitor.history) and len(monitor.history) == 14
        assert scorer.text == rounds[monitor.best_round][2]


@pytest.mark.parametrize("rule", ["last", "best"])
def test_what_is_removed_never_comes_back_and_the_measure_rises(rounds, rule):
    data = task()
    model = DropoutTrees(**SETTINGS | {"n_estimators": 40}, drop_rate=0.3, drop_for_good=rule)
    scorer = model.train(Lambda(), data, Monitor())
    values = [measured(TreeScorer(text), data) for _, _, text, _ in rounds]
    gone: set[int] = set()
    for i in range(1, len(rounds)):
        dropped, members = rounds[i][:2]
        before = [grown for grown, _ in rounds[i - 1][1]]
        now = {id(grown) for grown, _ in members}
        assert not gone & now
        removed = [grown for grown in before if id(grown) not in now]
        if removed:
            assert {id(grown) for grown in removed} == {id(before[j]) for j in dropped}
            assert values[i] > (values[i - 1] if rule == "last" else max(values[:i]))
        gone |= {id(grown) for grown in removed}
    assert len(gone) > 3 and scorer.booster.num_trees() == 40 - len(gone)


def test_contributions_are_mean_absolute_outputs(rounds):
    """Which trees contribute most, and what they weigh after the round, from the scores of each tree alone."""
    data, rate = task(), SETTINGS["learning_rate"]
    options = {"drop_rate": 0.3, "drop_sample": "largest", "rescale": "contribution", "drop_for_good": "last"}
    DropoutTrees(**SETTINGS | {"n_estimators": 30}, **options).train(Lambda(), data, Monitor())
    removals = returns = 0
    for (_, before, _, _), (dropped, after, _, _) in pairwise(rounds):
        sizes = {
            id(grown): np.abs(scores(TreeScorer(join_trees(HEAD, grown.texts)), data)).mean()
            for grown, _ in [*before, after[-1]]
        }
        parts = np.array([times * sizes[id(grown)] for grown, times in before])
        assert sorted(dropped) == sorted(np.argsort(-parts)[: len(dropped)])
        if not dropped:
            continue
        old, new = parts[dropped].sum(), sizes[id(after[-1][0])]  # of trees with the learning rate in them
        if len(after) == len(before) + 1:
            returns += 1
            assert after[-1][1] == pytest.approx(new / (old + new) / rate)
            for i in dropped:
                assert after[i][1] == pytest.approx(before[i][1] * old / (old + new))
        else:
            removals += 1
            assert after[-1][1] == pytest.approx(old / new)
    assert removals > 0 and returns > 0


def test_removal_at_random(rounds):
    """With probability 1 every dropped tree goes, whatever the measure, which is not even asked."""
    data = task()
    unlabelled_measure = {"drop_measure": "AP(rel=9)"}  # no document is so relevant
    model = DropoutTrees(**SETTINGS, drop_rate=2, random_for_good=1.0, **unlabelled_measure)
    scorer = model.train(Lambda(), data, Monitor())
    sizes = [len(members) for _, members, _, _ in rounds]
    assert sizes == [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]  # half of the trees at most
    assert all(times == 1.0 for _, times in rounds[-1][1]) and scorer.booster.num_trees() == 2


def test_going_on():
    data = task()
    first = Trees(**SETTINGS | {"n_estimators": 5}).train(Logistic(), data, Monitor())
    whole = Trees(**SETTINGS | {"n_estimators": 9}).train(Logistic(), data, Monitor())
    plain = DropoutTrees(**SETTINGS | {"n_estimators": 4}, drop_rate=0).train(Logistic(), data, Monitor(), first)
    np.testing.assert_allclose(scores(plain, data), scores(whole, data), rtol=1e-6, atol=1e-9)
    more = DropoutTrees(**SETTINGS, drop_rate=0.5, drop_for_good="last").train(Logistic(), data, Monitor(), first)
    assert split_trees(more.text)[1][:5] == split_trees(first.text)[1]  # they are never dropped
    with pytest.raises(ValueError, match="same features"):
        DropoutTrees().train(Logistic(), data.replace(X=data.X[:, :2]), Monitor(), first)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"drop_sample": "random"}, "drop_sample='random'; give one of 'uniform'"),
        ({"rescale": "trees"}, "rescale='trees'; give one of 'tree'"),
        ({"drop_for_good": True}, "drop_for_good=True; give one of 'never', 'last', 'best'"),
        ({"skip_drop": 1.5}, "skip_drop=1.5"),
        ({"random_for_good": -0.1}, "random_for_good=-0.1"),
        ({"drop_rate": -1}, "drop_rate=-1"),
        ({"drop_growth": float("nan")}, "drop_growth=nan"),
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"boosting": "dart"}, "boosting='dart'"),
        ({"lightgbm_params": {"boosting": "rf"}}, "boosting='rf'"),
        ({"lightgbm_params": {"linear_tree": True}}, "linear_tree"),
        ({"drop_measure": "nDGC"}, "nDGC"),
    ],
)
def test_refusals_name_the_parameter(parameters, match):
    with pytest.raises(ValueError, match=match):
        DropoutTrees(**{"n_jobs": 1} | parameters).train(Logistic(), task(), Monitor())
