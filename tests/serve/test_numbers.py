"""JSON numbers: what the kernel reads is what Python's parser reads."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest

from plackett.serve.http import RefusedError
from plackett.serve.numbers import decode


def plain(result, value):
    """The document as an ordinary parser has it."""
    if isinstance(value, dict):
        return {key: plain(result, v) for key, v in value.items()}
    if isinstance(value, list):
        return [plain(result, v) for v in value]
    array = result.array(value)
    if array is None:
        return value
    return np.where(np.isnan(array), None, array).tolist()


def padded(text: str) -> bytes:
    """A document long enough for the kernel to look at it."""
    return f'{{"x": {text}, "pad": "{"[1,2" * 200}"}}'.encode()


HARD = ["0.1", "-0.0", "1e22", "1e23", "123456789012345678", "9007199254740993.0", "2.2250738585072014e-308", "5e-324",
        "1.7976931348623157e308", "0.30000000000000004", "179769313486231580793e287", "1e-400", "6.62607015e-34",
        "0.000000000000000000000000000000123456789", "8.5", "12345678.87654321"]  # fmt: skip


@pytest.mark.parametrize("text", HARD)
def test_numbers_are_pythons(text):
    result = decode(padded(f"[{', '.join([text] * 40)}]"))
    value = plain(result, result.value)["x"]
    assert [float(v) for v in value] == [float(text)] * 40
    assert math.copysign(1, value[0]) == math.copysign(1, float(text))


def test_random_tables_are_pythons():
    rng = np.random.default_rng(1)
    for scale in (1e-30, 1.0, 1e30):
        X = (rng.normal(size=(37, 5)) * scale).astype(np.float32)
        result = decode(padded(json.dumps(X.tolist())))
        assert result.array(result.value["x"]).astype(np.float32).tobytes() == X.tobytes()
        result = decode(padded(json.dumps(X.astype(np.float64).tolist(), indent=1)))
        assert np.array_equal(result.array(result.value["x"]), X.astype(np.float64))


def test_null_is_missing_and_whole_numbers_stay_whole():
    ids = list(range(2**53 - 40, 2**53))
    result = decode(padded(f"[{json.dumps(ids)}, [{', '.join(['null'] * 40)}], 1]"))
    first, second, one = result.value["x"]
    assert result.plain(first) == ids and all(isinstance(v, int) for v in result.plain(first))
    assert np.isnan(result.array(second)).all() and one == 1


@pytest.mark.parametrize(
    "number", ["01", "+1", ".5", "1.", "1.e5", "1e", "NaN", "Infinity", "-", "--1", "nul", "0x1", "1_0", "1e+", "tru"]
)
@pytest.mark.parametrize("position", [0, 20, 39])
def test_bad_numbers_are_refused(number, position):
    values = ["1.5"] * 40
    values[position] = number
    for text in (f"[{','.join(values)}]", f"[[{','.join(values)}],[{','.join(values)}]]"):
        with pytest.raises(RefusedError, match="not JSON"):
            decode(padded(text))


def test_marks_in_strings_and_ragged_rows_are_left_alone():
    rows = [[1.0] * 40, [2.0] * 41]
    document = {"x": rows, "s": "[" + "1," * 50 + '1] \\" [', "deep": [[[0.5] * 40]]}
    result = decode(padded(json.dumps(document)))
    assert plain(result, result.value)["x"] == document


def test_random_damage_is_an_error_or_what_python_reads():
    """Python's parser takes NaN, Infinity and lone surrogates, which JSON does not have."""
    rng = random.Random(0)
    base = bytearray(padded(json.dumps({"a": [[0.25, -1e-3, None]] * 20, "b": list(range(50)), "c": "[1,2]"})))
    for _ in range(600):
        text = bytearray(base)
        for _ in range(rng.choice([1, 1, 2, 5])):
            position = rng.randrange(len(text))
            text[position : position + rng.choice([0, 1, 1, 3])] = rng.choices(
                b'[]{},:"\\-+.eE0123456789nul \t\n\xff\x00', k=rng.choice([0, 1, 1, 2])
            )
        try:
            expected = json.loads(bytes(text).decode(), parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError):
            with pytest.raises(RefusedError):
                decode(bytes(text))
            continue
        result = decode(bytes(text))
        assert plain(result, result.value) == expected


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("n", [2, 500])
def test_words_that_are_not_json_get_a_hint(word, n):
    body = "[" + "1.5, " * n + word + "]"
    with pytest.raises(RefusedError, match="not part of JSON: a missing value is null"):
        decode(body.encode())
    with pytest.raises(RefusedError) as told:
        decode(b'{"NaN": 1')
    assert "null" not in told.value.reason
