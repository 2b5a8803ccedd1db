"""The battery on every ranker of the catalogue, and on the models under other losses."""

from __future__ import annotations

import inspect

import pytest

import plackett
from checks_rankers import CHECKS, easy_task, small
from plackett import PlackettWarning
from plackett.experiments.auto.ranker import AutoRanker
from plackett.models.trees import Trees
from plackett.rankers.blend import Blend
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.rankers.pairwise.hedge_ranker import HedgeRanker

MODELS = {
    "linear": "linear",
    "trees": Trees(n_estimators=8, num_leaves=5, min_child_samples=1),
}


def rankers():
    made = {name: (small, cls, {}) for name, cls in plackett.rankers().items()}
    for boosting in ("dart", "bagged", "forest"):
        made[f"LambdaMART({boosting})"] = small, plackett.LambdaMART, {"boosting": boosting, "n_estimators": 20}
    made["AllThreshold(hinge)"] = small, plackett.rankers()["AllThreshold"], {"penalty": "hinge"}
    made["RankCosine(linear)"] = small, plackett.rankers()["RankCosine"], {"transform": "linear"}
    made["GradientRanker(trees)"] = small, GradientRanker, {"loss": "Logistic", "model": MODELS["trees"]}
    made["GradientRanker(linear, Softmax)"] = small, GradientRanker, {"loss": "Softmax"}
    # an order alone does not show that the weights of a few votes changed a little; degrees do
    made["HedgeRanker"] = small, HedgeRanker, {"order": "degree"}
    # trees bin features by counting rows, so that they do not take weights for copies exactly
    made["Blend"] = small, Blend, {"members": ("ListNet", "LinearRegression")}
    made["AutoRanker"] = small, AutoRanker, AUTO
    return made


#: A search over two small rankers, one of which takes missing values.
AUTO = {
    "candidates": ("ListNet", "MART(n_estimators=8, num_leaves=5, min_child_samples=1)"),
    "n_trials": 2,
    "n_folds": 2,
    "n_repeats": 1,
}
RANKERS = rankers()
#: An interrupt ends a member of a blend, not a round of it: tests/rankers/test_blend.py has it. Copies of a query are
#: one query in the folds of AutoRanker, and weights are not: tests/experiments/auto/test_ranker.py has both.
ELSEWHERE = {("Blend", "check_interrupt"), ("AutoRanker", "check_interrupt"), ("AutoRanker", "check_query_weight")}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", RANKERS)
def test_ranker(name, check, tmp_path):
    make, cls, parameters = RANKERS[name]
    if (name, check.__name__) in ELSEWHERE:
        pytest.skip("tested elsewhere")
    if _needs_torch(cls):
        pytest.importorskip("torch", reason="networks need the extra 'neural'")
    arguments = (tmp_path,) if "tmp_path" in inspect.signature(check).parameters else ()
    check(make(cls, **parameters), *arguments)


def _needs_torch(cls):
    return any(base.__module__ == "plackett.models.neural" for base in cls.__mro__) or "device" in cls().get_params()


def test_list_aware_rankers_warn_without_ids():
    pytest.importorskip("torch", reason="networks need the extra 'neural'")
    from plackett.models.neural import Neural

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
