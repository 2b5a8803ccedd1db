"""The result of a study, and finding studies by name."""

from __future__ import annotations

import json

import polars as pl
import pytest

from studies.base import Study, find_study, studies


def test_result_is_drawn_in_every_format():
    study = Study(pl.DataFrame({"name": ["a", "b"], "value": [0.5, None], "n": [1, 2]}), "Why?", ("So.",))
    markdown = study.to_markdown().splitlines()
    assert markdown[0] == "**Why?**" and markdown[-1] == "So."
    assert "0.5000" in markdown[4] and "–" in markdown[5]
    assert json.loads(study.to_json())["rows"] == study.frame.to_dicts()
    assert study.to_csv().splitlines()[0] == "name,value,n"


def test_every_study_is_found_and_asks_a_question():
    result = studies()
    assert {"listnet-curve", "linear-weights", "isorank-and-qbrank", "top-k-loss"} <= set(result)
    for name, function in result.items():
        assert find_study(name.upper().replace("-", "_")) is function
        assert function.__doc__.strip().splitlines()[0].endswith("?")


def test_unknown_study_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean listnet-curve"):
        find_study("listnet-curv")


def test_every_study_has_a_page():
    from pathlib import Path

    docs = Path(__file__).resolve().parents[2] / "docs"
    index = (docs / "studies.md").read_text("utf-8")
    for name in studies():
        assert (docs / "studies" / f"{name}.md").exists()
        assert f"studies/{name}.md" in index
