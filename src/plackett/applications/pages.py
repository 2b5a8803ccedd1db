"""Pages of several blocks: what goes into which slot, by assignment or by one ranking decision after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett._base.estimator import clone
from plackett._base.progress import progress
from plackett.applications.lists import CandidateLists
from plackett.data.dataset import RankingDataset
from plackett.losses.listwise.query_square import QuerySquare
from plackett.models.linear import Linear
from plackett.rankers.gradient_ranker import GradientRanker

__all__ = ["Block", "IntentUsers", "PageComposer", "assign_blocks"]

Reward = Callable[[Any, Sequence[Any]], float]


class Block(NamedTuple):
    """A block of a page: its kind (web, news, images, …) and how likely it satisfies those who want that."""

    kind: str
    quality: float


def assign_blocks(utilities: Any) -> np.ndarray:
    r"""The block for each slot that maximises the sum of the utilities; each block is used at most once.

    If the utility of a block depends on the slot alone, and not on the other blocks, this is the best page. The
    utilities may come from a ranker of pairs of block and slot. An assignment takes :math:`O(s^3)` for s slots.

    Parameters
    ----------
    utilities
        A row per block, a column per slot.

    Returns
    -------
    numpy.ndarray
        Number of the block in each slot; −1 where there are fewer blocks than slots.

    References
    ----------
    Kuhn: The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 1955.

    Examples
    --------
    >>> assign_blocks([[5.0, 4.0], [4.0, 1.0], [0.0, 2.0]]).tolist()  # 4 + 4 is more than 5 + 2
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment

    table = np.asarray(utilities, np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise DataError(f"utilities must be a table of numbers, blocks × slots; got shape {table.shape}")
    block, slot = linear_sum_assignment(table, maximize=True)
    out = np.full(table.shape[1], -1)
    out[slot] = block
    return out


@dataclass(frozen=True)
class IntentUsers:
    """Simulated users who want one kind of block each and read the page from the top.

    A user who examines a block of the wanted kind is satisfied with the probability of its quality, and leaves; any
    other block, or a failure, is followed by the next one with probability ``stay``. A second block of a kind thus
    serves only those whom the first one did not satisfy. A query is a mapping from kinds to shares of users.

    Examples
    --------
    >>> users = IntentUsers(stay=0.5)
    >>> page = [Block("news", 0.5), Block("web", 1.0)]
    >>> users.reward({"web": 0.75, "news": 0.25}, page)  # .25 · .5 + .75 · .5 · 1
    0.5
    """

    stay: float = 0.8

    def __post_init__(self) -> None:
        number("stay", self.stay, least=0, most=1)

    def reward(self, query: Mapping[str, float], page: Sequence[Block]) -> float:
        """Share of the users who leave satisfied, exactly."""
        left, total, look = dict(query), 0.0, 1.0
        for block in page:
            waiting = left.get(block.kind, 0.0)
            total += look * waiting * block.quality
            left[block.kind] = waiting * (1.0 - block.quality)
            look *= self.stay
        return total

    def draw(self, query: Mapping[str, float], page: Sequence[Block], rng: np.random.Generator) -> int:
        """One user: the slot that satisfied, from 1, or 0."""
        kinds, shares = list(query), np.array(list(query.values()), np.float64)
        if not (shares >= 0).all() or not np.isclose(shares.sum(), 1.0):
            raise DataError(f"the shares of users must be 0 or more and sum to 1; got {dict(query)!r:.80}")
        wanted = kinds[int(rng.choice(len(kinds), p=shares / shares.sum()))]
        for slot, block in enumerate(page, 1):
            if block.kind == wanted and rng.random() < block.quality:
                return slot
            if rng.random() >= self.stay:
                return 0
        return 0


@dataclass(kw_only=True, eq=False)
class PageComposer:
    """Fills a page slot by slot; each choice is a ranking of the remaining blocks, learned from the reward of pages.

    This is learning to search by reduction to ranking: a state is a query with the blocks chosen so far, its candidates
    are the remaining blocks, and the label of a candidate is the reward of the page that begins with the chosen ones
    and it, completed greedily. In the first round the states are those of a guide that knows the reward and is greedy;
    in later rounds those that the learned composer gets into itself. The lists of all rounds are kept, and the ranker
    is trained on them.

    The guide needs rewards of any page of the training queries: from simulated users, or from judged blocks. To
    compose, only the features are needed.

    Parameters
    ----------
    describe
        ``describe(query, chosen, candidates)`` returns a row of numbers for each candidate, given the blocks chosen so
        far.
    n_slots
        Blocks on a page.
    ranker
        Any ranker; by default linear with the loss `QuerySquare`, whose scores are the expected rewards up to a
        constant per state.
    n_rounds
        Rounds; 1 learns from the states of the guide alone.

    Examples
    --------
    >>> def describe(query, chosen, candidates):
    ...     kinds = [block.kind for block in chosen]
    ...     return [[query.get(b.kind, 0) * b.quality, query.get(b.kind, 0) * b.quality * kinds.count(b.kind)]
    ...             for b in candidates]
    >>> blocks = [Block("web", 0.9), Block("web", 0.8), Block("news", 0.6)]
    >>> lists = CandidateLists.of([({"web": p, "news": 1 - p}, blocks) for p in (0.3, 0.5, 0.6)])
    >>> composer = PageComposer(describe=describe, n_slots=2).fit(lists, IntentUsers().reward)
    >>> [block.kind for block in composer.compose({"web": 0.55, "news": 0.45}, blocks)]
    ['web', 'news']

    References
    ----------
    Daumé, Langford, Marcu: Search-based structured prediction. Machine Learning 2009.
    Ross, Gordon, Bagnell: A reduction of imitation learning and structured prediction to no-regret online learning.
    AISTATS 2011.
    """

    describe: Callable[[Any, Sequence[Any], Sequence[Any]], Any]
    n_slots: int
    ranker: Any = field(default_factory=lambda: GradientRanker(loss=QuerySquare(), model=Linear(alpha=1e-6)))
    n_rounds: int = 3

    def fit(self, lists: CandidateLists, reward: Reward, *, verbose: bool = False) -> Self:
        """Learn from queries with blocks, and the reward of a page.

        Parameters
        ----------
        reward
            ``reward(query, blocks)``: what a page of these blocks, in this order, is worth. Also asked for the
            beginnings of pages.
        """
        if self.n_slots < 1 or self.n_rounds < 1:
            raise DataError(f"n_slots={self.n_slots}, n_rounds={self.n_rounds}; give 1 or more")
        blocks = [lists.items[a:b] for a, b in zip(lists.offsets[:-1], lists.offsets[1:], strict=True)]
        tables: list[np.ndarray] = []
        labels: list[list[float]] = []
        for step in progress(range(self.n_rounds), "composing pages", self.n_rounds, verbose=verbose):
            for query, own in zip(lists.queries, blocks, strict=True):
                chosen: list[int] = []
                while len(chosen) < min(self.n_slots, len(own)):
                    rest = [i for i in range(len(own)) if i not in chosen]
                    values = [_completed(query, own, [*chosen, i], self.n_slots, reward) for i in rest]
                    if len(rest) > 1:
                        tables.append(self._rows(query, own, chosen, rest))
                        labels.append(values)
                    best = int(np.argmax(values)) if step == 0 else self._best(query, own, chosen, rest)
                    chosen.append(rest[best])
            if not tables:
                raise DataError("no page leaves a choice: give lists of two blocks or more")
            y = np.concatenate([np.asarray(values) - min(values) for values in labels])
            group = [len(values) for values in labels]
            self._trained = clone(self.ranker).fit(RankingDataset.from_arrays(np.vstack(tables), y, group=group))
        self.ranker_ = self._trained
        return self

    def compose(self, query: Any, blocks: Sequence[Any]) -> list[Any]:
        """The blocks of the page, from the top."""
        if not hasattr(self, "ranker_"):
            raise DataError("the composer is not trained; call fit first")
        chosen: list[int] = []
        while len(chosen) < min(self.n_slots, len(blocks)):
            rest = [i for i in range(len(blocks)) if i not in chosen]
            chosen.append(rest[self._best(query, blocks, chosen, rest)])
        return [blocks[i] for i in chosen]

    def _rows(self, query: Any, blocks: Sequence[Any], chosen: list[int], rest: list[int]) -> np.ndarray:
        given = self.describe(query, [blocks[i] for i in chosen], [blocks[i] for i in rest])
        rows = np.asarray(given, np.float64)
        if rows.ndim != 2 or len(rows) != len(rest):
            raise DataError(f"describe returned shape {rows.shape}; give a row for each of {len(rest)} candidates")
        return rows

    def _best(self, query: Any, blocks: Sequence[Any], chosen: list[int], rest: list[int]) -> int:
        if len(rest) == 1:
            return 0
        data = RankingDataset.from_arrays(self._rows(query, blocks, chosen, rest))
        return int(np.argmax(self._trained.predict(data)))


def _completed(query: Any, blocks: Sequence[Any], chosen: list[int], n_slots: int, reward: Reward) -> float:
    """Reward of a page that begins with the chosen blocks and continues greedily."""
    page = list(chosen)
    value = reward(query, [blocks[i] for i in page])
    while len(page) < min(n_slots, len(blocks)):
        rest = [i for i in range(len(blocks)) if i not in page]
        values = [reward(query, [blocks[j] for j in (*page, i)]) for i in rest]
        best = int(np.argmax(values))
        page.append(rest[best])
        value = values[best]
    return value
