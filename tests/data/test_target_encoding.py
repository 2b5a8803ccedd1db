"""Target statistics: the definition, and that no label of a query reaches its own documents."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from plackett.data.target_encoding import OrderedTargetEncoder
from plackett.rankers.storage import save


def task(seed=0, n=120, categories=7):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, categories, n), rng.normal(size=n)]).astype(float)
    X[rng.random(n) < 0.1, 0] = np.nan
    y = rng.integers(-1, 4, n).astype(float)
    return X, y, rng.integers(0, 15, n)


def naive(X, y, qid, encoder):
    """The definition, one document after the other."""
    rng = np.random.default_rng(encoder.random_state)
    names = np.unique(qid)
    out = np.zeros(len(y))
    t = np.array(y)
    if encoder.relative:
        for q in names:
            judged = (qid == q) & (y >= 0)
            t[qid == q] -= y[judged].mean() if judged.any() else 0.0
    for _ in range(encoder.n_permutations):
        position = dict(zip(names, rng.permutation(len(names)), strict=True))
        for i in range(len(y)):
            before = [j for j in range(len(y)) if position[qid[j]] < position[qid[i]] and y[j] >= 0]
            prior = 0.0 if encoder.relative or not before else np.mean([y[j] for j in before])
            same = [t[j] for j in before if X[j, 0] == X[i, 0] or (np.isnan(X[j, 0]) and np.isnan(X[i, 0]))]
            out[i] += (encoder.smoothing * prior + sum(same)) / (encoder.smoothing + len(same))
    return out / encoder.n_permutations


@pytest.mark.parametrize("relative", [True, False])
def test_definition(relative):
    X, y, qid = task()
    encoder = OrderedTargetEncoder([0], smoothing=3.0, relative=relative, n_permutations=2, random_state=5)
    result = encoder.fit_transform(X, y, qid=qid)
    np.testing.assert_allclose(result[:, 0], naive(X, y, qid, encoder), atol=1e-12)
    np.testing.assert_array_equal(result[:, 1], X[:, 1])
    # rows in another order, and as a dataset
    rows = np.random.default_rng(1).permutation(len(y))
    np.testing.assert_allclose(encoder.fit_transform(X[rows], y[rows], qid=qid[rows]), result[rows])
    data = pk.RankingDataset.from_arrays(X, y, qid)
    np.testing.assert_allclose(encoder.fit_transform(data).X, data.from_input_order(result), atol=1e-6)


@pytest.mark.parametrize("relative", [True, False])
def test_no_label_reaches_its_own_query(relative):
    """Whatever the labels of a query are, its own documents get the same numbers; later ones do not."""
    X, y, qid = task()
    encoder = OrderedTargetEncoder([0], relative=relative)
    before = encoder.fit_transform(X, y, qid=qid)
    others = 0.0
    for q in np.unique(qid):
        own = qid == q
        changed = np.where(own, np.roll(y, 1) + 1.0, y)
        after = encoder.fit_transform(X, changed, qid=qid)
        np.testing.assert_array_equal(after[own], before[own])
        others += np.abs(after - before).max()
    assert others > 0


def test_labels_cannot_be_read_off_categories_of_one_document():
    """With a category for each document, plain statistics are the label itself, and ordered ones say nothing."""
    rng = np.random.default_rng(0)
    X, y, qid = np.arange(400.0)[:, None], rng.integers(0, 2, 400), np.arange(400) // 10
    encoder = OrderedTargetEncoder(relative=False).fit(X, y, qid=qid)
    leaking = encoder.transform(X)[:, 0]
    ordered = encoder.fit_transform(X, y, qid=qid)[:, 0]
    assert np.corrcoef(leaking, y)[0, 1] > 0.99
    for q in range(40):
        assert np.ptp(ordered[qid == q]) == 0.0


def test_new_documents():
    X, y, qid = task()
    encoder = OrderedTargetEncoder([0], relative=False, smoothing=2.0).fit(X, y, qid=qid)
    result = encoder.transform(np.array([[3.0, 0.5], [np.nan, 0.0], [99.0, 1.0]]))
    prior = y[y >= 0].mean()
    for value, got in ((X[:, 0] == 3.0, result[0, 0]), (np.isnan(X[:, 0]), result[1, 0])):
        t = y[value & (y >= 0)]
        assert got == pytest.approx((t.sum() + 2 * prior) / (t.size + 2))
    assert result[2, 0] == pytest.approx(prior) and result[:, 1].tolist() == [0.5, 0.0, 1.0]


def test_it_helps_a_ranker_and_is_saved_with_it(tmp_path):
    """Categories that matter, too many for their codes to be cut into ranges."""
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(0)
    worth = rng.normal(size=60)
    parts = []
    for n in (1500, 500):
        c = rng.integers(0, 60, n)
        parts.append(
            (c[:, None].astype(float), np.digitize(worth[c] + rng.normal(0, 0.5, n), [0, 1]), np.arange(n) // 10)
        )
    (X, y, qid), (T, t, tid) = parts
    plain = pk.MART(n_estimators=20, num_leaves=4, n_jobs=1)
    encoder = OrderedTargetEncoder()
    encoded = pk.MART(n_estimators=20, num_leaves=4, n_jobs=1).fit(encoder.fit_transform(X, y, qid=qid), y, qid=qid)
    without = plain.fit(X, y, qid=qid).score(T, t, qid=tid)
    assert encoded.score(encoder.transform(T), t, qid=tid) > without + 0.05
    pipeline = make_pipeline(encoder, encoded)
    save(pipeline, tmp_path / "m")
    again = pk.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(T), encoded.predict(encoder.transform(T)))


def test_refusals():
    X, y, qid = task()
    for parameters, match in (
        ({"features": [5]}, "no feature 5"),
        ({"smoothing": 0.0}, "smoothing=0"),
        ({"n_permutations": 0}, "n_permutations=0"),
    ):
        with pytest.raises(DataError, match=match):
            OrderedTargetEncoder(**parameters).fit(X, y, qid=qid)
    with pytest.raises(DataError, match="need y= and qid="):
        OrderedTargetEncoder().fit(X, y)
    with pytest.raises(DataError, match="expecting 2"):
        OrderedTargetEncoder().fit(X, y, qid=qid).transform(X[:, :1])
    with pytest.raises(DataError, match="table of numbers"):
        OrderedTargetEncoder().fit(np.array([["a"]]), [1], qid=[1])
