"""The battery on every loss of the catalogue, with default parameters and with others."""

from __future__ import annotations

import plackett
from plackett.testing import parametrize_with_checks
from plackett.testing.definitions.losses import GRADIENTS, VALUES
from plackett.testing.losses import variants


@parametrize_with_checks([loss for cls in plackett.losses().values() for loss in variants(cls)])
def test_battery(check):
    check()


def test_every_loss_is_written_out_a_second_time():
    missing = set(plackett.losses()) - set(VALUES) - set(GRADIENTS)
    assert not missing, "write the definition in plackett.testing.definitions"
