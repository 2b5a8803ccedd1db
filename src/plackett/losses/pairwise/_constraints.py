"""The order constraints of an isotonic update: by grades, or as arcs of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plackett.data.dataset import RankingDataset


class Grades(NamedTuple):
    """Judged rows of positive weight by query and rising label, and where each query and each grade begins."""

    offsets: np.ndarray
    rows: np.ndarray
    grade_offsets: np.ndarray
    starts: np.ndarray
    in_pairs: np.ndarray


def grades(data: RankingDataset, weight: np.ndarray) -> Grades:
    """The grades of each query of a dataset."""
    rows = np.flatnonzero((data.labels >= 0) & (weight > 0))
    query = data.query_of_row
    rows = rows[np.lexsort((data.labels[rows], query[rows]))]
    new = np.ones(rows.size, bool)
    new[1:] = (query[rows[1:]] != query[rows[:-1]]) | (data.labels[rows[1:]] != data.labels[rows[:-1]])
    starts = np.flatnonzero(new)
    per_query = np.bincount(query[rows[starts]], minlength=data.n_queries)
    in_pairs = np.zeros(data.n_rows, bool)
    in_pairs[rows[per_query[query[rows]] > 1]] = True
    return Grades(
        _offsets(query[rows], data.n_queries), rows, _offsets(query[rows[starts]], data.n_queries), starts, in_pairs
    )


def _offsets(query: np.ndarray, n_queries: int) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(np.bincount(query, minlength=n_queries))))


@dataclass(frozen=True)
class Constraints:
    """Arcs between nodes: the winner's position is at least the loser's plus margin·t − tie·r.

    A node is a document, all documents of a preference cycle, or, with weight 0, a bound of the documents of a grade.
    Nodes and arcs are grouped by query.
    """

    node_of_row: np.ndarray
    offsets: np.ndarray
    weight: np.ndarray
    arc_offsets: np.ndarray
    winner: np.ndarray
    loser: np.ndarray
    margin: np.ndarray
    tie: np.ndarray

    @classmethod
    def from_grades(cls, data: RankingDataset, weight: np.ndarray, gains: np.ndarray) -> Constraints:
        """All pairs of unequal labels, and ties inside each grade."""
        graded = grades(data, weight)
        member = np.where(graded.in_pairs, np.arange(data.n_rows), -1)
        arcs, bounds = _tied(data, graded)
        query = data.query_of_row[graded.rows[graded.starts]]
        lower = np.flatnonzero(query[1:] == query[:-1])  # grades with a higher one in the same query
        bottom, top = data.n_rows + 2 * (lower + 1), data.n_rows + 2 * lower + 1
        gain = gains[graded.rows[graded.starts]]
        arcs.append((bottom, top, gain[lower + 1] - gain[lower], np.zeros(lower.size)))
        return cls._assembled(data, weight, member, bounds, arcs)

    @classmethod
    def from_preferences(cls, data: RankingDataset, weight: np.ndarray) -> Constraints:
        """The explicit preferences, cycles contracted."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        pairs = data.preferences
        assert pairs is not None
        counts = (weight[pairs.winner] > 0) & (weight[pairs.loser] > 0)
        if pairs.weight is not None:
            counts &= pairs.weight > 0
        winner, loser = pairs.winner[counts], pairs.loser[counts]
        margin = np.ones(winner.size) if pairs.margin is None else pairs.margin[counts]
        n = data.n_rows
        graph = coo_matrix((np.ones(winner.size, bool), (winner, loser)), shape=(n, n))
        component = connected_components(graph, directed=True, connection="strong")[1]
        _, first = np.unique(component, return_index=True)
        member = np.full(n, -1)
        taking_part = np.zeros(n, bool)
        taking_part[winner] = taking_part[loser] = True
        member[taking_part] = first[component[taking_part]]  # a component goes by its first row
        apart = component[winner] != component[loser]
        arcs = [(winner[apart], loser[apart], margin[apart], np.zeros(int(apart.sum())))]
        return cls._assembled(data, weight, member, np.empty(0, np.int64), arcs)

    @classmethod
    def _assembled(
        cls,
        data: RankingDataset,
        weight: np.ndarray,
        member: np.ndarray,
        bounds: np.ndarray,
        arcs: Sequence[tuple[np.ndarray, ...]],
    ) -> Constraints:
        """Number the nodes by query. Arcs name rows, or from ``n_rows`` on the bounds, which know their query."""
        n = data.n_rows
        rows = np.flatnonzero(member >= 0)
        heads = np.unique(member[rows])
        names = np.concatenate([heads, n + np.arange(bounds.size)])
        query_of_name = np.concatenate([data.query_of_row[heads], bounds])
        order = np.argsort(query_of_name, kind="stable")
        number = np.full(n + bounds.size, -1)
        number[names[order]] = np.arange(names.size)
        node_of_row = np.full(n, -1)
        node_of_row[rows] = number[member[rows]]
        node_of_name = np.concatenate([node_of_row, number[n:]])
        winner, loser = (node_of_name[np.concatenate([arc[i] for arc in arcs])] for i in (0, 1))
        margin, tie = (np.concatenate([arc[i] for arc in arcs]).astype(np.float64) for i in (2, 3))
        query = query_of_name[order][winner]
        by_query = np.argsort(query, kind="stable")
        return cls(
            node_of_row,
            _offsets(query_of_name, data.n_queries),
            np.bincount(node_of_row[rows], weight[rows], names.size).astype(
                np.float64
            ),  # integers where there are none
            _offsets(query, data.n_queries),
            *(values[by_query] for values in (winner, loser, margin, tie)),
        )


def _tied(data: RankingDataset, graded: Grades) -> tuple[list[tuple[np.ndarray, ...]], np.ndarray]:
    """Arcs that hold the documents of each grade between two bounds, at most r apart; the query of each bound."""
    n = data.n_rows
    grade = np.repeat(np.arange(graded.starts.size), np.diff(np.append(graded.starts, graded.rows.size)))
    kept = graded.in_pairs[graded.rows]
    rows, bottom = graded.rows[kept], n + 2 * grade[kept]
    bottoms = np.unique(bottom)
    none = np.zeros(rows.size)
    arcs: list[tuple[np.ndarray, ...]] = [
        (rows, bottom, none, none),
        (bottom + 1, rows, none, none),
        (bottoms, bottoms + 1, np.zeros(bottoms.size), np.ones(bottoms.size)),
    ]
    return arcs, np.repeat(data.query_of_row[graded.rows[graded.starts]], 2)
