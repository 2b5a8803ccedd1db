"""Ranked explore and commit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from plackett._errors import DataError
from plackett.online.learners.base import Page

__all__ = ["RankedExploreCommit"]


@dataclass(eq=False)
class RankedExploreCommit:
    """From the top rank down, every document is shown equally often; then the most clicked one stays there for ever.

    Each document that is not committed yet is tried T₀ = ⌈2 k² ε⁻² log(2k / δ)⌉ times at each rank. If users and
    documents do not change, with probability 1 − δ the clicks on T pages are at least
    (1 − 1/e) OPT − εT − O(n k³ ε⁻² log(k/δ)).

    Parameters
    ----------
    n_documents, k
        Documents to choose from, and documents shown.
    epsilon, delta
        Loss per page, and probability of a larger one.
    tries
        Trials per document and rank; None for T₀.
    """

    _ids: ClassVar[tuple[str, ...]] = ("diverse.rec",)
    paper: ClassVar[str] = "Radlinski, Kleinberg, Joachims 2008"

    n_documents: int
    k: int = 5
    epsilon: float = 0.1
    delta: float = 0.05
    tries: int | None = None
    committed: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.n_documents or not self.epsilon > 0 or not 0 < self.delta < 1:
            raise DataError(
                f"k={self.k}, epsilon={self.epsilon}, delta={self.delta}: k is 1 to the number of documents "
                f"({self.n_documents}), epsilon is positive, delta between 0 and 1"
            )
        if self.tries is None:
            self.tries = math.ceil(2 * self.k**2 / self.epsilon**2 * math.log(2 * self.k / self.delta))
        self._shown, self._clicks = np.zeros(self.n_documents, np.int64), np.zeros(self.n_documents, np.int64)

    def show(self) -> Page:
        """Make a page: the committed documents, the document on trial, then others."""
        head = list(self.committed)
        if len(head) < self.k:
            head.append(int(np.argmin(self._shown)))  # committed ones are shown no further trials, see `learn`
        rest = np.setdiff1d(np.arange(self.n_documents), head)[: self.k - len(head)]
        return Page(np.array([*head, *rest]), {"rank": len(self.committed)})

    def learn(self, page: Page, clicks: Any) -> Self:
        """Count the click at the rank on trial; pages of a rank that was decided meanwhile teach nothing."""
        rank = len(self.committed)
        if rank == self.k or page.detail["rank"] != rank:
            return self
        document = int(page.order[rank])
        self._shown[document] += 1
        self._clicks[document] += bool(np.asarray(clicks, bool)[rank])
        if self._shown.min() >= int(self.tries or 0):
            self._clicks[self.committed] = -1
            self.committed.append(int(np.argmax(self._clicks)))
            self._shown[:], self._clicks[:] = 0, 0
            self._shown[self.committed] = np.iinfo(np.int64).max  # no further trials
        return self
