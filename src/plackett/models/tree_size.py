"""How large the trees of an ensemble should be, by the size of the data."""

from __future__ import annotations

import math

from plackett.data.dataset import RankingDataset

__all__ = ["MOST_LEAVES", "leaf_size_for", "leaves_for"]

#: Most leaves, for data of any size.
MOST_LEAVES = 31
#: Fewest leaves, and the number of documents up to which there are so few.
_FEWEST, _SMALL = 4, 10_000
#: Least number of documents in a leaf, and the share of the documents that it is at most.
_LEAF, _SHARE = 20, 10


def leaves_for(data: RankingDataset) -> int:
    r"""Number of leaves of a tree for this many documents: :math:`4\sqrt{n / 10{,}000}`, at least 4 and at most 31.

    Trees with many leaves fit the noise of small data: below some ten thousand documents 4 leaves do better than 31.

    >>> import numpy as np
    >>> sizes = (100, 10_000, 40_000, 1_000_000)
    >>> [leaves_for(RankingDataset.from_arrays(np.zeros((n, 1)), np.zeros(n))) for n in sizes]
    [4, 4, 8, 31]
    """
    return min(max(round(_FEWEST * math.sqrt(data.n_rows / _SMALL)), _FEWEST), MOST_LEAVES)


def leaf_size_for(data: RankingDataset) -> int:
    """Least number of documents in a leaf: a tenth of all documents, at least 1 and at most 20.

    With 20 of some dozen documents in a leaf, no tree could split at all. From 200 documents on it is 20.

    >>> import numpy as np
    >>> sizes = (5, 48, 200, 1_000_000)
    >>> [leaf_size_for(RankingDataset.from_arrays(np.zeros((n, 1)), np.zeros(n))) for n in sizes]
    [1, 4, 20, 20]
    """
    return min(max(data.n_rows // _SHARE, 1), _LEAF)
