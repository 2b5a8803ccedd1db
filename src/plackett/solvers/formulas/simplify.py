"""Shorter formulas of the same value."""

from __future__ import annotations

import numpy as np

from plackett.scorers.formulas.machine import evaluate
from plackett.scorers.formulas.operations import BY_NAME, OPERATIONS
from plackett.scorers.formulas.program import CONSTANT, Program

_ZERO, _ONE = Program.constant(0.0), Program.constant(1.0)
_ADD, _SUB, _MUL, _DIV, _MAX, _MIN = (BY_NAME[name] for name in ("+", "-", "*", "/", "max", "min"))
_LOG, _SQRT, _NEG, _ABS = (BY_NAME[name] for name in ("log", "sqrt", "neg", "abs"))


def simplify(program: Program) -> Program:
    """A formula of equal value for every document, with constant parts computed and parts without effect removed.

    Operations on constants are computed. x + 0, x − 0, x · 1 and x / 1 become x, as do max and min of x and x. x · 0
    and x − x become 0. x / x and x / 0 become 1 (as division is defined here). Signs inside abs, log and √ are
    dropped. Only rules that keep every bit of the result are used (up to the sign of 0), so x / y · y stays.

    >>> from plackett.solvers.formulas.text import from_text, to_text
    >>> to_text(simplify(from_text("x1 * (2 - 1) + (x2 - x2)", ["x1", "x2"])), ["x1", "x2"])
    'x1'
    """
    stack: list[Program] = []
    for code, constant in zip(reversed(program.code), reversed(program.constants), strict=True):
        if code >= CONSTANT:
            stack.append(Program((code,), (constant,)))
        else:
            number = -2 - code
            stack.append(_made(number, [stack.pop() for _ in range(OPERATIONS[number].arity)]))
    return stack[0]


def _made(number: int, arguments: list[Program]) -> Program:
    whole = Program.of(number, *arguments)
    if all(argument.code == (CONSTANT,) for argument in arguments):
        value = evaluate([whole], np.zeros((1, 1), np.float32))[0, 0]
        return Program.constant(float(value) + 0.0)  # no -0
    return (_two if len(arguments) == 2 else _one)(number, whole, *arguments)


def _two(number: int, whole: Program, a: Program, b: Program) -> Program:
    if a == b:
        same = {_SUB: _ZERO, _DIV: _ONE, _MAX: a, _MIN: a}
        if number in same:
            return same[number]
    if number in (_ADD, _SUB) and b == _ZERO:
        return a
    if number == _ADD and a == _ZERO:
        return b
    if number in (_MUL, _DIV) and b == _ONE:
        return a
    if number == _MUL and a == _ONE:
        return b
    if number == _MUL and _ZERO in (a, b):
        return _ZERO
    if number == _DIV and b == _ZERO:
        return _ONE
    return whole


def _one(number: int, whole: Program, a: Program) -> Program:
    inner = -2 - a.code[0]
    if number == _NEG and inner == _NEG:
        return a.part(1)
    if number in (_ABS, _LOG, _SQRT) and inner in (_NEG, _ABS):  # these depend on |a| only
        return _made(number, [a.part(1)])
    return whole
