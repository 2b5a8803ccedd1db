"""How many rows a text has: by NumPy, by words of eight bytes, and line by line."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.data.letor import count


@pytest.mark.parametrize("small", [9, 1 << 20])
def test_rows_are_counted_as_by_a_plain_loop(monkeypatch, small):
    monkeypatch.setattr(count, "_SMALL", small)
    rng = np.random.default_rng(0)
    for _ in range(300):
        lines = [bytes(rng.choice(list(b"1 #a\t\r%"), rng.integers(0, 9)).tolist()) for _ in range(rng.integers(0, 40))]
        if rng.random() < 0.5:  # nothing but rows
            lines = [b"1" + line for line in lines]
        text = b"".join(line + b"\n" for line in lines)
        before = b"\n" * int(rng.integers(0, 9))
        buffer = np.frombuffer(before + text + bytes(32), np.uint8)
        expected = sum(not line.strip(b" \t\r").startswith(b"#") and line.strip(b" \t\r") != b"" for line in lines)
        assert count.count_rows(buffer, len(before), len(before) + len(text)) == expected


def test_no_lines_before_others_are_no_rows():
    assert count.count_rows(np.frombuffer(b"1\n1\n" + bytes(32), np.uint8), 0, 0) == 0
