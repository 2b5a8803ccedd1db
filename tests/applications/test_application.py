from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass

import numpy as np
import pytest

import plackett as pk
from answers import AnswerFeatures
from community import CommunityFeatures
from definitions import DefinitionFeatures
from plackett._base.errors import DataError
from plackett.applications import Application, CandidateLists, Features
from plackett.serve.sources import sources
from plackett.serve.store import ModelStore
from plackett.workbench.columns.base import Query
from plackett.workbench.sources.opening import open_source
from quantities import QuantityFeatures, consensus_intervals
from subgroups import Subgroup, SubgroupFeatures
from summaries import SentenceFeatures
from why import WhyFeatures

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


def test_saved_and_loaded_it_gives_the_same_ranks(saved):
    application, folder = saved
    lists = _judged(10, seed=2)
    loaded = Application.load(folder, features=AnswerFeatures)
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
    assert [(result.item, result.position) for result in best] == [(items[1], 1)]
    reasons = application.explain("what does the seal do", items)
    data = application.features.transform(CandidateLists.of([("what does the seal do", items)]))
    np.testing.assert_allclose(reasons.scores, application.ranker.predict(data))
    assert application.rank("what", []) == []
    with pytest.raises(DataError, match="give the items"):
        application.rank("what")
    application.candidates = lambda query: items
    assert len(application.rank("what does the seal do")) == 3


def test_folds_are_fitted_anew_on_the_other_lists():
    application, lists = _application(), _judged(12)
    result = application.cross_validate(lists, n_folds=3)
    assert not hasattr(application.features, "_terms")  # the application stays as it is
    fold = np.random.default_rng(0).permutation(12) % 3
    values = np.empty(12)
    for held in range(3):
        other = _application().fit(lists.take(fold != held))
        data = other.features.transform(lists.take(fold == held))
        values[fold == held] = pk.evaluate(data, other.ranker.predict(data), "RR").per_query["RR"].to_numpy()
    means = dict(zip(result.table["system"], result.table["mean"], strict=True))
    assert means["ranker"] == pytest.approx(values.mean())
    length = pk.evaluate(
        lists.labels,
        [len(AnswerFeatures().analyzer.tokens(a)) for a in lists.items],
        "RR",
        qid=np.repeat(lists.qids, 3),
    )
    assert means["length"] == pytest.approx(length.mean["RR"])
    with pytest.raises(DataError, match="n_folds=13"):
        application.cross_validate(lists, n_folds=13)


def test_served_and_shown(saved):
    application, folder = saved
    assert [(each.name, each.path.name) for each in sources([str(folder)])] == [("answers", "ranker.plackett")]
    models = ModelStore([f"qa={folder}"])
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
        ({"state": {}}, "damaged"),
        ({"state": {**description["state"], "translation words": ["a"]}}, "damaged"),
        ({"baselines": ["x"]}, "not a feature"),
    ]:
        (tmp_path / "application.json").write_text(json.dumps(description | change), encoding="utf-8")
        with pytest.raises(DataError, match=message):
            Application.load(tmp_path, features=AnswerFeatures)
    for name in ("Ratings", "os", "AnswerFeatures"):
        (tmp_path / "application.json").write_text(json.dumps(description | {"features": name}), encoding="utf-8")
        with pytest.raises(DataError, match="not plackett's own"):
            Application.load(tmp_path)
    text = json.dumps(description)
    for _ in range(60):  # a damaged description is refused, or does no harm
        at = int(rng.integers(len(text)))
        (tmp_path / "application.json").write_text(text[:at] + chr(rng.integers(32, 127)) + text[at + 1 :])
        with contextlib.suppress(DataError):
            Application.load(tmp_path, features=AnswerFeatures)
    with pytest.raises(DataError, match="holds no application"):
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
    application.save(tmp_path / "shown", examples=lists)
    source = open_source([str(tmp_path / "shown")])  # without the code of the features
    assert source.document("1", Query("q0", ""))["title"] == lists.items[1] and list(source.columns) == ["shown"]
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


def test_cross_validation_after_fit_and_with_few_lists(saved):
    """The texts of fitted features were analysed, and a training part may have fewer lists than features have folds."""
    application, _ = saved
    assert application.cross_validate(_judged(5), n_folds=5).table.height == 3


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([("a", ["b"], 1)], "labels of query 'a' are 1"),
        ([("a", 3)], "items of query 'a' are 3"),
        ([("a", ["b"], ["x"])], "label 'x' of query 'a'"),
    ],
)
def test_lists_that_are_not_lists(lists, message):
    with pytest.raises(DataError, match=message):
        CandidateLists.of(lists)


