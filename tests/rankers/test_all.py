"""The battery on every ranker of the catalogue, and on the models under other losses."""

from __future__ import annotations

import inspect

import pytest

import plackett
from checks_rankers import CHECKS, small
from plackett.models.trees import Trees
from plackett.rankers.gradient_ranker import GradientRanker

MODELS = {
    "linear": "linear",
    "trees": Trees(n_estimators=8, num_leaves=5, min_child_samples=1),
}


def rankers():
    made = {name: (small, cls, {}) for name, cls in plackett.rankers().items()}
    made["GradientRanker(trees)"] = small, GradientRanker, {"loss": "Logistic", "model": MODELS["trees"]}
    made["GradientRanker(linear, Softmax)"] = small, GradientRanker, {"loss": "Softmax"}
    return made


RANKERS = rankers()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", RANKERS)
def test_ranker(name, check, tmp_path):
    make, cls, parameters = RANKERS[name]
    if _needs_torch(cls):
        pytest.importorskip("torch", reason="networks need the extra 'neural'")
    arguments = (tmp_path,) if "tmp_path" in inspect.signature(check).parameters else ()
    check(make(cls, **parameters), *arguments)


def _needs_torch(cls):
    return any(base.__module__ == "plackett.models.neural" for base in cls.__mro__)
