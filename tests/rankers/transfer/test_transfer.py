"""Transfer: neutral settings, by hand, dense and brute-force checks, planted domains."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.rankers.transfer.base import agreement
from plackett.rankers.transfer.feature_transfer import shared_features
from plackett.rankers.transfer.instance_transfer import agreeing

BASE = pk.RankSVM(C=0.01, n_jobs=1)
TREES = pk.LambdaMART(n_estimators=6, num_leaves=4, min_child_samples=1, n_jobs=1)
W = np.array([1.0, -0.7, 0.5, 0.3, 0, 0, 0, 0, 0, 0, 0, 0])
ALL = (
    pk.PooledTransfer,
    pk.InstanceTransfer,
    pk.ImportanceTransfer,
    pk.BoostingTransfer,
    pk.FeatureTransfer,
    pk.CombinedTransfer,
    pk.MultiTask,
)


def domain(n_queries, w=W, seed=0, n_docs=12, noise=0.7, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_docs, w.size)) + shift
    score = X @ w + noise * rng.normal(size=len(X))
    y = np.digitize(score, np.quantile(score, [0.6, 0.85])).astype(float)
    return pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(n_queries), n_docs))


@pytest.fixture(scope="module")
def target():
    return domain(3, seed=1)


@pytest.fixture(scope="module")
def source():
    rng = np.random.default_rng(9)
    return domain(60, W + 0.15 * rng.normal(size=W.size), seed=2)


@pytest.fixture(scope="module")
def test():
    return domain(80, seed=3)


@pytest.mark.parametrize("base", [BASE, TREES], ids=["linear", "trees"])
@pytest.mark.parametrize("cls", ALL)
def test_one_domain_is_the_base_ranker(cls, base, target, test):
    expected = base.fit(target).predict(test)
    np.testing.assert_array_equal(cls(base=base).fit(target).predict(test), expected)


def test_baselines_and_domains(target, source, test):
    pool = pk.RankingDataset.from_arrays(
        np.vstack([target.X, source.X]), np.append(target.y, source.y), np.append(target.qid, source.qid + 1000)
    )
    names = np.array(["new"] * 3 + ["old"] * 60)
    parts = pk.domains(pool, names)
    assert {name: part.n_queries for name, part in parts.items()} == {"new": 3, "old": 60}
    np.testing.assert_array_equal(parts["old"].X, source.X)
    ranker = pk.PooledTransfer(base=BASE).fit(pool, domain=names, target="new")
    np.testing.assert_allclose(ranker.predict(test), BASE.fit(pool).predict(test), rtol=1e-6, atol=1e-9)
    given = pk.PooledTransfer(base=BASE).fit(target, source=source)
    np.testing.assert_array_equal(given.predict(test), ranker.predict(test))
    alone = pk.PooledTransfer(base=BASE, source_weight=0.0).fit(target, source=source)
    np.testing.assert_array_equal(alone.predict(test), BASE.fit(target).predict(test))
    arrays = pk.PooledTransfer(base=BASE).fit(pool.X, pool.y, qid=pool.qid, domain=names, target="new")
    np.testing.assert_array_equal(arrays.predict(test), ranker.predict(test))


def test_refusals(target, source):
    ranker = pk.PooledTransfer(base=BASE)
    for match, parameters in (
        ("source 'source' has 3 features, the target 12", {"source": source.replace(X=source.X[:, :3])}),
        ("has no labels", {"source": source.replace(y=None)}),
        ("source must be a RankingDataset", {"source": source.X}),
        ("give both", {"domain": ["a", "b", "b"]}),
        ("target='c' is not among the domains: 'a', 'b'", {"domain": ["a", "b", "b"], "target": "c"}),
        ("give one name each", {"domain": ["a"], "target": "a"}),
        (r"domain\[1\] is None; name the domain", {"domain": ["a", None, "a"], "target": "a"}),
        (r"domain\[2\] is nan", {"domain": [1.0, 1.0, np.nan], "target": 1.0}),
        ("two sources are called '1'", {"source": {1: source, "1": source}}),
        ("source 'fr' has missing values", {"source": {"fr": source.replace(X=np.full_like(source.X, np.nan))}}),
        ("either source, or domain", {"domain": ["a"] * 3, "target": "a", "source": source}),
    ):
        with pytest.raises(DataError, match=match):
            ranker.fit(target, **parameters)
    with pytest.raises(DataError, match=r"domain\[0\] is None"):
        pk.MultiTask().fit(target, domain=[None, "a", "a"])
    names = [f"f{i}" for i in range(12)]
    with pytest.raises(DataError, match="source 'fr' lacks the column 'f0' and has the column 'x'"):
        ranker.fit(target.replace(feature_names=names), source={"fr": source.replace(feature_names=["x", *names[1:]])})
    for wrong in (
        pk.PooledTransfer(source_weight=np.nan),
        pk.PooledTransfer(source_weight=np.inf),
        pk.ImportanceTransfer(clip=0),
        pk.ImportanceTransfer(alpha=-1),
        pk.FeatureTransfer(source_weight=np.inf),
    ):
        with pytest.raises(DataError, match="; give"):
            wrong.fit(target, source=source)
    with pytest.raises(DataError, match="needs a linear base ranker"):
        pk.FeatureTransfer(base=TREES).fit(target, source=source)
    with pytest.raises(DataError, match="cannot continue training"):
        pk.BoostingTransfer(base="PRank").fit(target, source=source)


def test_agreement_by_hand(source):
    scores = np.random.default_rng(0).integers(0, 4, source.n_rows).astype(float)  # with ties
    pairs, share = agreement(source, scores)
    result = {tuple(pair) for pair in pairs.to_pairs().tolist()}
    for q in range(0, 60, 9):
        rows = range(source.offsets[q], source.offsets[q + 1])
        every = [(u, v) for u in rows for v in rows if source.y[u] > source.y[v]]
        right = [(u, v) for u, v in every if scores[u] > scores[v]]
        assert share[q] == pytest.approx(len(right) / len(every))
        assert {pair for pair in result if pair[0] in rows} == set(right)


def test_perfect_and_reversed_sources(target, source, test):
    perfect = domain(40, seed=5, noise=0.0)
    sure = pk.LinearRegression().fit(perfect)
    sure.scorer_.weights[:, 0] = W
    kept, share = agreeing({"a": perfect}, sure, BASE)
    assert share == 1.0 and kept["a"].preferences is None  # all pairs stay
    source_only = pk.InstanceTransfer(base=BASE, include_target=False).fit(target, source=source)
    assert 0.5 < source_only.agreement_ < 1.0
    turned = source.replace(y=2 - source.y)
    ranker = pk.InstanceTransfer(base=BASE).fit(target, source=turned)
    assert ranker.agreement_ < 0.5
    assert ranker.score(test) > pk.PooledTransfer(base=BASE).fit(target, source=turned).score(test) + 0.3


@pytest.mark.parametrize("cls", [pk.PooledTransfer, pk.ImportanceTransfer, pk.FeatureTransfer])
def test_negative_transfer_is_seen_and_undone(cls, target, source, test):
    valid = domain(20, seed=7)
    turned = source.replace(y=2 - source.y)
    ranker = cls(base=BASE).fit(target, source=turned, eval_set=valid)
    if ranker.negative_transfer_:
        assert ranker.card_["transfer"]["kept"] == "target alone"
        assert ranker.card_["transfer"]["target alone"] >= ranker.card_["transfer"]["transfer"]
        np.testing.assert_array_equal(ranker.predict(test), BASE.fit(target, eval_set=valid).predict(test))
    good = cls(base=BASE).fit(target, source=source, eval_set=valid)
    assert good.negative_transfer_ is False
    assert cls is pk.FeatureTransfer or ranker.negative_transfer_


def test_shared_features_minimise_the_penalty():
    """Against random matrices of the same trace; at the optimum the penalty is the squared trace norm."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(2, 4))
    best = shared_features(weights, 1e-9)
    assert np.trace(best) == pytest.approx(4.0)

    def penalty(D):
        return sum(w @ np.linalg.solve(D, w) for w in weights)

    nuclear = np.linalg.svd(weights, compute_uv=False).sum() ** 2 / 4
    assert penalty(best + 1e-9 * np.eye(4)) == pytest.approx(nuclear, rel=1e-2)
    for _ in range(200):
        root = rng.normal(size=(4, 4))
        other = root @ root.T + 1e-3 * np.eye(4)
        assert penalty(other * 4 / np.trace(other)) > nuclear


