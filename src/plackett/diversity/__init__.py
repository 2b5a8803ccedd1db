"""Diversification: reorder the top of a ranked list so that it serves several readings of the query.

One method per file; each reorders the scores of any ranker. ``plackett.diversity()`` returns all by name.

>>> import plackett as pk
>>> aspects = [[0.9, 0.0], [0.8, 0.0], [0.0, 0.5], [0.3, 0.3]]
>>> data = pk.RankingDataset.from_arrays(None, None, qid=[1, 1, 1, 1])
>>> method = pk.diversity.IASelect(relevance="none")
>>> method.order(data, [4, 3, 2, 1], aspects=aspects, aspect_weight=[[0.6, 0.4]]).tolist()
[0, 2, 3, 1]
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__, "re-ranker")
