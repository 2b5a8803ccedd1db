"""Re-ranking of the top of a list by a bandit, near the production order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice, whole
from plackett._base.errors import DataError
from plackett.online.bandits.base import Bandit, checked_look, within
from plackett.online.learners.base import Page, checked_clicks

__all__ = ["TopKBandit"]


@dataclass(eq=False)
class TopKBandit(Bandit):
    """Learns the order of the first K documents of one query from clicks; the rest of the list never moves.

    Each document has an attraction with a Beta prior, higher for documents that production ranks higher. A document
    that was examined updates it. Documents are ordered by an upper confidence bound of the attraction or by a draw
    from its posterior; before any feedback the production order is shown.

    Parameters
    ----------
    K
        Documents that may move.
    distance
        Ranks by which a document may move from its rank in production; None for any.
    policy
        ``ucb`` or ``thompson``.
    look
        Probability that each rank is examined (position-based users). None: users read down to the first click
        (cascade), and everything if they click nothing.
    prior
        Weight of the production order, in examinations.
    least
        Bound on exploration: no page has a DCG below this share of that of the page without exploration, by the
        current estimates of attraction. 0 means no bound, 1 no exploration.

    References
    ----------
    Kveton, Szepesvári, Wen, Ashkan: Cascading bandits: learning to rank in the cascade model. ICML 2015.
    Lagrée, Vernade, Cappé. 2016.
    Li et al.. 2019.
    """

    _changing: ClassVar[tuple[str, ...]] = ("clicks", "seen", "n_pages")

    K: int = 10
    distance: int | None = None
    policy: str = "ucb"
    look: Any = None
    prior: float = 2.0
    random_state: Any = None
    least: float = 0.0

    def __post_init__(self) -> None:
        choice("policy", self.policy, ("ucb", "thompson"))
        if self.K < 1 or not self.prior > 0 or (self.distance is not None and self.distance < 0):
            raise DataError(f"K={self.K}, prior={self.prior}, distance={self.distance}: give positive numbers")
        if not 0 <= self.least <= 1:
            raise DataError(f"least={self.least}; give 0 (no limit) to 1 (no exploration)")
        checked_look(self.look, self.K)
        self._rng = np.random.default_rng(self.random_state)
        mean = 1.0 / (1.0 + np.arange(1, self.K + 1))  # 1/2, 1/3, …: falls with the rank in production
        self.clicks, self.seen = self.prior * mean, np.full(self.K, float(self.prior))
        self.n_pages = 0

    def show(self, n: int) -> Page:
        """Order of the n documents of a list in production order."""
        whole("n", n, least=0)
        K = min(self.K, n)
        mean = np.clip(self.clicks[:K] / self.seen[:K], 1e-9, 1 - 1e-9)
        distance = K if self.distance is None else self.distance
        if self.n_pages == 0:
            extra = np.zeros(K)
        elif self.policy == "ucb":
            extra = np.sqrt(1.5 * np.log(self.n_pages) / self.seen[:K])
        else:
            extra = self._rng.beta(mean * self.seen[:K], (1 - mean) * self.seen[:K]) - mean
        top = within(lambda share: _near(mean + share * extra, distance), mean, self.least)
        return Page(np.concatenate([top, np.arange(K, n)]))

    def learn(self, page: Page, clicks: Any) -> Self:
        """Learn from the clicks on a page."""
        K = min(self.K, page.order.size)
        clicked = checked_clicks(page, clicks, page.order.size)[:K]
        if self.look is not None:
            seen = np.asarray(self.look, np.float64)[:K]
        else:
            first = int(np.argmax(clicked)) if clicked.any() else K - 1
            seen, clicked = (np.arange(K) <= first).astype(float), clicked & (np.arange(K) <= first)
        self.seen[page.order[:K]] += seen
        self.clicks[page.order[:K]] += clicked
        self.n_pages += 1
        return self

    def _n_candidates(self, page: Page, event: dict[str, Any]) -> int:
        return page.order.size

    def _check_page(self, page: Page, clicks: Any, event: dict[str, Any]) -> None:
        super()._check_page(page, clicks, event)
        K = min(self.K, page.order.size)
        if not np.array_equal(np.sort(page.order[:K]), np.arange(K)):
            raise DataError(f"the first {K} ranks of the page do not hold the first {K} documents")


def _near(index: np.ndarray, distance: int) -> np.ndarray:
    """Order by descending index in which no document is more than ``distance`` ranks away from its number."""
    left = list(range(index.size))
    order = []
    for position in range(index.size):
        due = left[0] if left[0] <= position - distance else None
        best = max((d for d in left if d <= position + distance), key=lambda d: index[d]) if due is None else due
        left.remove(best)
        order.append(best)
    return np.array(order, np.int64)
