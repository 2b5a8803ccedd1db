"""Parameters of requests, declared by the signatures of the functions that answer them."""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from plackett.serve.http import RefusedError

#: Most characters of a text unless it has its own limit, and of each of several.
_ENTRY = 2_000


def _text(value: Any, text: bool) -> str | None:
    if not isinstance(value, str) or "\x00" in value:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    return value


def _texts(value: Any, text: bool) -> list[str] | None:
    given = [value] if text and isinstance(value, str) else value
    if not isinstance(given, list) or any(_text(entry, text) is None for entry in given):
        return None
    return given


def _number(value: Any, text: bool) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str) if text else (int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _whole(value: Any, text: bool) -> int | None:
    number = _number(value, text)
    return int(number) if number is not None and number.is_integer() else None


@dataclass(frozen=True)
class Kind:
    """A JSON type: how a value is read (with true from the query string), what errors call it, its schema."""

    read: Callable[[Any, bool], Any]
    expected: str
    schema: dict[str, Any]
    #: What the length of a value counts, and the word for its limit in the schema.
    unit: str = ""
    most: str = ""
    #: Whether values are numbers with limits.
    limited: bool = False


TEXT = Kind(_text, "text", {"type": "string"}, "characters", "maxLength")
TEXTS = Kind(
    _texts,
    "a list of texts",
    {"type": "array", "items": {"type": "string", "maxLength": _ENTRY}},
    "entries",
    "maxItems",
)
NUMBER = Kind(_number, "a number", {"type": "number"}, limited=True)
WHOLE = Kind(_whole, "a whole number", {"type": "integer"}, limited=True)


@dataclass(frozen=True)
class Param:
    """What a value may be: the JSON type, and limits on numbers and lengths."""

    kind: Kind
    low: float = -math.inf
    high: float = math.inf
    longest: int = _ENTRY
    #: Whether null is a value.
    optional: bool = False

    def read(self, value: Any, name: str, text: bool) -> Any:
        """A value from JSON, or with ``text`` from the query string."""
        if value is None and self.optional:
            return None
        parsed = self.kind.read(value, text)
        if parsed is None:
            raise RefusedError(422, f"{name} is {value!r:.60}; give {self.kind.expected}")
        if isinstance(parsed, (str, list)) and len(parsed) > self.longest:
            raise RefusedError(422, f"{name} has {len(parsed)} {self.kind.unit}; at most {self.longest} are accepted")
        if isinstance(parsed, list) and any(len(entry) > _ENTRY for entry in parsed):
            raise RefusedError(422, f"{name} has an entry of more than {_ENTRY} characters")
        if isinstance(parsed, (int, float)) and not self.low <= parsed <= self.high:
            raise RefusedError(422, f"{name} is {parsed}; give a number from {self.low:g} to {self.high:g}")
        return parsed

    def schema(self) -> dict[str, Any]:
        """The JSON schema."""
        schema: dict[str, Any] = dict(self.kind.schema)
        if self.kind.limited:
            schema |= {k: v for k, v in (("minimum", self.low), ("maximum", self.high)) if math.isfinite(v)}
        if self.kind.most:
            schema[self.kind.most] = self.longest
        if self.optional:
            schema["type"] = [schema["type"], "null"]
        return schema


Text = Annotated[str, Param(TEXT)]
Name = Annotated[str, Param(TEXT, longest=200)]
#: The content of a file that is imported.
Content = Annotated[str, Param(TEXT, longest=64_000_000)]
Names = Annotated[Sequence[str], Param(TEXTS, longest=1_000)]
Grade = Annotated[float | None, Param(NUMBER, 0, 100, optional=True)]
Note = Annotated[str | None, Param(TEXT, longest=5_000, optional=True)]


@dataclass(frozen=True)
class Action:
    """A path and a method, the function that answers, and its parameters."""

    method: str
    path: str
    function: Callable[..., Any]
    parameters: Mapping[str, tuple[Param, Any]] = field(default_factory=dict)

    def read(self, given: Mapping[str, Any], text: bool) -> dict[str, Any]:
        """The arguments of the function."""
        unknown = [name for name in given if name not in self.parameters]
        if unknown:
            known = ", ".join(self.parameters) or "none"
            raise RefusedError(422, f"unknown parameter {unknown[0]!r:.60}; {self.path} takes {known}")
        arguments = {}
        for name, (param, default) in self.parameters.items():
            if name in given:
                arguments[name] = param.read(given[name], name, text)
            elif default is inspect.Parameter.empty:
                raise RefusedError(422, f"{name} is missing")
        return arguments


def action(method: str, path: str) -> Callable[[Callable[..., Any]], Action]:
    """Make an `Action` from a function whose first argument is the workbench."""

    def made(function: Callable[..., Any]) -> Action:
        hints = typing.get_type_hints(function, include_extras=True)
        signature = list(inspect.signature(function).parameters.values())[1:]
        parameters = {one.name: (hints[one.name].__metadata__[0], one.default) for one in signature}
        return Action(method, path, function, parameters)

    return made
