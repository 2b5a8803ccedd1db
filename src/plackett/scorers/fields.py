"""How the fields of scorers are stored: declared once, written and read by the declaration, checked when read.

A field of a scorer is a field of a dataclass with one of these functions in place of a default::

    weights: np.ndarray = array("features outputs")
    intercept: np.ndarray = array("outputs")

Words are dimensions. The same word has the same size in all fields of a scorer, ``grades-1`` is one less than
``grades``, and a number is a fixed size.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError

#: How an error about a file begins.
DAMAGED = "the {kind} model is damaged"
#: A dimension: a word with a number to add or to subtract, or a number.
_DIMENSION = re.compile(r"(?P<word>[a-z]+)(?P<more>[+-]\d+)?|(?P<size>\d+)")
Arrays = dict[str, np.ndarray]
Sizes = dict[str, int]


@dataclass(frozen=True, kw_only=True)
class StoredField:
    """How one field is stored."""

    #: The dimensions of an array, as words.
    dimensions: tuple[str, ...] = ()
    optional: bool = False

    def write(self, name: str, value: Any) -> Arrays:
        """The value as named arrays."""
        raise NotImplementedError

    def read(self, name: str, arrays: Arrays, sizes: Sizes) -> Any:
        """The value from named arrays; refused with a `DataError`."""
        raise NotImplementedError

    def is_absent(self, name: str, arrays: Arrays) -> bool:
        """Whether nothing was stored."""
        return name not in arrays

    @staticmethod
    def of(field: dataclasses.Field[Any]) -> StoredField | None:
        """The declaration of a field of a dataclass; None for one that is not stored."""
        return field.metadata.get("stored")

    @staticmethod
    def write_all(value: Any) -> Arrays:
        """All declared fields as named arrays."""
        arrays: Arrays = {}
        for field in dataclasses.fields(value):
            stored, entry = StoredField.of(field), getattr(value, field.name)
            if stored is not None and not (stored.optional and entry is None):
                arrays |= stored.write(field.name, entry)
        return arrays

    @staticmethod
    def read_all(cls: type[Any], arrays: Arrays, kind: str) -> dict[str, Any]:
        """The values of all declared fields."""
        values: dict[str, Any] = {}
        sizes: Sizes = {}
        for field in dataclasses.fields(cls):
            stored = StoredField.of(field)
            if stored is None:
                continue
            if stored.is_absent(field.name, arrays):
                if not stored.optional:
                    raise DataError(f"{DAMAGED.format(kind=kind)}: it has no {field.name!r}")
                values[field.name] = None
                continue
            try:
                values[field.name] = stored.read(field.name, arrays, sizes)
            except _BadFieldError as error:
                raise DataError(f"{DAMAGED.format(kind=kind)}: {error}") from None
        return values


def declared(stored: StoredField) -> Any:
    """The field of a dataclass that is stored so."""
    default: Any = {"default": None} if stored.optional else {}
    return dataclasses.field(metadata={"stored": stored}, **default)


class _BadFieldError(ValueError):
    """What is wrong with a field; the reader says of what."""


class Stored:
    """What is stored as plain arrays, by its declared fields. Loading it never runs code from the file."""

    kind: ClassVar[str]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The object as named arrays."""
        return StoredField.write_all(self)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """The object that `to_arrays` wrote: every declared field has its type and shape, and finite entries."""
        me = cls(**StoredField.read_all(cls, arrays, cls.kind))
        me.check()
        return me

    def check(self) -> None:
        """Refuse fields of a file that fit their declarations and still make no sense together."""

    def check_that(self, sound: bool | np.bool_, what: str) -> None:
        """Refuse the file unless something is so; ``what`` is wrong otherwise."""
        if not sound:
            raise DataError(f"{DAMAGED.format(kind=self.kind)}: {what}")


