"""Formulas as text and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

from plackett._base.errors import DataError
from plackett.scorers.formulas.operations import BY_NAME, OPERATIONS
from plackett.scorers.formulas.program import CONSTANT, Program

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d][\w.]*)|`(?P<quoted>(?:[^`]|``)*)`|(?P<sign>[-+*/(),])|(?P<end>$)|(?P<wrong>.))",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^\W\d][\w.]*")
#: How tightly signs bind; they group from the left.
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
_ATOM = 3


def default_names(n_features: int) -> list[str]:
    """Names of features that have none: x1, x2, … by their numbers in LETOR files."""
    return [f"x{j + 1}" for j in range(n_features)]


def to_text(program: Program, names: Sequence[str]) -> str:
    """The formula in the usual notation, with as few brackets as possible.

    Names that are not plain words, or that are also functions, are put in backquotes.

    >>> to_text(Program((-4, -2, 0, -1, 1), (0.0, 0.0, 0.0, 2.5, 0.0)), ["tf", "body length"])
    '(tf + 2.5) * `body length`'
    """
    stack: list[tuple[str, int]] = []  # texts with the precedence of their root
    for code, constant in zip(reversed(program.code), reversed(program.constants), strict=True):
        if code >= 0:
            stack.append((_quoted(str(names[code])), _ATOM))
        elif code == CONSTANT:
            # a sign before a number must not read as a subtraction
            stack.append((repr(float(constant)).removesuffix(".0"), _ATOM if str(constant)[0] != "-" else 0))
        else:
            operation = OPERATIONS[-2 - code]
            arguments = [stack.pop() for _ in range(operation.arity)]
            level = _PRECEDENCE.get(operation.name)
            if level is None:
                inside = ", ".join(text for text, _ in arguments)
                stack.append((f"{operation.name}({inside})", _ATOM))
            else:
                left, right = (_bracketed(*arguments[0], level), _bracketed(*arguments[1], level + 1))
                stack.append((f"{left} {operation.name} {right}", level))
    return stack[0][0]


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name) and name not in BY_NAME:
        return name
    return "`" + name.replace("`", "``") + "`"


def _bracketed(text: str, level: int, least: int) -> str:
    return text if level >= least else f"({text})"


def from_text(text: str, names: Sequence[str]) -> Program:
    """Parse a formula from text; nothing is executed.

    Numbers, names of features, ``+ - * /``, brackets and the functions of `OPERATIONS`.

    >>> program = from_text("(tf + 2.5) * log(length)", ["tf", "length"])
    >>> to_text(program, ["tf", "length"])
    '(tf + 2.5) * log(length)'
    """
    reader = _Reader(text, {str(name): j for j, name in enumerate(names)})
    program = reader.sum(1)
    if reader.kind != "end":
        reader.fail("the end")
    program.check(len(names))
    return program


class _Reader:
    """A formula read from left to right, one token ahead."""

    def __init__(self, text: str, names: dict[str, int]) -> None:
        self.text, self.names, self.next_start, self.nested = text, names, 0, 0
        self.advance()

    def advance(self) -> None:
        match = _TOKEN.match(self.text, self.next_start)
        assert match is not None and match.lastgroup is not None  # the last two alternatives match anything
        self.kind, self.value, self.start = match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)
        self.next_start = match.end()

    def fail(self, wanted: str) -> NoReturn:
        got = repr(self.value) if self.value else "the end"
        raise DataError(f"formula {self.text!r}: expected {wanted} at character {self.start + 1}, found {got}")

    def take(self, sign: str) -> None:
        if self.kind != "sign" or self.value != sign:
            self.fail(repr(sign))
        self.advance()

    def sum(self, level: int) -> Program:
        """Operands that bind more tightly than a level, joined by its signs, grouped from the left."""
        left = self.operand(level)
        while self.kind == "sign" and _PRECEDENCE.get(self.value) == level:
            number = BY_NAME[self.value]
            self.advance()
            left = Program.of(number, left, self.operand(level))
        return left

    def operand(self, level: int) -> Program:
        return self.factor() if level + 1 == _ATOM else self.sum(level + 1)

    def factor(self) -> Program:
        self.nested += 1
        if self.nested > 100:
            raise DataError(f"formula {self.text[:40]!r}…: more than 100 nested brackets")
        tree = self._factor()
        self.nested -= 1
        return tree

    def _factor(self) -> Program:
        kind, value = self.kind, self.value
        if kind == "sign" and value == "(":
            self.advance()
            inside = self.sum(1)
            self.take(")")
            return inside
        if kind == "sign" and value == "-":
            self.advance()
            negated = self.factor()
            if negated.code == (CONSTANT,):
                return Program.constant(-negated.constants[0])
            return Program.of(BY_NAME["neg"], negated)
        if kind == "number":
            self.advance()
            return Program.constant(float(value))
        if kind not in ("name", "quoted"):
            self.fail("a number, a feature, a function or a bracket")
        name = value if kind == "name" else value.replace("``", "`")
        if kind == "name" and name in BY_NAME:
            return self.function(BY_NAME[name])
        if name not in self.names:
            self.fail(f"a feature (such as {', '.join(list(self.names)[:3])}) or a function")
        self.advance()
        return Program.feature(self.names[name])

    def function(self, number: int) -> Program:
        self.advance()
        self.take("(")
        arguments = [self.sum(1)]
        for _ in range(OPERATIONS[number].arity - 1):
            self.take(",")
            arguments.append(self.sum(1))
        self.take(")")
        return Program.of(number, *arguments)
