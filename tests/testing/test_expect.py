"""How checks compare numbers."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.testing import CheckFailed
from plackett.testing._expect import close


@pytest.mark.parametrize(
    ("result", "wanted"),
    [(1.0, np.inf), (np.inf, 1.0), (-np.inf, np.inf), (np.nan, 1.0), (1.0, np.nan), (1.0, 1.1), ([1.0], [1.0, 1.0])],
)
def test_different_numbers_are_not_close(result, wanted):
    with pytest.raises(CheckFailed, match="the sum"):
        close(np.asarray(result), np.asarray(wanted), "the sum")


@pytest.mark.parametrize("value", [0.0, -3.5, np.inf, -np.inf, np.nan])
def test_a_number_is_close_to_itself(value):
    close(np.array([value, 1.0]), np.array([value, 1.0 + 1e-9]), "the sum")
    close(value, value, "the sum")