@dataclass(frozen=True, kw_only=True)
class _Array(StoredField):
    dtype: np.dtype[Any]
    finite: bool
    least: float | None
    positive: bool

    def write(self, name: str, value: Any) -> Arrays:
        return {name: np.asarray(value, self.dtype)}

    def read(self, name: str, arrays: Arrays, sizes: Sizes) -> np.ndarray:
        value = np.array(arrays[name])
        if value.dtype != self.dtype:
            raise _BadFieldError(f"array {name!r} is {value.dtype}, expected {self.dtype}")
        if value.ndim != len(self.dimensions):
            raise _BadFieldError(f"array {name!r} has shape {value.shape}, expected {self._shape()}")
        for size, dimension in zip(value.shape, self.dimensions, strict=True):
            if not _fits(size, dimension, sizes):
                known = ", ".join(f"{word} {number}" for word, number in sizes.items())
                raise _BadFieldError(f"array {name!r} has shape {value.shape}, expected {self._shape()} of {known}")
        if self.finite and not np.isfinite(value).all():
            raise _BadFieldError(f"array {name!r} has an entry that is not finite")
        if self.least is not None and not (value >= self.least).all():
            raise _BadFieldError(f"array {name!r} has an entry below {self.least:g}")
        if self.positive and not (value > 0).all():
            raise _BadFieldError(f"array {name!r} has an entry that is not positive")
        return value

    def _shape(self) -> str:
        return f"({', '.join(self.dimensions)})"


def _fits(size: int, dimension: str, sizes: Sizes) -> bool:
    """Whether a dimension has this size; the first to name a word decides on its size."""
    match = _DIMENSION.fullmatch(dimension)
    assert match is not None, dimension
    if match["size"]:
        return size == int(match["size"])
    return sizes.setdefault(match["word"], size - int(match["more"] or 0)) == size - int(match["more"] or 0)


def array(
    shape: str,
    dtype: Any = np.float64,
    *,
    finite: bool = True,
    least: float | None = None,
    positive: bool = False,
    optional: bool = False,
) -> Any:
    """An array of this shape and exact type.

    Parameters
    ----------
    finite
        Whether all entries must be finite numbers.
    least, positive
        The smallest entry that is possible; whether 0 is not.
    optional
        Whether the field may be None, and is not stored then.
    """
    stored = _Array(
        dimensions=tuple(shape.split()),
        dtype=np.dtype(dtype),
        finite=finite,
        least=least,
        positive=positive,
        optional=optional,
    )
    return declared(stored)


@dataclass(frozen=True)
class _Number(StoredField):
    python: type[Any]
    least: float
    most: float

    _DTYPES: ClassVar[dict[type[Any], Any]] = {bool: np.bool_, int: np.int64, float: np.float64}

    def write(self, name: str, value: Any) -> Arrays:
        return {name: np.array([value], self._DTYPES[self.python])}

    def read(self, name: str, arrays: Arrays, sizes: Sizes) -> Any:
        value = np.array(arrays[name])
        if value.dtype != self._DTYPES[self.python] or value.shape != (1,):
            raise _BadFieldError(f"array {name!r} is {value.dtype} of shape {value.shape}, expected one number")
        if not self.least <= value[0] <= self.most:
            raise _BadFieldError(f"array {name!r} is {value[0]}, expected {self.least:g} to {self.most:g}")
        return self.python(value[0])


def number(python: type[Any] = int, *, least: float = 0, most: float = np.iinfo(np.int64).max) -> Any:
    """A whole number, a real one or a truth value within bounds."""
    return declared(_Number(python, least, most))


@dataclass(frozen=True)
class _Text(StoredField):
    choices: Callable[[], Any]

    def write(self, name: str, value: Any) -> Arrays:
        return {name: np.frombuffer(value.encode(), np.uint8)}

    def read(self, name: str, arrays: Arrays, sizes: Sizes) -> str:
        value = arrays[name].tobytes().decode(errors="replace")
        if value not in self.choices():
            raise _BadFieldError(f"{name} is {value!r:.50}, expected one of {', '.join(self.choices())}")
        return value


def choice(choices: Callable[[], Any]) -> Any:
    """One word of those that the function returns."""
    return declared(_Text(choices))


@dataclass(frozen=True)
class _Plain(StoredField):
    check: Callable[[Any], bool]

    def write(self, name: str, value: Any) -> Arrays:
        from plackett.scorers.plain_values import to_plain

        text = json.dumps(to_plain(value, name), ensure_ascii=False)
        return {name: np.frombuffer(text.encode(), np.uint8)}

    def read(self, name: str, arrays: Arrays, sizes: Sizes) -> Any:
        from plackett.scorers.plain_values import from_plain

        value = from_plain(json.loads(arrays[name].tobytes()))
        if not self.check(value):
            raise _BadFieldError(f"{name} is a {type(value).__name__} that makes no sense there")
        return value


