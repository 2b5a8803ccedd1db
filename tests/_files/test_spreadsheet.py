"""Texts of strangers in tables that people open."""

from __future__ import annotations

import polars as pl
import pytest

import plackett as pk
from plackett._files.spreadsheet import harmless


@pytest.mark.parametrize("text", ['=HYPERLINK("http://x")', "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1"])
def test_formulas_become_text(text):
    table = harmless(pl.DataFrame({"qid": [text, "a"], text: [1.0, 2.0]}))
    assert table["qid"].to_list() == ["'" + text, "a"] and table.columns == ["qid", "'" + text]


@pytest.mark.parametrize("text", ["-1", "+2.5", "-.5e-3", "q-1", "a=b", "", "1-2"])
def test_other_texts_stay(text):
    assert harmless(pl.DataFrame({"qid": [text]}))["qid"].to_list() == [text]


def test_exports(tmp_path):
    data = pk.RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], qid=["=1+1", "=1+1"])
    result = pk.compare(data, {"=cmd": [1.0, 2.0], "b": [2.0, 1.0]}, ["AP"])
    assert "'=cmd" in result.to_csv() and "\n=" not in result.to_csv()
