"""The study of learning and comparing on live traffic."""

from __future__ import annotations

import pytest

from plackett._errors import DataError
from plackett.studies.online import online


@pytest.mark.spec("online.interleave")
def test_both_tables_are_there():
    study = online(users=["perfect"], n_interactions=400, runs=2, pairs=2, pages=60)
    assert study.frame.height == 5 and set(study.frame["users"]) == {"perfect"}
    assert study.frame["offline"].is_between(0, 1).all()
    comparisons = study.parts[0].frame
    assert comparisons["comparison"].to_list() == ["team-draft", "balanced", "probabilistic", "optimised", "A/B"]
    assert comparisons["agreement"].is_between(0, 1).all()
    with pytest.raises(DataError, match="runs=1"):
        online(runs=1)
