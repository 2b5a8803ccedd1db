from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from answers import AnswerFeatures, read_answers, same_order
from plackett._base.errors import DataError
from plackett.applications import CandidateLists

LINES = [
    ("when was Rome founded", "Rome was founded in 753 BC", 1),
    ("when was Rome founded", 'Rome is a "city"', 0),
    ("who sings", "cows eat grass", 0),
    ("who sings", "stones lie", 0),
    ("what flies", "a bird flies", 1),
]


@pytest.fixture
def judged(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_text("".join(f"{q}\t{a}\t{y}\n" for q, a, y in LINES), encoding="utf-8")
    return read_answers(path)


def test_files(judged, tmp_path):
    assert judged.qids.tolist() == [1, 2, 3]
    assert judged.offsets.tolist() == [0, 2, 4, 5]
    assert judged.items[1] == 'Rome is a "city"'
    kept = judged.filtered()  # neither the question without a right answer nor the one with right answers only
    assert kept.qids.tolist() == [1]
    path = tmp_path / "bad.txt"
    for text, message in [
        ("a\tb\n", "line 1: 2 columns"),
        ("a\tb\t1\na\tb\tx\n", "line 2: label 'x'"),
        ("", "no lines"),
    ]:
        path.write_text(text)
        with pytest.raises(DataError, match=message):
            read_answers(path)


def test_feature_values(judged):
    features = AnswerFeatures(position=True).fit(judged)
    data = features.transform(judged)
    table = {name: data.X[:, i].tolist() for i, name in enumerate(data.feature_names)}
    assert table["overlap"] == [2, 1, 0, 0, 1]  # rome, found; rome; …; fli
    assert table["position"] == [0, 1, 0, 1, 0]
    assert table["number"] == [1, 0, 0, 0, 0]
    assert table["number asked"] == [1, 0, 0, 0, 0]
    assert table["same order"] == [2, 1, 0, 0, 1]
    idf = {"rome": np.log1p((5 - 2 + 0.5) / 2.5), "found": np.log1p((5 - 1 + 0.5) / 1.5), "when": np.log1p(5.5 / 0.5)}
    assert table["idf overlap"][0] == pytest.approx(idf["rome"] + idf["found"])
    assert table["idf overlap share"][1] == pytest.approx(idf["rome"] / sum(idf.values()))
    tokens = [features.analyzer.tokens(text) for text in judged.items]
    average = np.mean([len(each) for each in tokens])
    norm = 1.2 * (0.25 + 0.75 * len(tokens[1]) / average)
    assert table["bm25"][1] == pytest.approx(idf["rome"] * 2.2 / (1 + norm))
    asked = [features.analyzer.tokens(text) for text in judged.row_queries]
    np.testing.assert_allclose(table["translation"], features.translation.log_probability(asked, tokens), rtol=1e-6)
    assert data.docids.tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("question", "answer", "length"), [("abc", "abc", 3), ("abc", "cba", 1), ("abc", "xaxbb", 2), ("", "a", 0)]
)
def testsame_order(question, answer, length):
    assert same_order(question, answer) == length


def test_files_that_list_right_answers_first_do_not_give_them_away():
    """Only the order of the candidates tells right from wrong: without it there is nothing to learn."""
    rng = np.random.default_rng(0)
    lists = [(f"ask {i}", [f"word{w}" for w in rng.integers(0, 50, 8)], [1] + [0] * 7) for i in range(40)]
    judged = CandidateLists.of(lists)
    assert "position" not in AnswerFeatures().names
    for position, least, most in ((False, 0.2, 0.6), (True, 1.0, 1.0)):
        features = AnswerFeatures(position=position).fit(judged.take(np.arange(40) < 20))
        train, test = (features.transform(judged.take(np.arange(40) // 20 == part)) for part in (0, 1))
        result = pk.LambdaMART(n_estimators=10, num_leaves=4).fit(train).predict(test)
        assert least <= pk.evaluate(test, result, "AP").mean["AP"] <= most


def test_the_position_is_restored(judged):
    for position in (False, True):
        features = AnswerFeatures(position=position).fit(judged)
        restored = AnswerFeatures.restore(features.state())
        assert restored.names == features.names
        assert (restored.transform(judged).X == features.transform(judged).X).all()


def test_nothing_to_learn_from():
    wrong = CandidateLists.of([("a", ["b"], [0])])
    with pytest.raises(DataError, match="no answer is right"):
        AnswerFeatures().fit(wrong)
    with pytest.raises(DataError, match="not trained"):
        AnswerFeatures().transform(wrong)


@pytest.mark.full
def test_wikiqa_by_the_official_rule(data_dir):
    """A published run has its published figures; the ranker beats word overlap."""
    folder = data_dir / "wikiqa"
    if not folder.is_dir():
        pytest.skip("needs wikiqa")
    train = read_answers(folder / "WikiQA-train.txt")
    features = AnswerFeatures(position=True)  # the order of the sentences on the page
    learning = features.fit_transform(train)
    test = features.transform(read_answers(folder / "WikiQA-test.txt").filtered())
    assert (test.n_queries, test.n_rows) == (237, 2341)
    rows = np.loadtxt(folder / "emnlp-table" / "WikiQA.CNN.test.rank", usecols=(0, 2, 4))
    known = {(int(q), int(d)): score for q, d, score in rows}
    query = np.repeat(test.qids, np.diff(test.offsets))
    published = [known[int(q), int(d)] for q, d in zip(query, test.docids, strict=True)]
    result = pk.evaluate(test, published, ["AP", "RR"]).mean
    assert (round(result["AP"], 4), round(result["RR"], 4)) == (0.6190, 0.6281)
    ranker = pk.GradientRanker(loss="QuerySoftmax", model=pk.Linear(alpha=1e-2))
    ranker.fit(learning)
    overlap = test.X[:, features.names.index("overlap")]
    comparison = pk.evaluate(test, ranker.predict(test), "AP").mean["AP"], pk.evaluate(test, overlap, "AP").mean["AP"]
    assert comparison == pytest.approx((0.7118, 0.5790), abs=0.003)


def test_translation_of_training_questions_is_held_out(judged):
    """The feature of a question does not depend on its own right answer."""
    features = AnswerFeatures()
    data = features.fit_transform(judged, n_folds=3)
    column = features.names.index("translation")
    alone = AnswerFeatures().translation.fit(
        [features.analyzer.tokens(judged.queries[0])], [features.analyzer.tokens(judged.items[0])]
    )
    last = [features.analyzer.tokens(judged.queries[2])], [features.analyzer.tokens(judged.items[4])]
    assert data.X[4, column] == pytest.approx(alone.log_probability(*last)[0], rel=1e-6)
    assert data.X[4, column] < features.transform(judged).X[4, column]
    assert (features.fit_transform(judged, n_folds=4).X == data.X).all()  # there are three questions
    with pytest.raises(DataError, match="n_folds=1"):
        features.fit_transform(judged, n_folds=1)
    with pytest.raises(DataError, match="fewer than two lists"):
        features.fit_transform(judged.take([0]))
