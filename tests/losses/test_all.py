"""The battery on every loss of the catalogue, with default parameters and with others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import plackett
from plackett.losses.base import Loss
from plackett.testing import Check, checks
from plackett.testing.losses import variants
from written_out.losses import GRADIENTS, VALUES


def checks_of(loss: Loss) -> Iterator[Check]:
    return checks(loss, definition=(VALUES if loss.has_value else GRADIENTS).get(loss.name))


@pytest.mark.parametrize(
    "check",
    [check for cls in plackett.losses().values() for loss in variants(cls) for check in checks_of(loss)],
    ids=str,
)
def test_battery(check):
    check()


def test_every_loss_is_written_out_a_second_time():
    missing = set(plackett.losses()) - set(VALUES) - set(GRADIENTS)
    assert not missing, "write the definition in tests/written_out"
