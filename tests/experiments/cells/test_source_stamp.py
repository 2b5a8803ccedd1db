from __future__ import annotations

import pytest

from plackett.experiments.cells import source_stamp as stamps
from plackett.experiments.cells.key import _modules
from plackett.experiments.cells.source_stamp import modules_behind, source_stamp
from plackett.measures import AP
from plackett.rankers import GradientRanker, LambdaMART


def test_what_stands_behind_a_ranker():
    """Its loss, its model, the measure; not the other rankers, nor the lists of everything."""
    result = modules_behind(_modules(LambdaMART(), AP))
    for name in ("losses.pairwise.lambdas", "models.trees.model", "measures.ap", "measures.swaps", "rankers.base",
                 "_kernels.kernel",
                 "experiments.cells.run", "experiments.search.random", "data.canonical"):  # fmt: skip
        assert f"plackett.{name}" in result
    for name in ("rankers.listwise.listnet", "_names.catalogue", "cli.app"):
        assert f"plackett.{name}" not in result
    assert "plackett.losses.listwise.listmle" in modules_behind(_modules(GradientRanker(loss="ListMLE"), AP))
    assert modules_behind(["numpy", "__main__"]) == set()


@pytest.mark.parametrize(
    ("edited", "changes"),
    [
        ("plackett.losses.pairwise.lambdas", True),
        ("plackett._kernels.kernel", True),
        ("plackett.cli.compare_runs", False),
    ],
)
def test_an_edit_changes_the_stamp(edited, changes, monkeypatch):
    modules = _modules(LambdaMART(), AP)
    before = source_stamp(modules)
    original = stamps._text
    monkeypatch.setattr(stamps, "_text", lambda name: original(name) + (b"# edited" if name == edited else b""))
    assert (source_stamp(modules) != before) is changes
    monkeypatch.undo()
    assert source_stamp(modules) == before
