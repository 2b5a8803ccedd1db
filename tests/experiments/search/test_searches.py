"""Searches on objectives whose best setting is known."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from plackett._base.search_space import Integer, Real
from plackett.experiments.search import SEARCHES, search_named
from plackett.experiments.search.foreign import space_of

SPACE = {"x": Real(0.0, 1.0), "n": Integer(1, 9), "kind": ("a", "b")}


class Recorder:
    """An objective with its maximum at x = 0.75, n = 4, kind b; remembers what was tried."""

    def __init__(self, *, fails=lambda setting: False):
        self.tried = []
        self.fails = fails

    def __call__(self, setting, share=1.0):
        worth = -np.inf if self.fails(setting) else self.worth(setting)
        self.tried.append((dict(setting), share, worth))
        return worth

    @staticmethod
    def worth(setting):
        return -abs(setting.get("x", 0.1) - 0.75) - 0.1 * abs(setting.get("n", 1) - 4) + (setting.get("kind") == "b")

    def best(self):
        return max((t for t in self.tried if t[1] == 1.0), key=lambda t: t[2])[0]


def run(name, objective, space=SPACE, n_trials=None, seed=0, out_of_time=lambda: False):
    search_named(name)(objective, space, n_trials=n_trials, out_of_time=out_of_time, random_state=seed)
    return objective


def test_grid_attains_the_best_of_the_grid():
    result = run("grid", Recorder())
    assert len(result.tried) == 3 * 3 * 2
    assert {t[0]["x"] for t in result.tried} == {0.0, 0.5, 1.0} and {t[0]["n"] for t in result.tried} == {1, 5, 9}
    assert result.best() == {"x": 0.5, "n": 5, "kind": "b"}  # 0.25 and 0.1 off, nearer than any other point
    by_hand = max(
        (Recorder.worth({"x": x, "n": n, "kind": k}), x, n, k) for x in (0.0, 0.5, 1.0) for n in (1, 5, 9) for k in "ab"
    )
    assert by_hand[1:] in ((0.5, 5, "b"), (1.0, 5, "b"))


def test_grid_is_as_fine_as_the_trials_allow():
    assert len(run("grid", Recorder(), {"x": Real(0.0, 1.0)}, n_trials=5).tried) == 5
    assert len(run("grid", Recorder(), n_trials=31).tried) == 18  # 3 × 3 × 2; 4 × 4 × 2 would be 32
    with pytest.raises(ValueError, match="this grid has 2 settings"):
        run("grid", Recorder(), n_trials=1)


@pytest.mark.parametrize("name", ["random", "bayes"])
def test_sampling_searches_find_the_maximum(name):
    if name == "bayes":
        pytest.importorskip("optuna")
    result = run(name, Recorder(), n_trials=60)
    best = result.best()
    assert result.tried[0][0] == {} and len(result.tried) == 60
    assert best["kind"] == "b" and abs(best["n"] - 4) <= 1 and abs(best["x"] - 0.75) < 0.2
    assert run(name, Recorder(), n_trials=60).tried == result.tried  # the same seed, the same trials
    assert run(name, Recorder(), n_trials=60, seed=1).tried != result.tried
    for setting, _, _ in result.tried[1:]:
        assert 0 <= setting["x"] <= 1 and setting["n"] in range(1, 10)


def test_bayes_beats_random_on_average():
    pytest.importorskip("optuna")

    def mean(name):
        return np.mean([max(t[2] for t in run(name, Recorder(), n_trials=30, seed=s).tried) for s in range(8)])

    assert mean("bayes") > mean("random")


def test_bayes_survives_failing_trials():
    pytest.importorskip("optuna")
    result = run("bayes", Recorder(fails=lambda setting: setting.get("kind") == "b"), n_trials=20)
    assert len(result.tried) == 20 and result.best().get("kind") != "b"


@pytest.mark.parametrize("seed", range(5))
def test_few_random_settings_leave_no_quarter_of_a_range_untried(seed):
    space = {"C": Real(1e-4, 1e4, log=True), "leaves": Integer(1, 400)}
    tried = [setting for setting, _, _ in run("random", Recorder(), space, n_trials=13, seed=seed).tried[1:]]
    assert {int((np.log10(setting["C"]) + 4) // 2) for setting in tried} == {0, 1, 2, 3}
    assert {(setting["leaves"] - 1) // 100 for setting in tried} == {0, 1, 2, 3}


def test_random_tries_nothing_twice():
    result = run("random", Recorder(), {"kind": ("a", "b", "c")}, n_trials=50)
    assert sorted(t[0].get("kind", "") for t in result.tried) == ["", "a", "b", "c"]


def test_halving_spends_more_on_better_ones():
    result = run("halving", Recorder(), n_trials=9)
    shares = [share for _, share, _ in result.tried]
    assert shares == pytest.approx([1 / 9] * 9 + [1 / 3] * 3 + [1.0])
    first = sorted(result.tried[:9], key=lambda t: -t[2])
    assert [t[0] for t in result.tried[9:12]] == [t[0] for t in first[:3]]
    assert result.tried[-1][0] == first[0][0] == result.best()


def test_time():
    """The first trial always runs; halving trains the best so far in full."""
    for name in ("grid", "random"):
        assert len(run(name, Recorder(), out_of_time=lambda: True).tried) == 1
    result = run("halving", Recorder(), n_trials=9, out_of_time=lambda: True)
    assert [share for _, share, _ in result.tried] == pytest.approx([1 / 9, 1.0])
    left = iter([False] * 5 + [True] * 10)
    assert len(run("random", Recorder(), out_of_time=lambda: next(left)).tried) == 6


def test_nothing_to_search():
    for name in SEARCHES:
        if name == "bayes":
            pytest.importorskip("optuna")
        assert [t[0] for t in run(name, Recorder(), {}, n_trials=5).tried] == [{}]


def test_errors(monkeypatch):
    with pytest.raises(ValueError, match="search='annealing'; give one of None, 'grid', 'random', 'bayes', 'halving'"):
        search_named("annealing")
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"plackett\[tune\]"):
        run("bayes", Recorder())


def test_foreign_spaces_name_parameters():
    import lightgbm as lgb

    xgboost = pytest.importorskip("xgboost")
    for ranker in (lgb.LGBMRanker(), xgboost.XGBRanker()):
        assert space_of(ranker) and set(space_of(ranker)) <= set(ranker.get_params())
