"""Rank aggregation: one order out of several lists, one method per file. ``plackett.aggregation()`` gives all by name.

>>> from plackett.aggregation import Borda, RankLists
>>> lists = RankLists.from_orders([["a", "b", "c"], ["b", "a", "c"], ["b", "c", "a"]])
>>> Borda().order(lists)
['b', 'a', 'c']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._lazy import open_package

if TYPE_CHECKING:
    from plackett.aggregation.base import Aggregation as Aggregation
    from plackett.aggregation.borda import Borda as Borda
    from plackett.aggregation.comb import CombANZ as CombANZ
    from plackett.aggregation.comb import CombMAX as CombMAX
    from plackett.aggregation.comb import CombMED as CombMED
    from plackett.aggregation.comb import CombMIN as CombMIN
    from plackett.aggregation.comb import CombMNZ as CombMNZ
    from plackett.aggregation.comb import CombSUM as CombSUM
    from plackett.aggregation.condorcet import Condorcet as Condorcet
    from plackett.aggregation.cps import CPS as CPS
    from plackett.aggregation.fusing import aggregate as aggregate
    from plackett.aggregation.fusing import fuse as fuse
    from plackett.aggregation.fuzzy import Fuzzy as Fuzzy
    from plackett.aggregation.genetic import Genetic as Genetic
    from plackett.aggregation.isr import ISR as ISR
    from plackett.aggregation.kemeny import Kemeny as Kemeny
    from plackett.aggregation.lists import RankLists as RankLists
    from plackett.aggregation.log_isr import LogISR as LogISR
    from plackett.aggregation.mallows import MallowsConsensus as MallowsConsensus
    from plackett.aggregation.markov_chains import MC1 as MC1
    from plackett.aggregation.markov_chains import MC2 as MC2
    from plackett.aggregation.markov_chains import MC3 as MC3
    from plackett.aggregation.markov_chains import MC4 as MC4
    from plackett.aggregation.median_rank import MedianRank as MedianRank
    from plackett.aggregation.plackett_luce import BayesianPlackettLuce as BayesianPlackettLuce
    from plackett.aggregation.rrf import RRF as RRF

open_package(
    __name__,
    "aggregation",
    {"Aggregation": "base", "RankLists": "lists", "aggregate": "fusing", "fuse": "fusing"},
    lambda item, cls: cls,
)
