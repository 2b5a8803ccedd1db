"""Training on a sample of the pairs, with weights that leave the loss unbiased."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.losses.pairwise._drawn_pairs import DrawnPairs

__all__ = ["sample_pairs"]


def sample_pairs(data: RankingDataset, n_pairs: int, *, random_state: Any = 0) -> RankingDataset:
    r"""The dataset with a random sample of its pairs as preferences: any pairwise ranker trains on them alone.

    A query of m documents has up to m²/2 pairs of unequal labels. Here n pairs are drawn, with replacement and in
    proportion to their weight :math:`c_{uv}` (the product of the weights of the two documents), and each of them gets
    the weight

    .. math:: \frac{1}{n} \sum_{(u, v)} c_{uv},

    so that the expected loss, and its gradient, are those of all pairs. The standard error falls as
    :math:`1/\sqrt n`. Nothing is stored for pairs that were not drawn; a draw takes O(log rows). A pair that is drawn
    several times becomes one preference with the sum of the weights.

    Parameters
    ----------
    data
        Labelled lists, or lists with preferences, which are then sampled.
    n_pairs
        n, the number of draws.
    random_state
        Seed.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [2, 1, 0], qid=[1, 1, 1])
    >>> float(sample_pairs(data, 2).preferences.weight.sum())  # two draws stand for three pairs
    3.0
    """
    if isinstance(n_pairs, bool) or not isinstance(n_pairs, (int, np.integer)) or n_pairs < 1:
        raise DataError(f"n_pairs={n_pairs!r}; give a whole number of 1 or more")
    if data.y is None and data.preferences is None:
        raise DataError("the data have neither labels nor preferences to make pairs of")
    # weights of queries stay with the queries
    pairs = DrawnPairs(data.replace(query_weight=None), 0.0, False)
    if pairs.empty:
        raise DataError("there are no pairs to draw: in each query all labels are equal, or all weights 0")
    winner, loser, margin = pairs.draw(int(n_pairs), np.random.default_rng(random_state))
    drawn, first, times = np.unique(winner * data.n_rows + loser, return_index=True, return_counts=True)
    weight = times * (float(pairs.ends[-1]) / n_pairs)
    own = data.preferences is not None and data.preferences.margin is not None
    chosen = Preferences(drawn // data.n_rows, drawn % data.n_rows, margin[first] if own else None, weight)
    return data.replace(preferences=chosen, sample_weight=None)
