"""Measured changes never exceed what is proved; units, modes, toys."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.losses import Hinge
from plackett.theory.risks.query_level import query_level_losses
from plackett.theory.stability.changes import CHANGES, prepared, units
from plackett.theory.stability.measured import stability
from plackett.theory.stability.proved import same_penalty


def svm(kind=pk.RankSVM, C=0.02, **parameters):
    return kind(C=C, loss="hinge", standardize=False, tol=1e-4, **parameters)


def uneven(seed=0):
    """15 queries, one of them large."""
    rng = np.random.default_rng(seed)
    sizes = np.array([5] * 14 + [25])
    qid = np.repeat(np.arange(15), sizes)
    X = rng.standard_normal((qid.size, 3))
    X /= np.linalg.norm(X, axis=1).max()
    return pk.RankingDataset.from_arrays(X, (X[:, 0] + 0.3 * rng.standard_normal(qid.size) > 0).astype(float), qid)


@pytest.mark.parametrize("ranker", [svm(), svm(pk.IRSVM, 0.3)], ids=["RankSVM", "IRSVM"])
def test_leaving_queries_out_changes_losses_by_less_than_is_proved(ranker):
    data = uneven()
    result = stability(ranker, data, n=15, n_jobs=1)
    assert result.changes.size == len(units(data, "query"))
    assert 0 < result.max <= result.proved.value
    assert result.mean <= result.max and result.variance >= 0
    r = len(units(data, "query"))
    n = pk.theory.Risk("pairwise 0-1").associate_loss.associates.labelled(data)
    kappa = np.linalg.norm(data.X, axis=1).max()
    ratio = n.max() / n[n > 0].mean() if isinstance(ranker, pk.RankSVM) else 1.0
    penalty = 1 / (2 * ranker.C * (n.sum() if isinstance(ranker, pk.RankSVM) else r))
    assert result.proved.value == pytest.approx(4 * kappa**2 / (penalty * r) * ratio)
    assert "at most" in str(result)


def test_a_change_is_the_largest_over_the_pairs_of_the_probe():
    data = uneven()
    result = stability(svm(), data, n=1, random_state=3, n_jobs=1)
    drawn = np.random.default_rng(3).permutation(units(data, "query"))[0]
    less = data.select(np.delete(np.arange(15), drawn))
    one = svm().fit(data)
    other = svm(C=same_penalty(svm(), data, less)["C"]).fit(less)
    largest = 0.0
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        for u in range(a, b):
            for v in range(a, b):
                if data.y[u] > data.y[v]:
                    z = (data.X[u] - data.X[v]).astype(float)
                    largest = max(largest, abs(max(0, 1 - z @ one.coef_) - max(0, 1 - z @ other.coef_)))
    assert result.max == pytest.approx(largest, rel=1e-5)


def test_query_level_losses_change_by_no_more_than_those_of_pairs():
    """Lemma 1."""
    data = uneven()
    one = svm().fit(data)
    less = data.select(np.arange(14))
    other = svm(C=same_penalty(svm(), data, less)["C"]).fit(less)
    largest = stability(svm(), data, n=15, n_jobs=1).max
    losses = [query_level_losses(Hinge(), r.predict(data), data) for r in (one, other)]
    change = np.nanmax(np.abs(losses[0] - losses[1]))
    assert 0 < change <= largest + 1e-9
    assert abs(np.nanmean(losses[0]) - np.nanmean(losses[1])) <= change + 1e-12


def test_replacing_a_document_changes_losses_by_less_than_is_proved():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    X /= np.linalg.norm(X, axis=1).max()
    data = pk.RankingDataset.from_arrays(
        X, (X[:, 0] + 0.3 * rng.standard_normal(60) > 0).astype(float), np.zeros(60, int)
    )
    result = stability(svm(C=1e-3), data, "document", "replace", n=20, n_jobs=1)
    assert 0 < result.max <= result.proved.value
    assert result.proved.penalty == pytest.approx(1 / (2 * 1e-3 * 60 * 59 / 2))
    assert result.proved.value == pytest.approx(16 / (result.proved.penalty * 60), rel=1e-5)


def lists(r, seed=0, m=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((r * m, 3))
    X /= np.linalg.norm(X, axis=1).max()
    s = (X @ [1.0, -0.5, 0.2] + 0.2 * rng.standard_normal(r * m)).reshape(r, m)
    return pk.RankingDataset.from_arrays(
        X, np.argsort(np.argsort(s, axis=1), axis=1).ravel(), np.repeat(np.arange(r), m)
    )


@pytest.mark.parametrize("kind", [pk.ListMLE, pk.ListNet])
def test_listwise_methods_keep_to_their_coefficients_and_get_more_stable(kind):
    ranker = kind(alpha=0.1, standardize=False, tol=1e-10, max_iter=2000)  # λ = 0.05
    few, many = (stability(ranker, lists(r), n=20, n_jobs=1) for r in (20, 80))
    G = 8 if kind is pk.ListMLE else 2
    for result, r in ((few, 20), (many, 80)):
        kappa = np.linalg.norm(lists(r).X, axis=1).max()
        assert result.proved.value == pytest.approx(G**2 * kappa**2 / (0.05 * r))
        assert 0 < result.max <= result.proved.value
    assert many.max < 0.5 * few.max


def test_the_largest_change_falls_with_the_number_of_queries():
    result = stability(svm(pk.IRSVM, 0.05), lists(160), n=15, sizes=(0.125, 0.25, 0.5, 1.0), n_jobs=1)
    assert result.sizes.tolist() == [20, 40, 80, 160]
    assert result.slope < -0.3
    assert "to the power" in str(result)


@pytest.mark.parametrize(("unit", "mode"), CHANGES)
def test_every_unit_can_be_removed_and_replaced(unit, mode):
    data = lists(12)
    result = stability(pk.LinearRegression(), data, unit, mode, n=3, n_jobs=1)
    assert result.changes.size == 3 and np.isfinite(result.changes).all() and result.proved is None
    start = prepared(data, unit)
    changed = CHANGES[unit, mode](start, int(units(start, unit)[0]), start, np.random.default_rng(0))
    counts = {"query": lambda d: d.n_queries, "document": lambda d: d.n_rows, "pair": lambda d: len(d.preferences)}
    assert counts[unit](changed) == counts[unit](start) - (mode == "remove")


def test_trees_have_a_measured_stability_and_no_proved_one():
    result = stability(pk.MART(n_estimators=3, num_leaves=3, min_child_samples=2), lists(15), n=3, loss=Hinge())
    assert result.max > 0 and result.proved is None and np.isnan(result.slope)


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(pk.DataError, match="there are query/remove, query/replace"):
        stability(svm(), lists(5), "list")
    with pytest.raises(pk.DataError, match="n=0"):
        stability(svm(), lists(5), n=0)
    flat = pk.RankingDataset.from_arrays(np.eye(4), [1, 1, 0, 0], [1, 1, 2, 2])
    with pytest.raises(pk.DataError, match="no pair of unequal labels"):
        stability(svm(), flat)


def test_ids_may_be_strings_features_sparse_and_the_probe_large(monkeypatch):
    from scipy.sparse import csr_matrix

    from plackett.theory.stability import probe

    data = uneven()
    plain = stability(svm(), data, n=3, n_jobs=1)
    named = pk.RankingDataset.from_arrays(data.X, data.y, np.array([f"q{i:02d}" for i in data.qid]))
    assert stability(svm(), named, n=3, n_jobs=1).changes == pytest.approx(plain.changes)
    sparse = pk.RankingDataset.from_arrays(csr_matrix(data.X), data.y, data.qid)
    result = stability(svm(), sparse, n=3, n_jobs=1)
    assert result.changes == pytest.approx(plain.changes, rel=1e-4)
    assert result.proved.value == pytest.approx(plain.proved.value)
    monkeypatch.setattr(probe, "_MOST_PAIRS", 30)
    few = probe.Probe(data, Hinge())
    assert 0 < few.pairs.shape[0] <= 30 and few.data.n_queries < 15


def test_threads_do_not_change_what_is_measured():
    data = uneven()
    assert stability(svm(), data, n=4, n_jobs=2).changes == pytest.approx(stability(svm(), data, n=4, n_jobs=1).changes)


def test_the_default_loss_is_the_one_that_is_minimised():
    from plackett.losses import SquaredHinge

    data = pk.datasets.make_ranking(n_queries=8, docs_per_query=6, n_features=3, random_state=0)
    for kind, own in (("squared_hinge", SquaredHinge()), ("hinge", Hinge())):
        ranker = pk.RankSVM(C=0.01, loss=kind)
        by_default = pk.theory.stability(ranker, data, n=3, n_jobs=1)
        assert by_default.max == pk.theory.stability(ranker, data, n=3, n_jobs=1, loss=own).max
    assert by_default.max != pk.theory.stability(ranker, data, n=3, n_jobs=1, loss=SquaredHinge()).max
