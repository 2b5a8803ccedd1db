"""The study of learning and comparing on live traffic."""

from __future__ import annotations

import pytest

from plackett._base.errors import DataError
from plackett.online.interleaving.interleave import METHODS
from studies.online import online


def test_both_tables_are_there():
    study = online(
        users=["perfect"],
        folds=2,
        learners=["PDGD", "DBGD"],
        n_interactions=800,
        runs=2,
        rankers=4,
        queries=15,
        pages=1000,
    )
    assert study.frame["learner"].to_list() == ["PDGD", "DBGD"] and set(study.frame["users"]) == {"perfect"}
    pdgd, dbgd = study.frame.iter_rows(named=True)
    assert pdgd["online"] > dbgd["online"] and pdgd["folds behind"] == "0 of 2"
    comparisons = study.parts[0].frame
    assert comparisons["comparison"].to_list() == [*METHODS, "A/B, clicks", "A/B, first click"]
    assert comparisons["agreement, 1,000 pages"][:4].min() > 0.5
    of_ab = dict(zip(comparisons["comparison"], comparisons["of A/B"], strict=True))
    assert of_ab["A/B, first click"] == 1 and of_ab["team-draft"] < 0.5
    assert study.to_svg().startswith("<svg")
    with pytest.raises(DataError, match="runs=1"):
        online(runs=1)
    with pytest.raises(DataError, match="learner 'x'"):
        online(learners=["x"])
