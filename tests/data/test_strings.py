"""Columns of strings as bytes and offsets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plackett.data.strings import Strings

# NumPy's fixed-width strings end at trailing NULs; ids and comments have none.
TEXT = st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12), max_size=20)


@given(TEXT)
def test_round_trip(values):
    column = Strings.from_values(values)
    assert column.to_numpy().tolist() == values
    assert [column[i] for i in range(len(values))] == [v.encode() for v in values]


@given(TEXT, st.data())
def test_take(values, data):
    rows = data.draw(st.lists(st.integers(0, max(len(values) - 1, 0)), max_size=30 if values else 0))
    taken = Strings.from_values(values).take(np.array(rows, np.int64))
    assert taken == Strings.from_values([values[r] for r in rows])


def test_integers_and_bytes():
    assert Strings.from_values([1, 22]).to_numpy().tolist() == ["1", "22"]
    column = Strings.from_values(np.array([b"a\xff", b"b"]))
    assert column[0] == b"a\xff"
    assert column.to_numpy().tolist() == ["a�", "b"]


def test_bounds_and_equality():
    column = Strings.from_values(["a", "b"])
    assert column[-1] == b"b"
    with pytest.raises(IndexError):
        column[2]
    assert column != Strings.from_values(["a", "c"])
    assert column != Strings.from_values(["ab", ""])
    assert (column == ["a", "b"]) is False