def test_objective_falls_and_tasks_get_alike(target, source):
    """½ Σ w' D⁻¹ w + ½ ε tr D⁻¹ + loss after each turn, with the exact solver of the ranking SVM."""
    from plackett.losses.pairwise.margin_pairs import margin_pairs

    values, eps = [], 0.05
    for sweeps in (1, 2, 3, 4):
        ranker = pk.FeatureTransfer(base=pk.RankSVM(C=0.01, tol=1e-6, n_jobs=1), n_sweeps=sweeps, epsilon=eps)
        ranker.fit(target, source=source)
        scale = np.vstack([target.X, source.X]).astype(float).std(axis=0)
        weights = ranker.task_weights_ * scale
        D = ranker.shared_
        value = 0.5 * sum(w @ np.linalg.solve(D, w) for w in weights)
        for w, data in zip(weights, (target, source), strict=True):
            value += 0.01 * margin_pairs(data, margin=1.0).evaluate((data.X / scale) @ w, True)[0]
        values.append(value)
    assert values[-1] <= values[0] * 1.01
    twin = pk.FeatureTransfer(base=BASE, n_sweeps=8, epsilon=1e-3).fit(source, source=source)
    assert np.linalg.norm(twin.task_weights_[0] - twin.task_weights_[1]) < 1e-3 * np.linalg.norm(twin.task_weights_)
    assert twin.singular_values_[1] < 1e-3 * twin.singular_values_[0]  # one common direction


