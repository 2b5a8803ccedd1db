"""The study of learning from clicks."""

from __future__ import annotations

import importlib

import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.cli.app import app
from plackett.studies.learning_from_clicks import METHODS, learning_from_clicks


def test_rows_and_the_gap():
    data = pk.datasets.make_ranking(100, 10, 8, random_state=0)
    study = learning_from_clicks(
        data, users=["position 2"], pages=3000, methods=["naive", "PBM labels"], logging="random", seeds=2
    )
    found = study.frame
    assert found["method"].to_list() == ["all grades", "naive", "PBM labels"]
    value = dict(zip(found["method"], found["nDCG@10"], strict=True))
    assert value["all grades"] > value["naive"] > 0.4
    gain = dict(zip(found["method"], found["gain"], strict=True))
    assert gain["naive"] == 0
    assert gain["PBM labels"] == pytest.approx(value["PBM labels"] - value["naive"])
    closed = dict(zip(found["method"], found["closed"], strict=True))
    assert closed["PBM labels"] == pytest.approx(gain["PBM labels"] / gain["all grades"])
    assert closed["naive"] is None
    assert found["±"].null_count() == 0
    assert study.to_svg().startswith("<svg")


def test_unknown_words_are_named():
    for words, message in (
        ({"users": ["nobody"]}, "'nobody'; give some of position .5"),
        ({"methods": ["magic"]}, "'magic'; give some of naive"),
        ({"logging": "none"}, "'none'; give some of weak"),
        ({"size": "huge"}, "size='huge'; give small or whole"),
    ):
        with pytest.raises(pk.DataError, match=message):
            learning_from_clicks(**words)


def test_methods_do_not_see_the_grades(monkeypatch):
    data = pk.datasets.make_ranking(20, 6, 4, random_state=0)
    seen = []

    def spy(case):
        seen.append(case.data.labels.max())
        return METHODS["naive"](case)

    monkeypatch.setitem(METHODS, "PBM labels", spy)
    learning_from_clicks(data, users="cascade", pages=100, methods=["PBM labels", "known propensities"], seeds=1)
    assert seen == [0.0]


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_learns_something(method):
    data = pk.datasets.make_ranking(40, 8, 5, random_state=0)
    study = learning_from_clicks(data, users="position 1", pages=2000, methods=[method], logging="random", seeds=1)
    value = dict(zip(study.frame["method"], study.frame["nDCG@10"], strict=True))
    assert value[method] > 0.45


