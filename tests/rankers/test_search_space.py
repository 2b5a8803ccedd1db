"""Every ranker says what is worth tuning about it."""

from __future__ import annotations

import pytest

import plackett as pk
from plackett._base.search_space import Integer, Real, grid_values, value_at

RANKERS = sorted(pk.rankers().items())


@pytest.mark.parametrize(("name", "cls"), RANKERS, ids=[name for name, _ in RANKERS])
def test_search_space_names_parameters(name, cls):
    """The names are parameters, the ranges are ranges, and what is drawn makes a ranker."""
    space = cls.search_space
    assert space, f"{name} has nothing to tune"
    parameters = cls().get_params(deep=False)
    assert set(space) <= set(parameters)
    for parameter, choice in space.items():
        if isinstance(choice, (Real, Integer)):
            assert choice.low < choice.high
            assert not choice.log or choice.low > 0
        else:
            assert len(choice) > 1 and not isinstance(choice, str)
        for value in [*grid_values(choice), value_at(choice, 0.37)]:
            assert cls(**{parameter: value}).get_params(deep=False)[parameter] == value
