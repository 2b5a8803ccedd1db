"""How large is a collection that can only be sampled?"""

from __future__ import annotations

from plackett._base.arguments import whole
from plackett._base.errors import DataError

__all__ = ["capture_recapture"]


def capture_recapture(n_one: int, n_other: int, n_both: int) -> float:
    r"""Estimated number of documents of a collection, from two independent samples: :math:`n_1 n_2 / n_{12}`.

    Two search engines that crawled independently found :math:`n_1` and :math:`n_2` documents, :math:`n_{12}` of them
    both. If finding a document by one makes it likelier to be found by the other (popular pages), the estimate is too
    low.

    Parameters
    ----------
    n_one, n_other, n_both
        Documents of one sample, of the other, and of both.

    Examples
    --------
    >>> capture_recapture(200, 300, 60)
    1000.0

    References
    ----------
    Lawrence, Giles: Searching the world wide web. Science 280, 1998.
    """
    n_one, n_other, n_both = (
        whole(name, value, least=1) for name, value in {"n_one": n_one, "n_other": n_other, "n_both": n_both}.items()
    )
    if n_both > min(n_one, n_other):
        raise DataError(
            f"{n_both} documents in both of two samples of {n_one} and {n_other}; give no more than are in each"
        )
    return n_one * n_other / n_both
