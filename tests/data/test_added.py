"""Documents that were added because they are judged are known in every format, and never measured on."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import PlackettWarning
from plackett.data.added import added_comments, added_rows, without_added
from plackett.data.files import read, write
from plackett.data.strings import Strings
from plackett.text import BM25, Document, Index


def marked(n_queries=24, n_documents=8, every=4):
    """Generated data; each fourth document of a list was added, and the first query has added documents only."""
    data = pk.datasets.make_ranking(n_queries, n_documents, 5, random_state=0)
    added = np.arange(data.n_rows) % every == 0
    added[: data.group[0]] = True
    ids = [f"d{i}" for i in range(data.n_rows)]
    return data.replace(docids=np.array(ids), comments=added_comments(ids, added)), added


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.txt", "a.plackett"])
def test_every_format_keeps_what_was_added(name, tmp_path):
    data, added = marked()
    write(data, tmp_path / name)
    again = read(tmp_path / name)
    np.testing.assert_array_equal(added_rows(again), np.flatnonzero(added))
    assert again.docids.tolist() == data.docids.tolist()
    assert again.n_features == data.n_features


def test_parts_and_wholes_keep_it():
    data, added = marked()
    back = pk.concat([data.select([3, 1]), data.select([0, 2])])
    rows = np.concatenate([np.arange(data.offsets[q], data.offsets[q + 1]) for q in (3, 1, 0, 2)])
    np.testing.assert_array_equal(added_rows(back), np.flatnonzero(added[rows]))
    left = without_added(data)
    assert left.qids.tolist() == data.qids.tolist() and left.group[0] == 0
    np.testing.assert_array_equal(left.X, data.X[~added])
    assert left.docids.tolist() == data.docids[~added].tolist()
    assert added_rows(left).size == 0 and without_added(left) is left


def test_other_comments_mark_nothing():
    data, _ = marked()
    for text in ("docid = a added = 10", "docid = a inc = 1 prob = 0.2", "docid = unadded = 1", ""):
        assert added_rows(data.replace(comments=Strings.from_values([text] * data.n_rows))).size == 0


def test_extract_marks_what_the_model_did_not_find(tmp_path):
    pytest.importorskip("Stemmer", reason="needs the extra text")
    texts = {"a": "blue whales", "b": "blue sky", "c": "grey cows", "d": "green frogs"}
    index = Index.build([Document(key, {"body": text}) for key, text in texts.items()])
    queries, labels = {"1": "whales", "2": "sky"}, {"1": {"a": 1, "c": 1}, "2": {"d": 2}}
    data = pk.extract(index, queries, [BM25()], judgements=labels, add_judged=True)
    assert data.docids.tolist() == ["a", "c", "b", "d"]
    assert added_rows(data).tolist() == [1, 3]
    given = {"1": ["a", "a", "b"], "2": ["d"]}  # a candidate that was given twice is found once
    data = pk.extract(index, queries, [BM25()], judgements=labels, add_judged=True, candidates=given)
    assert data.docids.tolist() == ["a", "b", "c", "d"] and added_rows(data).tolist() == [2]
    assert pk.extract(index, queries, [BM25()], judgements=labels).comments is None


def test_evaluate_and_compare_warn():
    data, _ = marked()
    scores = data.X[:, 0]
    with pytest.warns(PlackettWarning, match="documents were added .* plackett.without_added"):
        pk.evaluate(data, scores, "AP")
    with pytest.warns(PlackettWarning, match="too good"):
        pk.compare(data, {"a": scores, "b": -scores}, ["AP"])
    left = without_added(data)
    pk.evaluate(left, left.X[:, 0], "AP")


def test_experiments_learn_from_added_documents_and_measure_without_them(tmp_path):
    data, added = marked()
    result = pk.experiment(
        {"mine": data}, ["LinearRegression", "column:match_0"], ["AP"], folds=3, n_trials=1, n_jobs=1
    )
    folds = result.folds["mine"]
    assert sum(fold.test.n_rows for fold in folds.values()) == (~added).sum()
    assert all(added_rows(fold.train).size and not added_rows(fold.valid).size for fold in folds.values())
    left = without_added(data)
    own = pk.evaluate(left, left.X[:, 0], "AP")
    by_query = dict(zip(own.qids.tolist(), own.values["AP"].tolist(), strict=True))
    measured = result.evaluation("mine", "column:match_0")
    assert [by_query[q] for q in measured.qids.tolist()] == measured.values["AP"].tolist()
    assert "added to the candidates of mine are in the training parts only" in result.to_terminal()
    result.report(tmp_path)  # a query whose candidates were all added has an empty list


def test_cross_validation_and_auto_measure_without_them():
    data, added = marked()
    left = without_added(data)
    result = pk.cross_validate(data, pk.ByFeature(feature=0), ["AP"], folds=3)
    assert np.mean(np.concatenate([e.values["AP"] for e in result.evaluations])) == pytest.approx(
        pk.evaluate(left, left.X[:, 0], "AP").mean["AP"]
    )
    few = {"candidates": ["column:match_0"], "n_trials": 1, "n_folds": 4, "n_repeats": 1}
    expected = pk.evaluate(left, left.X[:, 0], "nDCG@10").mean["nDCG@10"]
    for valid in (None, data.replace()):
        ranker = pk.AutoRanker(**few).fit(data, eval_set=valid)
        assert ranker.leaderboard_["value"][0] == pytest.approx(expected)
    assert any(f"{added.sum()} documents were added" in reason for reason in ranker.reasons_)
