"""Link analysis: how important a page is, from links, hosts and URLs. One algorithm per file.

>>> from plackett.graph import LinkGraph, pagerank
>>> pagerank(LinkGraph.from_edges([("a", "b"), ("b", "a"), ("c", "a")])).round(3).tolist()  # a, b, c
[0.486, 0.464, 0.05]
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
