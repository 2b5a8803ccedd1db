"""The generated tables of docs/theory.md are fresh."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.theory_tables import TABLES, filled

PAGE = Path(__file__).resolve().parents[2] / "docs" / "theory.md"


def test_tables_of_the_page_are_fresh():
    text = PAGE.read_text("utf-8")
    assert filled(text) == text, "run `make docs`"


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_rows_of_equal_length(name):
    lines = TABLES[name]().splitlines()
    assert len(lines) > 8 and len({line.count(" | ") for line in (lines[0], *lines[2:])}) == 1


def test_a_page_without_a_place_is_refused():
    with pytest.raises(ValueError, match="no place for the table 'bounds'"):
        filled("# Nothing")
