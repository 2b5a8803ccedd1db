"""The protocol against plain loops; any number of processes; resuming; staleness; failures; what the result says."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import lightgbm as lgb
import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import plackett as pk
from experiments.own_rankers import Fails, Plain, Threads
from plackett import DataError, PlackettWarning
from plackett._base.search_space import Real
from plackett._files import atomic
from plackett.data.splits import Fold, letor_folds
from plackett.datasets import make_ranking
from plackett.evaluation.friedman import mean_ranks
from plackett.evaluation.significance import fisher
from plackett.evaluation.winning_number import winning_number
from plackett.experiments.cells import workers
from plackett.experiments.cells.cell import Cell
from plackett.experiments.cells.folder import CellFolder, FolderTakenError
from plackett.experiments.cells.key import _modules, describe
from plackett.experiments.contestants import contestants
from plackett.experiments.cross_validate import cross_validate
from plackett.experiments.experiment import experiment
from plackett.experiments.result import Experiment
from plackett.measures.language import parse
from plackett.rankers import MART, Blend, LambdaMART, LinearRegression, ListNet, RankNet

ALPHAS = (0.01, 10.0, 300.0)


@pytest.fixture(scope="module")
def data():
    return make_ranking(31, 8, 6, random_state=0)  # parts of unequal size


def run(data, rankers=("LinearRegression", "ListNet"), measures=("nDCG@5", "AP"), **options):
    return experiment(data, rankers, measures, **({"n_jobs": 1, "folds": 3, "n_trials": 3} | options))


def table(found):
    """The figures of an experiment, without times."""
    return found.leaderboard.drop("search_seconds", "train_seconds", "score_seconds")


# --------------------------------------------------------------------------------------------------------- protocol


def test_grid_is_the_protocol_of_cross_validate(data):
    """The same choice, validation values, test values and both means as the plain loop has."""
    spaces = {"ridge": {"alpha": ALPHAS}}
    result = run(data, {"ridge": Ridge()}, folds=5, search="grid", n_trials=None, spaces=spaces, select="nDCG@3")
    plain = cross_validate(data, Ridge(), ["nDCG@5", "AP"], settings={"alpha": ALPHAS}, select="nDCG@3")
    assert [cell.setting for cell in result.cells] == plain.best_settings
    assert result.trials["validation"].to_list() == plain.trials["validation"].to_list()
    assert result.trials["selected"].to_list() == plain.trials["selected"].to_list()
    for name in ("nDCG@5", "AP"):
        row = result.leaderboard.filter(measure=name)
        assert row["mean_over_folds"].item() == pytest.approx(plain.mean[name], abs=1e-15)
        assert row["mean_over_queries"].item() == pytest.approx(plain.mean_over_queries[name], abs=1e-15)
        assert result.per_query[name].to_list() == plain.per_query[name].to_list()
    assert row["mean_over_folds"].item() != row["mean_over_queries"].item()
    for cell in result.cells:  # the chosen one attains the best validation value, and the report of all three parts
        assert cell.validation == max(trial.validation for trial in cell.trials) == cell.chosen_by["valid"]
    assert result.selection.select("train", "valid", "test").null_count().row(0) == (0, 0, 0)


def test_selection_of_a_falling_measure(data):
    result = run(
        data, {"ridge": Ridge()}, search="grid", n_trials=None, spaces={"ridge": {"alpha": ALPHAS}}, select="ARP"
    )
    for cell in result.cells:
        assert cell.validation == min(trial.validation for trial in cell.trials)


def test_preset_reaches_selection_and_measures(data):
    result = run(data, "LinearRegression", "nDCG@3", preset="letor4", select="nDCG@3", n_trials=2)
    for cell, fold in zip(result.cells, letor_folds(data, 3), strict=True):
        for part, scores, value in (
            (fold.valid, cell.valid_scores, cell.validation),
            (fold.test, cell.scores, cell.evaluation.mean["nDCG@3"]),
        ):
            assert value == pk.evaluate(part, scores, "nDCG@3", preset="letor4").mean["nDCG@3"]
    assert "letor" in result.select


def test_rounds_are_chosen_by_the_selecting_measure(data):
    """The validation part is watched by `select`; the cell's curve has its best value where the model was kept."""
    ranker = LambdaMART(n_estimators=12, min_child_samples=2, learning_rate=0.4, n_jobs=1)
    result = run(data, ranker, search=None, select="AP")
    for cell in result.cells:
        assert cell.history.size == 12 and cell.validation == pytest.approx(cell.history.max(), abs=1e-12)
    assert result.curves.height == 36
    blind = run(data, ranker, search=None, early_stopping=False)
    assert blind.curves.height == 0 and table(blind).rows() != table(result).rows()


def test_refit_of_a_blend_keeps_its_members_and_their_rounds(data):
    trees = MART(n_estimators=30, num_leaves=4, min_child_samples=2, early_stopping_rounds=2, n_jobs=1)
    blend = Blend(members=(trees, "ListNet", "LinearRegression"), weights=(1, 2, 3), n_best=2, eval_measure="AP")
    result = run(data, blend, search=None, refit=True, select="AP")
    for cell in result.cells:
        fold = result.folds["data"][cell.fold]
        before = Blend(**blend.get_params(deep=False)).fit(fold.train, eval_set=fold.valid)
        again = cell.model()
        assert [type(member) for member in again.members_] == [type(member) for member in before.members_]
        np.testing.assert_allclose(again.weights_, before.weights_)
        for old, new in zip(before.members_, again.members_, strict=True):
            assert new.card_["data"]["queries"] == fold.train.n_queries + fold.valid.n_queries
            if isinstance(new, MART):
                assert new.n_estimators == old.card_["validation"]["round"] < 30


