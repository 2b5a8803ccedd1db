"""Data that are mapped from a file are learned from in blocks: the same results, and memory that does not grow."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

import plackett as pk
from plackett.data import mapped
from plackett.data.canonical import canonical_order
from plackett.measures import blocks
from plackett.models.linear import Linear
from plackett.rankers import (
    IRSVM,
    SVMMAP,
    SVMMRR,
    SVMNDCG,
    AdaRank,
    AllThreshold,
    CoordinateAscent,
    FixedMarginSVM,
    IntentRanker,
    LinearDiscriminant,
    MeasureSearch,
    MultipleHyperplaneRanker,
    OnlineRankSVM,
    PermuRank,
    PointwiseSVM,
    PolynomialRegression,
    PRank,
    RampRank,
    RankingPerceptron,
    RankSVM,
    RobustSparseRanker,
    StagedLogistic,
    StochasticRank,
    SumOfMarginsSVM,
    SVORExplicit,
    SVORImplicit,
)
from plackett.rankers.base import GradientTrained
from plackett.rankers.pairwise.stochastic.loops import LOOPS
from plackett.solvers import measure_objective
from plackett.solvers.search.directions import Directions

LINEAR = [
    ranker for ranker in pk.rankers().values() if issubclass(ranker, GradientTrained) and issubclass(ranker, Linear)
]


def ranking(n_queries, seed=0, **more):
    rng = np.random.default_rng(seed)
    group = rng.integers(1, 30, n_queries)
    X = rng.standard_normal((group.sum(), 4), np.float32)
    y = np.digitize(X[:, 0] - X[:, 1] + rng.standard_normal(group.sum()), [0, 1, 2])
    return pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(n_queries), group), **more)


def in_part(data, weighted):
    """The data with documents that are not judged, and optionally weights."""
    rng = np.random.default_rng(1)
    data = data.replace(y=np.where(rng.random(data.n_rows) < 0.1, -1.0, data.y))
    if not weighted:
        return data
    by_query = rng.integers(0, 3, data.n_queries).astype(float)
    return data.replace(sample_weight=rng.uniform(0.5, 2, data.n_rows), query_weight=by_query)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(mapped, "_LEAST_BYTES", 1)
    monkeypatch.setattr(mapped, "BLOCK_ROWS", 100)
    monkeypatch.setattr(blocks, "_MANY_ROWS", 100)
    monkeypatch.setattr(measure_objective, "_SCORES_AT_ONCE", 100)


def on_disk(data, folder, name="data"):
    pk.write(data, folder / f"{name}.plackett")
    return pk.load(folder / f"{name}.plackett")


def quick(ranker, **more):
    settings = ranker._test_settings | {"max_iter": 4, "n_jobs": 1} | more
    return ranker(**settings)


@pytest.mark.parametrize("ranker", LINEAR, ids=lambda ranker: ranker.__name__)
def test_linear_rankers_learn_the_same_in_blocks(ranker, tmp_path, small_blocks):
    data = ranking(40)
    here, there = quick(ranker).fit(data), quick(ranker).fit(on_disk(data, tmp_path))
    assert np.array_equal(here.predict(data), there.predict(data))


@pytest.mark.parametrize(
    "ranker",
    [
        RankSVM(C=1e-3),
        RankSVM(C=1e-3, loss="hinge", margin="label"),
        RankSVM(C=0.1, normalize=True, tie_weight=0.5, tie_width=0.2),
        RankSVM(tol=0.1, validation_fraction=0.3, early_stopping_rounds=2),
        IRSVM(C=0.1, level_weights=np.arange(16.0).reshape(4, 4)),
    ],
    ids=["squared", "hinge", "ties", "auto", "levels"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_support_vectors_learn_the_same_in_blocks(ranker, weighted, tmp_path, small_blocks, monkeypatch):
    data = in_part(ranking(15), weighted)
    if ranker.validation_fraction is not None:  # the folds that C is chosen on are small enough for memory
        monkeypatch.setattr(mapped, "_LEAST_BYTES", int(0.6 * data.X.nbytes))
    there = clone(ranker).fit(on_disk(data, tmp_path))
    monkeypatch.undo()  # all of the data in one block
    here = clone(ranker).fit(data)
    assert np.array_equal(here.coef_, there.coef_) and here.history_ == there.history_
    assert (here.objective_, here.gap_, here.n_iter_) == (there.objective_, there.gap_, there.n_iter_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "ranker",
    [
        *(StochasticRank(loop=loop, n_steps=2000) for loop in LOOPS),
        OnlineRankSVM(n_steps=2000),
        PRank(max_iter=2),
        AllThreshold(max_iter=5),
    ],
    ids=[*LOOPS, "OnlineRankSVM", "PRank", "AllThreshold"],
)
def test_drawn_examples_and_grades_are_the_same_in_blocks(ranker, weighted, tmp_path, small_blocks, monkeypatch):
    data = in_part(ranking(40), weighted)
    there = clone(ranker).fit(on_disk(data, tmp_path)).predict(data)
    monkeypatch.undo()
    assert np.array_equal(clone(ranker).fit(data).predict(data), there)


OTHERS = [
    SVMMAP(tol=0.1),
    SVMMRR(tol=0.1),
    SVMNDCG(tol=0.1),
    PermuRank(tol=0.1, max_iter=3),
    PermuRank(tol=0.1, max_iter=3, measure="nDCG"),
    AdaRank(n_estimators=5),
    CoordinateAscent(max_iter=1),
    CoordinateAscent(max_iter=1, line_search="steps"),
    MeasureSearch(max_iter=2, n_restarts=1),
    MeasureSearch(max_iter=4, solver="annealing"),
    PointwiseSVM(),
    PolynomialRegression(max_iter=3),
    RampRank(max_rounds=2, max_iter=4),
    RobustSparseRanker(max_iter=6, n_rounds=3),
    StagedLogistic(max_iter=3),
    StagedLogistic(max_iter=3, groups=[[0, 2], [1, 3]]),
    LinearDiscriminant(max_iter=1, max_pairs=100),
    LinearDiscriminant(max_iter=1, start=0),
    IntentRanker(k=5, n_sweeps=1, model=Linear(max_iter=3)),
    MultipleHyperplaneRanker(C=1e-3),
    RankingPerceptron(max_iter=2),
    RankingPerceptron(max_iter=2, uneven="label", output="voted"),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ranker", OTHERS, ids=repr)
@pytest.mark.filterwarnings("ignore::plackett.PlackettWarning")
def test_other_linear_rankers_learn_the_same_in_blocks(ranker, weighted, tmp_path, small_blocks, monkeypatch):
    data = in_part(ranking(40), weighted)
    there = clone(ranker).fit(on_disk(data, tmp_path)).predict(data)
    monkeypatch.undo()
    assert np.array_equal(clone(ranker).fit(data).predict(data), there)


@pytest.mark.parametrize("ranker", [FixedMarginSVM(), SumOfMarginsSVM(), SVORExplicit(), SVORImplicit()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_ordinal_machines_learn_the_same_from_a_file(ranker, weighted, tmp_path, small_blocks, monkeypatch):
    """Their sums are taken over the same blocks in memory; others differ by rounding."""
    data = in_part(ranking(15), weighted)
    there = clone(ranker).fit(on_disk(data, tmp_path)).predict(data)
    assert np.array_equal(clone(ranker).fit(data).predict(data), there)
    monkeypatch.undo()
    np.testing.assert_allclose(clone(ranker).fit(data).predict(data), there, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("loss", pk.losses().values(), ids=lambda loss: loss.name)
def test_losses_that_say_so_are_sums_over_parts(loss):
    data = ranking(9)
    data = data.replace(positions=np.arange(data.n_rows) - np.repeat(data.offsets[:-1], data.group) + 1)
    loss = (loss() if isinstance(loss, type) else loss).settle(data)
    bound = loss.bind(data, n_jobs=1)
    shape = (data.n_rows,) if bound.n_outputs == 1 else (data.n_rows, bound.n_outputs)
    scores = np.random.default_rng(1).normal(size=shape)
    parts = [(slice(data.offsets[lo], data.offsets[hi]), np.arange(lo, hi)) for lo, hi in ((0, 4), (4, 5), (5, 9))]
    result = [loss.bind(data.select(queries), n_jobs=1).evaluate(scores[rows])[:2] for rows, queries in parts]
    whole = bound.evaluate(scores)[:2]
    equal = all(np.array_equal(a, np.concatenate(b)) for a, b in zip(whole, zip(*result, strict=True), strict=True))
    assert equal == loss.separable


def test_learned_thresholds_are_no_sum_over_shards():
    with pytest.raises(pk.LossError, match="looks at all queries together"):
        pk.cluster.fit_linear(AllThreshold(), pk.cluster.SerialShards(ranking(20), 2))


@pytest.mark.parametrize(
    "settings", [{"solver": "sgd"}, {"validation_fraction": 0.3, "early_stopping_rounds": 2, "max_iter": 30}]
)
def test_solver_and_early_stopping_in_blocks(settings, tmp_path, small_blocks):
    data = ranking(60, query_weight=np.random.default_rng(1).uniform(0.5, 2, 60))
    here, there = quick(pk.ListNet, **settings).fit(data), quick(pk.ListNet, **settings).fit(on_disk(data, tmp_path))
    assert np.array_equal(here.coef_, there.coef_) and here.history_ == there.history_


@pytest.mark.parametrize("more", [{}, {"query_weight": np.arange(1.0, 51.0)}])
def test_canonical_order_in_blocks(more, tmp_path, monkeypatch):
    data = ranking(50, **more)
    whole = canonical_order(data)
    monkeypatch.setattr(mapped, "_LEAST_BYTES", 1)
    monkeypatch.setattr(mapped, "BLOCK_ROWS", 64)
    parts = canonical_order(on_disk(data, tmp_path))
    assert whole.fingerprint() == parts.fingerprint()
    assert mapped.is_mapped(parts.y) and mapped.source_of(parts.X) == str(tmp_path / "data.plackett")
    assert mapped.source_of(parts.select([2, 0]).X) is None


def test_evaluation_in_blocks(tmp_path, small_blocks, monkeypatch):
    data = ranking(80)
    ranker = pk.ListNet(max_iter=5).fit(data)
    names = ["nDCG@10", "AP(rel=2)", "ERR@5", "nDCG(ties='random')@3", "GAP"]
    result = pk.evaluate(on_disk(data, tmp_path), ranker, names)
    by_scores = pk.evaluate(data, ranker.predict(data), names)
    monkeypatch.setattr(blocks, "_MANY_ROWS", 1 << 20)
    whole = pk.evaluate(data, ranker.predict(data), names)
    for name in result.values:
        assert np.allclose(result.values[name], whole.values[name], rtol=1e-14)
        assert np.array_equal(result.values[name], by_scores.values[name])
    assert ranker.score(data) == whole.mean["nDCG@10"]
    with pytest.raises(pk.DataError, match="RankingDataset"):
        pk.evaluate(data.y, ranker, names, qid=data.qid)


def test_stochastic_rank_from_a_native_file(tmp_path):
    data = ranking(40)
    on_disk(data, tmp_path)
    at_once = StochasticRank(n_steps=5000).fit_file(tmp_path / "data.plackett")
    assert np.array_equal(at_once.coef_, StochasticRank(n_steps=5000).fit(data).coef_)
    blocks = StochasticRank(n_steps=5000).fit_file(tmp_path / "data.plackett", chunk_bytes=2000, passes=2)
    assert blocks.score(data) > 0.95 * at_once.score(data)
    with pytest.raises(pk.DataError, match="has 4 features"):
        StochasticRank().fit_file(tmp_path / "data.plackett", n_features=3)


FRUGAL = {
    "validation": lambda data: pk.ListNet(alpha=0.1, max_iter=2, n_jobs=1, validation_fraction=0.3).fit(data),
    "batches": lambda data: pk.ListNet(alpha=0.1, max_iter=1, n_jobs=1, solver="sgd", batch_size=200).fit(data),
    "squared hinge": lambda data: RankSVM(C=1e-8, tol=0.5, n_jobs=1, validation_fraction=0.3).fit(data),
    "hinge": lambda data: RankSVM(C=1e-8, tol=0.5, n_jobs=1, loss="hinge").fit(data),
    "drawn": lambda data: StochasticRank(loop="combined-ranking", n_steps=1000, n_jobs=1).fit(data),
    "roc": lambda data: StochasticRank(loop="combined-roc", n_steps=1000, n_jobs=1).fit(data),
    "online": lambda data: OnlineRankSVM(n_steps=1000, n_jobs=1).fit(data),
    "PRank": lambda data: PRank(max_iter=1, n_jobs=1).fit(data),
    "thresholds": lambda data: AllThreshold(max_iter=1, n_jobs=1).fit(data),
    "SVMMAP": lambda data: SVMMAP(max_iter=2, n_jobs=1).fit(data),
    "AdaRank": lambda data: AdaRank(n_estimators=1, n_jobs=1).fit(data),
    "PointwiseSVM": lambda data: PointwiseSVM(C=1e-4, max_iter=2, n_jobs=1).fit(data),
    "ordinal": lambda data: FixedMarginSVM(tol=0.5, n_jobs=1).fit(data),
    "ramp": lambda data: RampRank(max_rounds=1, max_iter=1, n_jobs=1).fit(data),
    "evaluate": lambda data: pk.evaluate(
        data, pk.ListNet(alpha=0.1, max_iter=1).fit(data.select([0])), ["nDCG@10", "AP"]
    ),
}
SLOWER = {
    "search": lambda data: MeasureSearch(max_iter=1, solver=Directions(n_random=0, line_search="steps")).fit(data),
    "perceptron": lambda data: RankingPerceptron(max_iter=1, n_jobs=1).fit(data),
    "balanced": lambda data: StochasticRank(loop="balanced-stochastic", n_steps=1000, n_jobs=1).fit(data),
    "SVMNDCG": lambda data: SVMNDCG(k=1, max_iter=2, n_jobs=1).fit(data),
    "staged": lambda data: StagedLogistic(max_iter=1, n_jobs=1).fit(data),
}


@pytest.mark.parametrize("name", [*FRUGAL, *(pytest.param(name, marks=pytest.mark.full) for name in SLOWER)])
@pytest.mark.filterwarnings("ignore::plackett.PlackettWarning")
def test_memory_does_not_grow_with_the_rows(name, tmp_path, small_blocks, monkeypatch):
    """Bytes that NumPy allocates per further row: a few per query are allowed, one number per row is not."""
    monkeypatch.setattr(mapped, "BLOCK_ROWS", 2000)
    rng = np.random.default_rng(0)
    tables, peaks = [], []
    for rows in (1_000, 40_000, 120_000):
        X = rng.standard_normal((rows, 2), np.float32)
        data = pk.RankingDataset.from_arrays(X, X[:, 0] > 0, np.arange(rows) // 100)
        tables.append(on_disk(data, tmp_path, str(rows)))
    work = (FRUGAL | SLOWER)[name]
    work(tables[0])  # compiles, and fills caches
    for table in tables[1:]:
        tracemalloc.start()
        work(table)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / 80_000 < 4.0
