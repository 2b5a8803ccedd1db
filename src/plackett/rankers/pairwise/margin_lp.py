"""The largest ranking margin, by linear programming."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError, LossError
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.models._products import table_times
from plackett.models.base import Monitor
from plackett.models.linear import LinearScorer, spread
from plackett.models.search_space import Real, SearchSpace
from plackett.rankers.base import Ranker
from plackett.rankers.pointwise._sides import document_weight

__all__ = ["MarginLP"]

#: Pairs of the first program, and the most that are added each time.
_BATCH = 2_000
#: A pair is short of the margin by more than rounding.
_SHORT = 1e-9


@dataclass(kw_only=True, eq=False, repr=False)
class MarginLP(Ranker):
    r"""The linear ranker of the largest L1 margin, by linear programming.

    .. math:: \max_{v, \rho, \xi \ge 0}\ \rho - \frac{1}{\nu W} \sum_{(a, b)} w_{ab}\,\xi_{ab}
              \quad\text{subject to}\quad
              v \cdot (x_a - x_b) \ge \rho - \xi_{ab},\quad \lVert v \rVert_1 \le 1,

    over the pairs "a before b", W their weight. At most the share ν of the pairs ends below the margin ρ; ν = 0 allows
    none, and then ρ is the largest smallest margin: positive if and only if some weights order all pairs rightly, and
    by duality the value of the game between a distribution over pairs and the best feature (up to sign) for it. For
    features of 0 and 1 that is the margin which boosting is measured by; RankBoost need not reach it.

    The program is solved by SciPy's HiGHS on some pairs; those that are short of the margin are added until there are
    none. It is exact and meant for small data: the pairs are listed, and with ν > 0 the program ends up with about ν of
    them as rows. Explicit preferences take the place of the pairs of unequal labels; their margins are not used.

    Parameters
    ----------
    nu
        Share ν of the pairs that may be short of the margin, 0 to below 1.
    standardize
        Divide each feature by its standard deviation first; otherwise features of a large scale are cheap.
    max_pairs
        Refuse data of more pairs than this.

    Attributes
    ----------
    margin_
        The margin ρ, in units of the (standardised) features. It is not saved with the model.

    Examples
    --------
    >>> ranker = MarginLP(nu=0.0, standardize=False).fit([[0.0], [1.0], [3.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.margin_
    1.0

    References
    ----------
    Rudin, Schapire: Margin-based ranking and an equivalence between AdaBoost and RankBoost. JMLR 2009.
    Demiriz, Bennett, Shawe-Taylor: Linear programming boosting via column generation. Machine Learning 2002.
    """

    ids: ClassVar[tuple[str, ...]] = ("M-40",)
    paper: ClassVar[str] = "Rudin, Schapire 2009"
    allow_nan: ClassVar[bool] = False
    search_space: ClassVar[SearchSpace] = {"nu": Real(0.01, 0.6, log=True)}

    nu: float = 0.1
    standardize: bool = True
    max_pairs: int = 1_000_000

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if not 0.0 <= self.nu < 1.0:
            raise LossError(f"nu={self.nu}; give a share of the pairs, 0 to below 1")
        scale = spread(data.X, document_weight(data), self.n_jobs) if self.standardize else np.ones(data.n_features)
        pairs, weight = self._pairs(data)
        with monitor.training(1, "MarginLP"):
            weights, margin = np.zeros(data.n_features), 0.0
            if len(pairs):
                weights, margin = _largest_margin(data.X, scale, pairs, weight, self.nu, self.n_jobs)
            scorer = LinearScorer((weights / scale)[:, None], np.zeros(1))
            valid = monitor.valid
            monitor.update(None if valid is None else scorer.predict(valid.X, valid.offsets, self.n_jobs))
        self.scorer_, self.margin_ = scorer, margin

    def _pairs(self, data: RankingDataset) -> tuple[Preferences, np.ndarray]:
        """All pairs of positive weight, and their weights."""
        pairs = data.preferences
        if pairs is None:
            n_pairs = _count_pairs(data)
            if n_pairs > self.max_pairs:
                raise DataError(
                    f"the labels make {n_pairs:,} pairs, more than max_pairs={self.max_pairs:,}; "
                    "give fewer queries, or use SmoothMarginRanking"
                )
            pairs = Preferences.from_labels(data, margin=False)
        weight = np.ones(len(pairs)) if pairs.weight is None else pairs.weight
        if data.sample_weight is not None:
            weight = weight * data.sample_weight[pairs.winner] * data.sample_weight[pairs.loser]
        if data.query_weight is not None:
            weight = weight * data.query_weight[data.query_of_row[pairs.winner]]
        some = np.flatnonzero(weight)
        return pairs.take(some), weight[some]


def _count_pairs(data: RankingDataset) -> int:
    """Number of pairs of unequal labels."""
    judged = np.flatnonzero(data.labels >= 0)
    groups = np.stack([data.query_of_row[judged], data.labels[judged]], axis=1)
    same = np.unique(groups, axis=0, return_counts=True)[1].astype(np.float64)
    sizes = np.bincount(data.query_of_row[judged]).astype(np.float64)
    return int((sizes @ sizes - same @ same) / 2)


def _largest_margin(
    X: Any, scale: np.ndarray, pairs: Preferences, weight: np.ndarray, nu: float, n_jobs: int | None
) -> tuple[np.ndarray, float]:
    """Weights of the scaled features, and ρ."""
    price = np.full(weight.size, np.inf) if nu == 0 else weight / (nu * weight.sum())
    chosen = np.linspace(0, weight.size - 1, min(weight.size, _BATCH)).astype(np.int64)
    while True:
        weights, margin = _solve(_differences(X, scale, pairs.take(chosen)), price[chosen])
        scores = table_times(X, (weights / scale)[:, None], n_jobs)[:, 0]
        short = margin - (scores[pairs.winner] - scores[pairs.loser])
        short[chosen] = 0.0
        worst = np.argsort(-short, kind="stable")[:_BATCH]
        worst = worst[short[worst] > _SHORT * max(1.0, abs(margin))]
        if worst.size == 0:
            return weights, margin
        chosen = np.concatenate([chosen, worst])


def _differences(X: Any, scale: np.ndarray, pairs: Preferences) -> np.ndarray:
    winner, loser = X[pairs.winner], X[pairs.loser]
    if not isinstance(X, np.ndarray):
        winner, loser = winner.toarray(), loser.toarray()
    return (winner.astype(np.float64) - loser) / scale


def _solve(differences: np.ndarray, price: np.ndarray) -> tuple[np.ndarray, float]:
    """The program on some pairs: variables v⁺, v⁻, ρ, and ξ where slack has a price."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, eye_array, hstack, vstack

    m, d = differences.shape
    soft = bool(np.isfinite(price).all())
    reach = float(np.abs(differences).max(initial=0.0)) + 1.0  # no margin is larger; a few pairs alone may bound none
    rows = [csr_matrix(np.hstack([-differences, differences, np.ones((m, 1))]))]
    norm = [csr_matrix(np.append(np.ones(2 * d), 0.0)[None, :])]
    cost = np.append(np.zeros(2 * d), -1.0)
    bounds = [(0.0, None)] * (2 * d) + [(-reach, reach)]
    if soft:
        rows.append(-eye_array(m, format="csr"))
        norm.append(csr_matrix((1, m)))
        cost = np.append(cost, price)
        bounds += [(0.0, None)] * m
    found = linprog(
        cost,
        vstack([hstack(rows), hstack(norm)], format="csr"),
        np.append(np.zeros(m), 1.0),
        bounds=bounds,
        method="highs",
    )
    if found.status != 0:
        raise LossError(f"MarginLP: the linear program was not solved ({found.message})")
    return found.x[:d] - found.x[d : 2 * d], float(found.x[2 * d])