def test_multi_task_is_the_same_program(target, source, test):
    two = pk.FeatureTransfer(base=BASE).fit(target, source=source)
    multi = pk.MultiTask(base=BASE).fit(target, source=source)
    np.testing.assert_array_equal(two.predict(test), multi.predict(test))
    pool = pk.RankingDataset.from_arrays(
        np.vstack([target.X, source.X, test.X]),
        np.concatenate([target.y, source.y, test.y]),
        np.concatenate([target.qid, source.qid + 100, test.qid + 1000]),
    )
    names = ["a"] * 3 + ["b"] * 60 + ["c"] * 80
    three = pk.MultiTask(base=BASE).fit(pool, domain=names)
    assert three.task_weights_.shape == (3, 12) and list(three.card_["transfer"]["sources"]) == ["a", "b"]
    np.testing.assert_array_equal(three.for_domain("b").coef_, three.task_weights_[2])
    for named in (np.array(names, object), np.array(names, np.dtypes.StringDType())):
        again = pk.MultiTask(base=BASE).fit(pool, domain=named)
        np.testing.assert_array_equal(again.task_weights_, three.task_weights_)
    np.testing.assert_array_equal(three.for_domain("c").coef_, three.coef_)
    with pytest.raises(DataError, match="no source domain 'd'"):
        three.for_domain("d")


def test_combined_is_feature_transfer_where_all_agree(test):
    """A source that the target's ranker orders perfectly: no pair is dropped."""
    target = domain(6, seed=1)
    sure = BASE.fit(target)
    X = domain(30, seed=4).X
    order = sure.predict(X, qid=np.repeat(np.arange(30), 12)).reshape(30, 12).argsort(axis=1).argsort(axis=1)
    source = pk.RankingDataset.from_arrays(X, (order.ravel() > 7).astype(float), np.repeat(np.arange(30), 12))
    combined = pk.CombinedTransfer(base=BASE).fit(target, source=source)
    assert combined.agreement_ == 1.0
    feature = pk.FeatureTransfer(base=BASE).fit(target, source=source)
    np.testing.assert_array_equal(combined.predict(test), feature.predict(test))


def test_importance_weights_move_the_source_to_the_target():
    target, unlike = domain(40, seed=1, shift=0.5), domain(60, seed=2, shift=-0.5)
    alike = domain(60, seed=4, shift=0.5)
    source = pk.RankingDataset.from_arrays(
        np.vstack([alike.X, unlike.X]), np.append(alike.y, unlike.y), np.append(alike.qid, unlike.qid + 60)
    )
    weights = pk.ImportanceTransfer(clip=1e9).query_weights(target, source)
    assert weights[:60].min() > weights[60:].max() and weights[:60].mean() > 5 * weights[60:].mean()
    ones = pk.ImportanceTransfer(base=BASE, eta=None).fit(target, source=source)
    pooled = pk.PooledTransfer(base=BASE).fit(target, source=source)
    np.testing.assert_array_equal(ones.predict(source), pooled.predict(source))


