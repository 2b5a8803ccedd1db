"""RankGP."""

from __future__ import annotations

from dataclasses import dataclass

from plackett.rankers.listwise._evolved import Evolved

__all__ = ["RankGP"]


@dataclass(kw_only=True, eq=False, repr=False)
class RankGP(Evolved):
    """RankGP: a formula of features and constants, joined by ``+ - * /``, evolved with a measure as its fitness.

    The ranking function is a tree whose leaves are features or constants. One population of such trees evolves by
    tournament selection, crossover, mutation and reproduction; the value of the measure on the training queries is the
    fitness, so nothing has to be smooth. The result is human-readable: see ``formula_``.

    All formulas of a generation are run together by a stack machine over blocks of documents; the time grows with
    ``population_size * generations * max_size`` and the number of documents.

    Examples
    --------
    >>> X = [[4.0, 8.0], [3.0, 1.0], [2.0, 4.0], [2.0, 1.0], [1.0, 1.0], [6.0, 3.0]]
    >>> ranker = RankGP(generations=5).fit(X, [0, 1, 0, 1, 0, 1], qid=[1, 1, 1, 2, 2, 2])
    >>> ranker.rank([[5.0, 1.0], [2.0, 9.0]], qid=[3, 3])
    array([1, 2])
    >>> ranker.simplified_formula_
    'x1 - x2'

    References
    ----------
    Yeh, Lin, Ke, Yang: Learning to rank for information retrieval using genetic programming. LR4IR, SIGIR 2007.
    """
