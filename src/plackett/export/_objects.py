"""Model files that are JSON or UBJSON, read with bounds: no file can fill the memory or run anything."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import open_regular

#: Larger files are not models.
_MOST_BYTES = 1 << 30
_NUMBERS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}


def read_object(path: Path) -> Fields:
    """The object in a file of JSON or UBJSON."""
    try:
        with open_regular(path) as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    if len(content) > _MOST_BYTES:
        raise DataError(f"{path}: larger than {_MOST_BYTES >> 20} MiB; this is not a model")
    try:
        if content[:1] == b"{" and content[1:2] in _KEYS:
            document = _Binary(content).read()
        else:
            document = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{path}: not a JSON file, as save_model writes it ({error})") from None
    except RecursionError:
        raise DataError(f"{path}: nested too deeply to be a model") from None
    except _DamagedError as error:
        raise DataError(f"{path}: a damaged UBJSON file ({error})") from None
    return Fields(document, str(path))


_KEYS = tuple(bytes([ord(letter)]) for letter in "iUIlL")


class _DamagedError(ValueError):
    """What is wrong with a binary file."""


class _Binary:
    """UBJSON as XGBoost writes it; arrays of one type become NumPy arrays that share the bytes of the file."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def read(self) -> Any:
        document = self._value(self._marker(), 0)
        if self.at != len(self.content):
            raise _DamagedError(f"{len(self.content) - self.at} bytes after the end")
        return document

    def _bytes(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.content):
            raise _DamagedError("it ends too early")
        self.at += size
        return self.content[self.at - size : self.at]

    def _marker(self) -> str:
        return self._bytes(1).decode("latin-1")

    def _number(self, marker: str) -> Any:
        if marker not in _NUMBERS:
            raise _DamagedError(f"no type {marker!r}")
        dtype = np.dtype(_NUMBERS[marker])
        return np.frombuffer(self._bytes(dtype.itemsize), dtype)[0].item()

    def _size(self) -> int:
        marker = self._marker()
        size = self._number(marker)
        if marker in "dD" or size < 0:
            raise _DamagedError("a size that is not a whole number")
        return int(size)

    def _text(self) -> str:
        return self._bytes(self._size()).decode("utf-8", "replace")

    def _value(self, marker: str, depth: int) -> Any:
        if depth > 100:
            raise _DamagedError("nested too deeply")
        if marker in _FIXED:
            return _FIXED[marker]
        if marker == "S":
            return self._text()
        if marker == "{":
            return self._members(depth)
        if marker == "[":
            return self._array(depth)
        return self._number(marker)

    def _members(self, depth: int) -> dict[str, Any]:
        members = {}
        while self._peek() != "}":
            name = self._text()
            members[name] = self._value(self._marker(), depth + 1)
        self.at += 1
        return members

    def _peek(self) -> str:
        if self.at >= len(self.content):
            raise _DamagedError("it ends too early")
        return chr(self.content[self.at])

    def _array(self, depth: int) -> Any:
        kind = ""
        if self._peek() == "$":
            self.at += 1
            kind = self._marker()
        if self._peek() == "#":
            self.at += 1
            size = self._size()
            if kind in _NUMBERS:
                dtype = np.dtype(_NUMBERS[kind])
                return np.frombuffer(self._bytes(size * dtype.itemsize), dtype)
            if kind or size > len(self.content):
                raise _DamagedError(f"an array of {size} entries of type {kind!r}")
            return [self._value(self._marker(), depth + 1) for _ in range(size)]
        if kind:
            raise _DamagedError("an array with a type and no size")
        entries = []
        while self._peek() != "]":
            entries.append(self._value(self._marker(), depth + 1))
        self.at += 1
        return entries


_FIXED = {"Z": None, "T": True, "F": False}


class Fields:
    """A value of a file together with its path in the file, which errors name."""

    def __init__(self, value: Any, location: str) -> None:
        self.value, self.location = value, location

    def fail(self, message: str) -> NoReturn:
        """Raise an error that names the location."""
        raise DataError(f"{self.location}: {message}")

    def __getitem__(self, name: str) -> Fields:
        if not isinstance(self.value, dict) or name not in self.value:
            self.fail(f"no {name!r}")
        return Fields(self.value[name], f"{self.location}/{name}")

    def __contains__(self, name: str) -> bool:
        return isinstance(self.value, dict) and name in self.value

    def items(self) -> list[Fields]:
        """The entries of a list."""
        if not isinstance(self.value, (list, np.ndarray)):
            self.fail("expected a list")
        return [Fields(value, f"{self.location}/{i}") for i, value in enumerate(self.value)]

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            self.fail(f"expected a string, found {str(self.value)[:40]!r}")
        return self.value

    def real(self) -> float:
        """A finite number, or a string that holds one."""
        value = self.value
        if isinstance(value, str):
            try:
                value = float(value.strip("[]"))
            except ValueError:
                self.fail(f"expected a number, found {value[:40]!r}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            self.fail(f"expected a number, found {str(value)[:40]!r}")
        return float(value)

    def whole(self, least: int = 0, most: int = 1 << 31) -> int:
        """A whole number between two bounds, or a string that holds one."""
        value = self.real()
        if value != int(value) or not least <= value <= most:
            self.fail(f"expected a whole number from {least} to {most}, found {value}")
        return int(value)

    def numbers(self, dtype: Any = np.float64, *, finite: bool = True) -> np.ndarray:
        """A list of numbers."""
        try:
            if isinstance(self.value, list) and any(isinstance(v, (str, list, dict)) for v in self.value):
                raise ValueError
            array = np.asarray(self.value, np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                converted = array.astype(dtype)
        except (ValueError, TypeError, OverflowError):
            self.fail("expected a list of numbers")
        if converted.ndim != 1 or (finite and not np.isfinite(array).all()) or np.isnan(array).any():
            self.fail("expected a list of finite numbers")
        if np.dtype(dtype).kind in "iu" and not np.array_equal(converted, array):
            self.fail("expected a list of whole numbers")
        return converted
