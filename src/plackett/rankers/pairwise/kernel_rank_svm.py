"""Ranking SVM with a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.moments import feature_scale
from plackett.data.preferences import Preferences
from plackett.losses.pairwise.margin_pairs import PreferencePairs, margin_pairs
from plackett.rankers.base import Ranker
from plackett.scorers.kernel import KernelSpace
from plackett.scorers.products import table_times
from plackett.solvers import pair_dual
from plackett.solvers.monitor import Monitor
from plackett.solvers.pair_svm import check_loss, train
from plackett.solvers.proved_gap import Trained, check_settings, keep_best, relative_gap, warn_of_open_gap

__all__ = ["KernelRankSVM"]

#: Maximum number of documents in pairs for the exact dual; the kernel matrix then takes 200 MB.
_MOST_DOCUMENTS = 5000
#: γ times the number of features, where γ is not given.
_WIDE = 0.01


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRankSVM(Ranker):
    r"""Ranking SVM in the dual: scores :math:`h(x) = \sum_{(u, v)} \alpha_{uv} (k(x_u, x) - k(x_v, x))`.

    The objective is that of `RankSVM`, with the kernel features instead of x. Without ``n_components`` it is solved
    exactly, to a proved gap: coordinate descent over the multipliers of all pairs, on the kernel of the documents (the
    kernel of pairs is never formed). Memory grows with the square of the number of documents in pairs, which may be at
    most 5000. With ``n_components`` the kernel is replaced by its Nyström approximation at that many random documents,
    and no pair is formed; memory is rows × components.

    Parameters
    ----------
    kernel
        ``"rbf"``, exp(−γ |x − z|²); ``"poly"``, (γ x·z + c)^degree; ``"linear"``, x·z.
    C
        Penalty for a violated pair; see `RankSVM` for the ``C`` of other tools.
    loss
        ``"hinge"`` (ξ) or ``"squared_hinge"`` (ξ²).
    gamma
        γ of the kernel; None uses 1 / number of features, and a hundredth of that for ``"rbf"``: a wider kernel is
        closer to a linear one, and 36 queries do not support more. Chosen, with C, on validation queries of several
        small sets (see "Defaults on small data" in the guide to rankers).
    coef0, degree
        c and the degree of the kernel.
    margin
        Margin by which the better document should lead: a number, or ``"label"`` for the difference of the labels. A
        preference with a margin of its own uses that instead.
    normalize
        Divide the price of a query's pairs by their weight, as in `IRSVM`.
    n_components
        Number of documents used to approximate the kernel; None is exact.
    standardize
        Divide each feature by its standard deviation.
    tol
        Relative duality gap at which to stop.
    max_iter
        Maximum number of rounds of the solver.

    Attributes
    ----------
    objective_, gap_, n_iter_
        The objective, its proved relative gap, rounds of the solver; with ``n_components`` of the approximate problem.

    Examples
    --------
    >>> ranker = KernelRankSVM().fit([[-2.0], [-1.0], [0.0], [1.0], [2.0]], [2, 1, 0, 1, 2], qid=[1] * 5)
    >>> ranker.rank([[-2.0], [0.5], [1.4]], qid=[2, 2, 2])
    array([1, 3, 2])

    References
    ----------
    Herbrich, Graepel, Obermayer: Large margin rank boundaries for ordinal regression. 2000.
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. 2012, chapter on ranking.
    Williams and Seeger: Using the Nyström method to speed up kernel machines. NIPS 2000.
    """

    takes_preferences: ClassVar[bool] = True
    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = None  # `max_iter` is an upper bound that training rarely reaches
    search_space: ClassVar[SearchSpace] = {"C": Real(1e-4, 10.0, log=True), "gamma": Real(1e-5, 1.0, log=True)}

    kernel: str = "rbf"
    C: float = 0.1
    loss: str = "hinge"
    gamma: float | None = None
    coef0: float = 0.0
    degree: int = 3
    margin: float | str = 1.0
    normalize: bool = False
    n_components: int | None = None
    standardize: bool = True
    tol: float = 1e-3
    max_iter: int = 1000

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Training stops after `max_iter` rounds at the latest."""
        return {"max_iter": rounds}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if self.n_components is not None and self.n_components < 1:
            raise DataError(f"n_components={self.n_components}; give 1 or more, or None for the exact dual")
        check_loss(self.loss)
        check_settings(self.C, self.tol, self.max_iter)
        scale = feature_scale(data.X, data.row_weight, self.standardize)
        gamma = self.gamma
        if gamma is None and self.kernel == "rbf":
            gamma = _WIDE / max(data.n_features, 1)
        space = KernelSpace.of(self.kernel, scale, gamma, self.coef0, self.degree, self.n_jobs)
        solve = self._exact if self.n_components is None else self._approximate
        support, trained = solve(data, monitor, space)
        used = trained.weights != 0
        self.objective_, self.gap_, self.n_iter_ = trained.objective, trained.gap, trained.n_iter
        self.scorer_ = space.scorer(support[used], trained.weights[used])

    def _exact(self, data: RankingDataset, monitor: Monitor, space: KernelSpace) -> tuple[np.ndarray, Trained]:
        """Scaled documents in pairs, and their weights."""
        pairs = _explicit(data, self.margin, self.normalize)
        counts = pairs.weight > 0
        rows, inverse = np.unique(np.stack([pairs.winner[counts], pairs.loser[counts]]), return_inverse=True)
        if rows.size > _MOST_DOCUMENTS:
            raise DataError(
                f"{rows.size} documents are in pairs, but the exact dual takes at most {_MOST_DOCUMENTS}; set "
                "n_components=500 or so for Nyström features, or use RankSVM"
            )
        support = space.scaled(data.X[rows])
        winner, loser = inverse.reshape(2, -1)
        kept = Trained(np.zeros(rows.size))
        dual = 0.0
        seen = None if monitor.valid is None else space.kernel(monitor.valid.X, support)
        step = keep_best(kept, monitor, lambda _, weights: table_times(seen, weights[:, None], self.n_jobs)[:, 0])
        K = space.kernel(data.X[rows], support)
        margin, price, squared = pairs.margin[counts], self.C * pairs.weight[counts], self.loss == "squared_hinge"
        with monitor.training(self.max_iter, "KernelRankSVM"):
            solution = pair_dual.minimise(
                K,
                winner,
                loser,
                margin,
                price,
                squared=squared,
                tol=self.tol,
                max_iter=self.max_iter,
                rng=np.random.default_rng(self.random_state),
                n_jobs=self.n_jobs,
                monitor_step=step,
            )
            dual = solution.dual
            if kept.n_iter == 0:  # there was nothing to do
                step(solution.coef)
        scores = table_times(K, kept.weights[:, None], self.n_jobs)[:, 0]
        slack = np.maximum(margin - (scores[winner] - scores[loser]), 0.0)
        kept.objective = 0.5 * float(kept.weights @ scores) + float(price @ (slack**2 if squared else slack))
        kept.gap = relative_gap(kept.objective, dual)
        if not (kept.stopped or monitor.interrupted):
            warn_of_open_gap("KernelRankSVM", solution.gap, self.tol, kept.n_iter)
        return support, kept

    def _approximate(self, data: RankingDataset, monitor: Monitor, space: KernelSpace) -> tuple[np.ndarray, Trained]:
        """Scaled landmarks, and their weights."""
        pairs = margin_pairs(data, margin=self.margin, normalize=self.normalize, n_jobs=self.n_jobs)
        rng = np.random.default_rng(self.random_state)
        n = min(int(self.n_components or 1), data.n_rows)
        support = space.scaled(data.X[np.sort(rng.choice(data.n_rows, n, replace=False))])
        values, vectors = np.linalg.eigh(space.kernel(support * space.scale, support))
        kept = values > 1e-10 * max(values.max(), np.finfo(float).tiny)
        root = vectors[:, kept] / np.sqrt(values[kept])
        valid_X = None if monitor.valid is None else _features(space, monitor.valid.X, support, root)
        trained = train(
            _features(space, data.X, support, root),
            np.ones(root.shape[1]),
            pairs,
            C=self.C,
            loss=self.loss,
            tol=self.tol,
            max_iter=self.max_iter,
            monitor=monitor,
            valid_X=valid_X,
            what="KernelRankSVM",
            n_jobs=self.n_jobs,
        )
        trained.weights = root @ trained.weights
        return support, trained


def _features(space: KernelSpace, X: Any, support: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Nyström features of rows, in blocks: the kernel with all of the support is not kept."""
    out = np.empty((X.shape[0], root.shape[1]), np.float32)
    for start in range(0, X.shape[0], 4096):
        part = slice(start, start + 4096)
        out[part] = space.kernel(X[part], support) @ root
    return out


def _explicit(data: RankingDataset, margin: float | str, normalize: bool) -> PreferencePairs:
    """All pairs, formed; those of labels where the dataset has no preferences."""
    if data.preferences is None:
        data = data.replace(preferences=Preferences.from_labels(data, margin=margin == "label"))
    margin_pairs(data, margin=margin)  # looks at the margin
    return PreferencePairs(data, margin, normalize)
