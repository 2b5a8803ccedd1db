"""Ranked bandits: one bandit per rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice, whole
from plackett._base.errors import DataError
from plackett.online.bandits.base import Bandit, admissible, checked_relevance
from plackett.online.learners.base import Page, checked_clicks

__all__ = ["RankedBandits"]


def _exp3(bandit: RankedBandits, i: int, rng: np.random.Generator) -> tuple[int, float]:
    p = bandit.probabilities(i)
    arm = int(rng.choice(p.size, p=p))
    return arm, float(p[arm])


def _ucb(bandit: RankedBandits, i: int, rng: np.random.Generator) -> tuple[int, float]:
    pulls, wins = bandit.pulls[i], bandit.wins[i]
    if (pulls == 0).any():
        return int(np.argmin(pulls)), 1.0
    return int(np.argmax(wins / pulls + np.sqrt(2 * np.log(pulls.sum()) / pulls))), 1.0


def _thompson(bandit: RankedBandits, i: int, rng: np.random.Generator) -> tuple[int, float]:
    return int(np.argmax(rng.beta(1 + bandit.wins[i], 1 + bandit.pulls[i] - bandit.wins[i]))), 1.0


_POLICIES = {"exp3": _exp3, "ucb": _ucb, "thompson": _thompson}


@dataclass(eq=False)
class RankedBandits(Bandit):
    """Each rank has a bandit of its own that proposes a document; it is rewarded if its proposal was clicked there.

    If the proposal is in the list already, a document that is not is shown instead, and the bandit gets 0. The bandit
    at rank i thus learns what satisfies the users whom the documents above do not: the list becomes diverse. With EXP3
    the clicks on T pages, at most one per page, are at least (1 − 1/e) OPT − O(k √(T n log n)) for any sequence of
    users.

    Parameters
    ----------
    n_documents
        Documents to choose from.
    k
        Documents shown.
    policy
        ``exp3`` (has the guarantee), ``ucb`` or ``thompson`` (faster with users who do not change).
    horizon
        Pages that EXP3 is tuned to.
    relevance, least
        Bound on exploration: no page has a DCG below ``least`` of the highest, with ``relevance`` (of each document, by
        the model in production) as gains. A proposal that would break the bound is replaced like one that is in the
        list already, so the guarantee is about the lists within the bound. 0 means no bound.

    References
    ----------
    Radlinski, Kleinberg, Joachims: Learning diverse rankings with multi-armed bandits. ICML 2008.
    """

    _changing: ClassVar[tuple[str, ...]] = ("pulls", "wins", "_log_weights")

    n_documents: int
    k: int = 5
    policy: str = "exp3"
    horizon: int = 10_000
    random_state: Any = None
    relevance: Any = None
    least: float = 0.0
    pulls: np.ndarray = field(init=False, repr=False)
    wins: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        choice("policy", self.policy, _POLICIES)
        whole("k", self.k, least=1, most=self.n_documents)
        whole("horizon", self.horizon, least=1)
        n = self.n_documents
        self._gains = checked_relevance(self.relevance, n, self.least)
        self._rng = np.random.default_rng(self.random_state)
        self.pulls, self.wins, self._log_weights = (np.zeros((self.k, n)) for _ in range(3))
        self._mixing = min(1.0, float(np.sqrt(n * np.log(max(n, 2)) / ((np.e - 1) * self.horizon))))

    def probabilities(self, i: int) -> np.ndarray:
        """Probabilities with which EXP3 proposes each document for rank i (from 0)."""
        w = np.exp(self._log_weights[i] - self._log_weights[i].max())
        return (1 - self._mixing) * w / w.sum() + self._mixing / self.n_documents

    def show(self) -> Page:
        """Make a page."""
        order: list[int] = []
        proposals, chances = [], []
        for i in range(self.k):
            arm, p = _POLICIES[self.policy](self, i, self._rng)
            proposals.append(arm)
            chances.append(p)
            allowed = admissible(order, self.k, self._gains, self.least)
            if not allowed[arm]:
                arm = int(self._rng.choice(np.flatnonzero(allowed)))
            order.append(arm)
        return Page(np.array(order), {"proposals": proposals, "chances": chances})

    def learn(self, page: Page, clicks: Any) -> Self:
        """Reward the bandits: 1 where the proposal itself was shown and clicked."""
        clicked = checked_clicks(page, clicks, self.n_documents)
        for i, (arm, chance) in enumerate(zip(page.detail["proposals"], page.detail["chances"], strict=True)):
            reward = float(clicked[i] and page.order[i] == arm)
            self.pulls[i, arm] += 1
            self.wins[i, arm] += reward
            self._log_weights[i, arm] += self._mixing * reward / chance / self.n_documents
        return self

    def _n_candidates(self, page: Page, event: dict[str, Any]) -> int:
        return self.n_documents

    def _check_page(self, page: Page, clicks: Any, event: dict[str, Any]) -> None:
        super()._check_page(page, clicks, event)
        try:
            proposals = np.array(page.detail["proposals"], np.int64)
            chances = np.array(page.detail["chances"], np.float64)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise DataError(f"not the detail of a page of RankedBandits: {type(error).__name__} {error}") from None
        if page.order.size != self.k or proposals.shape != (self.k,) or chances.shape != (self.k,):
            raise DataError(f"the page has {page.order.size} documents and {proposals.size} proposals, not {self.k}")
        if not ((proposals >= 0) & (proposals < self.n_documents) & (chances > 0) & (chances <= 1)).all():
            raise DataError("proposals are documents, chances between 0 and 1")
