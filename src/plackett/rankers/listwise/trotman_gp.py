"""Trotman's genetic programming."""

from __future__ import annotations

from dataclasses import dataclass

from plackett.rankers.listwise._evolved import Evolved

__all__ = ["TrotmanGP"]


@dataclass(kw_only=True, eq=False, repr=False)
class TrotmanGP(Evolved):
    """Trotman's learning to rank: several independent runs, a wide choice of functions, and mean average precision as
    fitness.

    What sets it apart from `RankGP`: a run of genetic programming depends on chance, so several are made and the best
    formula is kept. In addition to ``+ - * /`` there are logarithm and square root.

    Examples
    --------
    >>> X = [[1.0, 2.0], [3.0, 1.0], [2.0, 4.0], [2.0, 1.0], [4.0, 1.0], [3.0, 3.0]]
    >>> ranker = TrotmanGP(generations=5).fit(X, [0, 1, 0, 0, 1, 0], qid=[1, 1, 1, 2, 2, 2])
    >>> ranker.rank([[5.0, 1.0], [2.0, 9.0]], qid=[3, 3])
    array([1, 2])

    References
    ----------
    Trotman: Learning to rank. Information Retrieval 2005.
    """

    population_size: int = 100
    functions: tuple[str, ...] = ("+", "-", "*", "/", "log", "sqrt")
    crossover_rate: float = 0.9
    mutation_rate: float = 0.05
    n_runs: int = 4
