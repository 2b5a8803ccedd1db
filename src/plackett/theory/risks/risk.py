"""A risk: loss, framework and view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.arguments import row_scores
from plackett.data.dataset import RankingDataset
from plackett.theory.risks.associate_loss import AssociateLoss
from plackett.theory.risks.associate_losses import as_associate_loss
from plackett.theory.risks.standard_errors import document_standard_error, of_mean
from plackett.theory.risks.sub_lists import sub_lists

__all__ = ["Risk", "risk_standard_error"]


@dataclass(frozen=True)
class Risk:
    r"""Empirical risk of scores: a loss, what is drawn at random, and how the associates of the data are averaged.

    ===========  ==========  =============  =========================================================================
    associate    framework   view           empirical risk
    ===========  ==========  =============  =========================================================================
    document     document    average        :math:`\frac1m \sum_j L_j`, queries ignored
    document     subset      average        :math:`\frac1n \sum_i \frac{1}{m_i} \sum_j L_j`
    document     two-layer   average        the same
    pair         document    u-statistic    :math:`\frac{2}{m(m-1)} \sum_{u<v} L_{uv}` over the documents of all queries
    pair         document    bipartite      mean over the pairs of unequal labels among all documents
    pair         document    average        mean over the observed pairs (preferences, or labelled pairs of queries)
    pair         subset      u-statistic    :math:`\frac1n \sum_i \frac{2}{m_i(m_i-1)} \sum_{u<v} L_{uv}`
    pair         subset      average        :math:`\frac1n \sum_i \frac{1}{P_i} \sum L` over :math:`P_i` labelled pairs
    pair         two-layer   u-statistic    as in the subset framework
    pair         two-layer   average        as in the subset framework; the objective of `IRSVM`
    list         subset      average        :math:`\frac1n \sum_i L_i`
    list         two-layer   sub-list       mean over queries and their lists of k documents
    ===========  ==========  =============  =========================================================================

    The same number may estimate different things: frameworks differ in what is random (documents; queries with fixed
    documents; queries and then their documents), so in `FiniteWorld.expected`. A query with fewer than two judged
    documents has no U-statistic, one without labelled pairs no average: it is left out of n. Weights of the data are
    ignored.

    Parameters
    ----------
    loss
        What `as_associate_loss` takes: a loss of the library or of a user, a measure (one minus it), a true loss such
        as `PairZeroOne`, or ``"pairwise 0-1"``.
    framework
        ``"document"``, ``"subset"`` or ``"two-layer"``.
    view
        ``"u-statistic"``, ``"bipartite"``, ``"average"`` or ``"sub-list"``.
    tie
        What a tie costs in ``"pairwise 0-1"``: ``"none"``, ``"half"`` or ``"loss"``.
    scale
        Factor of the loss: 1 / log 2 makes the logistic loss a bound of the 0–1 loss.
    size, n_lists, random_state
        Of sub-lists: their number of documents, how many are drawn from each query (None takes all), the seed.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 0, 1, 0], qid=[1, 1, 1, 2, 2])
    >>> scores = [2.0, 1.0, 3.0, 0.0, 1.0]
    >>> Risk("pairwise 0-1", "two-layer", "average")(scores, data)  # (1/2 + 1) / 2
    0.75
    >>> Risk("pairwise 0-1", "document", "average")(scores, data).__round__(4)  # 2 of 3 pairs
    0.6667
    >>> Risk("pairwise 0-1", "two-layer", "u-statistic")(scores, data).__round__(4)  # (1/3 + 1) / 2
    0.6667

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, chapter 16.
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.
    """

    loss: Any
    framework: str = "two-layer"
    view: str = "average"
    tie: str = "none"
    scale: float = 1.0
    size: int = 2
    n_lists: int | None = None
    random_state: int = 0

    def __post_init__(self) -> None:
        cell = self.associate_loss.associate, self.framework, self.view
        if cell not in CELLS:
            known = [f"{framework}/{view}" for associate, framework, view in CELLS if associate == cell[0]]
            raise DataError(
                f"a loss of {cell[0]}s has no risk of framework={self.framework!r} and view={self.view!r}; "
                f"there are {', '.join(known)}"
            )

    @property
    def associate_loss(self) -> AssociateLoss:
        """The loss in the form of this package."""
        return as_associate_loss(self.loss, tie=self.tie)

    def __call__(self, scores: Any, data: RankingDataset) -> float:
        """The empirical risk of scores in the order of the dataset."""
        terms = self.terms(scores, data)
        return float(np.nanmean(terms)) if np.isfinite(terms).any() else float("nan")

    def terms(self, scores: Any, data: RankingDataset) -> np.ndarray:
        """The terms that the risk is the mean of: one per query (NaN where undefined), or a single one."""
        plain = data.replace(sample_weight=None, query_weight=None)
        values = row_scores(data, scores)
        loss = self.associate_loss
        return self.scale * CELLS[loss.associate, self.framework, self.view](self, loss, values, plain)

    def standard_error(self, scores: Any, data: RankingDataset) -> float:
        """Standard error of the risk; see `plackett.theory.risk_standard_error`."""
        if self.framework == "document":
            return self.scale * document_standard_error(self.view, self.associate_loss, row_scores(data, scores), data)
        terms = self.terms(scores, data)
        return of_mean(terms[~np.isnan(terms)])


def risk_standard_error(risk: Risk, scores: Any, data: RankingDataset) -> float:
    r"""Standard error of an empirical risk.

    Subset and two-layer framework: the deviation of the queries' losses divided by :math:`\sqrt n`. Document framework,
    average view: pairs are independent draws, so :math:`s / \sqrt{\tilde m}`. U-statistic: pairs that share a document
    are not, and by Hoeffding's decomposition :math:`\sqrt{4 \zeta_1 / m + 2 \zeta_2 / (m (m - 1))}` with
    :math:`\zeta_1` the variance over documents of their mean loss in pairs and :math:`\zeta_2` what is left of the
    variance of a pair; it falls like :math:`1/\sqrt m`, not :math:`1/m`. Bipartite view: the variances of the means of
    the documents of each label, divided by their numbers, added.

    References
    ----------
    Hoeffding: A class of statistics with asymptotically normal distribution. Annals of Mathematical Statistics 1948.
    Liu: Learning to rank for information retrieval. Springer 2011, section 16.1.2.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 0, 1, 0], qid=[1, 1, 1, 2, 2])
    >>> risk_standard_error(Risk("pairwise 0-1", "two-layer"), [2.0, 1.0, 3.0, 0.0, 1.0], data)  # of 1/2 and 1
    0.25
    """
    return risk.standard_error(scores, data)


def pooled(data: RankingDataset) -> RankingDataset:
    """All documents as those of one query, without preferences."""
    return RankingDataset.from_arrays(None, data.labels, np.zeros(data.n_rows, np.int64))


# --------------------------------------------------------------------------------------------------------------- cells


def _ratio(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.divide(sums, counts, out=np.full(counts.shape, np.nan), where=counts > 0)


def _over_all(risk: Risk, loss: AssociateLoss, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
    """Mean over the labelled associates of all queries together."""
    sums, counts = loss.sums(scores, data).sum(), loss.associates.labelled(data).sum()
    return _ratio(np.array([sums]), np.array([counts]))


def _by_query(risk: Risk, loss: AssociateLoss, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
    """Mean over the labelled associates of each query."""
    return _ratio(loss.sums(scores, data), loss.associates.labelled(data))


def _complete_by_query(risk: Risk, loss: AssociateLoss, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
    """Mean over all associates of each query."""
    return _ratio(loss.sums(scores, data), loss.associates.complete(data))


def _pooled_complete(risk: Risk, loss: AssociateLoss, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
    return _complete_by_query(risk, loss, scores, pooled(data))


def _pooled_labelled(risk: Risk, loss: AssociateLoss, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
    return _by_query(risk, loss, scores, pooled(data))


def _by_sub_list(risk: Risk, loss: AssociateLoss, scores: np.ndarray, data: RankingDataset) -> np.ndarray:
    rows, query = sub_lists(data, risk.size, risk.n_lists, risk.random_state)
    if not rows.size:
        return np.full(data.n_queries, np.nan)
    lists = RankingDataset.from_arrays(None, data.labels[rows.ravel()], np.repeat(np.arange(rows.shape[0]), risk.size))
    values = loss.sums(scores[rows.ravel()], lists)
    defined = ~np.isnan(values)  # a measure may be undefined for a list, which then does not count
    counts = np.bincount(query[defined], minlength=data.n_queries)
    return _ratio(np.bincount(query[defined], values[defined], data.n_queries), counts)


#: The risks: associate, framework, view.
CELLS: dict[tuple[str, str, str], Callable[[Risk, AssociateLoss, np.ndarray, RankingDataset], np.ndarray]] = {
    ("document", "document", "average"): _over_all,
    ("document", "subset", "average"): _by_query,
    ("document", "two-layer", "average"): _by_query,
    ("pair", "document", "u-statistic"): _pooled_complete,
    ("pair", "document", "bipartite"): _pooled_labelled,
    ("pair", "document", "average"): _over_all,
    ("pair", "subset", "u-statistic"): _complete_by_query,
    ("pair", "subset", "average"): _by_query,
    ("pair", "two-layer", "u-statistic"): _complete_by_query,
    ("pair", "two-layer", "average"): _by_query,
    ("list", "subset", "average"): _by_query,
    ("list", "two-layer", "sub-list"): _by_sub_list,
}
