"""Rankers that evolve a formula: what they find, what sets them apart, seeds, storage."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError, RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.rankers import storage
from plackett.rankers.listwise.arranger import ARRANGER
from plackett.rankers.listwise.combined_components import CombinedComponents, retrieval_components
from plackett.rankers.listwise.rankgp import RankGP
from plackett.rankers.listwise.trotman_gp import TrotmanGP
from plackett.scorers.formulas.machine import by_column
from plackett.scorers.formulas.machine import evaluate as values_of
from plackett.scorers.formulas.program import Program
from plackett.solvers.formulas.text import from_text

SMALL = {"population_size": 80, "generations": 12, "n_jobs": 1}


def ratio_task(seed=0):
    """Labels follow x1 / x2, which no linear model orders; two more features mean nothing."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(20), 15)
    X = rng.uniform(0.1, 2.0, size=(qid.size, 4)).astype(np.float32)
    return RankingDataset.from_arrays(X, np.digitize(X[:, 0] / X[:, 1], [0.5, 1.0, 2.0]).astype(float), qid)


def test_recovers_a_planted_formula():
    ranker = RankGP(measure="nDCG", random_state=0, **SMALL).fit(ratio_task())
    assert ranker.value_ == pytest.approx(1.0)
    new = ratio_task(seed=1)
    order = np.argsort(np.argsort(ranker.predict(new)))
    np.testing.assert_array_equal(order, np.argsort(np.argsort(new.X[:, 0].astype(float) / new.X[:, 1])))


def test_fitness_is_the_measure_and_never_falls():
    data = ratio_task()
    for measure, sign in (("AP", 1), ("nDCG@5", 1), ("ARP", -1)):
        ranker = RankGP(measure=measure, elitism=2, **SMALL).fit(data)
        assert (sign * np.diff(ranker.fitness_) >= 0).all() and len(ranker.fitness_) == 12
        result = evaluate(data, ranker.predict(data), [measure]).mean[measure]
        np.testing.assert_allclose([ranker.value_, ranker.fitness_[-1]], result, rtol=1e-9)


def test_formula_text_gives_the_scores():
    data = ratio_task()
    named = data.replace(feature_names=("body tf", "length", "log", "idf"))
    ranker = RankGP(functions=("+", "-", "*", "/", "log"), **SMALL).fit(named)
    for text in (ranker.formula_, ranker.simplified_formula_):
        program = from_text(text, named.feature_names)
        scores = values_of([program], by_column(data.X, range(4)))[0]
        np.testing.assert_array_equal(scores, ranker.predict(named))


def test_seeds_and_threads():
    data = ratio_task()
    first = RankGP(random_state=5, **SMALL).fit(data).formula_
    assert RankGP(random_state=5, **(SMALL | {"n_jobs": 2})).fit(data).formula_ == first
    assert len({RankGP(random_state=s, **(SMALL | {"generations": 2})).fit(data).formula_ for s in range(4)}) > 1


def test_limits_and_price_of_nodes():
    data = ratio_task()
    for limits in ({"max_size": 3}, {"max_depth": 1}):
        ranker = RankGP(**limits, **SMALL).fit(data)
        assert ranker.scorer_.program.size <= 3
    free = RankGP(random_state=1, measure="AP(rel=3)", **SMALL).fit(data)
    dear = RankGP(random_state=1, measure="AP(rel=3)", parsimony=0.5, **SMALL).fit(data)
    assert dear.scorer_.program.size == 1 <= free.scorer_.program.size


def test_best_generation_on_validation_data_is_kept():
    data, valid = ratio_task(), ratio_task(seed=3)
    noisy = data.replace(y=np.random.default_rng(0).permutation(data.labels))  # more fitness is less quality
    for n_validated in (1, 4):
        ranker = RankGP(n_validated=n_validated, eval_measure="AP", **SMALL).fit(noisy, eval_set=valid)
        assert ranker.score(valid) == pytest.approx(max(ranker.history_), rel=1e-12)
    one = RankGP(n_validated=1, **SMALL).fit(noisy, eval_set=valid).history_
    four = RankGP(n_validated=4, **SMALL).fit(noisy, eval_set=valid).history_
    assert (np.array(four) >= np.array(one)).all()
    stopped = RankGP(early_stopping_rounds=2, **SMALL).fit(noisy, eval_set=valid)
    assert len(stopped.history_) - 1 - int(np.argmax(stopped.history_)) == 2 or len(stopped.history_) == 12


