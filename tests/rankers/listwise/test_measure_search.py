"""Rankers that search by a measure: what they reach, any measure, restarts, saving with a solver object."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError, ListNet, RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.rankers import storage
from plackett.rankers.listwise.coordinate_ascent import CoordinateAscent
from plackett.rankers.listwise.measure_search import MeasureSearch
from plackett.solvers.search.annealing import Annealing
from plackett.testing.rankers import easy_task


def noisy():
    X, y, qid = easy_task()
    rng = np.random.default_rng(0)
    return X, np.where(rng.random(y.size) < 0.4, rng.integers(0, 3, y.size), y).astype(float), qid


def test_reaches_more_on_the_training_data_than_a_surrogate():
    X, y, qid = noisy()
    surrogate = ListNet(eval_measure="AP").fit(X, y, qid=qid).score(X, y, qid=qid)
    for search in ("exact", "steps"):
        ranker = CoordinateAscent(measure="AP", eval_measure="AP", line_search=search, n_jobs=1).fit(X, y, qid=qid)
        assert ranker.score(X, y, qid=qid) > surrogate
        np.testing.assert_allclose(ranker.value_, ranker.score(X, y, qid=qid), rtol=1e-9)


@pytest.mark.parametrize("measure", ["ARP", "KendallTau", "ERR@3", "RR", "Bpref"])
@pytest.mark.parametrize("cls", [CoordinateAscent, MeasureSearch])
def test_any_measure(cls, measure):
    """With and without an exact form, larger better or smaller: better than where it began."""
    X, y, qid = noisy()
    data = RankingDataset.from_arrays(X, y, qid)
    ranker = cls(measure=measure, max_iter=3, n_jobs=1).fit(data)
    result = evaluate(data, ranker.predict(data), [measure]).mean[measure]
    start = evaluate(data, X @ np.ones(4), [measure]).mean[measure]
    assert result < start if measure == "ARP" else result > start
    np.testing.assert_allclose(ranker.value_, result, rtol=1e-9)


def test_solvers_of_the_ranker():
    X, y, qid = noisy()
    values = {
        solver: MeasureSearch(solver=solver, max_iter=30, n_jobs=1).fit(X, y, qid=qid).value_
        for solver in ("directions", "coordinate", "annealing", "random")
    }
    zero = MeasureSearch(solver="random", max_iter=1, n_jobs=1).fit(X, y, qid=qid).value_
    assert min(values.values()) > zero and max(values.values()) - min(values.values()) < 0.03


def test_restarts_never_make_it_worse():
    X, y, qid = noisy()
    values = [CoordinateAscent(n_restarts=n, n_jobs=1).fit(X, y, qid=qid).value_ for n in (0, 3)]
    assert values[1] >= values[0]


def test_a_solver_object_is_saved(tmp_path):
    X, y, qid = noisy()
    ranker = MeasureSearch(solver=Annealing(max_iter=20, n_chains=2), n_jobs=1).fit(X, y, qid=qid)
    ranker.save(tmp_path / "model")
    loaded = storage.load(tmp_path / "model")
    assert loaded.solver == Annealing(max_iter=20, n_chains=2)
    np.testing.assert_array_equal(loaded.predict(X, qid=qid), ranker.predict(X, qid=qid))


def test_settings_are_checked():
    X, y, qid = easy_task(n_queries=3)
    with pytest.raises(DataError, match="n_restarts=-1"):
        MeasureSearch(n_restarts=-1).fit(X, y, qid=qid)
    with pytest.raises(DataError, match="solver='genetic'"):
        MeasureSearch(solver="genetic").fit(X, y, qid=qid)
