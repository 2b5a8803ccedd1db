"""One call from a log to a ranker: which way it takes, and that it is the one that the study measured."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import clicks
from plackett.clicks.log import ClickLog
from plackett.clicks.simulate import PositionUsers
from plackett.clicks.unbiased import learning
from plackett.datasets import make_ranking
from plackett.studies._click_learners import GUARDED, LABELS, Case, _labelled, _linear, learn


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=25, docs_per_query=8, n_features=4, random_state=0)


@pytest.fixture(scope="module")
def log(data):
    users = PositionUsers(strength=1.0)
    return clicks.simulate_log(data, data.X[:, 0], n_pages=1500, users=users, temperature=1.0, random_state=0)


def test_with_enough_pages_it_is_the_study_s_harvested_propensities(log, data, monkeypatch):
    monkeypatch.setattr(learning, "ENOUGH_PAGES", 1500)
    result = clicks.learn_from_clicks(log, data)
    case = Case(log, data, PositionUsers(strength=1.0), None)
    assert (result.name, result.weight) == ("harvested propensities", 1.0)
    np.testing.assert_array_equal(result.ranker.predict(data), learn(case, result.name).predict(data))
    collapsed = clicks.learn_from_clicks(log.collapse(), data)  # fewer pages are stored, as many count
    np.testing.assert_allclose(collapsed.ranker.predict(data), result.ranker.predict(data), rtol=1e-6, atol=1e-9)


def test_with_fewer_it_is_the_study_s_strict_guard(log, data):
    result = clicks.learn_from_clicks(log, data)
    case = Case(log, data, PositionUsers(strength=1.0), None)

    def learner(name):
        def learn_part(part):
            labelled = _labelled(case, name)
            return _linear().fit(labelled.select(np.flatnonzero(np.isin(labelled.qids, part.qids))))

        return learn_part

    strict = clicks.guarded_choice(log, data, {name: learner(name) for name in GUARDED}, lean=-1.64)
    assert set(GUARDED) <= set(LABELS)
    assert (result.name, result.weight) == (strict.name, strict.weight)
    assert result.table["gain"].to_list() == strict.table["gain"].to_list()
    np.testing.assert_array_equal(result.ranker.predict(data), strict.ranker.predict(data))


def test_lists_that_never_change_are_learned_plainly(data):
    queries = data.qids[[0, 1]]
    documents = [[0, 1, 2], [8, 9, 10]]  # rows of the data
    fixed = ClickLog.from_arrays(queries.tolist() * 2, documents * 2, [[0, 1, 0], [1, 0, 0]] * 2)
    result = clicks.learn_from_clicks(fixed, data)
    assert (result.name, result.weight) == ("click rates", 0.0)
    assert "one rank only" in result.reason
    assert np.isfinite(result.ranker.predict(data)).all()
