"""Relational functions and training through them: worked numbers, numerical minimisers, finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import plackett as pk
from plackett import DataError, RankingDataset, Relation
from plackett.losses import Logistic
from plackett.rankers.relational._through import Through
from plackett.testing.rankers import ranker_checks, small

from .planted import planted, sites


def tree():
    """A small forest of two lists."""
    data = RankingDataset.from_arrays(None, [2, 0, 1, 0, 1, 0, 2], [1, 1, 1, 1, 2, 2, 2])
    pairs = Relation.from_pairs([(1, 0), (2, 0), (3, 2), (5, 4)], weight=[1.0, 2.0, 0.5, 1.0])
    return data.replace(relations={"parent": pairs, "similarity": pairs})


FUNCTIONS = {
    "feedback": pk.RelationalFeedback(),
    "distillation": pk.TopicDistillation(),
    "exact": pk.TopicDistillation(exact=True),
}


def energies(name, data, beta):
    """What each function minimises, as a plain sum over pairs."""
    relation = data.relations["parent"]
    child, parent, weight = relation.row, relation.other, relation.weights

    def feedback(z, f):  # each pair is given once: half of it in both directions
        return ((z - f) ** 2).sum() + beta / 2 * (weight * (z[child] - z[parent]) ** 2).sum()

    def distillation(z, f):
        gap = z[child] - z[parent]
        return ((z - f) ** 2).sum() + beta * (weight * (gap + 0.5 * gap**2)).sum()

    def exact(z, f):
        return ((z - f) ** 2).sum() + beta * (weight * np.exp(z[child] - z[parent])).sum()

    return {"feedback": feedback, "distillation": distillation, "exact": exact}[name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_function_is_the_numerical_minimiser(name):
    data, f = tree(), np.array([0.3, 1.0, -1.0, 2.0, 0.0, 3.0, 1.0])
    h = FUNCTIONS[name]._maker(0.8)(data).scores(f)
    energy = energies(name, data, 0.8)
    expected = minimize(energy, f, args=(f,), method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(h, expected, atol=1e-6)
    np.testing.assert_allclose(np.add.reduceat(h, data.offsets[:-1]), np.add.reduceat(f, data.offsets[:-1]), rtol=1e-9)


def test_topic_distillation_worked_example():
    data = RankingDataset.from_arrays(None, None, [1, 1, 1])
    data = data.replace(relations={"parent": Relation.from_pairs([(1, 0), (2, 0)])})
    f = np.array([1.0, 1.2, 0.9])
    h = pk.TopicDistillation()._maker(1.0)(data).scores(f)
    np.testing.assert_allclose(h, [1.42, 0.94, 0.74], rtol=1e-12)
    assert abs(h - [1.02, 1.21, 0.91]).max() > 0.1  # row sums alone would give this
    exact = pk.TopicDistillation(exact=True)._maker(1.0)(data).scores(f)
    np.testing.assert_allclose(exact, [1.5001, 0.9201, 0.6798], atol=2e-4)
    turned = data.replace(relations={"parent": Relation.from_pairs([(0, 1), (0, 2)])})
    assert pk.TopicDistillation()._maker(1.0)(turned).scores(f)[0] < 0.9  # now it is the child


def test_far_scores_do_not_overflow():
    data = tree()
    f = np.array([-900.0, 900.0, 0.0, 500.0, -2000.0, 2000.0, 3.0])
    h = pk.TopicDistillation(exact=True)._maker(1.0)(data).scores(f)
    relation = data.relations["parent"]
    assert np.isfinite(h).all()
    gap = np.exp(h[relation.row] - h[relation.other]) * relation.weights  # the stationary point
    flow = np.bincount(relation.row, gap, 7) - np.bincount(relation.other, gap, 7)
    np.testing.assert_allclose(2 * (h - f) + flow, 0.0, atol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_through_the_solve(name):
    data = tree()
    loss = Through(loss=Logistic(), make=FUNCTIONS[name]._maker(0.8))
    f = np.random.default_rng(0).normal(size=data.n_rows)
    gradient, curvature = loss.gradient(f, data)
    step = 1e-6
    numeric = [(loss(f + step * e, data) - loss(f - step * e, data)) / (2 * step) for e in np.eye(data.n_rows)]
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)
    assert (curvature >= 0).all()


@pytest.mark.parametrize("base", ["ListNet(alpha=0.1)", "LambdaMART(n_estimators=5)", "RankBoost(n_estimators=5)"])
@pytest.mark.parametrize("kind", [pk.RelationalFeedback, pk.TopicDistillation])
def test_without_strength_it_is_the_ranker_inside(base, kind):
    data = planted(n_queries=12)
    alone = pk.rankers.named.ranker_named(base)[0].fit(data)
    wrapped = kind(base=base, relation="similarity", beta=0.0).fit(data)
    np.testing.assert_array_equal(wrapped.predict(data), alone.predict(data))
    empty = data.replace(relations={"similarity": Relation.from_pairs([])})
    unrelated = kind(base=base, relation="similarity", beta=2.0).fit(empty)
    np.testing.assert_array_equal(
        unrelated.predict(empty), pk.rankers.named.ranker_named(base)[0].fit(empty).predict(empty)
    )


@pytest.mark.parametrize("base", [None, "LambdaMART(n_estimators=20)", "RankSVM(C=1e-3)"])
def test_neighbours_that_carry_relevance_help(base):
    train, test = planted(0), planted(1)
    alone = pk.RelationalFeedback(base=base, beta=0.0).fit(train).score(test)
    related = pk.RelationalFeedback(base=base).fit(train)
    assert related.beta_ > 0.0
    assert related.score(test) > alone + 0.03


@pytest.mark.parametrize("exact", [False, True])
def test_entry_pages_rise(exact):
    train, test = sites(0), sites(1)
    alone = pk.TopicDistillation(beta=0.0).fit(train).score(test)
    assert pk.TopicDistillation(exact=exact).fit(train).score(test) > alone + 0.05


def test_a_network_is_trained_through_the_solve():
    pytest.importorskip("torch", reason="networks need the extra 'neural'")
    train, test = planted(0, n_queries=20), planted(1, n_queries=20)
    small_network = pk.Neural(hidden=(4,), max_epochs=15, learning_rate=0.05, batch_size=4, device="cpu", n_jobs=1)
    network = pk.GradientRanker(loss="ListNet", model=small_network)
    related, alone = (pk.RelationalFeedback(base=network, beta=beta).fit(train).score(test) for beta in (1.0, 0.0))
    assert related > alone + 0.03


def test_training_through_the_solve_fits_the_loss_better():
    data = planted(0)
    loss = Logistic()
    values = [
        loss(pk.RelationalFeedback(beta=1.0, through=through).fit(data).predict(data), data)
        for through in (True, False)
    ]
    assert values[0] < values[1]


def test_relations_that_are_absent_are_asked_for():
    data = planted(n_queries=12)
    ranker = pk.RelationalFeedback(beta=0.5).fit(data)
    with pytest.raises(DataError, match="needs the relation 'similarity' .* it has none"):
        ranker.predict(data.replace(relations=None))
    with pytest.raises(DataError, match=r"needs the relation 'similarity'.*the builder Neighbours\(k=10\)"):
        ranker.predict(data.X, qid=data.qid)
    with pytest.raises(DataError, match="its relations are 'similarity'"):
        pk.TopicDistillation().fit(data)
    with pytest.raises(DataError, match="relation=3"):
        pk.RelationalFeedback(relation=3).fit(data)
    with pytest.raises(DataError, match="beta='much'"):
        pk.RelationalFeedback(beta="much").fit(data)
    with pytest.raises(DataError, match="beta=-1"):
        pk.RelationalFeedback(beta=-1).fit(data)


def test_a_builder_may_be_given_as_text():
    data = planted(n_queries=12)
    by_text = pk.RelationalFeedback(relation="Neighbours(k=3)", beta=0.5).fit(data).predict(data)
    np.testing.assert_array_equal(
        by_text, pk.RelationalFeedback(relation=pk.Neighbours(k=3), beta=0.5).fit(data).predict(data)
    )
    with pytest.raises(DataError, match="unknown relation 'Neigbours'; did you mean Neighbours"):
        pk.RelationalFeedback(relation="Neigbours(k=3)").fit(data)
    with pytest.raises(DataError, match="unexpected keyword argument 'n'"):
        pk.RelationalFeedback(relation="Neighbours(n=3)").fit(data)


def test_validation_data_are_scored_with_their_relations():
    train, valid = planted(0), planted(1)
    ranker = pk.RelationalFeedback(base="LambdaMART(n_estimators=10)", beta=1.0).fit(train, eval_set=valid)
    assert ranker.score(valid) == pytest.approx(max(ranker.history_), rel=1e-12)
    split = pk.RelationalFeedback(beta=1.0, validation_fraction=0.3).fit(train)
    assert split.card_["data"]["queries"] == 21
    assert split.settled()["beta"] == 1.0


def test_equal_documents_with_equal_relations_tie():
    """Rounding errors of the solver do not decide about documents that are in the same place of the graph."""
    X = np.tile([[0.3], [0.7], [0.7], [0.1], [0.1], [0.9]], (20, 1))
    ring = [(q + i, q + j) for q in range(0, 120, 6) for i, j in ((1, 0), (2, 0), (3, 1), (4, 2), (5, 0), (1, 2))]
    y = np.tile([0, 1, 1, 0, 0, 2], 20)
    data = pk.RankingDataset.from_arrays(
        X, y, np.repeat(np.arange(20), 6), relations={"similarity": pk.Relation.from_pairs(ring)}
    )
    h = pk.RelationalFeedback(base="LinearRegression", beta=0.37).fit(data).predict(data).reshape(20, 6)
    assert (h[:, 1] == h[:, 2]).all() and (h[:, 3] == h[:, 4]).all()
    assert (h == h[0]).all()


def test_saved_with_its_relation_and_ranker(tmp_path):
    data = planted()
    ranker = pk.RelationalFeedback(base="LambdaMART(n_estimators=5)").fit(data)
    ranker.save(tmp_path / "model.plackett")
    loaded = pk.load(tmp_path / "model.plackett")
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))
    assert loaded.beta_ == ranker.beta_


@pytest.mark.parametrize("kind", [pk.RelationalFeedback, pk.TopicDistillation])
def test_battery_with_trees(kind):
    trees = pk.LambdaMART(n_estimators=8, num_leaves=5, min_child_samples=1, n_jobs=1)
    make = small(kind, base=trees)
    # LightGBM bins features by counting rows, so a query of weight 2 is only nearly the query given twice
    for check in ranker_checks(make):
        if check.name != "query_weight":
            check()
