"""Rank aggregation by a genetic algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import DataError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._kernels.randomness import below, mix
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending
from plackett.aggregation._pairs import count_pairs
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists

__all__ = ["Genetic"]

#: Distances between orders; the cost of an order is the sum of its distances to the lists.
DISTANCES = ("footrule", "kendall")


@dataclass(frozen=True, kw_only=True)
class Genetic(Aggregation):
    """Genetic search for the order with the smallest weighted sum of distances to the lists.

    The first generation holds the order of each list, Borda's order, and random ones. Each parent is the better of two
    orders drawn at random, and a child is the order crossover of two parents: it keeps a stretch of one parent in place
    and takes the rest in the order of the other. In some children one document moves to a random position. The best
    order is always kept, so the result is never farther from the lists than Borda's order or any one of them. Scores
    are n for the first document of a query, then n − 1, …

    Parameters
    ----------
    distance
        ``"footrule"``, Σ |position − rank|, or ``"kendall"``, the number of pairs in opposite order.
    population, generations
        Number of orders in a generation, and number of generations.
    crossover, mutation
        Probability that a child has two parents, and that one of its documents is moved.
    unranked
        ``"below"``: the documents that a list lacks are tied at its end; ``"unknown"``: it says nothing about them.
    random_state
        Seed. The result does not depend on the order of the queries or on the number of threads.

    Examples
    --------
    >>> lists = RankLists.from_orders([["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]])
    >>> Genetic().order(lists)
    ['a', 'b', 'c']

    References
    ----------
    Beg, Ahmad: Soft computing techniques for rank aggregation on the World Wide Web. World Wide Web 2003.
    """

    name: ClassVar[str] = "Genetic"

    distance: str = "footrule"
    population: int = 60
    generations: int = 150
    crossover: float = 0.8
    mutation: float = 0.5
    unranked: str = "below"
    random_state: int = 0

    def __post_init__(self) -> None:
        choice("Genetic: distance", self.distance, DISTANCES)
        if self.population < 2 or self.generations < 0:
            raise DataError("Genetic: population must be 2 or more, and generations 0 or more")
        for name in ("crossover", "mutation"):
            number(f"Genetic: {name}", getattr(self, name), least=0, most=1)

    def _scores(self, lists: RankLists, weights: np.ndarray, n_jobs: int | None) -> np.ndarray:
        out = np.empty(lists.n_rows)
        places = lists.places(self.unranked)
        over_queries(
            _evolve,
            lists.offsets,
            places.before,
            places.upto,
            weights,
            self.distance == "kendall",
            max(self.population, lists.n_lists + 2),
            self.generations,
            (float(self.crossover), float(self.mutation)),
            np.uint64(self.random_state),
            out,
            n_jobs=n_jobs,
            rows_per_thread=PAIR_ROWS_PER_THREAD,
        )
        return out


@kernel
def _chance(bits):
    return np.float64(bits >> np.uint64(11)) * 2.0**-53


@kernel
def _cost(order, table, kendall):
    """Distance to all lists; the table is of positions (document × position) or, for Kendall's, of pairs."""
    total = 0.0
    for position in range(order.size):
        if kendall:
            row = table[order[position]]
            for earlier in range(position):
                total += row[order[earlier]]
        else:
            total += table[order[position], position]
    return total


@kernel
def _place_costs(before, upto, a, n, weights, table):
    """Σ w |position − rank| of each document at each position."""
    table[:, :] = 0.0
    for i in range(n):
        for m in range(weights.size):
            if before[a + i, m] >= 0:
                rank = 0.5 * (before[a + i, m] + 1 + upto[a + i, m])
                for position in range(n):
                    table[i, position] += weights[m] * abs(position + 1.0 - rank)


@kernel
def _cross(first, second, start, end, taken, child):
    """Order crossover: positions start:end as in the first parent, the others in the order of the second."""
    taken[:] = False
    for position in range(start, end):
        child[position] = first[position]
        taken[first[position]] = True
    position = 0
    for item in second:
        if position == start:
            position = end
        if not taken[item]:
            child[position] = item
            position += 1


@kernel
def _move(order, origin, to):
    item = order[origin]
    step = 1 if to > origin else -1
    while origin != to:
        order[origin] = order[origin + step]
        origin += step
    order[to] = item


@kernel
def _first_keys(p, before, upto, a, n, weights, counter, borda, keys):
    """Sort keys of order p of the first generation: list p, then Borda's order, then random ones; the new counter."""
    if p < weights.size:
        for i in range(n):
            known = before[a + i, p] >= 0
            rank = 0.5 * (before[a + i, p] + 1 + upto[a + i, p]) if known else n + 1.0
            keys[i] = -rank
            borda[i] -= weights[p] * min(rank, 1.0 * n)
    elif p == weights.size:
        keys[:n] = borda[:n]
    else:
        for i in range(n):
            counter += np.uint64(1)
            keys[i] = _chance(mix(counter))
    return counter


@kernel
def _evolve(lo, hi, offsets, before, upto, weights, kendall, population, generations, chances, seed, out):
    n_max = longest(lo, hi, offsets)
    crossover, mutation = chances
    memory = np.empty(n_max * n_max, np.float64)
    living = np.empty((population, n_max), np.int64)
    born = np.empty((population, n_max), np.int64)
    cost = np.empty(population, np.float64)
    born_cost = np.empty(population, np.float64)
    keys = np.empty(n_max, np.float64)
    spare = np.empty(n_max, np.float64)
    spare_order = np.empty(n_max, np.int64)
    borda = np.empty(n_max, np.float64)
    taken = np.empty(n_max, np.bool_)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        if n == 0:
            continue
        table = memory[: n * n].reshape(n, n)
        if kendall:
            count_pairs(before, a, n, weights, keys, table)
        else:
            _place_costs(before, upto, a, n, weights, table)
        counter = mix(seed)  # the same for every query: draws depend on its lists alone
        borda[:n] = 0.0
        for p in range(population):
            counter = _first_keys(p, before, upto, a, n, weights, counter, borda, keys)
            argsort_descending(keys, living[p], spare, spare_order, n)
            cost[p] = _cost(living[p, :n], table, kendall)
        for _ in range(generations):
            best = np.argmin(cost)
            born[0, :n] = living[best, :n]
            born_cost[0] = cost[best]
            for p in range(1, population):
                counter += np.uint64(8)
                first = below(mix(counter), population)
                rival = below(mix(counter + np.uint64(1)), population)
                first = rival if cost[rival] < cost[first] else first
                if _chance(mix(counter + np.uint64(2))) < crossover:
                    second = below(mix(counter + np.uint64(3)), population)
                    rival = below(mix(counter + np.uint64(4)), population)
                    second = rival if cost[rival] < cost[second] else second
                    start = below(mix(counter + np.uint64(5)), n)
                    end = below(mix(counter + np.uint64(6)), n) + 1
                    _cross(living[first, :n], living[second, :n], min(start, end), max(start, end), taken, born[p])
                else:
                    born[p, :n] = living[first, :n]
                bits = mix(counter + np.uint64(7))
                if _chance(bits) < mutation:
                    _move(born[p], below(mix(bits), n), below(mix(bits + np.uint64(1)), n))
                born_cost[p] = _cost(born[p, :n], table, kendall)
            living, born = born, living
            cost, born_cost = born_cost, cost
        best = np.argmin(cost)
        for position in range(n):
            out[a + living[best, position]] = n - position
