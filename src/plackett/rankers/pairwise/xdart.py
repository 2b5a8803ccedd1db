"""X-DART: LambdaMART with permanent dropout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._base.search_space import SearchSpace
from plackett.models.trees.dropout_trees import DropoutTrees
from plackett.rankers.pairwise.lambdamart import LambdaMART

__all__ = ["XDART"]


@dataclass(kw_only=True, eq=False, repr=False)
class XDART(LambdaMART, DropoutTrees):
    """X-DART: LambdaMART that drops trees while it grows others, permanently if it is better without them.

    The ensemble is smaller than that of DART for the same quality. All of DART's variants are parameters:
    ``drop_for_good="never"`` is DART; `plackett.models.DropoutTrees` has the rules. With validation data,
    as in the paper, those decide which trees are removed; otherwise the training data do.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = XDART(n_estimators=10).fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Lucchese, Nardini, Orlando, Perego, Trani: X-DART: blending dropout and pruning for efficient learning to rank.
    SIGIR 2017.
    """

    search_space: ClassVar[SearchSpace] = {**DropoutTrees.search_space, "measure": ("nDCG", "AP")}

    drop_rate: float = 0.015
    drop_growth: float | None = 0.5
    drop_for_good: str = "best"
