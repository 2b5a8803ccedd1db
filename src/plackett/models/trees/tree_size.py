"""How large the trees of an ensemble should be, by the size of the data."""

from __future__ import annotations

#: Leaves of the trees of a forest, for data of any size.
FOREST_LEAVES = 31
#: Smallest and largest number of leaves, and the number of documents up to which the smallest is used.
_FEWEST, _MOST, _SMALL = 4, 64, 12_000
#: Least number of documents in a leaf, and its largest share of all documents.
_LEAF, _SHARE = 20, 10


def leaves_for(n_rows: int) -> int:
    r"""Number of leaves of a tree for this many documents: :math:`4\,n / 12{,}000`, at least 4 and at most 64.

    Trees with many leaves fit the noise of small data: on some ten thousand documents 4 leaves do better than 31. From
    30,000 documents on larger trees did no harm where labels are noisy, and helped where they are not.

    >>> [leaves_for(n) for n in (100, 12_000, 30_000, 100_000, 1_000_000)]
    [4, 4, 10, 33, 64]
    """
    return min(max(round(_FEWEST * n_rows / _SMALL), _FEWEST), _MOST)


def leaf_size_for(n_rows: int) -> int:
    """Least number of documents in a leaf: a tenth of all documents, at least 1 and at most 20.

    With 20 of some dozen documents in a leaf, no tree could split at all. From 200 documents on it is 20.

    >>> [leaf_size_for(n) for n in (5, 48, 200, 1_000_000)]
    [1, 4, 20, 20]
    """
    return min(max(n_rows // _SHARE, 1), _LEAF)