def plain(check: Callable[[Any], bool]) -> Any:
    """A value that the parameters of rankers may have (see `plackett.scorers.plain_values`) and that passes a check."""
    return declared(_Plain(check))


@dataclass(frozen=True)
class _Inner(StoredField):
    """A part with arrays of its own, under the name of the field and a dot; its kind is stored too if it varies."""

    load: Callable[[str], Any]

    def write(self, name: str, value: Any) -> Arrays:
        kind = np.frombuffer(value.kind.encode(), np.uint8)
        return {f"{name}.kind": kind} | {f"{name}.{key}": entry for key, entry in value.to_arrays().items()}

    def read(self, name: str, arrays: Arrays, sizes: Sizes) -> Any:
        return self.load(_kind(arrays[f"{name}.kind"])).from_arrays(part_of(arrays, name))

    def is_absent(self, name: str, arrays: Arrays) -> bool:
        return f"{name}.kind" not in arrays


def _kind(array: np.ndarray) -> str:
    return array.tobytes().decode(errors="replace")


def part_of(arrays: Arrays, name: str) -> Arrays:
    """The arrays of the part of this name, with the names that they have there."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): entry for key, entry in arrays.items() if key.startswith(prefix)}


def inner(load: Callable[[str], Any] | None = None, *, optional: bool = False) -> Any:
    """A scorer inside, or another object with a ``kind`` and arrays, whose class ``load`` finds by its kind."""
    stored = _Inner(scorer_class if load is None else load, optional=optional)
    return declared(stored)


@dataclass(frozen=True)
class _Several(StoredField):
    """Scorers in order, that of number i under the name of the field, i and a dot."""

    def write(self, name: str, value: Any) -> Arrays:
        arrays = {name: np.array([len(value)])}
        for i, scorer in enumerate(value):
            arrays |= _Inner(scorer_class).write(f"{name}.{i}", scorer)
        return arrays

    def read(self, name: str, arrays: Arrays, sizes: Sizes) -> Any:
        count = np.array(arrays[name])
        if count.shape != (1,) or count.dtype.kind != "i" or not 0 < count[0] <= len(arrays):  # each has arrays
            raise _BadFieldError(f"{name}: {count.tolist()} scorers in {len(arrays)} arrays")
        parts: dict[str, Arrays] = {str(i): {} for i in range(int(count[0]))}
        for key, entry in part_of(arrays, name).items():  # all parts in one pass: there may be thousands
            number, _, rest = key.partition(".")
            if number in parts:
                parts[number][rest] = entry
        if any("kind" not in part for part in parts.values()):
            raise _BadFieldError(f"{name}: one of {count[0]} scorers is missing")
        scorers = tuple(scorer_class(_kind(part["kind"])).from_arrays(part) for part in parts.values())
        sizes["stages"] = len(scorers)
        return scorers


def several() -> Any:
    """Scorers in order; their number is the dimension ``stages``."""
    return declared(_Several())


def scorer_class(kind: str) -> Any:
    """The class of scorers of this kind, in the module or package `plackett.scorers` has under this name.

    >>> scorer_class("linear").__name__, scorer_class("trees").__name__
    ('LinearScorer', 'TreeScorer')
    """
    return _class(f"plackett.scorers.{kind}", kind)


def comparator_class(kind: str) -> Any:
    """The class of comparators of this kind, in the module of this name."""
    return _class(f"plackett.scorers.comparators.{kind}", kind)


def _class(module: str, kind: str) -> Any:
    if re.fullmatch(r"[a-z][a-z_]*", kind):
        spec = find_spec(module)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = find_spec(f"{module}.scorer")
        if spec is not None:
            for value in vars(import_module(spec.name)).values():
                if isinstance(value, type) and value.__module__ == spec.name and getattr(value, "kind", "") == kind:
                    return value
    raise DataError(f"a scorer of the kind {kind!r:.50} is not known to this version of plackett")
