"""Query-level normalisation as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.data.scaling import beside, check_method, scale_queries, with_relative_names
from plackett.data.transformer import QueryTransformer

__all__ = ["QueryNormalizer"]


class QueryNormalizer(QueryTransformer):
    r"""Normalise each feature within each query.

    With :math:`x_1 \dots x_m` the values of one feature over the documents of one query:

    ==========  =====================================================================================================
    method
    ==========  =====================================================================================================
    ``minmax``  :math:`(x_i - \min x) / (\max x - \min x)`; LETOR's QueryLevelNorm and RankLib's ``linear``
    ``zscore``  :math:`(x_i - \bar x) / s` with the sample deviation :math:`s` (divisor :math:`m - 1`), as in RankLib
    ``sum``     :math:`x_i / \sum_j |x_j|`, as in RankLib
    ``rank``    rank of :math:`x_i` from below, ties sharing their mean rank, scaled to 0…1
    ==========  =====================================================================================================

    A feature that is constant in a query becomes 0 there (with ``sum``, only a feature of zeros stays 0). NaN stays NaN
    and is otherwise ignored. Nothing is learned from the training data: each query is normalised by itself, so its
    documents must be transformed together.

    ``X`` is an array or frame with a separate ``qid`` (in any order), a frame with a ``qid`` column (which is kept
    unchanged) or a `RankingDataset` (returns a dataset). In a scikit-learn pipeline, ``qid`` arrives by metadata
    routing, without further requests; without routing, use the column. Sparse input is rejected if it would become
    dense, that is by all methods except ``sum``.

    Parameters
    ----------
    method
        ``"minmax"``, ``"zscore"``, ``"sum"`` or ``"rank"``.
    keep
        Keep the features as they are, and append the normalised ones, named ``… in list``. Trees can then use both how
        large a value is and how it compares with the other documents of the list.
    n_jobs
        Number of threads; None is all cores.

    Examples
    --------
    >>> X = np.array([[1.0], [10.0], [3.0], [20.0], [2.0]])
    >>> QueryNormalizer().fit_transform(X, qid=["a", "b", "a", "b", "a"]).ravel().tolist()
    [0.0, 0.0, 1.0, 1.0, 0.5]
    >>> QueryNormalizer(keep=True).fit_transform(X, qid=np.array(["a", "b", "a", "b", "a"]))[2].tolist()
    [3.0, 1.0]

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval. 2010.
    """

    def __init__(self, method: str = "minmax", *, keep: bool = False, n_jobs: int | None = None) -> None:
        self.method = method
        self.keep = keep
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.method == "sum"
        return tags

    def check_parameters(self, features: Any) -> None:
        """Reject parameters that are wrong, or wrong for these features."""
        check_method(self.method, features)

    def apply(self, features: Any, offsets: np.ndarray) -> Any:
        """The new features of rows that are grouped by query."""
        scaled = scale_queries(features, offsets, self.method, self.n_jobs)
        return beside(features, scaled) if self.keep else scaled

    def names_out(self, names: Any) -> Any:
        """Names of the new features, given those of the old ones."""
        if not self.keep:
            return names
        with_qid = len(names) > self.n_features_in_
        return with_relative_names(names, [j for j, name in enumerate(names) if not (with_qid and name == "qid")])
