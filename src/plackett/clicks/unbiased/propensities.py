"""How likely each rank is to be examined, relative to the first: from randomised pages, and from ordinary logs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett.clicks.log import ClickLog
from plackett.clicks.models._cells import rank_counts
from plackett.clicks.unbiased._page_errors import left_out_pages

__all__ = ["em_propensities", "harvest_propensities", "randomised_propensities"]

#: Most ranks that `harvest_propensities` compares with each other.
MAX_COMPARED = 500

#: Impressions per pair from which the intervals of EM hold.
OFTEN = 300

NO_CLICKS = "no clicks at the first rank: ratios to it cannot be estimated"


@dataclass(frozen=True)
class Propensities:
    """Examination of the ranks 1, 2, …, relative to the first, with standard errors of its logarithm.

    The errors take into account that ratios share clicks and that ranks share pages, except those of `em_propensities`.

    Only ratios are identified: the first is 1. NaN marks ranks that the log does not connect with the first.
    """

    examination: np.ndarray
    log_error: np.ndarray
    method: str

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals."""
        from scipy.special import ndtri

        half = float(ndtri((1 + level) / 2)) * self.log_error
        with np.errstate(over="ignore", invalid="ignore"):
            lower, upper = self.examination * np.exp(-half), self.examination * np.exp(half)
        upper[self.examination == 0] = np.inf  # a rank without clicks has no upper end
        return lower, upper

    def plot(self, level: float = 0.95) -> Any:
        """Examination by rank with intervals (Plotly)."""
        from plackett._names.optional import optional

        go = optional("plotly.graph_objects", "plots need")
        lower, upper = self.interval(level)
        bars = {"type": "data", "array": upper - self.examination, "arrayminus": self.examination - lower}
        ranks = list(range(1, self.examination.size + 1))
        figure = go.Figure(go.Scatter(x=ranks, y=self.examination, error_y=bars, mode="lines+markers"))
        title = f"{self.method}: examination relative to the first rank"
        figure.update_layout(template="none", xaxis_title="rank", yaxis_title=title, height=420)
        return figure


def randomised_propensities(log: ClickLog, *, swapped: bool = False) -> Propensities:
    r"""Propensities from randomised pages: :math:`\theta_k / \theta_1` is the ratio of click rates.

    Parameters
    ----------
    log
        Pages in random order.
    swapped
        Pages on which only the first document was swapped with that at another rank, at random: then rates of the same
        documents at rank 1 and rank k are compared, which is `harvest_propensities`.

    References
    ----------
    Joachims, Swaminathan, Schnabel: Unbiased learning-to-rank with biased feedback. WSDM 2017.
    """
    if swapped:
        return harvest_propensities(log)
    shown = np.bincount(log.rank - 1, log.row_weight, minlength=log.longest)
    clicks = np.bincount(log.rank - 1, log.row_weight * log.clicked, minlength=log.longest)
    if clicks.size == 0 or clicks[0] == 0:
        raise DataError(NO_CLICKS)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = clicks / shown
        excess = log.row_weight * (log.clicked - rate[log.rank - 1])
        top = np.bincount(log.page, np.where(log.rank == 1, log.clicked - rate[0], 0.0), minlength=log.n_pages)
        together = np.bincount(log.rank - 1, excess * top[log.page], minlength=log.longest)  # on the same pages
        variance = (1 - rate) / np.maximum(clicks, 1e-12) + (1 - rate[0]) / clicks[0]
        error = np.sqrt(np.maximum(variance - 2 * together / np.maximum(clicks * clicks[0], 1e-12), 0.0))
    error[0] = 0.0
    return Propensities(rate / rate[0], error, "randomised")


