"""The other relational rankers: against explicit programs, the formulas, and each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import plackett as pk
from plackett import DataError, RankingDataset, Relation
from plackett.testing.rankers import ranker_checks, small

from .planted import planted, sites


def tiny(seed=0):
    """Two short lists with two features, a similarity and parents."""
    rng = np.random.default_rng(seed)
    data = RankingDataset.from_arrays(rng.normal(size=(9, 2)), [2, 1, 0, 0, 1, 2, 0, 1, 0], np.repeat([0, 1], [5, 4]))
    similar = Relation.from_pairs([(0, 3), (1, 2), (5, 8), (6, 7)], weight=[0.5, 1.0, 0.8, 0.3])
    parents = Relation.from_pairs([(1, 0), (2, 0), (4, 3), (6, 5)])
    return data.replace(relations={"similarity": similar, "parent": parents})


def dense_system(data, relation, beta):
    weights = relation.matrix(data.n_rows).toarray()
    weights = 0.5 * (weights + weights.T)
    return np.eye(data.n_rows) + beta * (np.diag(weights.sum(axis=1)) - weights)


@pytest.mark.parametrize("task", ["feedback", "distillation"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_relational_svm_solves_the_explicit_program(task, loss):
    data, beta, C = tiny(), 0.7, 0.8
    relation = data.relations["similarity" if task == "feedback" else "parent"]
    system = dense_system(data, relation, beta)
    pull = np.zeros(data.n_rows)
    if task == "distillation":
        np.add.at(pull, relation.other, 0.5 * beta)
        np.add.at(pull, relation.row, -0.5 * beta)
    X, offset = np.linalg.solve(system, data.X.astype(float)), np.linalg.solve(system, pull)
    pairs = [
        (u, v)
        for u in range(9)
        for v in range(9)
        if data.y[u] > data.y[v] and data.query_of_row[u] == data.query_of_row[v]
    ]
    u, v = np.array(pairs).T
    power = 1 if loss == "hinge" else 2

    def objective(w):
        gap = np.maximum(0.0, 1.0 - ((X @ w + offset)[u] - (X @ w + offset)[v]))
        return 0.5 * w @ w + C * (gap**power).sum()

    best = min(
        minimize(objective, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000}).fun
        for start in ([0.0, 0.0], [1.0, 1.0])
    )
    machine = pk.RankSVM(C=C, loss=loss, standardize=False, tol=1e-6)
    ranker = pk.RelationalRankSVM(
        base=machine, task=task, relation="similarity" if task == "feedback" else "parent", beta=beta
    )
    ranker.fit(data)
    assert objective(ranker.base_.coef_) == pytest.approx(best, rel=1e-5)
    assert ranker.base_.objective_ == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(ranker.predict(data), X @ ranker.base_.coef_ + offset, atol=1e-5)


def test_relational_svm_without_strength_is_the_svm():
    data = planted(n_queries=12)
    alone = pk.RankSVM(C=1e-3).fit(data).predict(data)
    np.testing.assert_array_equal(
        pk.RelationalRankSVM(base=pk.RankSVM(C=1e-3), beta=0.0).fit(data).predict(data), alone
    )
    with pytest.raises(DataError, match="linear support vector machine"):
        pk.RelationalRankSVM(base=pk.ListNet()).fit(data)
    with pytest.raises(DataError, match="task='links'"):
        pk.RelationalRankSVM(task="links", beta=1.0).fit(data)


def test_relational_svm_gains():
    train, test = planted(0), planted(1)
    assert pk.RelationalRankSVM().fit(train).score(test) > pk.RankSVM().fit(train).score(test) + 0.03
    train, test = sites(0), sites(1)
    related = pk.RelationalRankSVM(task="distillation", relation="parent").fit(train)
    assert related.score(test) > pk.RankSVM().fit(train).score(test) + 0.05


def test_the_generic_function_has_the_named_ones_as_cases():
    data = tiny()
    for parameters, named in (
        ({"similar": {"similarity": 0.4}}, pk.RelationalFeedback(beta=0.4)),
        ({"parents": {"parent": 0.4}}, pk.TopicDistillation(beta=0.4)),
    ):
        generic = pk.RelationalRanker(**parameters).fit(data)
        np.testing.assert_allclose(generic.predict(data), named.fit(data).predict(data), rtol=1e-6, atol=1e-9)
    both = pk.RelationalRanker(similar={"similarity": 0.4}, parents={"parent": 0.3}).fit(data)
    f = both.base_.predict(data.X, qid=data.qid)
    relation = data.relations["parent"]
    pull = 0.15 * (np.bincount(relation.other, minlength=9) - np.bincount(relation.row, minlength=9))
    system = dense_system(data, data.relations["similarity"], 0.4) + dense_system(data, relation, 0.3) - np.eye(9)
    np.testing.assert_allclose(both.predict(data), np.linalg.solve(system, f + pull), rtol=1e-8)


def test_without_strengths_it_is_the_ranker_inside():
    data = planted(n_queries=12)
    alone = pk.ListNet(alpha=0.1).fit(data).predict(data)
    generic = pk.RelationalRanker(base=pk.ListNet(alpha=0.1), similar={"similarity": 0.0}).fit(data)
    np.testing.assert_array_equal(generic.predict(data), alone)


def test_strengths_are_learned():
    train, test = planted(0), planted(1)
    rng = np.random.default_rng(0)

    def with_noise(data):  # a second relation that says nothing
        row = np.arange(data.n_rows)
        other = data.offsets[data.query_of_row] + rng.integers(0, 16, row.size)
        return data.replace(relations={**data.relations, "noise": Relation(row[row != other], other[row != other])})

    train, test = with_noise(train), with_noise(test)
    given = {"similarity": 0.1, "noise": 0.1}
    plain = pk.RelationalRanker(similar=given).fit(train)
    learned = pk.RelationalRanker(similar=given, learn=2).fit(train)
    assert learned.strengths_[0] > 10 * learned.strengths_[1]
    assert learned.score(test) > plain.score(test)
    with pytest.raises(DataError, match="learn=1 needs a base that minimises a loss"):
        pk.RelationalRanker(base="RankBoost", learn=1).fit(train)


def test_gradient_of_the_strengths_by_finite_differences():
    data = tiny()
    ranker = pk.RelationalRanker(similar={"similarity": 0.4}, parents={"parent": 0.3})
    base = pk.GradientRanker().fit(data)
    seen = []

    def record(objective, start, **_):
        _, slope = objective(start)
        step = 1e-6
        numeric = [(objective(start + step * e)[0] - objective(start - step * e)[0]) / (2 * step) for e in np.eye(2)]
        seen.append((slope, numeric))
        return type("Result", (), {"x": start})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scipy.optimize.minimize", record)
        ranker._learned(base, data, np.array([0.4, 0.3]))
    np.testing.assert_allclose(*seen[0], rtol=1e-5)


def test_propagation_is_the_formula():
    data = tiny()
    ranker = pk.ScorePropagation(alpha=0.3).fit(data)
    s = ranker.base_.predict(data.X, qid=data.qid)
    expected = 1.3 * s
    for parent, children in ((0, [1, 2]), (3, [4]), (5, [6])):
        expected[parent] += 0.7 * s[children].mean()
    np.testing.assert_allclose(ranker.predict(data), expected, rtol=1e-12)
    out = pk.ScorePropagation(alpha=0.3, collect="out").fit(data).predict(data)
    assert out[1] == pytest.approx(1.3 * s[1] + 0.7 * s[0])
    np.testing.assert_allclose(pk.ScorePropagation(alpha=1.0).fit(data).predict(data), 2 * s, rtol=1e-12)
    with pytest.raises(DataError, match="alpha=2"):
        pk.ScorePropagation(alpha=2.0).fit(data)
    with pytest.raises(DataError, match="collect='up'"):
        pk.ScorePropagation(collect="up").fit(data)


def test_groups_help_where_they_carry_relevance():
    def grouped(seed):
        data = planted(seed)
        return data.replace(relations={"hyperedge": pk.hyperedges(data, np.arange(data.n_rows) // 4)})

    train, test = grouped(0), grouped(1)
    alone = pk.HypergraphRanker(beta=0.0).fit(train).score(test)
    assert pk.HypergraphRanker().fit(train).score(test) > alone + 0.03


@pytest.mark.full
@pytest.mark.parametrize("kind", [pk.HypergraphRanker, pk.ScorePropagation, pk.RelationalRanker])
def test_battery_with_trees(kind):
    trees = pk.LambdaMART(n_estimators=8, num_leaves=5, min_child_samples=1, n_jobs=1)
    for check in ranker_checks(small(kind, base=trees)):
        if check.name != "query_weight":  # LightGBM bins features by counting rows
            check()


@pytest.mark.parametrize("beta", [True, None, "strong", -1.0, np.nan, np.inf, 1e13, 1e300])
def test_strengths_that_say_nothing_are_refused(beta):
    data = pk.RankingDataset.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    data = data.replace(relations={"similarity": pk.Relation.from_pairs([(0, 1)])})
    with pytest.raises(pk.DataError, match="beta="):
        pk.RelationalFeedback(beta=beta).fit(data)
    with pytest.raises(pk.DataError, match="the strength of relation"):
        pk.RelationalRanker(similar={"similarity": beta}).fit(data)


@pytest.mark.parametrize(
    "kind", [pk.RelationalFeedback, pk.TopicDistillation, pk.HypergraphRanker, pk.ScorePropagation]
)
def test_weights_that_drown_the_scores_are_refused(kind):
    pairs = pk.Relation.from_pairs([(0, 1), (1, 0)], weight=[1.0, 1e300])
    data = pk.RankingDataset.from_arrays([[0.0], [1.0]], [0, 1], qid=[1, 1], relations={"r": pairs})
    with pytest.raises(pk.DataError, match="a pair has the weight 1e\\+300; give a number from 0 to 1e\\+12"):
        kind(relation="r").fit(data)


def test_negative_similarities_of_a_builder_are_refused():
    def opposite(data, n_jobs=None):
        return pk.Relation.from_pairs([(0, 1)], weight=[-1.0])

    with pytest.raises(pk.DataError, match="a pair has the weight -1"):
        pk.RelationalFeedback(relation=opposite, beta=0.5).fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
