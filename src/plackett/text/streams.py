"""Terms of many texts at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plackett.data.strings import Strings
from plackett.text.analysis import Analyzer

__all__ = ["Streams"]


class Streams:
    """Collects the terms of texts in reading order.

    >>> streams = Streams(Analyzer())
    >>> streams.add(["The wings", "a wing"])
    >>> vocabulary, offsets, terms = streams.finish()
    >>> vocabulary.to_numpy().tolist(), offsets.tolist(), terms.tolist()
    (['wing'], [0, 2, 4], [-1, 0, -1, 0])
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self._terms: dict[str, int] = {}
        self._parts: list[np.ndarray] = []
        self._lengths: list[int] = []

    def add(self, texts: Sequence[str]) -> None:
        """Analyse texts."""
        for text in texts:
            found = [
                -1 if token is None else self._terms.setdefault(token, len(self._terms))
                for token in self.analyzer.sequence(text)
            ]
            self._parts.append(np.array(found, np.int32))
            self._lengths.append(len(found))

    def finish(self) -> tuple[Strings, np.ndarray, np.ndarray]:
        """Terms in the order of their bytes, offsets of the texts, and the numbers of their terms."""
        encoded = [term.encode("utf-8", "surrogatepass") for term in self._terms]
        order = sorted(range(len(encoded)), key=encoded.__getitem__)
        numbers = np.empty(len(encoded) + 1, np.int32)
        numbers[order] = np.arange(len(encoded), dtype=np.int32)
        numbers[-1] = -1  # -1 stays -1
        terms = np.concatenate([*self._parts, np.empty(0, np.int32)])
        offsets = np.concatenate(([0], np.cumsum(self._lengths, dtype=np.int64)))
        vocabulary = strings([encoded[i] for i in order])
        return vocabulary, offsets, numbers[terms]


def strings(values: Sequence[bytes]) -> Strings:
    """A column of byte strings."""
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, values), np.int64, len(values)), out=offsets[1:])
    return Strings(np.frombuffer(b"".join(values), np.uint8), offsets)
