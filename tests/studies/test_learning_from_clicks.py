"""The study of learning from clicks."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett import clicks
from plackett.clicks.profile import rank_variation
from plackett.clicks.rankers.exposure_softmax import ExposureSoftmax
from plackett.clicks.simulate import PositionUsers, simulate_log
from plackett.clicks.unbiased import learning
from studies._click_learners import GUARDED, LABELS, Case, _labelled, _linear, learn
from studies.learning_from_clicks import METHODS, learning_from_clicks
from studies.run import app


def test_rows_and_the_gap():
    data = pk.datasets.make_ranking(100, 10, 8, random_state=0)
    study = learning_from_clicks(
        data, users=["position 2"], pages=3000, methods=["naive", "PBM labels"], logging="random", seeds=2
    )
    result = study.frame
    assert result["method"].to_list() == ["all grades", "grades shown", "naive", "PBM labels"]
    value = dict(zip(result["method"], result["nDCG@10"], strict=True))
    assert value["all grades"] > value["naive"] > 0.4
    gain = dict(zip(result["method"], result["gain"], strict=True))
    assert gain["naive"] == 0
    assert gain["PBM labels"] == pytest.approx(value["PBM labels"] - value["naive"])
    closed = dict(zip(result["method"], result["closed"], strict=True))
    assert closed["PBM labels"] == pytest.approx(gain["PBM labels"] / gain["grades shown"])
    assert closed["naive"] is None
    assert result["±"].null_count() == 0
    assert study.to_svg().startswith("<svg")


def test_unknown_words_are_named():
    for parameters, message in (
        ({"users": ["nobody"]}, "'nobody'; give some of position .5"),
        ({"methods": ["magic"]}, "'magic'; give some of naive"),
        ({"logging": "none"}, "'none'; give some of weak"),
        ({"size": "huge"}, "size='huge'; give small or whole"),
        ({"variation": "none"}, "variation='none'; give 'ranks' or 'scores'"),
    ):
        with pytest.raises(pk.DataError, match=message):
            learning_from_clicks(**parameters)


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
    study = learning_from_clicks(data, users="position 1", pages=1000, methods=[method], logging="random", seeds=1)
    value = dict(zip(study.frame["method"], study.frame["nDCG@10"], strict=True))
    assert value[method] > 0.45


def test_the_command_takes_options(tmp_path):
    arguments = ["learning-from-clicks", "-p", "pages=200", "-p", "seeds=1", "-p", "methods=['naive']"]
    result = CliRunner().invoke(app, [*arguments, "-p", "users='trust'", "--out", str(tmp_path / "s.svg")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "s.svg").read_text(encoding="utf-8").startswith("<svg")
    result = CliRunner().invoke(app, ["learning-from-clicks", "-p", "sise=whole"])
    assert result.exit_code == 2
    assert "size" in result.output


def test_lists_vary_in_ranks_or_in_scores():
    """Ranks vary alike whatever the scale of the scores and, nearly, the length of the lists."""
    module = importlib.import_module("studies._click_learners")
    spread = {}
    for n_docs in (20, 100):
        data = pk.datasets.make_ranking(12, n_docs, 5, random_state=0)
        for variation in ("ranks", "scores"):
            scores = module.logging_scores(data, "strong", np.random.default_rng(0), variation)
            log = simulate_log(data, scores, n_pages=3000, temperature=0.5, random_state=0)
            spread[n_docs, variation] = rank_variation(log)
    assert abs(spread[20, "ranks"] - spread[100, "ranks"]) < 0.1
    assert abs(spread[20, "scores"] - spread[100, "scores"]) > 0.15


def test_the_grades_of_what_was_shown():
    module = importlib.import_module("studies._click_learners")
    data = pk.datasets.make_ranking(20, 8, 4, random_state=0)
    rows = np.arange(0, data.n_rows, 2)
    y = data.labels.copy()
    y[1::2] = 4.0 - y[1::2]
    a, b = (module.learn_from_grades(each, rows) for each in (data, data.replace(y=y)))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    whole = module.learn_from_grades(data)
    np.testing.assert_allclose(whole.coef_, module.learn_from_grades(data, np.arange(data.n_rows)).coef_)


def test_slow_methods_are_left_out_of_large_logs(monkeypatch):
    module = importlib.import_module("studies.learning_from_clicks")
    monkeypatch.setitem(module.SMALL_LOGS, "PBM labels", 100)
    data = pk.datasets.make_ranking(20, 6, 4, random_state=0)
    study = learning_from_clicks(data, users="trust", pages=[100, 200], methods=["PBM labels"], seeds=1)
    assert study.frame.filter(study.frame["method"] == "PBM labels")["pages"].to_list() == [100]
    assert "PBM labels: not with more than 100 pages" in study.notes
    assert not any("DBN" in note or "dual" in note for note in study.notes)


def test_the_validation_part_is_tested_too():
    data = pk.datasets.make_ranking(20, 6, 4, random_state=0)
    module = importlib.import_module("studies.learning_from_clicks")
    parts = [data.select(range(a, b)) for a, b in ((0, 12), (12, 16), (16, 20))]
    (split,) = module._splits({1: pk.Fold(*parts)})
    assert split.test.qids.tolist() == data.qids[12:].tolist()
    (split,) = module._splits({1: pk.Fold(parts[0], None, parts[2])})
    assert split.test is parts[2]


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
    changes = ({"temperature": 1.0}, {"random_state": 1}, {"logging": "random"}, {"users": "trust"}, {"length": 5})
    for i, change in enumerate((*changes, {"variation": "scores"})):
        learning_from_clicks(data, **options | change)
        assert len(learned) == i + 1
    learning_from_clicks(pk.datasets.make_ranking(20, 6, 4, random_state=1), **options)
    assert len(learned) == 7


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
    assert dict(zip(frame["method"], frame["seeds"], strict=True)) == {
        "all grades": 2,
        "grades shown": 2,
        "naive": 2,
        "PBM labels": 1,
    }
    assert frame.filter(frame["method"] == "PBM labels")["gain"].to_list() == [0.0]


def test_the_guard_makes_labels_once(monkeypatch):
    module = importlib.import_module("studies._click_learners")
    data = pk.datasets.make_ranking(40, 8, 5, random_state=0)
    made, fitted = [], []
    labels, weighted = module.LABELS["naive"]
    monkeypatch.setitem(module.LABELS, "naive", (lambda case: made.append(case) or labels(case), weighted))
    fit = ExposureSoftmax.fit
    monkeypatch.setattr(ExposureSoftmax, "fit", lambda self, part: fitted.append(part.n_queries) or fit(self, part))
    methods = ["naive", *module.GUARDED[1:], "guarded"]
    study = learning_from_clicks(data, users="position 2", pages=2000, methods=methods, logging="random", seeds=1)
    assert len(made) == 1
    assert sorted(fitted) == sorted([24] * 2 + [24] * 5 + [19, 19, 19, 19, 20] * 5)  # grades, methods, parts
    assert study.frame["method"].to_list() == ["all grades", "grades shown", *methods]


def test_a_split_needs_no_validation_part():
    data = pk.datasets.make_ranking(20, 6, 4, random_state=0)
    split = pk.Fold(data.select(range(14)), None, data.select(range(14, 20)))
    options = {"users": "trust", "pages": 100, "methods": ["naive"], "seeds": 1}
    assert learning_from_clicks({"mine": split}, **options).frame.height == 3


def test_a_panel_for_each_kind_of_log():
    data = pk.datasets.make_ranking(20, 6, 4, random_state=0)
    options = {"pages": [100, 200], "methods": ["naive"], "seeds": 1}
    chart = learning_from_clicks(data, users=["trust", "cascade"], **options).to_svg()
    assert chart.count("<svg ") == 3
    assert 'x="640" y="0"' in chart
    assert "trust users" in chart and "cascade users" in chart
    assert "stroke-opacity" not in chart  # one seed has no interval
    twice = learning_from_clicks(data, users="trust", **options | {"seeds": 2}).to_svg()
    assert twice.count("stroke-opacity") == 4  # all grades and grades shown, at two sizes


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(n_queries=25, docs_per_query=8, n_features=4, random_state=0)


@pytest.fixture(scope="module")
def log(data):
    users = PositionUsers(strength=1.0)
    return clicks.simulate_log(data, data.X[:, 0], n_pages=1500, users=users, temperature=1.0, random_state=0)


def test_one_call_with_enough_pages_takes_harvested_propensities(log, data, monkeypatch):
    monkeypatch.setattr(learning, "ENOUGH_PAGES", 1500)
    result = clicks.learn_from_clicks(log, data)
    case = Case(log, data, PositionUsers(strength=1.0), None)
    assert (result.name, result.weight) == ("harvested propensities", 1.0)
    np.testing.assert_array_equal(result.ranker.predict(data), learn(case, result.name).predict(data))
    collapsed = clicks.learn_from_clicks(log.collapse(), data)  # fewer pages are stored, as many count
    np.testing.assert_allclose(collapsed.ranker.predict(data), result.ranker.predict(data), rtol=1e-6, atol=1e-9)


def test_one_call_with_fewer_takes_the_strict_guard(log, data):
    result = clicks.learn_from_clicks(log, data)
    case = Case(log, data, PositionUsers(strength=1.0), None)

    def learner(name):
        def learn_part(part):
            labelled = _labelled(case, name)
            return _linear().fit(labelled.select(np.flatnonzero(np.isin(labelled.qids, part.qids))))

        return learn_part

    strict = clicks.guarded_choice(log, data, {name: learner(name) for name in GUARDED}, lean=-1.64)
    assert set(GUARDED) <= set(LABELS)
    assert (result.name, result.weight) == (strict.name, strict.weight)
    assert result.table["gain"].to_list() == strict.table["gain"].to_list()
    np.testing.assert_array_equal(result.ranker.predict(data), strict.ranker.predict(data))
