"""Which features to keep: similarity of features, greedy selection, and quality against cost. One method per file.

>>> from plackett.feature_selection import greedy_choice
>>> similarity = [[1, 0.95, 0.1], [0.95, 1, 0.2], [0.1, 0.2, 1]]
>>> greedy_choice([0.9, 0.85, 0.5], similarity, n_features=2, redundancy=0.25)[0].tolist()
[0, 2]
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
