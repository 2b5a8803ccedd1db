"""Decimal text to numbers and back, against Python's `float` and NumPy's shortest text."""

from __future__ import annotations

import struct
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plackett.data.letor.float_text import LONGEST, put_number
from plackett.data.letor.floats import BAD, INFINITE, LONG, MISSING, OK, PYTHON, read_number


def read(text: str) -> tuple[int, float, int]:
    buffer = np.frombuffer(text.encode() + b" " + bytes(32), np.uint8)
    return read_number(buffer, 0)


def check(text: str) -> int:
    """The kernel gives Python's number or leaves it to Python; it never gives another one."""
    result, value, end = read(text)
    assert end == len(text)
    assert result in (OK, PYTHON)
    if result == OK:
        assert struct.pack("d", value) == struct.pack("d", float(text)), text
    return result


@pytest.mark.parametrize(
    "text",
    ["0", "-0", "+3", ".5", "5.", "1E5", "1e-5", "00012.500", "1e22", "1e23", "9007199254740993", "-1.5e+3", "0e99999"],
)
def test_forms(text):
    assert check(text) == OK


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1e-400", "5e-324", "2.2250738585072011e-308"])
def test_left_to_python(text):
    assert check(text) == PYTHON


@pytest.mark.parametrize(
    ("text", "result"),
    [
        *((word, MISSING) for word in ("nan", "NaN", "-nan", "NULL", "null")),
        *((word, INFINITE) for word in ("inf", "-Inf", "+INFINITY")),
        *((word, BAD) for word in ("", ".", "-", "+", "abc", "e5", "1e", "1e+", "--1", "nul")),
        ("1" * 5000, LONG),
    ],
)
def test_no_numbers(text, result):
    assert read(text)[0] == result


@pytest.mark.parametrize(("text", "end"), [("1_000", 1), ("0x10", 1), ("1.2.3", 3), ("1d5", 1)])
def test_number_ends_before(text, end):
    assert read(text)[::2] == (OK, end)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["r", ".16g", ".6f", ".17e", ".25g"]))
def test_like_python(value, form):
    check(repr(value) if form == "r" else format(value, form))


@given(st.integers(0, 10**25), st.integers(0, 10**25), st.integers(-360, 330))
@example(0, 0, -360)
def test_many_digits(whole, behind, exponent):
    check(f"{whole}.{behind}e{exponent}")


@given(st.integers(2**52, 2**53 - 1), st.integers(-300, 200), st.sampled_from([-1, 0, 1]))
def test_halfway(mantissa, exponent, off):
    """Exactly between two doubles, and a little to either side of it."""
    with localcontext(prec=1000):
        value = (2 * mantissa + 1) * Decimal(2) ** exponent  # exact: at most 400 digits
        check(str(value + off * value * Decimal("1e-600")).replace("E", "e"))


def test_most_numbers_need_no_python():
    rng = np.random.default_rng(0)
    values = rng.normal(size=3000) * 10.0 ** rng.integers(-30, 30, 3000)
    assert all(check(repr(float(value))) == OK for value in values)


def text_of(value: np.float32) -> str:
    out = np.zeros(LONGEST, np.uint8)
    end = put_number(out, 0, value)
    assert end <= LONGEST
    return out[:end].tobytes().decode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "-0"),
        (3, "3"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (1e-7, "1e-7"),
        (1.5e30, "1.5e30"),
        (65535, "65535"),
    ],
)
def test_text(value, text):
    assert text_of(np.float32(value)) == text


def test_missing_text():
    assert text_of(np.float32("nan")) == "NULL"


@given(st.integers(0, 2**32 - 1))
@example(1)  # the smallest number
@example(0x007FFFFF)  # the largest subnormal
@example(0x7F7FFFFF)  # the largest number
@example(0x4B800001)  # 2^24 + 2
def test_text_reads_back(bits):
    value = np.uint32(bits).view(np.float32)
    if not np.isfinite(value):
        return
    text = text_of(value)
    assert np.float32(float(text)).tobytes() == value.tobytes(), text


def test_text_is_short():
    """As many significant digits as NumPy's shortest text; one more at powers of two, whose neighbours are uneven."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2**31, 4000, dtype=np.uint32).view(np.float32)
    values = values[np.isfinite(values) & ((values < 1e9) | (values > 1.1e9))]
    for value in np.concatenate([values, np.round(rng.gamma(1, 10, 2000), 6).astype(np.float32)]):
        if value == np.floor(value) and value < 1e9:
            continue

        def digits(text: str) -> int:
            return len(text.split("e")[0].replace(".", "").strip("0"))

        assert digits(text_of(value)) <= digits(np.format_float_scientific(value, unique=True)), value
