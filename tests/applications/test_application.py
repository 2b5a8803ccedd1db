from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest

import plackett as pk
from plackett._errors import DataError
from plackett.applications import AnswerFeatures, Application, CandidateLists, Features
from plackett.serve.models import Models, sources
from plackett.workbench.columns.base import Query
from plackett.workbench.sources.opening import open_source

ANIMALS = ["whale", "shark", "otter", "seal", "turtle", "penguin"]
VERBS = ["sings", "hunts", "sleeps", "dives"]


def _judged(n=24, seed=0):
    """Questions about an animal; the right answer names it."""
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(n):
        asked, other, third = rng.choice(ANIMALS, 3, replace=False)
        verb = rng.choice(VERBS)
        answers = [f"The {asked} {verb}.", f"The {other} {verb} at night.", f"A {third} swims."]
        order = rng.permutation(3)
        lists.append((f"what does the {asked} do", [answers[i] for i in order], [float(i == 0) for i in order]))
    return CandidateLists.of(lists, qids=[f"q{i}" for i in range(n)])


def _application():
    ranker = pk.GradientRanker(loss="QuerySoftmax", model=pk.Linear(alpha=1e-2))
    return Application(features=AnswerFeatures(), ranker=ranker, baselines=("length", "overlap"), measures=("RR",))


class Lengths(Features):
    names = ("length",)

    def matrix(self, lists):
        return np.array([[len(item)] for item in lists.items])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("application") / "answers"
    application = _application().fit(_judged())
    application.save(folder, examples=_judged(4, seed=1))
    return application, folder


@pytest.mark.spec("apps.pipeline")
def test_saved_and_loaded_it_gives_the_same_ranks(saved):
    application, folder = saved
    lists = _judged(10, seed=2)
    loaded = Application.load(folder)
    assert (loaded.predict(lists) == application.predict(lists)).all()
    assert loaded.features.transform(lists).X.tolist() == application.features.transform(lists).X.tolist()
    query, items = lists.queries[0], lists.items[:3]
    assert loaded.rank(query, items) == application.rank(query, items)
    assert (loaded.baselines, loaded.measures) == (("length", "overlap"), ("RR",))
    with pytest.raises(DataError, match="not empty"):
        application.save(folder)


def test_ranks_and_reasons(saved):
    application, _ = saved
    items = ["Night.", "The seal sleeps.", "The shark hunts."]
    best = application.rank("what does the seal do", items, k=1)
    assert [(found.item, found.position) for found in best] == [(items[1], 1)]
    reasons = application.explain("what does the seal do", items)
    data = application.features.transform(CandidateLists.of([("what does the seal do", items)]))
    np.testing.assert_allclose(reasons.scores, application.ranker.predict(data))
    assert application.rank("what", []) == []
    with pytest.raises(DataError, match="give the items"):
        application.rank("what")
    application.candidates = lambda query: items
    assert len(application.rank("what does the seal do")) == 3


@pytest.mark.spec("apps.pipeline")
def test_folds_are_fitted_anew_on_the_other_lists():
    application, lists = _application(), _judged(12)
    found = application.cross_validate(lists, n_folds=3)
    assert not hasattr(application.features, "_idf")  # the application stays as it is
    fold = np.random.default_rng(0).permutation(12) % 3
    values = np.empty(12)
    for held in range(3):
        other = _application().fit(lists.take(fold != held))
        data = other.features.transform(lists.take(fold == held))
        values[fold == held] = pk.evaluate(data, other.ranker.predict(data), "RR").per_query["RR"].to_numpy()
    means = dict(zip(found.table["system"], found.table["mean"], strict=True))
    assert means["ranker"] == pytest.approx(values.mean())
    length = pk.evaluate(lists.labels, [len(AnswerFeatures().analyzer.tokens(a)) for a in lists.items], "RR",
                         qid=np.repeat(lists.qids, 3))  # fmt: skip
    assert means["length"] == pytest.approx(length.mean["RR"])
    with pytest.raises(DataError, match="n_folds=13"):
        application.cross_validate(lists, n_folds=13)


