"""The battery on every loss of the catalogue, with default parameters and with others."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import naive_listwise
import naive_pairwise
import naive_pointwise
import plackett

sys.path.insert(0, str(Path(__file__).parents[1]))
from checks_losses import CHECKS, NAIVE, NAIVE_GRADIENT

#: Parameters other than the defaults.
OTHERS = {
    **naive_pairwise.OTHERS,
    **naive_listwise.OTHERS,
    **naive_pointwise.OTHERS,
    "Logistic": [{"margin": 0.7}, {"normalize": True}],
    "Exponential": [{"margin": 0.7}, {"normalize": True}],
    "Hinge": [{"margin": 0.3}, {"margin": 0.0, "normalize": True}],
    "SquaredHinge": [{"margin": 0.3}, {"margin": 2.0, "normalize": True}],
    "Lambda": [
        {"normalize": False, "truncation": None},
        {"normalize": False, "truncation": 2, "sigma": 2.0},
        {"measure": "AP", "normalize": False},
        {"measure": "RR", "normalize": False},
        {"measure": "ERR(max_label=3)", "normalize": False},
        {"measure": "P@3", "sigma": 0.5},
        {"measure": "ARP", "normalize": False, "truncation": None},
    ],
    "ListNet": [{"target": "exp2", "temperature": 3.0}, {"target": {0: 0, 1: 5, 2: 1}}],
    "ListMLE": [{"k": 1}, {"k": 3}, *naive_listwise.OTHERS["ListMLE"]],
    "ApproxNDCG": [{"alpha": 10.0}, {"gain": "linear", "alpha": 0.1}],
    "Square": [{"target": "exp2"}, {"target": {0: 0.5, 1: 3, 2: 1}}],
    "Softmax": [{"gamma": 0.3}, {"n_classes": 7}],
    "Cumulative": [{"n_classes": 7, "gain": "exp2"}],
    "QueryMean": [{"loss": "Fidelity"}, {"loss": "Square"}],
}


def variants():
    for name, cls in plackett.losses().items():
        yield cls()
        for parameters in OTHERS.get(name, []):
            yield cls(**parameters)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("loss", list(variants()), ids=str)
def test_battery(loss, check, rng):
    check(loss, rng)


def test_every_loss_is_written_out_a_second_time():
    assert set(plackett.losses()) <= set(NAIVE) | set(NAIVE_GRADIENT), "write the definition in checks_losses.NAIVE"


@pytest.fixture
def rng():
    return np.random.default_rng(0)