@pytest.mark.parametrize(
    "features", [AnswerFeatures, CommunityFeatures, DefinitionFeatures, SentenceFeatures, WhyFeatures]
)
@pytest.mark.parametrize("lists", [[("a", [None, "x"], [1, 0])] * 2, [(None, ["a", "x"], [1, 0])] * 2])
def test_an_item_that_is_not_a_text(features, lists):
    with pytest.raises(DataError, match="None"):
        features().fit_transform(CandidateLists.of(lists))


def test_a_save_that_fails_can_be_repeated(saved, tmp_path):
    application, _ = saved
    folder = tmp_path / "new"
    with pytest.raises(DataError, match="cannot be written"):
        application.save(folder, examples=CandidateLists.of([("a", [object()])]))
    with pytest.raises(ValueError, match="not fitted"):
        Application(features=Lengths(), ranker=pk.RankSVM()).save(folder)
    application.save(folder, examples=CandidateLists.of([("\ud800", ["b"])]))
    assert Application.load_examples(folder).queries == ["\ud800"]
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(DataError, match="is a file"):
        application.save(file)


def test_fewer_than_no_items(saved):
    with pytest.raises(DataError, match="k=-1"):
        saved[0].rank("a", ["b", "c"], -1)


def test_numbers_beyond_all_bounds(saved, tmp_path):
    for name in ("features.arrays", "ranker.plackett"):
        (tmp_path / name).write_bytes((saved[1] / name).read_bytes())
    description = json.loads((saved[1] / "application.json").read_text(encoding="utf-8"))
    description["state"]["translation parameters"] = [float("inf"), 0.2, 0.5]
    (tmp_path / "application.json").write_text(json.dumps(description), encoding="utf-8")
    with pytest.raises(DataError, match="damaged"):
        Application.load(tmp_path, features=AnswerFeatures)


def test_intervals_and_subgroups_are_shown(tmp_path):
    texts = ["It is 324 m tall.", "a tower of 330 metres", "7 m wide"]
    intervals = consensus_intervals(texts)
    groups = [Subgroup((("sex", "f"),), 50, 0.5, 0.2, 0.1), Subgroup((("sex", "m"),), 50, 0.5, 0.0, 0.1)]
    for features, lists in [
        (QuantityFeatures(), [(("how tall", texts), intervals, range(len(intervals)))] * 2),
        (SubgroupFeatures(), [("", groups, [1, 0])] * 2),
    ]:
        judged, folder = CandidateLists.of(lists), tmp_path / type(features).__name__
        Application(features=features, ranker=pk.rankers.ListNet()).fit(judged).save(folder, examples=judged)
        source = open_source([str(folder)])
        assert source.cards(["0"], Query("1", ""))[0]["title"] == str(judged.items[0])
        examples = json.loads((folder / "examples.json").read_text(encoding="utf-8"))
        examples["texts"][0].pop()
        (folder / "examples.json").write_text(json.dumps(examples), encoding="utf-8")
        with pytest.raises(DataError, match="list of examples is damaged"):
            open_source([str(folder)])


@dataclass(kw_only=True)
class Shifted(Features):
    """Features of one's own that learn something."""

    names = ("shifted",)
    power: float = 1.0

    def fit(self, lists):
        self.mean_ = np.array([len(item) for item in lists.items]).mean(keepdims=True)
        return self

    def matrix(self, lists):
        return [[(len(item) - self.mean_[0]) * self.power] for item in lists.items]

    def state(self):
        return {"power": self.power, "mean": self.mean_}

    @classmethod
    def restore(cls, state):
        made = cls(power=state["power"])
        made.mean_ = state["mean"]
        return made


def test_features_of_ones_own_are_restored_by_their_class(tmp_path):
    lists = CandidateLists.of([("a", ["bb", "c", "ddd"], [1, 0, 2]), ("e", ["f", "gg"], [0, 1])])
    application = Application(features=Shifted(power=2.0), ranker=pk.rankers.ListNet()).fit(lists)
    application.save(tmp_path / "own")
    loaded = Application.load(tmp_path / "own", features=Shifted)
    assert (loaded.predict(lists) == application.predict(lists)).all()


def test_no_lists(saved):
    application, _ = saved
    nothing = _judged(2).take([])
    assert len(nothing) == 0 and nothing.items == []
    for use in (application.fit, application.compare, application.cross_validate):
        with pytest.raises(DataError, match="there are no lists"):
            use(nothing)