def harvest_propensities(log: ClickLog, *, min_clicks: float = 1.0) -> Propensities:
    r"""Propensities from documents that were shown at several ranks of the same query (intervention harvesting).

    Rankers change, and move documents. For ranks k and l, each pair of query and document shown at both is a stratum
    with its own relevance; the common ratio of click rates is Mantel and Haenszel's

    .. math:: \frac{\theta_k}{\theta_l} = \frac{\sum_p c_{pk}\, n_{pl} / (n_{pk} + n_{pl})}
              {\sum_p c_{pl}\, n_{pk} / (n_{pk} + n_{pl})}

    and the ratios of all pairs of ranks are combined by weighted least squares on their logarithms. It needs no
    model of relevance, and assumes that a document did not move because its relevance changed. The standard errors come
    from leaving out each page (jackknife), whose clicks need not be independent.

    Parameters
    ----------
    min_clicks
        Ratios of two ranks with fewer clicks on either side are not used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pages = rng.permuted(np.tile(np.arange(4), (20_000, 1)), axis=1)
    >>> look, r = np.array([1.0, 0.5, 0.3, 0.2]), np.array([0.8, 0.5, 0.3, 0.1])
    >>> log = ClickLog.from_arrays(np.zeros(20_000, int), pages, rng.random(pages.shape) < look * r[pages])
    >>> harvest_propensities(log).examination.round(1).tolist()
    [1.0, 0.5, 0.3, 0.2]

    References
    ----------
    Agarwal, Zaitsev, Wang, Li, Najork, Joachims: Estimating position bias without intrusive interventions. WSDM 2019.
    """
    if log.weight is not None and not log.weight.all():
        log = log.select(np.flatnonzero(log.weight))  # pages that do not count
    m = log.longest
    if m > MAX_COMPARED:
        raise DataError(f"the log has {m} ranks; at most {MAX_COMPARED} are compared: log.truncate({MAX_COMPARED})")
    cells = rank_counts(log)
    pair, rank, clicks, shown = cells
    starts = np.flatnonzero(np.concatenate((np.ones(min(1, pair.size), bool), np.diff(pair) > 0)))
    sizes = np.diff(np.append(starts, pair.size))
    up, down, spread = np.zeros((m, m)), np.zeros((m, m)), np.zeros((m, m))
    for gap in range(1, int(sizes.max(initial=1))):  # cells of one pair that are ``gap`` entries apart
        first = np.flatnonzero(np.arange(pair.size) + gap < np.repeat(starts + sizes, sizes))
        second = first + gap
        k, l_ = rank[first], rank[second]
        total = shown[first] + shown[second]
        np.add.at(up, (k, l_), clicks[first] * shown[second] / total)
        np.add.at(down, (k, l_), clicks[second] * shown[first] / total)
        hits = clicks[first] + clicks[second]
        noise = (shown[first] * shown[second] * hits - clicks[first] * clicks[second] * total) / total**2
        np.add.at(spread, (k, l_), noise)
    i, j = np.nonzero((np.minimum(up, down) * 2 >= min_clicks) & (spread > 0))
    if not i.size:
        raise DataError(
            "no two ranks can be compared: the same documents have to be shown at both and clicked at both, but not "
            f"every time (min_clicks={min_clicks:g}); randomise the order a little"
        )
    A = np.zeros((i.size, m))
    A[np.arange(i.size), i], A[np.arange(i.size), j] = 1.0, -1.0
    b, w = np.log(up[i, j] / down[i, j]), up[i, j] * down[i, j] / spread[i, j]
    known = _connected_with_first(A)
    free = known[1:]
    gram = A[:, free].T @ (w[:, None] * A[:, free]) if free.size else np.zeros((0, 0))
    examination, error = np.full(m, np.nan), np.full(m, np.nan)
    examination[0], error[0] = 1.0, 0.0
    if free.size:
        inverse = np.linalg.pinv(gram)
        examination[free] = np.exp(inverse @ (A[:, free].T @ (w * b)))
        weight = np.zeros((m, m))
        weight[i, j], weight[j, i] = w / up[i, j], w / down[i, j]
        lost = left_out_pages(log, cells, weight)[np.ix_(free, free)]
        error[free] = np.sqrt(np.maximum(np.diag(inverse @ lost @ inverse), 0.0))
    return Propensities(examination, error, "intervention harvesting")


def _connected_with_first(rows: np.ndarray) -> np.ndarray:
    """Ranks that the ratios connect with the first one, which comes first."""
    reached, grown = {0}, True
    edges = [tuple(np.flatnonzero(row).tolist()) for row in rows]
    while grown:
        grown = False
        for a, b in edges:
            if (a in reached) != (b in reached):
                reached |= {a, b}
                grown = True
    return np.array(sorted(int(i) for i in reached))


def em_propensities(log: ClickLog, features: object = None, *, max_iter: int = 100) -> Propensities:
    """Propensities from the position-based model, by EM; with features of the documents, by regression EM.

    The intervals show the noise of the numbers of clicks alone, not what the prior of the model does: it pulls rare
    pairs together, and with some fifty pages per query examination comes out 10 to 20 % too high, so that nominal 95 %
    cover less than 10 %. With hundreds of pages per query they hold. Take `harvest_propensities` for an interval.

    Parameters
    ----------
    features
        `plackett.RankingDataset` with the features of the pairs; None gives each pair a value of its own, which needs
        documents that moved.

    References
    ----------
    Wang, Golbandi, Bendersky, Metzler, Najork: Position bias estimation for unbiased learning to rank in personal
    search. WSDM 2018.
    """
    from plackett.clicks.features import FeatureAttraction
    from plackett.clicks.models.pbm import PBM
    from plackett.clicks.profile import FIXED, documents_move

    if not log.clicked[log.rank == 1].any():
        raise DataError(NO_CLICKS)
    model = PBM(max_iter=max_iter)
    if features is None:
        if not documents_move(log):
            raise DataError(FIXED)
        model.fit(log)
    else:
        FeatureAttraction(model, n_rounds=max_iter).fit(log, features)  # type: ignore[arg-type]
    clicks = np.bincount(log.rank - 1, log.row_weight * log.clicked, minlength=log.longest)
    error = np.sqrt(1.0 / np.maximum(clicks, 1e-12) + 1.0 / max(clicks[0], 1e-12))
    error[0] = 0.0
    often = float(log.row_weight.sum()) / max(log.n_pairs, 1)
    if features is None and often < OFTEN:
        warnings.warn(
            f"intervals of EM are too narrow here: a pair of query and document was shown {often:.0f} times on "
            f"average, and below {OFTEN} the prior of the model moves the ratios; those of harvest_propensities hold",
            PlackettWarning,
            stacklevel=2,
        )
    return Propensities(model.examination_, error, "EM" if features is None else "regression EM")