def test_refit_uses_the_validation_part_for_the_best_number_of_rounds(data):
    ranker = LambdaMART(n_estimators=12, min_child_samples=2, learning_rate=0.4, n_jobs=1)
    result = run(data, ranker, search=None, refit=True)
    for cell, fold in zip(result.cells, letor_folds(data, 3), strict=True):
        rounds = int(cell.history.argmax()) + 1
        both = pk.concat([fold.train, fold.valid])
        expected = LambdaMART(n_estimators=rounds, min_child_samples=2, learning_rate=0.4, n_jobs=1).fit(both)
        np.testing.assert_array_equal(cell.scores, expected.predict(fold.test))
        assert cell.refit


@pytest.mark.parametrize("search", ["random", "grid", "halving", "bayes"])
def test_every_search_finds_the_better_setting(search):
    """Labels that one feature says: scores as learned are right, turned round they are wrong."""
    if search == "bayes":
        pytest.importorskip("optuna")
    X = np.random.default_rng(0).normal(size=(180, 2))
    data = pk.RankingDataset.from_arrays(X, np.digitize(X[:, 0], [0.0, 1.0]), np.repeat(np.arange(30), 6))
    spaces = {"R": {"sign": (-1.0, 1.0)}}
    result = run(data, {"R": Signed()}, search=search, n_trials=6 if search == "bayes" else 3, spaces=spaces)
    assert all(cell.setting == {"sign": 1.0} for cell in result.cells)


class Signed(Ridge):
    """A ridge whose scores may be turned round; by default they are worth nothing."""

    def __init__(self, sign=0.0, alpha=1.0):
        super().__init__(alpha=alpha)
        self.sign = sign

    def predict(self, X):
        return self.sign * super().predict(X)


def test_halving_shortens_rounds_or_queries(data):
    result = run(data, ["LambdaMART(n_estimators=9, min_child_samples=2)"], search="halving", n_trials=3)
    for cell in result.cells:
        assert [trial.share for trial in cell.trials] == pytest.approx([1 / 3] * 3 + [1.0])
        assert cell.trials[-1].selected and len(cell.history) == 9 and cell.effort == "n_estimators"
    result = run(data, {"ridge": Ridge()}, search="halving", n_trials=3, folds=3)  # no rounds: fewer queries
    assert [trial.share for trial in result.cells[0].trials] == pytest.approx([1 / 3] * 3 + [1.0])
    assert result.cells[0].effort == "training queries"


# ------------------------------------------------------------------------------------------------- rankers and data


def test_rankers_of_all_kinds(data):
    rankers = {
        "name": "ListNet",
        "class": ListNet,
        "estimator": LinearRegression(alpha=0.01),
        "lightgbm": lgb.LGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1),
        "pipeline": make_pipeline(StandardScaler(), Ridge()),
        "function": lambda **setting: Ridge(**setting),
    }
    result = run(data, rankers, n_trials=2)
    assert not result.failures
    trials = dict(result.trials.group_by("ranker").len().iter_rows())
    assert trials == {"name": 6, "class": 6, "estimator": 3, "lightgbm": 6, "pipeline": 6, "function": 3}
    by = {name: [cell.scores for cell in result.of("data", name)] for name in rankers}
    np.testing.assert_array_equal(np.concatenate(by["name"]), np.concatenate(by["class"]))
    fold = letor_folds(data, 3)[0]
    ridge = Ridge(random_state=0).fit(fold.train.X, fold.train.y)
    np.testing.assert_array_equal(by["function"][0], ridge.predict(fold.test.X))


def test_lightgbm_stops_early_where_asked(data):
    ranker = lgb.LGBMRanker(
        n_estimators=40, learning_rate=0.5, min_child_samples=2, verbose=-1, early_stopping_rounds=2
    )
    result = run(data, {"lgb": ranker}, search=None)
    fold = letor_folds(data, 3)[0]
    plain = lgb.LGBMRanker(
        n_estimators=40, learning_rate=0.5, min_child_samples=2, verbose=-1, random_state=0, n_jobs=1
    )
    plain.fit(fold.train.X, fold.train.y, group=fold.train.group)
    assert not result.failures
    assert not np.array_equal(result.cells[0].scores, plain.predict(fold.test.X))


def test_xgboost_stops_early_where_asked(data):
    """XGBoost takes the queries of the validation part as ids or as sizes, and refuses both at once."""
    xgboost = pytest.importorskip("xgboost")
    ranker = xgboost.XGBRanker(n_estimators=40, learning_rate=0.5, early_stopping_rounds=2, n_jobs=1)
    result = run(data, {"xgb": ranker}, search=None)
    fold = letor_folds(data, 3)[0]
    plain = xgboost.XGBRanker(n_estimators=40, learning_rate=0.5, early_stopping_rounds=2, random_state=0, n_jobs=1)
    train, valid = fold.train, fold.valid
    plain.fit(
        train.X,
        train.y,
        qid=train.query_of_row,
        eval_set=[(valid.X, valid.y)],
        eval_qid=[valid.query_of_row],
        verbose=False,
    )
    assert not result.failures and plain.best_iteration < 39
    np.testing.assert_array_equal(result.cells[0].scores, plain.predict(fold.test.X))