def test_more_runs_are_never_worse():
    data = ratio_task()
    settings = {"population_size": 10, "generations": 3, "n_jobs": 1}
    one, many = (TrotmanGP(n_runs=n, **settings).fit(data) for n in (1, 5))
    assert many.fitness_[:3] == one.fitness_ and len(many.fitness_) == 15
    assert many.value_ == max(many.fitness_) >= one.value_


def test_arranger_builds_with_its_functions_and_maximises_a_utility():
    data = ratio_task()
    ranker = ARRANGER(**SMALL).fit(data)
    positions = ranker.rank(data)
    relevant = data.labels >= 1
    # up to a factor: the sum of 0.982 to the power of the rank of each relevant document
    utility = np.bincount(data.query_of_row, relevant * 0.982**positions) * (1 - 0.982) / 0.982
    assert ranker.value_ == pytest.approx(utility.mean(), abs=1e-4)
    used = {code for code in ranker.scorer_.program.code if code < -1}
    assert used <= {-2, -4, -5, -8}


# -------------------------------------------------------------------------------------------------------- components


def text_task():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(20), 15)
    tf, df, length = rng.poisson(3, qid.size), rng.integers(1, 900, qid.size), rng.integers(10, 300, qid.size)
    norm = 1.2 * (1 - 0.75 + 0.75 * length / 80.0)
    bm25 = np.log((1000 - df + 0.5) / (df + 0.5)) * tf * 2.2 / (tf + norm)
    data = RankingDataset.from_arrays(
        np.column_stack([tf, df, length]), np.digitize(bm25, [0.0, 1.0, 3.0]).astype(float), qid
    )
    return data.replace(feature_names=("tf", "df", "length")), bm25


def test_components_express_bm25_exactly():
    data, bm25 = text_task()
    parts = retrieval_components(n_documents=1000, mean_length=80)
    ranker = CombinedComponents(components=parts)
    leaves = ranker.leaves(list(data.feature_names))
    product = Program.of(2, Program.feature(len(parts) - 1), Program.feature(len(parts) - 3)).filled(leaves)
    np.testing.assert_allclose(values_of([product], by_column(data.X, range(3)))[0], bm25, rtol=1e-12)


def test_components_find_bm25_and_are_written_out(tmp_path):
    data, _ = text_task()
    parts = retrieval_components(n_documents=1000, mean_length=80)
    ranker = CombinedComponents(components=parts, measure="nDCG", **SMALL).fit(data)
    assert ranker.value_ == pytest.approx(1.0)
    plain = CombinedComponents(measure="nDCG", **SMALL).fit(data)
    assert plain.value_ < ranker.value_  # raw statistics need more generations
    path = tmp_path / "model.plackett"
    ranker.save(path)
    again = storage.load(path)
    assert again.formula_ == ranker.formula_ and again.components == parts
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"functions": ("+", "sin")}, "functions has 'sin'"),
        ({"functions": ()}, "functions is empty"),
        ({"population_size": 1}, "population_size=1"),
        ({"generations": 0}, "generations=0"),
        ({"max_size": 2}, "max_size=2"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"crossover_rate": 0.9, "mutation_rate": 0.2}, "more than 1 together"),
        ({"mutation_rate": -0.1}, "negative"),
        ({"elitism": 200}, "elitism=200"),
        ({"tournament_size": 0}, "tournament_size=0"),
        ({"constant_share": 1.0}, "constant_share"),
        ({"constant_range": (1.0, 0.0)}, "constant_range"),
        ({"parsimony": -1.0}, "parsimony"),
        ({"n_validated": 0}, "n_validated"),
        ({"measure": "nDCK"}, "nDCK"),
    ],
)
def test_wrong_parameters_are_named(parameters, match):
    with pytest.raises(ValueError, match=match):
        RankGP(**parameters).fit(ratio_task())


@pytest.mark.parametrize("components", ["x1 + x2", (), ("x1 +",), ("idf",)])
def test_wrong_components_are_refused(components):
    with pytest.raises(DataError, match="components|formula"):
        CombinedComponents(components=components).fit(ratio_task())