def test_the_command_takes_options(tmp_path):
    words = ["study", "learning-from-clicks", "-p", "pages=200", "-p", "seeds=1", "-p", "methods=['naive']"]
    result = CliRunner().invoke(app, [*words, "-p", "users='trust'", "--out", str(tmp_path / "s.svg")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "s.svg").read_text(encoding="utf-8").startswith("<svg")
    result = CliRunner().invoke(app, ["study", "learning-from-clicks", "-p", "sise=whole"])
    assert result.exit_code == 2
    assert "size" in result.output


def test_regularisation_may_be_tuned(monkeypatch):
    module = importlib.import_module("plackett.studies._click_learners")
    monkeypatch.setattr(module, "ALPHAS", (1e-4, 10.0))
    data = pk.datasets.make_ranking(20, 6, 12, random_state=0)
    options = {"users": "position 1", "pages": 200, "methods": ["naive"], "seeds": 1}
    default = learning_from_clicks(data, **options).frame
    tuned = learning_from_clicks(data, **options, tuned=True).frame
    assert tuned["method"].to_list() == default["method"].to_list()
    assert (tuned["nDCG@10"] != default["nDCG@10"]).any()


OPTIONS = {"users": ["position 1", "trust"], "pages": [200], "methods": ["naive", "PBM labels"], "seeds": 2}


def test_finished_results_are_kept(tmp_path, monkeypatch):
    data = pk.datasets.make_ranking(20, 6, 4, random_state=0)
    plain = learning_from_clicks(data, **OPTIONS).frame
    learned = []

    def interrupted(case):
        learned.append(case)
        if len(learned) == 2:
            raise KeyboardInterrupt
        return PBM_LABELS(case)

    PBM_LABELS = METHODS["PBM labels"]
    monkeypatch.setitem(METHODS, "PBM labels", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learning_from_clicks(data, **OPTIONS, folder=tmp_path)
    resumed = learning_from_clicks(data, **OPTIONS, folder=tmp_path).frame
    assert resumed.equals(plain)
    assert len(learned) == 2 * 2 + 1  # users and seeds; one was interrupted
    more = learning_from_clicks(data, **OPTIONS | {"pages": [200, 300], "users": "trust"}, folder=tmp_path).frame
    assert len(learned) == 5 + 2
    assert more.filter(more["pages"] == 200).equals(plain.filter(plain["users"] == "trust"))


def test_other_settings_are_other_results(tmp_path, monkeypatch):
    data = pk.datasets.make_ranking(20, 6, 4, random_state=0)
    options = {"users": "position 1", "pages": 300, "methods": ["naive"], "seeds": 1, "folder": tmp_path}
    learning_from_clicks(data, **options)
    learned = []
    naive = METHODS["naive"]
    monkeypatch.setitem(METHODS, "naive", lambda case: learned.append(case) or naive(case))
    learning_from_clicks(data, **options, measure="AP")  # by the scores that are known
    assert not learned
    for i, change in enumerate(({"temperature": 1.0}, {"random_state": 1}, {"logging": "random"}, {"users": "trust"})):
        learning_from_clicks(data, **options | change)
        assert len(learned) == i + 1
    learning_from_clicks(pk.datasets.make_ranking(20, 6, 4, random_state=1), **options)
    assert len(learned) == 5


def test_logs_too_small_for_a_method_are_left_out(monkeypatch):
    data = pk.datasets.make_ranking(20, 6, 4, random_state=0)
    seen = []

    def fussy(case):
        seen.append(case)
        if len(seen) == 1:
            raise pk.DataError("too small")
        return METHODS["naive"](case)

    monkeypatch.setitem(METHODS, "PBM labels", fussy)
    frame = learning_from_clicks(data, users="trust", pages=200, methods=["PBM labels"], seeds=2).frame
    assert dict(zip(frame["method"], frame["seeds"], strict=True)) == {"all grades": 2, "naive": 2, "PBM labels": 1}
    assert frame.filter(frame["method"] == "PBM labels")["gain"].to_list() == [0.0]


def test_the_choice_by_held_out_clicks_learns_once(monkeypatch):
    module = importlib.import_module("plackett.studies._click_learners")
    monkeypatch.setattr(module, "GUARDED", ("naive", "PBM labels"))
    data = pk.datasets.make_ranking(40, 8, 5, random_state=0)
    learned = []
    naive = METHODS["naive"]
    monkeypatch.setitem(METHODS, "naive", lambda case: learned.append(case.log.n_pages) or naive(case))
    methods = ["naive", "PBM labels", "guarded", "chosen"]
    study = learning_from_clicks(data, users="position 2", pages=2000, methods=methods, logging="random", seeds=1)
    assert learned == [2000, 1000, 1000]
    value = dict(zip(study.frame["method"], study.frame["nDCG@10"], strict=True))
    assert value["chosen"] in (value["naive"], value["PBM labels"])
    assert value["guarded"] in (value["naive"], value["PBM labels"])


def test_a_split_needs_no_validation_part():
    data = pk.datasets.make_ranking(20, 6, 4, random_state=0)
    split = pk.Fold(data.select(range(14)), None, data.select(range(14, 20)))
    options = {"users": "trust", "pages": 100, "methods": ["naive"], "seeds": 1}
    assert learning_from_clicks({"mine": split}, **options).frame.height == 2


def test_a_panel_for_each_kind_of_log():
    data = pk.datasets.make_ranking(20, 6, 4, random_state=0)
    options = {"pages": [100, 200], "methods": ["naive"], "seeds": 1}
    chart = learning_from_clicks(data, users=["trust", "cascade"], **options).to_svg()
    assert chart.count("<svg ") == 3
    assert 'x="640" y="0"' in chart
    assert "trust users" in chart and "cascade users" in chart
