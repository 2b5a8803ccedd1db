"""ARRANGER."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plackett.rankers.listwise._evolved import Evolved

__all__ = ["ARRANGER"]


@dataclass(kw_only=True, eq=False, repr=False)
class ARRANGER(Evolved):
    """ARRANGER of Fan and others: formulas with logarithms, a utility of the ranking as fitness, and ten finalists.

    What sets it apart from `RankGP`: the functions are ``+ * / log``; the fitness is a utility that falls with the rank
    of each relevant document, here 0.982 to the power of the rank (the last of the four in the paper up to a factor,
    which is RBP); most formulas come from crossover and reproduction; and the ten best formulas of every generation,
    not the best one alone, are measured on the validation data.

    Examples
    --------
    >>> X = [[1.0, 2.0], [3.0, 1.0], [2.0, 4.0], [2.0, 1.0], [4.0, 1.0], [3.0, 3.0]]
    >>> ranker = ARRANGER(generations=5).fit(X, [0, 1, 0, 0, 1, 0], qid=[1, 1, 1, 2, 2, 2])
    >>> ranker.rank([[5.0, 1.0], [2.0, 9.0]], qid=[3, 3])
    array([1, 2])

    References
    ----------
    Fan, Gordon, Pathak: Discovery of context-specific ranking functions for effective information retrieval using
    genetic programming. IEEE Transactions on Knowledge and Data Engineering 2004.
    Fan, Fox, Pathak, Wu: The effects of fitness functions on genetic programming-based ranking discovery for web
    search. Journal of the American Society for Information Science and Technology 2004.
    """

    measure: Any = "RBP(p=0.982)"
    functions: tuple[str, ...] = ("+", "*", "/", "log")
    crossover_rate: float = 0.85
    mutation_rate: float = 0.05
    n_validated: int = 10
