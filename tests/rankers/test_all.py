"""The battery on every ranker of the catalogue, and on the models under other losses."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

import plackett
from plackett import PlackettWarning
from plackett.models.trees.model import Trees
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.testing import parametrize_with_checks
from plackett.testing.rankers import easy_task, small, variants

MODELS = {
    "linear": "linear",
    "trees": Trees(n_estimators=8, num_leaves=5, min_child_samples=1),
}


def subjects():
    for cls in plackett.rankers().values():
        if find_spec("torch") or not _needs_torch(cls):
            yield from variants(cls)
    yield small(GradientRanker, loss="Logistic", model=MODELS["trees"])
    yield small(GradientRanker, loss="Softmax")


def _needs_torch(cls):
    return (
        any(base.__module__ == "plackett.models.networks.neural" for base in cls.__mro__)
        or "device" in cls().get_params()
    )


@parametrize_with_checks(subjects())
def test_ranker(check):
    check()


def test_list_aware_rankers_warn_without_ids():
    pytest.importorskip("torch", reason="networks need the extra 'neural'")
    from plackett.models.networks.neural import Neural

    X, y, qid = easy_task(n_queries=6)
    network = Neural(architecture="attention", hidden=(8,), n_heads=2, n_layers=1, max_epochs=2, device="cpu", n_jobs=1)
    ranker = GradientRanker(loss="ListNet", model=network).fit(X, y, qid=qid)
    ranker.predict(X, qid=qid)
    with pytest.warns(PlackettWarning, match="looks at whole lists"):
        ranker.predict(X)


@pytest.mark.parametrize(("parameters", "match"), [({"loss": "Logitsic"}, "Logistic"), ({"model": "tree"}, "Trees")])
def test_unknown_names_are_listed(parameters, match):
    X, y, qid = easy_task(n_queries=3)
    with pytest.raises(ValueError, match=match):
        GradientRanker(**parameters).fit(X, y, qid=qid)