def test_served_and_shown(saved):
    application, folder = saved
    assert [(each.name, each.path.name) for each in sources([str(folder)])] == [("answers", "ranker.plackett")]
    models = Models([f"qa={folder}"])
    models.refresh()
    lists = _judged(4, seed=1)
    scores = models.get("qa").score(np.ascontiguousarray(application.features.transform(lists).X[:3]))
    np.testing.assert_allclose(scores, application.predict(lists)[:3], rtol=1e-6)

    source = open_source([str(folder)])
    assert list(source.columns) == ["answers", "length", "overlap"]
    assert source.queries["q0"] == lists.queries[0]
    query = Query("q0", lists.queries[0])
    ranked = source.columns["answers"].rank(query, 3)
    best = application.rank(lists.queries[0], lists.items[:3])[0]
    assert source.cards(ranked.ids, query)[0]["title"] == best.item == source.document(ranked.ids[0], query)["title"]


def test_files_of_strangers(saved, tmp_path):
    _, folder = saved
    for name in ("application.json", "features.arrays", "ranker.plackett"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    description = json.loads((folder / "application.json").read_text(encoding="utf-8"))
    rng = np.random.default_rng(0)
    for change, message in [
        ({"kind": "x"}, "not an application"),
        ({"format_version": 9}, "format 9"),
        ({"features": "Ratings"}, "not plackett's own"),
        ({"features": "os"}, "not plackett's own"),
        ({"state": {}}, "damaged"),
        ({"state": {**description["state"], "translation words": ["a"]}}, "damaged"),
        ({"baselines": ["x"]}, "not a feature"),
    ]:
        (tmp_path / "application.json").write_text(json.dumps(description | change), encoding="utf-8")
        with pytest.raises(DataError, match=message):
            Application.load(tmp_path)
    text = json.dumps(description)
    for _ in range(60):  # a damaged description is refused, or does no harm
        at = int(rng.integers(len(text)))
        (tmp_path / "application.json").write_text(text[:at] + chr(rng.integers(32, 127)) + text[at + 1 :])
        with contextlib.suppress(DataError):
            Application.load(tmp_path)
    with pytest.raises(DataError, match="no application"):
        Application.load(tmp_path / "nothing")


def test_features_of_your_own(tmp_path):
    lists = _judged(3)
    application = Application(features=Lengths(), ranker=pk.rankers.ListNet()).fit(lists)
    application.save(tmp_path / "own")
    with pytest.raises(DataError, match="features=…"):
        Application.load(tmp_path / "own")
    loaded = Application.load(tmp_path / "own", features=Lengths())
    assert (loaded.predict(lists) == application.predict(lists)).all()
    assert Application.load_examples(tmp_path / "own") is None
    _application().fit(_judged(6)).save(tmp_path / "plain")
    with pytest.raises(DataError, match="without examples"):
        open_source([str(tmp_path / "plain")])


def test_lists():
    lists = CandidateLists.of([("a", ["x", "y"], [1, 0]), ("b", [], []), ("c", ["z"], [1])], qids=[5, 6, 7])
    assert lists.row_queries == ["a", "a", "c"]
    assert lists.positions.tolist() == [0, 1, 0]
    assert lists.take([True, False, True]).offsets.tolist() == [0, 2, 3]
    assert lists.take([2, 0]).items == ["z", "x", "y"]
    assert lists.filtered().qids.tolist() == [5]
    for given, message in [
        ([("a", ["x"]), ("b", ["y"], [1])], "give tuples"),
        ([("a", ["x"], [1, 2])], "1 item, but 2 labels"),
        ([("a", "x")], "one text"),
    ]:
        with pytest.raises(DataError, match=message):
            CandidateLists.of(given)
    with pytest.raises(DataError, match="same id"):
        CandidateLists.of([("a", ["x"]), ("b", ["y"])], qids=[1, 1])
    with pytest.raises(DataError, match="no labels"):
        _application().fit(CandidateLists.of([("a", ["x"])]))
    with pytest.raises(DataError, match="not a feature"):
        Application(features=Lengths(), ranker=None, baselines=("two",))
    with pytest.raises(DataError, match="shape"):
        type("Wrong", (Lengths,), {"names": ("a", "b")})().transform(lists)
