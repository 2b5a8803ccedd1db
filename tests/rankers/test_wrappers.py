"""The battery on rankers around trees: a part of it always, all of it in the long tests."""

from __future__ import annotations

import pytest

import plackett as pk
from plackett.rankers.wrapper import Wrapper
from plackett.testing.rankers import ranker_checks, small

PARAMETERS = {"num_leaves": 5, "min_child_samples": 1, "n_jobs": 1, "lightgbm_params": {"min_data_in_bin": 1}}
#: What a wrapper can get wrong whatever its base ranker is.
ALWAYS = {"learns", "order_of_input", "copies"}
#: Those that train a ranker for every list or neighbourhood: a second or more for each of these checks.
SLOW = {"KernelFeatures", "KNNOnline", "KNNOffline1", "KNNOffline2"}
# the relational ranking SVM is a support vector machine itself
WRAPPERS = sorted(
    name for name, cls in pk.rankers().items() if issubclass(cls, Wrapper) and name != "RelationalRankSVM"
)


def trees(name):
    if name == "AffineRegression":
        return pk.MART(n_estimators=5, learning_rate=0.4, **PARAMETERS)
    if name == "PreferencePropagation":
        return pk.GradientRanker(model=pk.Trees(n_estimators=5, learning_rate=0.4, **PARAMETERS))
    return pk.LambdaMART(n_estimators=5, **PARAMETERS)


def checks(name):
    return {check.name: check for check in ranker_checks(small(pk.rankers()[name], base=trees(name)))}


@pytest.mark.parametrize("name", [name for name in WRAPPERS if name not in SLOW])
def test_around_trees(name):
    for rule, check in checks(name).items():
        if rule in ALWAYS:
            check()


@pytest.mark.full
@pytest.mark.parametrize("name", WRAPPERS)
def test_around_trees_in_full(name):
    for check in checks(name).values():
        check()


@pytest.mark.parametrize("name", ["KNNOffline2", "SimilarityPropagation", "PooledTransfer"])
def test_info_shows_what_was_noted(name, tmp_path):
    from typer.testing import CliRunner

    from plackett.cli.app import app
    from plackett.testing.rankers import easy_task

    X, y, qid = easy_task(n_queries=8)
    small(pk.rankers()[name])().fit(X, y, qid=qid).save(tmp_path / "model.plackett")
    shown = CliRunner().invoke(app, ["info", str(tmp_path / "model.plackett")])
    assert shown.exit_code == 0
    assert any(word in shown.output for word in ("share of the global one", "labelled", "sources"))
