"""Shared by the readers of other tools' text models: numbered lines, and errors that name them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import open_regular

#: Larger files are not models of any tool, and would fill the memory.
_MOST_BYTES = 1 << 30
#: A feature number beyond this is a damaged file: no table has that many columns.
_MOST_FEATURES = 10_000_000


@dataclass(frozen=True)
class ModelText:
    """The text of a model file, and the current position in it."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ModelText:
        """The text of a file."""
        path = Path(path)
        try:
            with open_regular(path) as file:
                content = file.read(_MOST_BYTES + 1)
            if len(content) > _MOST_BYTES:
                raise DataError(f"{path}: larger than {_MOST_BYTES >> 20} MiB; this is not a model")
            return cls(path, content.decode("utf-8"))
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise DataError(f"{path}: not a text file") from None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Number and content of each line that is not blank."""
        for number, line in enumerate(self.text.splitlines(), 1):
            if line.strip():
                yield number, line.strip()

    def width(self, largest: int, n_features: int | None) -> int:
        """Number of features, of which the model uses those up to the largest: the number given, or its own."""
        if n_features is not None and n_features < largest:
            raise DataError(f"{self.path}: the model uses feature {largest}, and n_features={n_features}")
        return max(largest, 1) if n_features is None else n_features

    def fail(self, number: int, message: str) -> NoReturn:
        """Raise an error that names the line."""
        raise DataError(f"{self.path}:{number}: {message}")

    def real(self, word: str, number: int, what: str) -> float:
        """A finite number."""
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in word:
            self.fail(number, f"expected {what}, found {word[:40]!r}")
        return value

    def whole(self, word: str, number: int, what: str, least: int = 0, most: int = _MOST_FEATURES) -> int:
        """A whole number between two bounds."""
        if not (word.isascii() and word.isdigit()) or len(word) > 12 or not least <= int(word) <= most:
            self.fail(number, f"expected {what} (a whole number from {least} to {most}), found {word[:40]!r}")
        return int(word)

    def pairs(self, tokens: list[str], number: int, least: int = 1) -> list[tuple[int, float]]:
        """Words ``feature:weight``."""
        weights = []
        for token in tokens:
            key, colon, value = token.partition(":")
            if not colon:
                self.fail(number, f"expected feature:weight, found {token[:40]!r}")
            feature = self.whole(key, number, "a feature number", least)
            weights.append((feature, self.real(value, number, f"the weight of feature {feature}")))
        return weights


def below32(value: float) -> float:
    """The largest float32 that is not above a number: for features in float32 it is the same threshold.

    >>> below32(0.1) <= 0.1 < float(np.nextafter(np.float32(below32(0.1)), np.float32(1)))
    True
    """
    with np.errstate(over="ignore"):
        near = np.float32(value)
    return float(np.nextafter(near, np.float32(-np.inf)) if float(near) > value else near)