def test_rankers_of_other_libraries_by_name():
    (entry,) = contestants(
        "lightgbm.LGBMRanker(objective='rank_xendcg', extra_trees=True)"
    )  # one that it does not list
    assert entry.ranker.get_params()["extra_trees"] and "num_leaves" in entry.space
    with pytest.raises(DataError, match="Ridge has no parameter 'beta'"):
        contestants("sklearn.linear_model.Ridge(beta=1)")
    with pytest.raises(DataError, match="is not an estimator"):
        contestants("os.path.join")
    catboost = pytest.importorskip("catboost")
    (entry,) = contestants(catboost.CatBoostRanker(iterations=3))
    assert entry.with_threads(1).get_params()["thread_count"] == 1


def test_data_of_all_kinds(data):
    folds = letor_folds(data, 3)
    whole = run(data, "LinearRegression", search=None)
    assert table(run(folds, "LinearRegression", search=None)).equals(table(whole))
    one = run(folds[1], "LinearRegression", search=None)
    assert one.cells[0].scores.tolist() == whole.cells[1].scores.tolist()
    assert table(run(tuple(folds[1]), "LinearRegression", search=None)).equals(table(one))
    several = run({"all": data, "split": folds[1]}, "LinearRegression", search=None)
    assert several.datasets == ("all", "split") and len(several.cells) == 4
    no_valid = run(Fold(folds[0].train, None, folds[0].test), "LinearRegression", search=None)
    assert no_valid.cells[0].validation is None and no_valid.leaderboard["validation"].null_count() == 2


def test_string_ids(tmp_path):
    rng = np.random.default_rng(0)
    qid = np.repeat([f"q{i}" for i in range(12)], 5)
    data = pk.RankingDataset.from_arrays(rng.normal(size=(60, 3)), rng.integers(0, 3, 60), qid)
    result = run(data, "LinearRegression", search=None, out=tmp_path)
    assert sorted(result.per_query["qid"].to_list()) == sorted(data.qids.tolist())
    assert Experiment.load(tmp_path).per_query.equals(result.per_query)


# ------------------------------------------------------------------------------------------------------ determinism


def test_the_same_for_any_number_of_processes(data, monkeypatch):
    """Scores, choices and figures to the last bit, in one process and in two."""
    monkeypatch.setattr(workers, "_is_ours", lambda task: False)  # else all would be done before two have started
    rankers = ["ListNet", "LambdaMART(n_estimators=6, min_child_samples=2)"]
    one, two = run(data, rankers, n_jobs=1), run(data, rankers, n_jobs=2)
    assert table(one).equals(table(two))
    assert [(c.dataset, c.fold, c.ranker, c.setting) for c in one.cells] == [
        (c.dataset, c.fold, c.ranker, c.setting) for c in two.cells
    ]
    for a, b in zip(one.cells, two.cells, strict=True):
        np.testing.assert_array_equal(a.scores, b.scores)
        np.testing.assert_array_equal(a.history, b.history)
    assert table(run(data, rankers, random_state=1)).equals(table(one)) is False


def test_small_work_starts_no_process(data, monkeypatch):
    monkeypatch.setattr(workers, "_PATIENCE", 600.0)
    monkeypatch.setattr(workers._Team, "start", lambda team: pytest.fail("a process was started"))
    two, one = (run(data, "LinearRegression", search=None, n_jobs=n) for n in (2, 1))
    assert table(one).equals(table(two))


def test_work_goes_on_in_processes_that_have_started(data, monkeypatch):
    """Some cells here, the rest there: together all of them, each once."""
    monkeypatch.setattr(workers, "_PATIENCE", 0.0)
    places = []
    original = workers._Team.take

    def take(team, *wanted):
        if wanted and len(places) == 2:  # two here, then wait for a process
            return None
        task = original(team, *wanted)
        places.extend([task.names] if wanted and task else [])
        return task

    monkeypatch.setattr(workers._Team, "take", take)
    result = run(data, ["LinearRegression", "ListNet"], search=None, n_jobs=2)
    assert len(places) <= 2 and len(result.cells) == 6 and not result.failures


def test_what_is_defined_in_a_script_reaches_the_processes(data):
    """Classes, functions and measures of the caller's own module, and an error that comes back."""

    @pk.measure(name="TopLabel", compiled=False)  # compiling takes a second in each process
    def top_label(labels):
        return labels[0]

    class Local(Ridge):
        pass

    def broken(**setting):
        raise RuntimeError("no such luck")

    rankers = {"local": Local(), "broken": broken, "threads": Threads()}
    result = run(letor_folds(data, 3)[0], rankers, select="TopLabel", search=None, n_jobs=2)
    assert len(result.cells) == 2 and {f.error for f in result.failures} == {"RuntimeError: no such luck"}
    assert "in broken" in result.failures[0].traceback
    # two threads in all, two processes: each has one, and so have the libraries in it
    assert {float(cell.scores[0]) for cell in result.of("data", "threads")} == {111.0}


# --------------------------------------------------------------------------------------------------------- resuming


def count_fits(monkeypatch):
    calls = []
    original = LinearRegression.fit

    @functools.wraps(original)
    def counted(self, X, *args, **kwargs):
        calls.append(X.n_queries)
        return original(self, X, *args, **kwargs)

    monkeypatch.setattr(LinearRegression, "fit", counted)
    return calls


