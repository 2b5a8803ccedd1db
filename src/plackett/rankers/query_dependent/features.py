"""Features of queries, computed from their documents."""

from __future__ import annotations

import numpy as np

from plackett._base.arguments import whole
from plackett.data.dataset import RankingDataset
from plackett.data.feature_number import feature_number
from plackett.scorers.query_map import list_statistics

__all__ = ["query_features"]


def query_features(
    data: RankingDataset, *, reference: int | str | None = None, top: int = 10, spread: bool = True
) -> np.ndarray:
    r"""Describe each query by its documents: mean and standard deviation of each feature over the best of them.

    .. math:: z_q = \Big( \tfrac1T \sum_{j \in \text{top}} x_j,\;
              \sqrt{\tfrac1T \sum_{j \in \text{top}} (x_j - \bar x)^2} \Big)

    Two queries whose results look alike (many matches in titles, few links, …) get similar features. Missing values are
    left out of the sums. The result does not depend on the order of the documents.

    Parameters
    ----------
    data
        Documents; labels are not used.
    reference
        Feature by which the best documents are chosen, such as a BM25 score: a column number or name. None uses all
        documents of the list.
    top
        Number of best documents; those tied with the last one are included.
    spread
        Append the standard deviations.

    Returns
    -------
    numpy.ndarray
        One row per query, float32, for ``RankingDataset.replace(query_features=…)``.

    Examples
    --------
    >>> data = RankingDataset.from_arrays([[1.0], [3.0], [10.0]], qid=["a", "a", "b"])
    >>> query_features(data).tolist()
    [[2.0, 1.0], [10.0, 0.0]]
    >>> query_features(data, reference=0, top=1, spread=False).tolist()
    [[3.0], [10.0]]

    References
    ----------
    Geng, Liu, Qin, Arnold, Li, Shum: Query dependent ranking using k-nearest neighbor. SIGIR 2008.
    """
    whole("top", top, least=1)
    statistics = list_statistics(data.X, data.offsets, column_number(data, reference), top)
    return statistics if spread else statistics[:, : data.n_features]


def column_number(data: RankingDataset, column: int | str | None, parameter: str = "reference") -> int:
    """Number of a column given by name or number; −1 for None."""
    return -1 if column is None else feature_number(data, column, parameter)