def test_continued_and_mixed_trees(target, source, test):
    background, alone = TREES.fit(source).predict(test), TREES.fit(target).predict(test)
    zero = pk.BoostingTransfer(base=TREES, n_adapt=0).fit(target, source=source)
    np.testing.assert_array_equal(zero.predict(test), background)
    more = pk.BoostingTransfer(base=TREES, n_adapt=3).fit(target, source=source)
    assert more.member_.booster_.num_trees() == 9
    rounds = [pk.BoostingTransfer(base=TREES, n_adapt=n).fit(target, source=source).score(target) for n in (0, 4, 12)]
    assert rounds[0] <= rounds[1] <= rounds[2]
    for share, expected in ((1.0, background), (0.0, alone)):
        mixed = pk.BoostingTransfer(base=TREES, mode="interpolate", share=share).fit(target, source=source)
        np.testing.assert_array_equal(mixed.predict(test), expected)


def test_relatedness_of_equal_and_opposite_tasks(source):
    same = pk.relatedness(source, source, BASE)
    assert same["tau"] == pytest.approx(1.0) and same["cosine"] == pytest.approx(1.0) and same["a-distance"] < 0.3
    opposite = pk.relatedness(source, source.replace(y=2 - source.y), BASE)
    assert opposite["tau"] < -0.9 and opposite["cosine"] < -0.9 and opposite["a on b"] < 0.3
    assert pk.relatedness(source, domain(40, seed=8, shift=3.0), BASE)["a-distance"] > 1.5
    assert np.isnan(pk.relatedness(source, source, TREES)["cosine"])


def test_beats_the_target_alone_with_few_queries(target, source, test):
    alone = BASE.fit(target).score(test)
    for cls in (pk.PooledTransfer, pk.FeatureTransfer, pk.InstanceTransfer):
        assert cls(base=BASE).fit(target, source=source).score(test) > alone + 0.01


def test_saved_and_loaded(target, source, test, tmp_path):
    for cls in (pk.InstanceTransfer, pk.FeatureTransfer):
        ranker = cls(base=BASE).fit(target, source=source)
        ranker.save(tmp_path / "model.plackett")
        again = pk.load(tmp_path / "model.plackett")
        np.testing.assert_array_equal(again.predict(test), ranker.predict(test))
        assert again.card_["transfer"] == {"sources": {"source": 60}}


def test_combined_keeps_domains_apart_if_a_source_is_left_out(target, source, tmp_path):
    sure = BASE.fit(target)
    opposite = source.select(range(5))
    opposite = opposite.replace(y=np.argsort(np.argsort(-sure.predict(opposite))).astype(float))
    ranker = pk.CombinedTransfer(base=BASE).fit(target, source={"bad": opposite, "fr": source})
    alone = pk.CombinedTransfer(base=BASE).fit(target, source={"fr": source})
    np.testing.assert_allclose(ranker.for_domain("fr").coef_, alone.for_domain("fr").coef_)
    pk.save(ranker, tmp_path / "m.plackett")
    for model in (ranker, pk.load(tmp_path / "m.plackett")):
        with pytest.raises(DataError, match="source 'bad' has no ranker: it was left out"):
            model.for_domain("bad")
    ranker.fit(target, source={"bad": opposite})
    with pytest.raises(DataError, match="source 'bad' has no ranker: nothing was learned"):
        ranker.for_domain("bad")


def test_domains_of_several_kinds(target):
    names = np.array([1, "be", 1], object)  # as in a column of a frame
    assert {name: part.n_queries for name, part in pk.domains(target, names).items()} == {"1": 2, "be": 1}


def test_relatedness_matches_features_by_name(target, source):
    names = [f"f{i}" for i in range(12)]
    target, source = target.replace(feature_names=names), source.replace(feature_names=names)
    turned = source.replace(X=source.X[:, ::-1].copy(), feature_names=names[::-1])
    expected = pk.relatedness(target, source)
    assert pk.relatedness(target, turned) == pytest.approx(expected)
    assert pk.relatedness(target, source.replace(feature_names=None)) == pytest.approx(expected)
    with pytest.raises(DataError, match="the second task lacks"):
        pk.relatedness(target, source.replace(feature_names=["x", *names[1:]]))


def test_relatedness_needs_documents(target):
    with pytest.raises(DataError, match="no documents"):
        pk.relatedness(target, target.select([]))