def test_finished_cells_are_not_computed_again(data, tmp_path, monkeypatch):
    from plackett.experiments.cells import run as cell_run

    first = run(data, out=tmp_path)
    calls = count_fits(monkeypatch)
    monkeypatch.setattr(cell_run, "_WARM", {LinearRegression, ListNet, Ridge})
    again = run(data, out=tmp_path)
    assert calls == [] and table(again).equals(table(first))
    assert again.leaderboard.equals(first.leaderboard)  # the times too: they are those of the cells
    # another measure needs no training, and other names neither
    named = {"linear": LinearRegression(), "ListNet": "ListNet"}
    more = run({"renamed": data}, named, ["RR"], select="nDCG@5", out=tmp_path)
    assert calls == [] and list(more.measures) == ["RR"] and more.datasets == ("renamed",)
    expected = pk.evaluate(letor_folds(data, 3)[0].test, more.cells[0].scores, "RR").mean["RR"]
    assert more.cells[0].evaluation.mean["RR"] == expected


@pytest.mark.parametrize(
    "change",
    [
        {"select": "nDCG"},
        {"preset": "letor4", "select": "nDCG@5"},
        {"n_trials": 2},
        {"search": "grid"},
        {"search": None},
        {"random_state": 1},
        {"refit": True},
        {"early_stopping": False},
        {"time_budget": 1000.0},
        {"spaces": {"LinearRegression": {"alpha": (0.1, 1.0)}}},
        {"rankers": ["LinearRegression(standardize=False)"]},
        {"labels": True},
        {"features": True},
        {"weights": True},
        {"version": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_nothing_stale_is_served(data, tmp_path, monkeypatch, change):
    """Whatever a result depends on, when it changes the cells are computed again; and back again they are not."""
    run(data, "LinearRegression", out=tmp_path)
    before = set((tmp_path / "cells").glob("*.plackett"))
    change = dict(change)
    given = data
    if change.pop("labels", False):
        y = data.y.copy()
        y[0] = 2 - y[0]
        given = data.replace(y=y)
    if change.pop("features", False):
        X = data.X.copy()
        X[0, 0] += 1
        given = data.replace(X=X)
    if change.pop("weights", False):
        given = data.replace(query_weight=np.linspace(1, 2, data.n_queries))
    if change.pop("version", False):
        monkeypatch.setattr("plackett._base.version.__version__", "9.9")
    run(given, change.pop("rankers", "LinearRegression"), out=tmp_path, **change)
    after = set((tmp_path / "cells").glob("*.plackett"))
    assert before < after
    assert len({path for path in after - before if ".model." not in path.name}) == 3  # one per fold
    monkeypatch.undo()
    run(data, "LinearRegression", out=tmp_path)
    assert set((tmp_path / "cells").glob("*.plackett")) == after


def test_edited_ranker_is_another_one(tmp_path):
    """A class edited between two runs, under the same name and with the same parameters."""
    described = []
    for weight in ("1.0", "-1.0", "1.0"):
        path = tmp_path / f"version{len(described)}" / "mine.py"
        path.parent.mkdir()
        path.write_text(f"from sklearn.linear_model import Ridge\n\nclass Mine(Ridge):\n    weight = {weight}\n")
        spec = importlib.util.spec_from_file_location("mine", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["mine"] = module
        spec.loader.exec_module(module)
        described.append(describe(module.Mine()))
    del sys.modules["mine"]
    assert described[0] == described[2] != described[1]


def test_functions_and_what_they_hold_are_described():
    def maker(alpha):
        return lambda **setting: Ridge(alpha, **setting)

    assert describe(maker(1.0)) == describe(maker(1.0)) != describe(maker(2.0))
    assert describe(partial(Ridge, alpha=1.0)) != describe(partial(Ridge, alpha=2.0))
    assert describe(Ridge(alpha=1.0)) != describe(Ridge(alpha=2.0))
    assert describe(ListNet(n_jobs=1, verbose=True)) == describe(ListNet(n_jobs=2))


SLOW = f"""
import sys, time
from pathlib import Path
sys.path.append({str(Path(__file__).parents[1])!r})
from experiments.own_rankers import Plain
from plackett.datasets import make_ranking
from plackett.experiments.experiment import experiment

class Slow(Plain):
    def fit(self, X, y):
        with open("fits.txt", "a") as file:
            file.write("fit\\n")
        time.sleep(float(Path("pause.txt").read_text()))
        return super().fit(X, y)

found = experiment(make_ranking(30, 6, 3, random_state=0), {{"slow": Slow()}}, ["AP"], folds=6, search=None,
                   out="out", n_jobs=int(sys.argv[1]))
print(found.leaderboard["mean_over_folds"].item(), len(found.cells))
"""


def test_killed_run_goes_on_where_it_stopped(tmp_path):
    """SIGKILL in the middle: whole files only, and the next run computes what was missing."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "pause.txt").write_text("0.4")
    cells = tmp_path / "out" / "cells"
    first = subprocess.Popen([sys.executable, "slow.py", "2"], cwd=tmp_path)
    deadline = time.monotonic() + 600
    while len(list(cells.glob("*.plackett"))) < 2:
        assert time.monotonic() < deadline and first.poll() is None
        time.sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    time.sleep(1.0)  # workers see that nobody listens any more, and end
    finished = sorted(cells.glob("*.plackett"))
    assert 2 <= len(finished) < 6
    stamps = [path.stat().st_mtime_ns for path in finished]
    missing = {entry["key"] for entry in json.loads((tmp_path / "out" / "experiment.json").read_text())["cells"]}
    missing -= {path.stem for path in finished}
    for key in missing:  # as of processes killed while they wrote
        (cells / f".{key}.plackett.0123456789ab").write_bytes(b"half")
    assert Experiment.load(tmp_path / "out").cells  # what is there can be looked at
    (tmp_path / "pause.txt").write_text("0")
    before = len((tmp_path / "fits.txt").read_text().splitlines())
    done = subprocess.run([sys.executable, "slow.py", "1"], cwd=tmp_path, capture_output=True, text=True, check=True)
    mean, number = done.stdout.split()
    assert number == "6"
    assert [path.stat().st_mtime_ns for path in finished] == stamps  # not computed again
    fits = len((tmp_path / "fits.txt").read_text().splitlines()) - before
    assert fits <= len(missing) + 1  # one each, and one to warm up
    assert sorted(path.stem for path in cells.iterdir()) == sorted(missing | {path.stem for path in finished})
    whole = run(make_ranking(30, 6, 3, random_state=0), {"slow": Plain()}, "AP", folds=6, search=None)
    assert float(mean) == whole.leaderboard["mean_over_folds"].item()


def test_files_of_living_writers_stay(tmp_path):
    folder = CellFolder(tmp_path)
    folder.cells.mkdir(parents=True, exist_ok=True)
    living = folder.cells / f".k.plackett.{atomic._machine()}-{os.getpid()}-0123456789ab.tmp"
    half = folder.cells / ".k.plackett.0123456789ab"
    for path in (living, half):
        path.write_bytes(b"half")
    folder.clear_leftovers("k")
    assert living.exists() and not half.exists()


def test_two_experiments_in_one_folder_at_once_are_refused(data, tmp_path):
    """The second would remove what the first is writing. The lock ends with its holder, however that ends."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "pause.txt").write_text("60")
    first = subprocess.Popen([sys.executable, "slow.py", "1"], cwd=tmp_path)
    try:
        deadline = time.monotonic() + 600
        while not (tmp_path / "fits.txt").exists():
            assert time.monotonic() < deadline and first.poll() is None
            time.sleep(0.02)
        with pytest.raises(pk.DataError, match="another experiment is running in"):
            run(data, "LinearRegression", search=None, out=tmp_path / "out")
        assert json.loads((tmp_path / "out" / "experiment.json").read_text())["rankers"].keys() == {"slow"}
    finally:
        first.kill()
        first.wait()
    assert len(run(data, "LinearRegression", search=None, out=tmp_path / "out").cells) == 3


def test_a_lock_of_this_process_counts_too_and_ends_with_an_error(data, tmp_path):
    folder = CellFolder(tmp_path)
    folder.prepare()
    with folder.locked(), pytest.raises(pk.DataError, match="another experiment"), folder.locked():
        pass
    with pytest.raises(ValueError, match="inside"), folder.locked():
        raise ValueError("inside")
    with folder.locked():
        pass


def test_a_finished_cell_is_measured_once(data, tmp_path, monkeypatch):
    measured, read = [], []
    original, finished = Cell.measured, CellFolder.finished
    monkeypatch.setattr(Cell, "measured", lambda self, *args: measured.append(self.key) or original(self, *args))

    def counted(self, key):
        result = finished(self, key)
        read.extend([key] * (result is not None))
        return result

    monkeypatch.setattr(CellFolder, "finished", counted)
    first = run(data, "LinearRegression", search=None, out=tmp_path)
    assert sorted(measured) == sorted(cell.key for cell in first.cells) and not read
    again = run(data, "LinearRegression", search=None, out=tmp_path)  # found: other measures might be asked for
    assert len(measured) == 2 * len(first.cells) and len(read) == len(first.cells)
    assert table(again).equals(table(first))
    for mine, stored in zip(first.cells, Experiment.load(tmp_path).cells, strict=True):
        assert mine.measures == stored.measures and mine.setting == stored.setting and mine.key == stored.key
        np.testing.assert_array_equal(mine.scores, stored.scores)
        np.testing.assert_array_equal(mine.values["AP"], stored.values["AP"])
        assert mine.model_path == stored.model_path


def test_damaged_cell_is_computed_again(data, tmp_path):
    first = run(data, "LinearRegression", out=tmp_path)
    path = CellFolder(tmp_path).cell_path(first.cells[0].key)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.warns(pk.PlackettWarning, match="computed again"):
        again = run(data, "LinearRegression", out=tmp_path)
    assert table(again).equals(table(first))


def test_interrupted_training_is_no_finished_cell(data, tmp_path, monkeypatch):
    """A ranker keeps its best round on Ctrl-C; the experiment must not take that for a result."""
    from plackett.solvers.monitor import Monitor

    original = Monitor.update

    def interrupting(self, *scores):
        original(self, *scores)
        if self.n_rounds == 3 and self.valid is not None:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(Monitor, "update", interrupting)
    with pytest.raises(KeyboardInterrupt):
        run(data, "LambdaMART(n_estimators=5, min_child_samples=2)", search=None, out=tmp_path)
    assert not list((tmp_path / "cells").glob("*.plackett"))


# --------------------------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(("n_jobs", "how"), [(1, "raise"), (2, "die")])
def test_failing_cell_takes_no_other_with_it(data, n_jobs, how):
    """One that raises, and one that ends its process."""
    rankers = {"fails": Fails(how=how), "ListNet": "ListNet", "LinearRegression": "LinearRegression"}
    result = run(letor_folds(data, 3)[0], rankers, search=None, n_jobs=n_jobs)
    assert result.complete("data") == ["ListNet", "LinearRegression"]
    (failure,) = result.failures
    assert (failure.dataset, failure.fold, failure.ranker) == ("data", 1, "fails")
    assert ("ValueError: alpha=1.0 is too large" if how == "raise" else "ended with exit code 7") in failure.error
    assert "fails" not in set(result.leaderboard["ranker"]) and "Failed: fails" in str(result)


def test_a_killed_worker_loses_its_cell_and_says_so(data, tmp_path):
    """Never a smaller result without a word; the next run computes what is missing and nothing else."""
    folds = letor_folds(data, 3)[0]
    rankers = {"fails": Fails(how="kill"), "ListNet": "ListNet", "LinearRegression": "LinearRegression"}
    result = run(folds, rankers, search=None, n_jobs=2, out=tmp_path)
    (failure,) = result.failures
    assert failure.ranker == "fails" and "ended by signal 9" in failure.error
    assert result.complete("data") == ["ListNet", "LinearRegression"] and "Failed: fails" in str(result)
    assert [tokens["ranker"] for tokens in CellFolder(tmp_path).read_manifest()["failures"]] == ["fails"]
    times = {cell.key: CellFolder(tmp_path).cell_path(cell.key).stat().st_mtime_ns for cell in result.cells}
    again = run(folds, rankers | {"fails": Fails(how="kill", limit=9.0)}, search=None, n_jobs=2, out=tmp_path)
    assert not again.failures and again.complete("data") == ["fails", "ListNet", "LinearRegression"]
    for key, before in times.items():
        assert CellFolder(tmp_path).cell_path(key).stat().st_mtime_ns == before


def test_warnings_of_trials_are_given_once_with_their_number(data):
    """Whether they were trained here or in another process."""
    flat = data.replace(X=np.zeros_like(data.X))
    for n_jobs in (1, 2):
        with pytest.warns(PlackettWarning) as caught:
            result = run(flat, {"flat": "ListNet"}, search="random", n_trials=3, n_jobs=n_jobs)
        (said,) = [str(warning.message) for warning in caught if warning.category is PlackettWarning]
        assert said.startswith("flat, 9 of 9 trials: ListNet learned nothing")
        assert all(len(trial.warnings) == 1 for cell in result.cells for trial in cell.trials)


def test_a_pipeline_of_our_own_steps_is_known_by_the_source_of_its_ranker():
    modules = _modules(make_pipeline(pk.Imputer(), ListNet()), parse("AP"))
    assert {"plackett.data.imputer", "plackett.rankers.listwise.listnet"} <= set(modules)


def test_another_experiment_is_not_overwritten_unasked(data, tmp_path):
    options = {"search": None, "overwrite": False, "out": tmp_path}
    run(data, "ListNet", **options)
    run(data, "ListNet", **options)  # the same again
    run(data, ["ListNet", "LinearRegression"], ["nDCG@5"], **options)  # more of the same
    manifest = (tmp_path / "experiment.json").read_bytes()
    for tokens in ({"random_state": 1}, {"select": "RR"}, {"rankers": "ListNet"}, {"rankers": ["ListNet(alpha=2.0)"]}):
        tokens = {"rankers": ["ListNet", "LinearRegression"]} | tokens
        with pytest.raises(FolderTakenError, match="holds an experiment with"):
            run(data, measures=["nDCG@5"], **options | tokens)
    with pytest.raises(FolderTakenError, match="other data"):
        run(make_ranking(31, 8, 6, random_state=5), ["ListNet", "LinearRegression"], ["nDCG@5"], **options)
    assert (tmp_path / "experiment.json").read_bytes() == manifest
    run(data, "LinearRegression", **options | {"overwrite": True})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "report.html").write_text("mine")
    with pytest.raises(FolderTakenError, match="report.html exists"):
        run(data, "ListNet", search=None, overwrite=False, out=tmp_path / "other")


def test_frames_have_their_columns_where_everything_failed(data):
    good, bad = run(data, "ListNet"), run(data, {"fails": Fails(how="raise", limit=-1.0)})
    assert good.cells and good.curves.height and len(bad.failures) == 3 and not bad.cells
    for name in ("leaderboard", "per_query", "trials", "selection", "curves", "times"):
        assert getattr(bad, name).schema == getattr(good, name).schema, name
        assert getattr(bad, name).height == 0
    assert "No ranker is finished" in str(bad) and str(bad).count("Failed: fails in folds 1, 2, 3 of data") == 1
    assert json.loads(bad.to_json())["leaderboard"] == []


def test_grid_with_too_few_trials_is_refused_before_any_work(data, tmp_path):
    space = {"alpha": (0.1, 1.0, 10.0), "target": ("linear", "exp2")}
    with pytest.raises(DataError, match=r"n_trials=5 .* ListNet has 6 settings \(3 of alpha × 2 of target\)"):
        experiment(
            "no such dataset", "ListNet", "AP", search="grid", n_trials=5, spaces={"ListNet": space}, out=tmp_path / "x"
        )
    assert not (tmp_path / "x").exists()
    assert run(data, "ListNet", search="grid", n_trials=6, spaces={"ListNet": space}).trials.height == 3 * 6


def test_failing_trial_is_recorded_and_not_chosen(data):
    spaces = {"fails": {"alpha": (0.5, 1.5)}}
    result = run(data, {"fails": Fails(limit=1.0)}, search="grid", n_trials=None, spaces=spaces)
    assert [cell.setting for cell in result.cells] == [{"alpha": 0.5}] * 3
    assert (
        result.trials.filter(pl.col("error").is_not_null())["error"].to_list()
        == ["ValueError: alpha=1.5 is too large"] * 3
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rankers": "LambdaMat"}, "unknown ranker 'LambdaMat'; did you mean LambdaMART"),
        ({"rankers": "ListNet(beta=1)"}, "ListNet has no parameter 'beta'"),
        ({"rankers": ["ListNet", "ListNet"]}, "two rankers are called 'ListNet'"),
        ({"rankers": []}, "no ranker given"),
        ({"rankers": {"x": 3}}, "x: 3 is not a ranker"),
        ({"rankers": "sklearn.linear_model.Nothing"}, "no ranker 'sklearn.linear_model.Nothing'"),
        ({"spaces": {"Other": {}}}, "for 'Other', but the rankers are LinearRegression, ListNet"),
        ({"spaces": {"ListNet": {"beta": (1, 2)}}}, "ListNet has no parameter 'beta' to search"),
        ({"spaces": {"ListNet": {"alpha": 3}}}, "alpha=3; give a list of values, or a range"),
        ({"search": "luck"}, "search='luck'; give one of"),
        ({"n_trials": 0}, "n_trials=0"),
        ({"time_budget": -1}, "time_budget=-1"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": None}, "random_state=None; give a whole number"),
        ({"measures": "nDGC"}, "unknown measure 'nDGC'"),
        ({"select": "nDGC"}, "unknown measure 'nDGC'"),
    ],
)
def test_mistakes_are_named_before_anything_is_trained(data, options, message, monkeypatch):
    calls = count_fits(monkeypatch)
    with pytest.raises(ValueError) as error:
        run(data, **options)
    assert message in str(error.value) and calls == []


def test_mistakes_in_data(data):
    folds = letor_folds(data, 3)
    with pytest.raises(DataError, match="is in train and in test"):
        run(Fold(folds[0].train, folds[0].valid, folds[0].train))
    with pytest.raises(DataError, match="no validation part"):
        run(Fold(folds[0].train, None, folds[0].test))
    with pytest.raises(DataError, match="letor_folds"):
        run([data, data])
    with pytest.raises(DataError, match="data is int"):
        run(3)
    with pytest.raises(DataError, match="unknown dataset"):
        run("mq2009")
    with pytest.raises(DataError, match="data is ndarray"):
        run(np.zeros((3, 3)))
    with pytest.raises(DataError, match="at least 3 parts"):
        run(data, folds=0)


# ----------------------------------------------------------------------------------------------------------- result


@pytest.fixture(scope="module")
def found(data, tmp_path_factory):
    other = make_ranking(24, 6, 6, random_state=1)
    out = tmp_path_factory.mktemp("experiment")
    return run(
        {"one": data, "two": other},
        {"ListNet": "ListNet", "constant": lambda: Constant(), "LinearRegression": "LinearRegression"},
        ["nDCG@5", "AP", "GMAP"],
        n_trials=2,
        out=out,
    )


class Constant:
    """Gives every document the same score."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(X.shape[0])


def test_leaderboard(found):
    board = found.leaderboard
    assert board.height == 2 * 3 * 3
    for (dataset, measure), part in board.group_by("dataset", "measure"):
        results = found.results(measure)[dataset]
        assert dict(part.select("ranker", "mean_over_folds").iter_rows()) == results
        if measure == "GMAP":  # no mean over queries, so no test of means
            assert part["low"].null_count() == 3 and not part["best"].any()
            continue
        best = part.filter("best")
        assert best["mean_over_queries"].item() == part["mean_over_queries"].max() and best["p"].item() is None
        assert (part["low"] <= part["mean_over_queries"]).all() and (part["mean_over_queries"] <= part["high"]).all()
        others = part.filter(~pl.col("best"))
        assert (others["p_corrected"] >= others["p"]).all()
        values = {row["ranker"]: found.evaluation(dataset, row["ranker"]).values[measure] for row in part.to_dicts()}
        for row in others.to_dicts():
            expected = fisher(values[row["ranker"]], values[best["ranker"].item()]).pvalue
            assert row["p"] == pytest.approx(expected, abs=0.01)
    worse = board.filter(ranker="constant", measure="nDCG@5")
    assert worse["significantly_worse"].all()
    for dataset in found.datasets:  # the order is that of the first measure
        first = board.filter(dataset=dataset, measure="nDCG@5")["mean_over_folds"].to_list()
        assert first == sorted(first, reverse=True)


def test_best_is_chosen_by_validation(found):
    for dataset in found.datasets:
        validation = {r: np.mean([c.validation for c in found.of(dataset, r)]) for r in found.rankers}
        assert found.best(dataset) == max(validation, key=validation.get)
        chosen = found.leaderboard.filter("chosen", dataset=dataset)
        assert set(chosen["ranker"]) == {found.best(dataset)}
    with pytest.raises(DataError, match="dataset=None; give one of 'one', 'two'"):
        found.best()


def test_several_datasets(found):
    results = found.results("AP")
    assert found.winning_numbers("AP") == winning_number(results) and found.mean_ranks("AP") == mean_ranks(results)
    assert found.mean_ranks()["constant"] == 3.0
    assert found.critical_difference("AP").critical_difference > 0 and 0 <= found.friedman().pvalue <= 1
    assert set(found.comparison("one").systems) == set(found.rankers)
    with pytest.raises(DataError, match="measure='RR'; give one of 'nDCG@5', 'AP', 'GMAP'"):
        found.results("RR")


def test_models_and_frames(found):
    cell = found.cell("ListNet", 2, "one")
    test = found.folds["one"][2].test
    np.testing.assert_array_equal(cell.model().predict(test), cell.scores)
    assert cell.versions["plackett"] == pk.__version__ and cell.seconds["train"] > 0
    with pytest.raises(DataError, match="no model file"):
        found.cell("constant", 1, "one").model()
    assert found.per_query.height == 3 * (31 + 24) and found.times.height == 18
    assert found.trials.filter("selected").height == 18
    assert json.loads(found.to_json())["best"]["one"] == found.best("one")
    assert "95 % interval" in found.to_markdown() and "over queries" in str(found)


def test_load(found):
    again = Experiment.load(found.folder)
    assert again.leaderboard.equals(found.leaderboard) and again.trials.equals(found.trials)
    assert again.per_query.equals(found.per_query) and again.curves.equals(found.curves)
    assert again.best("two") == found.best("two") and repr(again) == repr(found)
    fold = again.folds["one"][3]
    np.testing.assert_array_equal(fold.test.X, found.folds["one"][3].test.X)
    assert [part.n_queries for part in fold] == [part.n_queries for part in found.folds["one"][3]]


def test_load_of_something_else(tmp_path):
    with pytest.raises(DataError, match="no experiment"):
        Experiment.load(tmp_path)
    (tmp_path / "experiment.json").write_text("{")
    with pytest.raises(DataError, match="damaged"):
        Experiment.load(tmp_path)
    (tmp_path / "experiment.json").write_text('{"format_version": 99}')
    with pytest.raises(DataError, match="not written by this version"):
        Experiment.load(tmp_path)


def test_a_folder_with_an_experiment_file_of_something_else_is_left_alone(data, tmp_path):
    (tmp_path / "experiment.json").write_text('{"mine": 1}')
    with pytest.raises(DataError, match="use another folder"):
        run(data, "LinearRegression", search=None, out=tmp_path)
    assert os.listdir(tmp_path) == ["experiment.json"] and "mine" in (tmp_path / "experiment.json").read_text()


def test_temporary_folder_goes_with_the_result(data):
    result = run(data, "LinearRegression", search=None)
    folder = Path(result.folder)
    assert result.cells[0].model() and folder.exists()
    del result
    assert not folder.exists()


def test_progress(data, capsys):
    run(data, "LinearRegression", verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and lines[-1].startswith("[3/3] data fold 3 LinearRegression: done, nDCG@5 0.")


def test_time_budget_ends_the_search(data):
    class Sleepy(Ridge):
        def fit(self, X, y):
            time.sleep(0.05)
            return super().fit(X, y)

    spaces = {"s": {"alpha": Real(0.1, 10.0)}}
    result = run(data, {"s": Sleepy()}, n_trials=None, time_budget=0.2, spaces=spaces)
    assert all(2 <= len(cell.trials) <= 5 for cell in result.cells)


def test_neural_rankers_too(data):
    pytest.importorskip("torch")
    result = run(data, {"net": RankNet(hidden=(4,), max_epochs=3, n_jobs=1)}, n_trials=2)
    assert not result.failures and result.cells[0].history.size == 3
    np.testing.assert_array_equal(result.cells[0].model().predict(result.folds["data"][1].test), result.cells[0].scores)


@pytest.mark.golden
def test_public_dataset_by_name(data_dir, monkeypatch):
    """Official folds of MQ2008, as `plackett.datasets.load` has them."""
    monkeypatch.setenv("PLACKETT_DATA", str(data_dir))
    if not (data_dir / "LETOR4.0-MQ2008").is_dir():
        pytest.skip("MQ2008 is not there")
    result = run("mq2008", "LinearRegression", ["AP"], preset="letor4", search=None, early_stopping=False)
    folds = [pk.datasets.load("mq2008", fold=i) for i in range(1, 6)]
    plain = cross_validate(folds, LinearRegression(n_jobs=1), ["AP"], preset="letor4")
    assert result.datasets == ("mq2008",) and result.results("AP")["mq2008"]["LinearRegression"] == plain.mean["AP"]


def test_files_and_frames_are_to_be_read_first(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pk.write(data, "mine.csv")
    Path("folds").mkdir()
    with pytest.raises(DataError, match=r"'mine.csv' is a file, .*: pk\.read\('mine.csv'\)"):
        experiment("mine.csv", ["ListNet"], "AP")
    with pytest.raises(DataError, match=r"'folds' is a folder, .*: pk\.read_folds\('folds'\)"):
        experiment("folds", ["ListNet"], "AP")
    with pytest.raises(DataError, match=r"make a dataset of it: pk\.RankingDataset\.from_frame"):
        experiment(data.to_polars(), ["ListNet"], "AP")
