"""``plackett auto``, run as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plackett as pk
from plackett.data.tables import write_csv
from plackett.experiments.auto.trials import CandidateTrials


@pytest.fixture
def folder(tmp_path):
    """Training and validation data as LETOR text."""
    for name, seed in (("train", 0), ("valid", 1)):
        rng = np.random.default_rng(seed)
        qid = np.repeat(np.arange(20), 8)
        X = rng.normal(size=(qid.size, 3)).round(3)
        y = np.digitize(X[:, 0] - X[:, 1] + rng.normal(size=qid.size), [-0.5, 1]).astype(int)
        pk.write_letor(pk.RankingDataset.from_arrays(X, y, qid), tmp_path / f"{name}.txt")
    return tmp_path


def auto(run, folder, *more):
    arguments = ("-a", "ListNet", "-a", "LinearRegression", "--trials", 2)
    return run("auto", folder / "train.txt", "--out", folder / "m.plackett", *arguments, *more)


def test_model_leaderboard_and_reasons(run, folder):
    code, out, err = auto(run, folder)
    assert code == 0, err
    assert "LinearRegression" in out and "on new queries" in out and "saved to" in out
    data = pk.read_letor(folder / "train.txt")
    expected = pk.AutoRanker(candidates=("ListNet", "LinearRegression"), n_trials=2).fit(data).predict(data)
    assert pk.load(folder / "m.plackett").predict(data).tolist() == expected.tolist()
    assert "on new queries" in run("info", folder / "m.plackett")[1]
    assert auto(run, folder)[0] == 2  # the file exists
    code, out, _ = auto(run, folder, "--force", "--json", "--valid", folder / "valid.txt", "-m", "AP")
    card = json.loads(out)
    assert card["auto"]["estimate"]["measure"] == "AP" and card["validation"]["measure"] == "AP"
    assert "auto" in run("--help")[1]


def test_features_relative_to_their_list(run, folder):
    code, _, err = auto(run, folder, "--list-features")
    assert code == 0, err
    data = pk.read_letor(folder / "train.txt")
    model = pk.load(folder / "m.plackett")
    expected = pk.AutoRanker(candidates=("ListNet", "LinearRegression"), n_trials=2, list_features=True).fit(data)
    assert model.list_features and model.predict(data).tolist() == expected.predict(data).tolist()
    code, _, err = run("export", folder / "m.plackett", "--to", "vespa", "--out", folder / "m.txt")
    assert code and "one document at a time" in err


def test_an_interrupt_saves_the_best_so_far(run, folder, monkeypatch):
    train, calls = CandidateTrials.run, []

    def interrupted(self, number, split, n_jobs=1):
        calls.append(1)
        if len(calls) > 18:
            raise KeyboardInterrupt
        train(self, number, split)

    monkeypatch.setattr(CandidateTrials, "run", interrupted)
    code, _, err = auto(run, folder)
    assert code == 130 and "best so far was saved" in err
    assert pk.load(folder / "m.plackett").card_["interrupted"]


@pytest.mark.parametrize(("arguments", "match"), [(("-m", "nDGC@10"), "nDCG"), (("-a", "LamdaMART"), "LambdaMART")])
def test_refusals(run, folder, arguments, match):
    code, _, err = auto(run, folder, *arguments)
    assert code != 0 and match in err


def test_missing_values_are_filled_in_and_the_imputer_is_saved(run, folder):
    data = pk.read_letor(folder / "train.txt")
    X = data.X.copy()
    X[::7, 1] = np.nan
    write_csv(data.replace(X=X, feature_names=("a", "b", "c")), folder / "gaps.csv")
    arguments = ("auto", folder / "gaps.csv", "--out", folder / "m.plackett", "-a", "ListNet", "--trials", 1)
    code, _, err = run(*arguments)
    assert code == 1 and "--impute median" in err
    code, _, err = run(*arguments, "--impute", "median")
    assert code == 0, err
    gaps = pk.read(folder / "gaps.csv")
    filled = data.replace(X=np.where(np.isnan(X), np.nanmedian(X, axis=0), X).astype(np.float32))
    expected = pk.AutoRanker(candidates=("ListNet",), n_trials=1).fit(filled).predict(filled)
    np.testing.assert_allclose(pk.load(folder / "m.plackett").predict(gaps), expected, rtol=1e-6)
    assert run(*arguments, "--force", "--impute", "most")[0] == 2
