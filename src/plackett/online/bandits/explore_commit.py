"""Ranked explore and commit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett.online.bandits.base import Bandit, admissible, checked_relevance
from plackett.online.learners.base import Page, checked_clicks

__all__ = ["RankedExploreCommit"]


@dataclass(eq=False)
class RankedExploreCommit(Bandit):
    """From the top rank down, every document is shown equally often; then the most clicked one stays there for good.

    Each of the n documents that is not committed yet is tried T₀ = ⌈2 k² ε⁻² log(n k / δ)⌉ times at each of the k
    ranks, n k T₀ − k (k − 1) T₀ / 2 pages in total. If users and documents do not change and users click once at most,
    with probability 1 − δ the clicks on T pages are at least (1 − 1/e) OPT − εT − O(n k³ ε⁻² log(n k / δ)).

    The count: the greedy choice loses at most ε in total if the document chosen at each rank is within ε / k of the
    best one. This holds if no rate is overestimated, and that of the best not underestimated, by ε / (2k). By Hoeffding
    each of these n events fails with probability exp(−T₀ ε² / (2k²)); over k ranks they add up to δ. The published
    count has log(2k / δ), without the sum over documents, and tries committed documents again at lower ranks: users who
    click once at most never click them there, so they are left out here.

    Parameters
    ----------
    n_documents, k
        Documents to choose from, and documents shown.
    epsilon, delta
        Loss per page, and probability of a larger one.
    tries
        Trials per document and rank; None for T₀.
    relevance, least
        Bound on exploration: no page has a DCG below ``least`` of the highest, with ``relevance`` (of each document, by
        the model in production) as gains. Documents that would break the bound at a rank are not tried there, and
        the guarantee is about the lists within the bound. 0 means no bound.

    References
    ----------
    Radlinski, Kleinberg, Joachims: Learning diverse rankings with multi-armed bandits. ICML 2008.
    """

    _changing: ClassVar[tuple[str, ...]] = ("committed", "_shown", "_clicks")

    n_documents: int
    k: int = 5
    epsilon: float = 0.1
    delta: float = 0.05
    tries: int | None = None
    relevance: Any = None
    least: float = 0.0
    committed: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.n_documents or not self.epsilon > 0 or not 0 < self.delta < 1:
            raise DataError(
                f"k={self.k}, epsilon={self.epsilon}, delta={self.delta}: k is 1 to the number of documents "
                f"({self.n_documents}), epsilon is positive, delta between 0 and 1"
            )
        if self.tries is None:
            self.tries = math.ceil(2 * self.k**2 / self.epsilon**2 * math.log(self.n_documents * self.k / self.delta))
        whole("tries", self.tries, least=1)
        self._gains = checked_relevance(self.relevance, self.n_documents, self.least)
        self._shown, self._clicks = np.zeros(self.n_documents, np.int64), np.zeros(self.n_documents, np.int64)

    def _on_trial(self) -> np.ndarray:
        return np.flatnonzero(admissible(self.committed, self.k, self._gains, self.least))

    def show(self) -> Page:
        """Make a page: the committed documents, the document on trial, then the most relevant others."""
        head = list(self.committed)
        if len(head) < self.k:
            trial = self._on_trial()
            head.append(int(trial[np.argmin(self._shown[trial])]))
        rest = [d for d in np.argsort(-self._gains, kind="stable") if d not in head][: self.k - len(head)]
        return Page(np.array([*head, *rest], np.int64), {"rank": len(self.committed)})

    def learn(self, page: Page, clicks: Any) -> Self:
        """Count the click at the rank on trial; pages of a rank that was decided in the meantime are ignored."""
        clicked = checked_clicks(page, clicks, self.n_documents)
        rank = len(self.committed)
        if rank == self.k or page.detail["rank"] != rank:
            return self
        document = int(page.order[rank])
        self._shown[document] += 1
        self._clicks[document] += clicked[rank]
        trial = self._on_trial()
        if self._shown[trial].min() >= int(self.tries or 0):
            rates = self._clicks[trial] / self._shown[trial]  # late pages may have shown some more often
            self.committed.append(int(trial[np.argmax(rates)]))
            self._shown[:], self._clicks[:] = 0, 0
        return self

    def _n_candidates(self, page: Page, event: dict[str, Any]) -> int:
        return self.n_documents

    def _check_page(self, page: Page, clicks: Any, event: dict[str, Any]) -> None:
        super()._check_page(page, clicks, event)
        if page.order.size != self.k or not isinstance(page.detail, dict) or "rank" not in page.detail:
            raise DataError(f"not a page of RankedExploreCommit with {self.k} documents: {page}")
