"""Hedge pooling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett.selection.candidates import Candidates
from plackett.selection.pools.base import Choice, Pool, best_of_each_query

__all__ = ["HedgePool"]


def _log_gain(candidates: Candidates) -> np.ndarray:
    """ln(N/rank) of each row in each run, N the longest list of the query; 0 where the run lacks the row."""
    longest = candidates.length.max(axis=0)[candidates.query_of_row]
    return np.where(candidates.rank > 0, np.log(longest / np.maximum(candidates.rank, 1)), 0.0)


def hedge_weights(candidates: Candidates, base: float = 0.1, rel: float = 1.0) -> np.ndarray:
    r"""Trust in each run for each query, runs × queries, after the judgements so far; columns sum to 1.

    .. math:: w_s \propto b^{L_s}, \qquad L_s = \sum_{d\text{ judged}} \tfrac12 (-1)^{rel(d)} \ln\frac{N}{\tau_s(d)}

    >>> runs = [{"q": {"good": 2, "bad": 1}}, {"q": {"bad": 2, "good": 1}}]
    >>> hedge_weights(Candidates.from_runs(runs, {"q": {"good": 1}})).round(3).tolist()
    [[0.69], [0.31]]
    """
    judged = ~candidates.open
    sign = np.where(candidates.labels >= rel, -0.5, 0.5) * judged
    loss = np.add.reduceat(_log_gain(candidates) * sign, candidates.offsets[:-1], axis=1)
    exponent = loss * np.log(base)
    weight = np.exp(exponent - exponent.max(axis=0))
    return weight / weight.sum(axis=0)


@dataclass(frozen=True)
class HedgePool(Pool):
    r"""Hedge: documents that trusted runs rank high; runs gain trust by relevant documents at high ranks.

    The next documents maximise :math:`\sum_s w_s \ln(N/\tau_s(d))` with the `hedge_weights` of the query. Judge a
    few at a time and ask again: the weights learn from every judgement. It finds relevant documents fast, which makes
    training sets one-sided.

    Parameters
    ----------
    base
        b, between 0 and 1: the smaller, the faster trust moves.
    rel
        Lowest label that counts as relevant.

    Examples
    --------
    >>> runs = [{"q": {"a": 4, "b": 3, "c": 2}}, {"q": {"z": 4, "y": 3, "c": 2}}]
    >>> HedgePool().select(runs, {"q": {"a": 1, "z": 0}}, budget=1).frame["docid"].to_list()
    ['b']

    References
    ----------
    Aslam, Pavlu, Savell: A unified model for metasearch, pooling, and system evaluation. CIKM 2003.
    """

    base: float = 0.1
    rel: float = 1.0

    name: ClassVar[str] = "hedge"

    def __post_init__(self) -> None:
        number("base", self.base, above=0.0, below=1.0)

    def choose(self, candidates: Candidates, budget: int, rng: np.random.Generator) -> Choice:
        """Choose ``budget`` of the open rows."""
        weight = hedge_weights(candidates, self.base, self.rel)
        part = weight[:, candidates.query_of_row] * _log_gain(candidates)
        priority = part.sum(axis=0)
        lead = np.where(candidates.rank > 0, part, -1.0).argmax(axis=0)  # a last rank is worth 0, like a missing one

        def reason(row: int) -> str:
            s = lead[row]
            trust = weight[s, candidates.query_of_row[row]]
            return f"rank {candidates.rank[s, row]} in run {s + 1}, which has {trust:.0%} of the trust"

        unknown = np.full(candidates.n_rows, np.nan)
        return Choice(best_of_each_query(candidates, priority, budget), priority, unknown, reason)
