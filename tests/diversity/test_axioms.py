"""The axiom checker finds what is known of the three objectives."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.diversity import MaxMin, MaxSum, satisfaction
from plackett.diversity.axioms import check_axioms


def max_sum(f, d, *_):
    return MaxSum.value(f, d, 0.5)


def max_min(f, d, *_):
    return MaxMin.value(f, d, 0.5)


def mono(f, d, _, every, rows):
    return float(f.sum() + every[rows].sum() / (len(every) - 1))


def test_known_violations():
    result = {check.__name__: check_axioms(check, n_instances=60) for check in (max_sum, max_min, mono)}
    broken = {name: {axiom for axiom, violation in axioms.items() if violation} for name, axioms in result.items()}
    assert broken["max_sum"] == {"stability"}
    assert broken["max_min"] >= {"stability", "consistency", "monotonicity"}
    assert "stability" not in broken["mono"]
    assert "independence" in broken["mono"]
    assert 0.0 < result["max_sum"]["stability"].share < 0.4


def test_mono_objective_is_not_consistent():
    """The adversarial change: document 0 leaves the best three although only outsiders came closer to it."""
    f, d = np.array([1, 1, 1, 0.9, 0.9, 0.9]), np.ones((6, 6)) - np.eye(6)
    value = f + d.sum(axis=1) / 5
    assert set(np.argsort(-value, kind="stable")[:3]) == {0, 1, 2}
    d[0, 3:] = d[3:, 0] = 0.5
    value = f + d.sum(axis=1) / 5
    assert 0 not in set(np.argsort(-value, kind="stable")[:3])


def test_satisfaction_is_not_stable():
    aspects, weight = np.array([[0, 0.04], [0.97, 0], [0, 0.75], [0.59, 0.42]]), [0.43, 0.57]
    singles = [satisfaction(aspects[[i]], weight)[-1] for i in range(4)]
    pairs = {(i, j): satisfaction(aspects[[i, j]], weight)[-1] for i in range(4) for j in range(i)}
    assert int(np.argmax(singles)) == 3
    assert max(pairs, key=pairs.get) == (2, 1)


def test_an_objective_that_ignores_relevance_or_distance_is_found():
    result = check_axioms(lambda f, d, *_: d.sum(), n_instances=5)
    assert result["strength of relevance"].share == 1.0
    result = check_axioms(lambda f, d, *_: f.sum(), n_instances=5)
    assert result["strength of similarity"] is not None
    assert result["strength of relevance"] is None


def test_bad_parameters():
    with pytest.raises(DataError, match="n_documents=20; give 3 to 8"):
        check_axioms(max_sum, n_documents=20)
