"""Solvers: known optima, values that never fall, seeds."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError, RankingDataset
from plackett.measures import parse
from plackett.solvers.search.annealing import Annealing
from plackett.solvers.search.coordinate import Coordinate
from plackett.solvers.search.directions import Directions
from plackett.solvers.search.problem import LinearProblem
from plackett.solvers.search.random_optimisation import RandomOptimisation
from plackett.solvers.search.solvers import SOLVERS, make_solver
from plackett.testing.rankers import easy_task

QUICK = [Coordinate(), Coordinate(line_search="steps"), Directions(), Annealing(max_iter=80), RandomOptimisation()]


class ManyHills:
    """One weight; maxima near every multiple of 2π/6 from the largest one, which is at 2 and has the value 1."""

    size = 1

    def values(self, weights):
        return (np.cos(6 * (weights - 2)) - 0.1 * (weights - 2) ** 2)[:, 0]

    def normalised(self, weights):
        return weights


def two_features(seed):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(40, 2)), np.repeat(np.arange(5), 8)
    return LinearProblem(RankingDataset.from_arrays(X, rng.integers(0, 3, 40), qid), parse("AP"), False, 1)


def best_angle(problem):
    """The largest value of all rankings that two features can give: one angle in each interval between crossings."""
    X, angles = problem.data.X.astype(float), []
    for q in range(problem.data.n_queries):
        rows = X[slice(*problem.data.offsets[q : q + 2])]
        for i in range(len(rows)):
            for j in range(i):
                across = np.arctan2(*(rows[i] - rows[j])) + np.pi / 2
                angles += [across, across + np.pi]
    angles = np.sort(np.mod(angles, 2 * np.pi))
    middle = np.append(0.5 * (angles[1:] + angles[:-1]), 0.5 * (angles[0] + angles[-1] - 2 * np.pi))
    return problem.values(np.stack([np.sin(middle), np.cos(middle)], axis=1)).max()


def last(solver, problem, start, seed=0):
    *_, weights = solver.rounds(problem, np.asarray(start, float), np.random.default_rng(seed))
    return weights


@pytest.mark.parametrize(
    "solver", [Annealing(temperature=1.0, step=1.0), RandomOptimisation(step=3.0)], ids=["annealing", "random"]
)
def test_finds_the_largest_of_many_hills(solver):
    for seed in range(5):
        assert abs(last(solver, ManyHills(), [-5.0], seed)[0] - 2.0) < 0.05


def test_annealing_finds_the_best_ranking_of_two_features():
    for seed in range(3):
        problem = two_features(seed)
        result = problem.values(last(Annealing(step=0.5), problem, [1.0, 0.0])[None])[0]
        np.testing.assert_allclose(result, best_angle(problem), rtol=1e-12)


def test_one_line_search_finds_the_best_half_plane():
    """Along the second feature from the first: every ranking with a positive weight of the first."""
    problem = two_features(0)
    best = max(
        problem.values(np.stack([np.ones(4001), np.tan(np.linspace(-1.57, 1.57, 4001))], axis=1)).max(),
        problem.values(np.array([[1.0, 0.0]]))[0],
    )
    first = next(Coordinate(line_search="exact").rounds(problem, np.array([1.0, 0.0]), np.random.default_rng(0)))
    assert problem.values(first[None])[0] >= best


@pytest.mark.parametrize("solver", QUICK, ids=lambda solver: type(solver).__name__)
def test_the_measure_never_falls_and_a_seed_decides(solver):
    X, y, qid = easy_task()
    rng = np.random.default_rng(0)
    y = np.where(rng.random(y.size) < 0.4, rng.integers(0, 3, y.size), y)
    problem = LinearProblem(RankingDataset.from_arrays(X, y, qid), parse("nDCG@5"), True, 1)
    start = np.array([0.1, -1.0, 0.3, 0.2])
    path = list(solver.rounds(problem, start, np.random.default_rng(4)))
    values = problem.values(np.vstack([start, *path]))
    assert 1 <= len(path) <= solver.max_iter
    assert (np.diff(values) >= -1e-12).all() and values[-1] > values[0] + 0.05
    np.testing.assert_array_equal(path, list(solver.rounds(problem, start, np.random.default_rng(4))))


def test_names_and_settings_are_checked():
    assert all(make_solver(name) == cls() for name, cls in SOLVERS.items())
    assert make_solver(QUICK[0]) is QUICK[0]
    with pytest.raises(DataError, match="coordinate, directions, annealing, random"):
        make_solver("genetic")
    with pytest.raises(DataError, match="final_temperature"):
        Annealing(final_temperature=1.0)
    with pytest.raises(DataError, match="patience"):
        Directions(patience=0)
    with pytest.raises(DataError, match="max_iter"):
        Coordinate(max_iter=0)
    with pytest.raises(DataError, match="step"):
        RandomOptimisation(step=0.0)
