"""L-BFGS-B, watched from outside."""

import numpy as np

from plackett.solvers.quasi_newton import quasi_newton

CENTRE = np.array([3.0, -1.0, 0.5])
STEEP = np.array([1.0, 10.0, 100.0])


def bowl(x):
    away = x - CENTRE
    return float(STEEP @ away**2), 2.0 * STEEP * away


def test_it_finds_the_minimum_and_keeps_to_bounds():
    np.testing.assert_allclose(quasi_newton(bowl, np.zeros(3), gtol=1e-9).x, CENTRE, atol=1e-6)
    inside = quasi_newton(bowl, np.zeros(3), bounds=[(0.0, 1.0)] * 3).x
    np.testing.assert_allclose(inside, [1.0, 0.0, 0.5], atol=1e-4)


def test_stop_sees_each_round_and_ends_the_search():
    seen = []

    def stop(point):
        seen.append(point.copy())
        return len(seen) == 2

    ended = quasi_newton(bowl, np.zeros(3), stop)
    assert len(seen) == 2
    np.testing.assert_array_equal(ended.x, seen[-1])
    assert bowl(seen[1])[0] < bowl(seen[0])[0] < bowl(np.zeros(3))[0]
    assert quasi_newton(bowl, np.zeros(3)).nit > 2
