"""Automatic features: hashed crosses and learned matching."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.text import BM25, Document, Index, VectorSpace
from plackett.text.features.bilinear import BilinearFeature, gradients
from plackett.text.features.extract import extract
from plackett.text.features.feature_set import FeatureSet
from plackett.text.features.hashed import _hash, hashed_crosses


def synonyms(n=60, seed=0):
    """Queries say "car", relevant documents say "auto": no common word."""
    rng = np.random.default_rng(seed)
    filler = [f"w{i}" for i in range(10)]
    documents, labels = [], {}
    for i in range(n):
        word = ("auto", "flower")[i % 2]
        documents.append(Document(f"d{i}", {"body": " ".join([word, *rng.choice(filler, 3)])}))
        labels[f"d{i}"] = float(i % 2 == 0)
    return Index.build([*documents, Document("q", {"body": "car"})]), {"q1": "car", "q2": "car w1"}, labels


def test_rank_0_is_the_cosine():
    index, queries, labels = synonyms()
    data = extract(index, queries, [BM25()], judgements=dict.fromkeys(queries, labels), candidates="judged")
    feature = BilinearFeature.fit(index, queries, data, rank=0)
    pairs = [0, 60, 120], [*range(60), *range(60)]
    result = FeatureSet([feature]).matrix(index, queries, *pairs)[:, 0]
    np.testing.assert_allclose(result, VectorSpace(idf="smooth").scores(index, queries, *pairs), atol=1e-6)


def test_gradients():
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((2, 3, 5)) * 0.1
    query, difference = rng.standard_normal((2, 5)) * 0.3
    loss, du, dv = gradients(left, right, query, difference)
    assert loss > 0
    for which, gradient in ((0, du), (1, dv)):
        for i in np.ndindex(3, 5):
            moved = [left.copy(), right.copy()]
            moved[which][i] += 1e-6
            assert (gradients(*moved, query, difference)[0] - loss) / 1e-6 == pytest.approx(gradient[i], abs=1e-5)


def test_synonyms_are_learned():
    index, queries, labels = synonyms()
    train = {"q1": {d: y for d, y in labels.items() if int(d[1:]) < 40}}
    data = extract(index, {"q1": "car"}, [BM25()], judgements=train, candidates="judged")
    feature = BilinearFeature.fit(index, queries, data, rank=5, steps=3000)
    unseen = list(range(40, 60))
    scores = FeatureSet([feature]).matrix(index, {"q1": "car"}, [0, 20], unseen)[:, 0]
    assert scores[::2].min() > scores[1::2].max()
    crosses = hashed_crosses(index, {"q1": "car"}, [0, 60], range(60), n_columns=1 << 12)
    y = np.where(np.arange(60) % 2 == 0, 1.0, -1.0)
    weights = np.linalg.lstsq(crosses[:40].toarray(), y[:40], rcond=None)[0]
    assert (np.sign(crosses[40:] @ weights) == y[40:]).all()


def test_crosses_by_hand():
    index = Index.build([Document("a", {"body": "big cats cats"}), Document("b", {"body": "blue"})])
    result = hashed_crosses(index, ["tiger", ""], [0, 2, 3], [0, 1, 0], n_columns=1 << 20)
    assert np.diff(result.indptr).tolist() == [2, 1, 0]
    values = np.sort(np.abs(result[[0]].toarray().ravel()))[-2:]
    norm = np.hypot(1.0, 1 + np.log(2))
    np.testing.assert_allclose(values, [1 / norm, (1 + np.log(2)) / norm], rtol=1e-6)
    same = hashed_crosses(index, ["tiger"], [0, 1], [0], n_columns=1 << 20)
    np.testing.assert_array_equal(same.toarray(), result[[0]].toarray())
    assert _hash("a") == 0xAF63DC4C8601EC8C  # published value of FNV-1a
    with pytest.raises(DataError, match="power of 2"):
        hashed_crosses(index, ["x"], [0, 1], [0], n_columns=100)
