from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from definitions import DefinitionFeatures, find_definitions
from plackett._base.errors import DataError
from plackett.applications import Application, CandidateLists


@pytest.mark.parametrize(
    ("paragraph", "term"),
    [
        ("Linux is an operating system.", "Linux"),
        ("The theory of relativity is the work of one man.", "theory of relativity"),
        ("A quark (plural quarks) is one of the smallest particles.", "quark"),
        ("Mozart, born in Salzburg, a composer of operas.", "Mozart"),
        ("Whales are the largest animals. They sing.", "Whales"),
        ("He is a good man.", None),
        ("Linux runs fast.", None),
        ("It was raining, and the dog barked.", None),
        ("", None),
    ],
)
def test_patterns(paragraph, term):
    result = find_definitions([paragraph])
    assert [definition.term for definition in result] == ([] if term is None else [term])


def test_each_feature():
    texts = [
        "The Solar Wind is a stream. The solar wind is beautiful.",
        "She said that the solar wind, of course, is strong.",
        "Nothing here.",
    ]
    lists = CandidateLists.of([("Solar Wind", texts, [1, 0, 0])])
    data = DefinitionFeatures().fit(lists).transform(lists)
    result = {name: data.X[:, i].tolist() for i, name in enumerate(data.feature_names)}
    assert result["at start"] == [1, 0, 0] and result["article"] == [1, 0, 0]
    assert result["capitals"] == [1, 0, 0] and result["negative words"] == [0, 1, 0]
    assert result["again"] == [1, 0, 0] and result["is a"] == [1, 0, 0]
    assert result["sentences"] == [2, 1, 1] and result["words"] == [11, 10, 2]
    assert result["adjectives"] == [1, 0, 0]
    assert result["words after"][0] > result["words after"][1] and result["words after"][2] == 0
    assert result["pronoun"] == result["joined"] == [0, 0, 0]
    other = DefinitionFeatures().fit(lists).transform(CandidateLists.of([("theory of this", ["x"])]))
    assert other.X[0, [4, 5]].tolist() == [1, 1]


def made(n, seed=0):
    """Good definitions open with "T is a kind of"; poor ones have the term more often."""
    rng = np.random.default_rng(seed)
    lists = []
    for i in range(n):
        term, filler = f"Term{i}", [f"w{j}" for j in rng.integers(0, 50, 20)]
        good = f"A {term} is a {'kind' if i % 2 else 'sort'} of thing with {' '.join(filler[:8])}."
        poor = [f"He said {' '.join(filler[k : k + 6])} {term} and {term} {filler[k]}." for k in range(4)]
        lists.append((term, [*poor, good], [0, 0, 0, 0, 1]))
    return CandidateLists.of(lists)


def test_a_ranker_beats_bm25_and_is_saved(tmp_path):
    application = Application(
        features=DefinitionFeatures(), ranker=pk.RankSVM(C=0.01), baselines=("bm25",), measures=("P@1",)
    )
    application.fit(made(30))
    test = made(15, seed=1)
    scores = application.predict(test)
    assert (scores.reshape(15, 5).argmax(axis=1) == 4).all()
    bm25 = application.features.transform(test).X[:, -1].reshape(15, 5).argmax(axis=1)
    assert (bm25 == 4).mean() < 0.5
    application.save(tmp_path / "app")
    assert np.array_equal(Application.load(tmp_path / "app", features=DefinitionFeatures).predict(test), scores)


def test_words_after_a_term_are_judged_by_other_lists():
    lists = made(10)
    features = DefinitionFeatures(n_words=50)
    held, seen = features.fit_transform(lists), features.transform(lists)
    column = features.names.index("words after")
    assert not np.array_equal(held.X[:, column], seen.X[:, column])
    others = np.arange(features.names.index("words after"))
    assert np.array_equal(held.X[:, others], seen.X[:, others])


def test_bad_input():
    with pytest.raises(DataError, match="no labels"):
        DefinitionFeatures().fit(CandidateLists.of([("a", ["b"])]))
    with pytest.raises(DataError, match="not trained"):
        DefinitionFeatures().transform(CandidateLists.of([("a", ["b"])]))


def test_folds_of_few_lists():
    lists = CandidateLists.of([("whale", ["A whale is a sea mammal.", "He saw a whale."], [1, 0])] * 2)
    with pytest.raises(DataError, match="n_folds=0"):
        DefinitionFeatures().fit_transform(lists, n_folds=0)
    assert DefinitionFeatures().fit_transform(lists.take([0])).X[0, 11] == 0.0
