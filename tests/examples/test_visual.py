from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from visual import _content, rerank_by_content


def planted(n=80, seed=0):
    rng = np.random.default_rng(seed)
    relevant = rng.random(n) < 0.3
    pictures = rng.normal(size=(n, 10))
    pictures[relevant, :3] += 2.5
    return relevant, relevant + rng.normal(size=n), pictures


def precision(relevant, scores, k=15):
    return relevant[np.argsort(-scores, kind="stable")[:k]].mean()


def test_relevant_items_that_look_alike_rise():
    before, after = [], []
    for seed in range(5):
        relevant, text, pictures = planted(seed=seed)
        before.append(precision(relevant, text))
        after.append(precision(relevant, rerank_by_content(text, pictures)))
    assert np.mean(after) > np.mean(before) + 0.15


def test_weight_one_keeps_the_order_and_queries_are_apart():
    _relevant, text, pictures = planted()
    assert (np.argsort(rerank_by_content(text, pictures, weight=1.0)) == np.argsort(text)).all()
    both = rerank_by_content(
        np.r_[text, text], np.r_[pictures, pictures], np.repeat(["a", "b"], text.size), ranker=pk.ListNet(alpha=0.1)
    )
    assert not np.array_equal(both[:80], both[80:])  # other folds
    assert np.corrcoef(both[:80], both[80:])[0, 1] > 0.9
    # rows of several queries may come in any order
    order = np.random.default_rng(1).permutation(160)
    qid = np.repeat([3, 7], 80)
    mixed = rerank_by_content(np.r_[text, text][order], np.r_[pictures, pictures][order], qid[order], weight=0.3)
    assert mixed.shape == (160,) and np.isfinite(mixed).all()


def test_no_item_is_scored_by_a_model_that_saw_its_label():
    """Pictures that say nothing: a model that saw the labels would repeat the text's order."""
    rng = np.random.default_rng(3)
    text, pictures = rng.normal(size=60), rng.normal(size=(60, 40))
    fold = rng.permutation(60) % 5
    content = _content(text, pictures, fold, pk.RankSVM(C=100.0), 1.0, None)
    top = text > np.median(text)
    assert ((content > np.median(content)) == top).mean() < 0.7
    seen = pk.RankSVM(C=100.0).fit(pictures, top, qid=np.zeros(60)).predict(pictures)
    assert ((seen > np.median(seen)) == top).mean() > 0.85


def test_short_lists_and_bad_input():
    text, pictures = np.arange(4.0), np.ones((4, 2))
    assert np.argsort(rerank_by_content(text, pictures)).tolist() == [0, 1, 2, 3]
    assert rerank_by_content([], np.ones((0, 2))).size == 0
    assert np.isfinite(rerank_by_content(np.zeros(30), np.ones((30, 2)))).all()
    for given, message in [
        ((text, np.ones((3, 2))), "one row for each score"),
        ((text, np.full((4, 2), np.nan)), "embeddings have values"),
        (([1.0, np.inf, 0.0, 1.0], pictures), "scores have values"),
        ((text, pictures, [1, 2]), "qid has shape"),
    ]:
        with pytest.raises(DataError, match=message):
            rerank_by_content(*given)
    for parameters in ({"weight": 1.5}, {"labelled": 0.0}, {"n_folds": 1}, {"n_dimensions": 0}):
        with pytest.raises(DataError, match=next(iter(parameters))):
            rerank_by_content(text, pictures, **parameters)


def test_few_examples_may_all_be_in_one_fold():
    vectors = np.random.default_rng(0).normal(size=(20, 3))
    for seed in range(4):
        result = rerank_by_content(np.arange(20.0), vectors, labelled=0.01, n_folds=2, random_state=seed)
        assert np.isfinite(result).all()
