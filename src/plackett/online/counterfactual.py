"""Counterfactual online comparison: pages are chosen so that the difference of two rankers is known soonest."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any, Self

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.online.interleaving.base import Interleaved
from plackett.online.interleaving.optimised import list_choices
from plackett.online.sequential import Sequential, mean_sequence

__all__ = ["CounterfactualComparison", "logging_policy"]

#: Share of the pages that are drawn uniformly: every list remains possible, so that no weight is huge.
_UNIFORM = 0.05


@dataclass(frozen=True, eq=False)
class LoggingPolicy:
    """The lists that may be shown for two rankings, and what a click is worth.

    Attributes
    ----------
    lists
        Numbers of documents, one row per list.
    probability
        Of each list.
    value
        λ_d / ω_d of each document: what a click on it adds to the estimate of the difference.
    difference
        λ_d, the probability of being looked at in the first ranker's list minus that in the second's.
    """

    lists: np.ndarray
    probability: np.ndarray
    value: np.ndarray
    difference: np.ndarray


def logging_policy(
    first: Sequence[int], second: Sequence[int], look: Any, relevance: Any, *, most_lists: int = 64, steps: int = 200
) -> LoggingPolicy:
    """Probabilities of lists under which the difference of two rankings is estimated with the least variance.

    Parameters
    ----------
    first, second
        Documents (0 to n − 1) of both rankers, from the top; the first ``len(look)`` count.
    look
        Probability that each rank is looked at.
    relevance
        Of each document: probability of a click if it is looked at. A guess will do: it changes the variance only.
    most_lists
        Lists to choose among. All add the best remaining document of one of the rankers at every rank.
    steps
        Of exponentiated gradient descent; 0 draws uniformly.

    References
    ----------
    Oosterhuis, de Rijke. 2020.

    Examples
    --------
    >>> policy = logging_policy([0, 1, 2], [1, 0, 2], look=[1.0, 0.5], relevance=[0.5, 0.5, 0.5])
    >>> policy.lists.tolist(), policy.difference.tolist()  # document 2 is not shown by either
    ([[0, 1], [1, 0]], [0.5, -0.5, 0.0])
    """
    look, relevance = np.asarray(look, np.float64), np.asarray(relevance, np.float64)
    k, n = min(look.size, len(first), len(second)), relevance.size
    tops = tuple(int(d) for d in first[:k]), tuple(int(d) for d in second[:k])
    lists = np.array(list_choices(tops, k, most_lists), np.int64).reshape(-1, k)
    seen = np.zeros((len(lists), n))  # chance that each document is looked at, by list
    np.put_along_axis(seen, lists, look[:k], axis=1)
    difference = np.zeros(n)
    difference[list(tops[0])] += look[:k]
    difference[list(tops[1])] -= look[:k]
    p, value = np.empty(len(lists)), np.empty(n)
    _least_variance(seen, difference, relevance, steps, p, value)
    return LoggingPolicy(lists, p, value, difference)


@kernel
def second_moment(p, seen, difference, relevance, value, gradient):  # type: ignore[no-untyped-def]
    """E x² of the estimate x of one page, whose mean does not depend on p; fills λ/ω and the gradient in p.

    Clicks are independent given the list L, with q_Ld = seen_Ld · relevance_d, and x = Σ click_d v_d, v = λ / ω, so

        E x² = Σ_L p_L [Σ_d q_Ld (1 − q_Ld) v_d² + (Σ_d q_Ld v_d)²],   ω_d = Σ_L p_L seen_Ld.
    """
    m, n = seen.shape
    total = 0.0
    covered, by_value = np.zeros(n), np.zeros(n)
    for each in range(m):
        for d in range(n):
            covered[d] += p[each] * seen[each, d]
    for d in range(n):
        value[d] = difference[d] / covered[d] if difference[d] != 0.0 else 0.0
    for each in range(m):
        mean = spread = 0.0
        for d in range(n):
            q = seen[each, d] * relevance[d]
            mean += q * value[d]
            spread += q * (1.0 - q) * value[d] ** 2
        gradient[each] = spread + mean**2
        total += p[each] * gradient[each]
        for d in range(n):
            q = seen[each, d] * relevance[d]
            by_value[d] += 2.0 * p[each] * q * ((1.0 - q) * value[d] + mean)
    for d in range(n):
        if value[d] != 0.0:
            for each in range(m):
                gradient[each] -= seen[each, d] * by_value[d] * value[d] / covered[d]
    return total


@kernel
def _least_variance(seen, difference, relevance, steps, p, value):  # type: ignore[no-untyped-def]
    """Exponentiated gradient descent; the step is halved when it does not help, and grows when it does."""
    m = p.size
    soft, tried, moved = np.full(m, 1.0 / m), np.empty(m), np.empty(m)
    gradient, other = np.empty(m), np.empty(m)
    p[:] = 1.0 / m
    least = second_moment(p, seen, difference, relevance, value, gradient)
    rate = 1.0
    for _ in range(steps):
        mean, size = 0.0, 0.0
        for i in range(m):
            mean += soft[i] * gradient[i]
        for i in range(m):
            size = max(size, abs(gradient[i] - mean) if soft[i] > 1e-9 else 0.0)
        if size <= 1e-9 * max(least, 1e-300):
            break
        whole = 0.0
        for i in range(m):
            tried[i] = soft[i] * np.exp(min(max(-rate * (gradient[i] - mean) / size, -30.0), 30.0))
            whole += tried[i]
        for i in range(m):
            tried[i] /= whole
            moved[i] = (1.0 - _UNIFORM) * tried[i] + _UNIFORM / m
        moment = second_moment(moved, seen, difference, relevance, value, other)
        if moment < least:
            least = moment
            soft[:], p[:], gradient[:] = tried, moved, other
            rate *= 1.5
        else:
            rate /= 2.0
            if rate < 1e-6:
                break
    second_moment(p, seen, difference, relevance, value, gradient)


@lru_cache(maxsize=8192)
def _policy(
    first: tuple[int, ...], second: tuple[int, ...], look: tuple[float, ...], relevance: tuple[float, ...], most: int
) -> LoggingPolicy:
    return logging_policy(first, second, look, relevance, most_lists=most)


@dataclass(eq=False)
class CounterfactualComparison:
    """Compares two rankers by the clicks that each would get, with pages that make the comparison quick.

    Each page is drawn from lists that mix both rankings. With ω_d the probability that document d is looked at under
    that draw, and λ_d the difference of its probabilities of being looked at in the two rankers' own lists,

        x = Σ_{clicked d} λ_d / ω_d

    is an unbiased estimate of the difference of their clicks per page, whatever the draw, if users look at rank i with
    probability ``look[i]`` and click what they find relevant. The draw may therefore change from page to page: the
    probabilities minimise the variance of x under the relevance estimated so far, query by query, and are recomputed
    each time the number of a query's pages has doubled. Unlike interleaving, it estimates what an A/B test does. For
    rankers with similar lists it needs far fewer pages than an A/B test; for lists with little in common it may need
    more.

    Parameters
    ----------
    look
        Probability that each rank is looked at, for as many ranks as are shown (see `plackett.clicks` for how to
        estimate it). Where it is wrong, the estimate is biased.
    relevance
        Initial guess for all documents; ``weight`` is its weight in looks.
    most_lists
        Lists to choose among on each page.
    update
        Whether the draw follows the clicks. If not, it stays at the guess.

    References
    ----------
    Oosterhuis, de Rijke. 2020 (counterfactual on-line evaluation).

    Examples
    --------
    >>> comparison = CounterfactualComparison(look=[1.0, 0.6, 0.4], random_state=0)
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(2000):
    ...     page = comparison.show("q", ["a", "b", "c"], ["b", "a", "d"])
    ...     clicks = [d for d, look in zip(page.documents, comparison.look) if d in "ac" and rng.random() < look]
    ...     _ = comparison.learn("q", page, clicks)
    >>> truth = (1.0 + 0.4) - 0.6  # clicks per page: a and c in the first list, a in the second
    >>> bool(abs(comparison.result().estimate - truth) < 0.05)
    True
    """

    look: Sequence[float]
    relevance: float = 0.3
    weight: float = 2.0
    most_lists: int = 64
    update: bool = True
    random_state: Any = None
    n: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.look = [float(each) for each in self.look]
        if not self.look or not all(0 < each <= 1 for each in self.look):
            raise DataError(f"look={self.look}: give the probability of each rank, above 0 and at most 1")
        if not 0 < self.relevance < 1 or not self.weight > 0 or self.most_lists < 2:
            raise DataError(
                f"relevance={self.relevance}, weight={self.weight}, most_lists={self.most_lists}: relevance is between "
                "0 and 1, the weight positive, and there are at least two lists"
            )
        self._rng = Random(self.random_state)
        self._sum = self._squares = self._fourths = 0.0
        self._pages: dict[Hashable, int] = {}
        self._counts: dict[Hashable, dict[Hashable, list[float]]] = {}  # by query and document: clicks, looks
        self._guesses: dict[Hashable, dict[Hashable, float]] = {}

    def show(self, query: Hashable, first: Sequence[Hashable], second: Sequence[Hashable]) -> Interleaved:
        """Draw the page of a query from the lists of both rankers. A click on document d counts ``credits`` of it."""
        k = len(self.look)
        for name, each in (("first", first), ("second", second)):
            if len(each) < min(k, max(len(first), len(second))) or len(set(each)) != len(each):
                raise DataError(f"query {query!r}: the {name} list must have {k} distinct documents, like the other")
        if not len(first):
            return Interleaved([], [])
        pool = list(dict.fromkeys([*first[:k], *second[:k]]))
        number = {document: i for i, document in enumerate(pool)}
        guess = self._guess(query) if self.update else {}
        policy = _policy(
            tuple(number[d] for d in first[:k]), tuple(number[d] for d in second[:k]), tuple(self.look),
            tuple(guess.get(d, self.relevance) for d in pool), self.most_lists,
        )  # fmt: skip
        u, at = self._rng.random(), 0
        for p in policy.probability[:-1]:
            u -= p
            if u < 0:
                break
            at += 1
        row = policy.lists[at]
        return Interleaved([pool[i] for i in row], [[policy.value[i] / 2, -policy.value[i] / 2] for i in row])

    def _guess(self, query: Hashable) -> dict[Hashable, float]:
        """Relevance as estimated when the query's pages last doubled."""
        n = self._pages.get(query, 0)
        if n & (n - 1) == 0 and n:  # 1, 2, 4, …
            self._guesses[query] = {
                document: min(max((clicks + self.weight * self.relevance) / (looks + self.weight), 0.01), 0.99)
                for document, (clicks, looks) in self._counts[query].items()
            }
        return self._guesses.get(query, {})

    def learn(self, query: Hashable, page: Interleaved, clicks: Any) -> Self:
        """Count the clicks on a page; pages without clicks count too."""
        clicked = page.weights(clicks)
        credit = page.score(clicks)
        x = credit[0] - credit[1] if credit else 0.0
        self.n += 1
        self._sum += x
        self._squares += x * x
        self._fourths += x**4
        self._pages[query] = self._pages.get(query, 0) + 1
        counts = self._counts.setdefault(query, {})
        for look, document in zip(self.look, page.documents, strict=False):
            row = counts.setdefault(document, [0.0, 0.0])
            row[0] += bool(clicked.get(document))
            row[1] += look
        return self

    def result(self, *, alpha: float = 0.05, best_at: float = 1000.0) -> Sequential:
        """Estimate of the first ranker's clicks per page minus the second's; may be read at any time."""
        mean = self._sum / max(self.n, 1)
        variance = (self._squares - self.n * mean**2) / (self.n - 1) if self.n > 1 else 1.0
        kurtosis = self.n * self._fourths / self._squares**2 if self._squares > 0 else 0.0
        return mean_sequence(mean, max(variance, 0.0), self.n, kurtosis=kurtosis, alpha=alpha, best_at=best_at)
