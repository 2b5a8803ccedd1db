"""What an ordering method is: a frozen object with parameters that makes an order of preferences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.aggregation.orderings.preference import Preference, as_preference

__all__ = ["Ordering"]


@dataclass(frozen=True, kw_only=True)
class Ordering:
    """Base class of all methods. A subclass is a frozen dataclass of parameters; `_scores` does the work.

    A preference function h(u, v) returns the probability that document u belongs before document v. It takes arrays of
    row numbers and is called with many pairs at a time. The two probabilities of a pair, h(u, v) and h(v, u), must add
    up to 1; `symmetrised` turns any function into one that satisfies this. A square table can replace the function.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()

    def _scores(self, preference: Preference, offsets: np.ndarray, keys: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def scores(self, preference: Any, offsets: Any, *, keys: np.ndarray | None = None) -> np.ndarray:
        """Score of each row of several lists, larger is better.

        Parameters
        ----------
        preference
            Function of two arrays of rows. Both rows of a pair are always in the same list.
        offsets
            First row of each list, and the number of rows at the end.
        keys
            A uint64 number per row that random draws depend on; by default the position in the list.
        """
        offsets = np.asarray(offsets, np.int64)
        if keys is None:
            keys = (np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))).astype(np.uint64)
        return self._scores(as_preference(preference), offsets, keys)

    def order(self, preference: Any, n: int | None = None) -> np.ndarray:
        """Order of one list: row numbers, best first; equal scores in the order of the rows.

        ``n`` is the number of documents; it is needed only if the preference is a function.
        """
        if n is None:
            if callable(preference):
                raise DataError("order: a preference function does not know the number of documents; give n=…")
            n = len(preference)
        return np.argsort(-self.scores(preference, np.array([0, n])), kind="stable")
