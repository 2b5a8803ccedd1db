from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad

from experts import ExpertModel, SupportedCandidates, likelihood_loss
from plackett._base.errors import DataError

FORMS = ("arithmetic", "geometric")


def planted(n=120, seed=0, prior=False):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, n)
    f, g = rng.normal(size=(sizes.sum(), 2)), rng.normal(size=(sizes.sum(), 3))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    candidates = SupportedCandidates(
        relevance=f,
        association=g,
        offsets=offsets,
        qid=np.repeat(np.arange(n // 6), 6),
        prior=rng.random(sizes.sum()) if prior else None,
    )
    both = 1 / (1 + np.exp(-3 * f[:, 0])) / (1 + np.exp(-3 * g[:, 1]))
    labels = rng.random(n) < np.add.reduceat(candidates.weights * both, offsets[:-1])
    return SupportedCandidates(**{**vars(candidates), "labels": labels.astype(float)})


@pytest.mark.parametrize("form", FORMS)
def test_gradient(form):
    candidates = planted(prior=True)
    y, at = candidates.labels > 0, np.random.default_rng(1).normal(size=7)
    error = check_grad(
        lambda c: likelihood_loss(c, candidates, y, form, 0.1)[0],
        lambda c: likelihood_loss(c, candidates, y, form, 0.1)[1],
        at,
    )
    assert error < 1e-6


def test_one_document_is_a_product_of_logistics_or_one_logistic():
    rng = np.random.default_rng(0)
    one = SupportedCandidates(
        relevance=rng.normal(size=(5, 2)), association=rng.normal(size=(5, 1)), offsets=np.arange(6), qid=np.ones(5)
    )
    coef = rng.normal(size=5)
    f, g = one.relevance @ coef[:2] + coef[2], one.association @ coef[3:4] + coef[4]
    for form, expected in [
        ("arithmetic", 1 / (1 + np.exp(-f)) / (1 + np.exp(-g))),
        ("geometric", 1 / (1 + np.exp(-f - g))),
    ]:
        model = ExpertModel(form)
        model.coef_, model.n_relevance_, model.n_association_ = coef, 2, 1
        assert model.predict(one) == pytest.approx(expected)


@pytest.mark.parametrize("form", FORMS)
def test_what_matters_is_found(form, tmp_path):
    train, test = planted(1200), planted(1200, seed=1)
    model = ExpertModel(form).fit(train)
    scores = model.predict(test)
    assert ((scores >= 0) & (scores <= 1)).all()
    right, wrong = scores[test.labels > 0], scores[test.labels == 0]
    auc = (right[:, None] > wrong).mean()
    assert auc > 0.65
    weights = np.abs(model.coef_)
    assert weights[0] > weights[1] and weights[4] > max(weights[3], weights[5])
    model.save(tmp_path / "m")
    assert np.array_equal(ExpertModel.load(tmp_path / "m").predict(test), scores)


def test_arithmetic_beats_geometric_where_one_document_makes_an_expert():
    train, test = planted(3000), planted(3000, seed=1)
    likelihood = {}
    for form in FORMS:
        p = ExpertModel(form).fit(train).predict(test)
        likelihood[form] = np.log(np.where(test.labels > 0, p, 1 - p)).mean()
    assert likelihood["arithmetic"] > likelihood["geometric"]


def test_bad_input(tmp_path):
    good = planted(12)
    for change, message in [
        ({"offsets": np.array([0, 0, *good.offsets[2:]])}, "every candidate needs a document"),
        ({"qid": np.arange(3)}, "qid has 3 rows"),
        ({"relevance": np.full_like(good.relevance, np.nan)}, "relevance has values"),
        ({"prior": -np.ones(good.offsets[-1])}, "negative"),
    ]:
        with pytest.raises(DataError, match=message):
            SupportedCandidates(**{**vars(good), **change})
    with pytest.raises(DataError, match="form='x'"):
        ExpertModel("x").fit(good)
    with pytest.raises(DataError, match="same label"):
        ExpertModel().fit(SupportedCandidates(**{**vars(good), "labels": np.ones(12)}))
    with pytest.raises(DataError, match="not trained"):
        ExpertModel().predict(good)
    (tmp_path / "bad").write_bytes(b"nothing")
    with pytest.raises(DataError):
        ExpertModel.load(tmp_path / "bad")


def test_lists_are_arrays_and_wrong_shapes_are_named():
    plain = {"relevance": [[1.0], [0.0]], "association": [[1.0], [0.0]], "offsets": [0, 1, 2], "qid": ["a", "a"]}
    assert ExpertModel().fit(SupportedCandidates(**plain, labels=[1, 0])).coef_.shape == (4,)
    for change, message in [
        ({"relevance": [1.0, 0.0]}, "relevance has shape"),
        ({"offsets": []}, "offsets"),
        ({"offsets": [0.0, 1.0, 2.0]}, "offsets"),
    ]:
        with pytest.raises(DataError, match=message):
            SupportedCandidates(**plain | change)
    with pytest.raises(DataError, match="NaN"):
        ExpertModel().fit(SupportedCandidates(**plain, labels=[1, np.nan]))
