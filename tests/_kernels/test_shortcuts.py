"""Shortcuts through Numba's compiler: the same machine code, and nothing of them left behind."""

from __future__ import annotations

import re
from contextlib import nullcontext

import numba
import numpy as np
import pytest
from llvmlite.binding import ffi
from numba.core import errors, ir
from numba.core.postproc import PostProcessor
from numba.core.types.functions import BaseFunction

from plackett._kernels import compiler as _kernel_compiler
from plackett._kernels.shortcuts import shortcuts


def _busy(values, bins, out):
    scratch = np.empty(values.size, np.float64)
    top = 0
    for i in range(values.size):
        k = bins[i] % 3
        scratch[i] = max(values[i], np.float64(k)) if k != 1 else -values[i] / 2
        top = min(max(top, k), 7)
    i = 0
    while i < out.size and scratch[i] == scratch[i]:
        for j in range(i, -1, -1):
            out[i] += np.exp(scratch[j]) * (1 if bins[j] >= top else 0)
        i += 1
    return top, out[0]


def _machine_code() -> str:
    compiled = numba.njit(**_kernel_compiler.OUTER)(_busy)
    compiled(np.arange(4.0), np.arange(4), np.zeros(4))
    ((_, code),) = compiled.inspect_asm().items()
    # names have a number that grows with every compilation, in the names of constants too, whose lengths are given
    code = re.sub(r"_ZN\w+|v\d+|\d+-\d+", "name", code)
    return re.sub(r"(\.size\s.*, )\d+$", r"\1length", code, flags=re.MULTILINE)


def _state():
    return (
        BaseFunction.get_call_type,
        ir.Inst._rec_list_vars,
        PostProcessor.run,
        getattr(errors, "HighlightColorScheme", None) and errors.HighlightColorScheme._markup,
        list(ffi.lib._lock._cblist),
    )


def test_machine_code_is_the_same(monkeypatch):
    quick = _machine_code()
    monkeypatch.setattr(_kernel_compiler, "shortcuts", nullcontext)
    assert quick == _machine_code()
    assert quick.count("\n") > 100


def test_everything_is_as_it_was_afterwards():
    before = _state()
    with shortcuts():
        with shortcuts():
            assert all(now != then for now, then in zip(_state(), before, strict=True) if then)
        assert BaseFunction.get_call_type != before[0]
    assert _state() == before


def _wrong(text):
    return text + 1.0


def test_errors_name_the_types_and_leave_nothing_behind():
    before = _state()
    with pytest.raises(numba.TypingError, match=r"add\(unicode_type, float64\)"):
        numba.njit(**_kernel_compiler.OUTER)(_wrong)("a")
    assert _state() == before
