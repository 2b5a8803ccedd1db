"""Continuous conditional random fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett._base.estimator import clone
from plackett._base.search_space import Real, SearchSpace
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.relation_builders.neighbours import Neighbours
from plackett.data.relations import Relation
from plackett.data.weights import given_or_ones
from plackett.rankers.base import Ranker
from plackett.rankers.blend import Blend
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.rankers.wrapper import base_ranker
from plackett.scorers.blend import BlendScorer
from plackett.scorers.continuous_crf import ContinuousCRFScorer, RelationTerms
from plackett.scorers.linear import LinearScorer
from plackett.scorers.relations.lookup import relation_of
from plackett.solvers.monitor import Monitor
from plackett.solvers.quasi_newton import quasi_newton

__all__ = ["ContinuousCRF"]


@dataclass(kw_only=True, eq=False, repr=False)
class ContinuousCRF(Ranker):
    r"""Continuous conditional random field: the scores of a list have a joint density, learned by maximum likelihood,

    .. math:: \Pr(y \mid x) = \frac{1}{Z(x)} \exp\Big\{ -\sum_k \alpha_k \sum_j (y_j - x_{jk})^2
              - \sum_l \frac{\beta_l}{2} \sum_{u, v} S^l_{uv} (y_u - y_v)^2
              + \sum_r \gamma_r \sum_{(c, p)} w^r_{cp} (y_p - y_c) \Big\}.

    Each :math:`x_k` is an estimate of the label; similar documents have similar labels; parents have higher labels than
    their children. All weights are positive, so the density is Gaussian: with :math:`a = \sum_k \alpha_k`,
    :math:`A = aI + \sum_l \beta_l L_l` and :math:`b = X\alpha + \frac12 \sum_r \gamma_r (\text{children} -
    \text{parents})` its mean is :math:`\mu = A^{-1} b`, by which documents are ranked, and its precision 2A.

    The estimates are the scores of a linear regression on all features, or of other rankers, each turned into labels by
    a regression of its own. ``base=None`` takes the features themselves, as the paper does. Their mean cannot say more
    than each of them alone, so this suits a few features that are estimates of the label already.

    With one relation of similarities, its eigenvalues are computed once per list, and a training step costs as much as
    a solve by conjugate gradients; with several, each step factorises a dense matrix per list. Labels are used as
    numbers; an unjudged document, or one of weight 0, has the mean of its own estimates as its label.

    Parameters
    ----------
    base
        Source of the estimates: a ranker, or a list of rankers (objects or names), which are trained first; or None for
        the features of the dataset.
    similar, parents
        Names of the relations of each kind, or builders such as ``Neighbours(k=10)``.
    alpha
        Penalty on the logarithms of the weights, which keeps them finite: α/2 times their squared distance from the
        start, added to the mean negative log-likelihood of a query.
    max_iter, tol
        Maximum number of iterations of L-BFGS, and the change at which to stop.

    Attributes
    ----------
    alpha_, beta_, gamma_
        Learned weights: of the features, of the similarities, of the parents.

    Examples
    --------
    >>> import plackett as pk
    >>> X, y, qid = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2], [1, 1, 1, 1]
    >>> similar = pk.Relation.from_pairs([(0, 1), (2, 3)])
    >>> data = pk.RankingDataset.from_arrays(X, y, qid, relations={"similarity": similar})
    >>> ContinuousCRF().fit(data).rank(data).tolist()
    [4, 3, 2, 1]

    References
    ----------
    Qin, Liu, Zhang, Wang, Li: Global ranking using continuous conditional random fields. NIPS 2008.
    """

    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True)}
    _test_settings: ClassVar[dict[str, Any]] = {"similar": (Neighbours(k=2),)}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"base": None, "parents": (Neighbours(k=1),)},)
    _test_skips: ClassVar[tuple[str, ...]] = ("interrupt",)  # an interrupt ends a ranker inside, not a round

    base: Any = "LinearRegression"
    similar: Sequence[Any] = ("similarity",)
    parents: Sequence[Any] = ()
    alpha: float = 1e-3
    max_iter: int = 100
    tol: float = 1e-8

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Whether NaN features are treated as missing values: if all rankers inside do."""
        return bool(self.parts()) and all(ranker.allow_nan for ranker in self.parts())

    def parts(self) -> list[Ranker]:
        """The rankers inside, as given."""
        if self.base is None:
            return []
        given = self.base if isinstance(self.base, (list, tuple)) else [self.base]
        if not given:
            raise DataError("base=[]; give rankers, or None for the features")
        return [base_ranker(one) for one in given]

    def _relations(self, data: RankingDataset) -> tuple[list[Relation], list[Relation]]:
        for name in ("similar", "parents"):
            if isinstance(getattr(self, name), str) or callable(getattr(self, name)):
                raise DataError(f"{name}={getattr(self, name)!r}; give a list of relations: [{getattr(self, name)!r}]")
        ranker_name = type(self).__name__
        similar, parents = (
            [relation_of(data, key, ranker_name, self.n_jobs) for key in keys] for keys in (self.similar, self.parents)
        )
        return similar, parents

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        number("alpha", self.alpha, least=0)
        members = [clone(ranker) for ranker in self.parts()]
        for member in members:
            member.n_jobs, member.verbose = self.n_jobs, False
            if member.fit_prepared(data, monitor.valid).interrupted:
                raise KeyboardInterrupt
        table = _table(members, data)
        slope, intercept = _regressed(table, data)
        function = Likelihood(data, table * slope + intercept, *self._relations(data), n_jobs=self.n_jobs)
        valid = None
        if monitor.valid is not None:
            valid = _table(members, monitor.valid) * slope + intercept
            valid_terms = RelationTerms(monitor.valid, *self._relations(monitor.valid), n_jobs=self.n_jobs)
        start = function.start()
        best = start.copy()
        total = function.total

        def objective(log: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = function.evaluate(log)
            far = log - start
            return 0.5 * self.alpha * float(far @ far) - value / total, self.alpha * far - gradient / total

        def stop(log: np.ndarray) -> bool:
            parts = function.split(np.exp(log))
            better, enough = monitor.judge(lambda _: valid_terms.mean(valid @ parts[0], *parts))
            if better:
                best[:] = log
            return enough

        bounds = [(center - 12.0, center + 12.0) for center in start]
        with monitor.training(self.max_iter, "ContinuousCRF"):
            quasi_newton(objective, start, stop, bounds=bounds, maxiter=self.max_iter, ftol=self.tol, gtol=1e-7)
            if monitor.n_rounds == 0:  # there was nothing to do
                stop(start)
        alpha, beta, gamma = function.split(np.exp(best))
        estimate = self._estimate(members, slope, intercept, alpha / alpha.sum(), data)
        self.scorer_ = ContinuousCRFScorer(
            (estimate,), tuple(self.similar), tuple(self.parents), alpha, beta.copy(), gamma.copy()
        )

    @property
    def alpha_(self) -> np.ndarray:
        """Learned weights of the features."""
        return self._learned.alpha

    @property
    def beta_(self) -> np.ndarray:
        """Learned weights of the similarities."""
        return self._learned.beta

    @property
    def gamma_(self) -> np.ndarray:
        """Learned weights of the parents."""
        return self._learned.gamma

    @property
    def _learned(self) -> ContinuousCRFScorer:
        self.check_fitted()
        return self.scorer_  # type: ignore[no-any-return]

    def _estimate(
        self,
        members: list[Ranker],
        slope: np.ndarray,
        intercept: np.ndarray,
        share: np.ndarray,
        data: RankingDataset,
    ) -> Ranker:
        """The mean of the estimates, weighted by α, as a ranker; a linear function of the features or of the scores."""
        ranker: Ranker
        if members:
            ranker = Blend(members=tuple(clone(member) for member in members), n_jobs=self.n_jobs)
            ranker.weights_ = share
            ranker.scorer_ = BlendScorer(tuple(members), share * slope)
        else:
            ranker = GradientRanker(loss="Square", n_jobs=self.n_jobs)
            ranker.scorer_ = LinearScorer((share * slope)[:, None], np.array([share @ intercept]))
        ranker.note_training(data, Monitor())
        return ranker


def _table(members: list[Ranker], data: RankingDataset) -> np.ndarray:
    """The estimates before they are turned into labels: scores of rankers, or the features."""
    if members:
        return np.stack([member.score_rows(data) for member in members], axis=1)
    return dense(data.X).astype(np.float64)


def _regressed(table: np.ndarray, data: RankingDataset) -> tuple[np.ndarray, np.ndarray]:
    """Slope and intercept of the regression of the label on each column; slope 0 for constant columns."""
    judged = data.labels >= 0
    weight = np.where(judged, data.row_weight, 0.0)
    if not weight.any():
        return np.ones(table.shape[1]), np.zeros(table.shape[1])
    weight = weight / weight.sum()
    mean, label = weight @ table, float(weight @ np.where(judged, data.labels, 0.0))
    centred = table - mean
    spread = weight @ centred**2
    shared = (weight * (np.where(judged, data.labels, 0.0) - label)) @ centred
    varies = spread > 1e-12 * np.maximum(mean**2, 1e-30)
    slope = np.divide(shared, spread, out=np.zeros_like(spread), where=varies)
    return slope, label - slope * mean


class Likelihood(RelationTerms):
    """Log likelihood of the labels of a dataset, and its gradient, by the logarithms of all weights."""

    def __init__(
        self,
        data: RankingDataset,
        estimates: np.ndarray,
        similar: list[Relation],
        parents: list[Relation],
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(data, similar, parents, n_jobs)
        self.x = np.ascontiguousarray(estimates)
        taught = (data.labels >= 0) & (data.row_weight > 0)
        self.y = np.where(taught, data.labels, self.x.mean(axis=1))
        weight = given_or_ones(data.query_weight, data.n_queries)
        self.query_weight, self.weight = weight, weight[data.query_of_row]
        self.total = max(float(weight.sum()), np.finfo(float).tiny)
        self.eigenvalues = np.zeros(data.n_rows)
        if len(similar) == 1:
            unit = self.units[0]
            over_queries(_spectrum, data.offsets, unit.pointers, unit.other, unit.weight, self.eigenvalues,
                         n_jobs=n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD)  # fmt: skip

    def start(self) -> np.ndarray:
        """Initial weights: those of independent estimates with their observed variances, and weak relations."""
        error = np.average((self.y[:, None] - self.x) ** 2, axis=0, weights=self.weight)
        alpha = 0.5 / np.maximum(error, 1e-4) / self.x.shape[1]
        others = np.full(len(self.similar) + len(self.lifts), 0.1 * alpha.sum())
        return np.log(np.concatenate([alpha, others]))

    def split(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """α, β and γ."""
        k, s = self.x.shape[1], len(self.similar)
        return weights[:k], weights[k : k + s], weights[k + s :]

    def evaluate(self, log: np.ndarray) -> tuple[float, np.ndarray]:
        """Σ_q w_q log Pr(y|x), and its gradient for the logarithms of the weights."""
        weights = np.exp(log)
        alpha, beta, gamma = self.split(weights)
        a, w, y = float(alpha.sum()), self.weight, self.y
        mu = self.mean(self.x @ alpha, alpha, beta, gamma)
        off = y - mu
        rough = [unit.times(off) - off for unit in self.units]  # L (y − μ)
        logdet, trace, traces = self._traces(a, beta)
        square = a * (w * off) @ off + sum(b * ((w * off) @ r) for b, r in zip(beta, rough, strict=True))
        value = -square + 0.5 * logdet - 0.5 * np.log(np.pi) * float(w.sum())
        d_alpha = -(w @ y**2) + 2.0 * (self.x.T @ (w * off)) + w @ mu**2 + 0.5 * trace
        d_beta = [
            -((w * y) @ (unit.times(y) - y)) + (w * mu) @ (unit.times(mu) - mu) + 0.5 * t
            for unit, t in zip(self.units, traces, strict=True)
        ]
        d_gamma = [(w * off) @ c for c in self.lifts]
        return float(value), weights * np.concatenate([d_alpha, d_beta, d_gamma])

    def _traces(self, a: float, beta: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Log |A|, tr A⁻¹ and tr A⁻¹ L of each relation, summed over the queries by their weights."""
        w = self.weight
        if len(self.units) <= 1:
            b = float(beta[0]) if self.units else 0.0
            full = a + b * self.eigenvalues
            return (
                float(w @ np.log(full)),
                float(w @ (1.0 / full)),
                np.array([w @ (self.eigenvalues / full)] * len(beta)),
            )
        return self.dense_traces(a, beta)

    def dense_traces(self, a: float, beta: np.ndarray) -> tuple[float, float, np.ndarray]:
        """The same by a Cholesky factor of each query's matrix, for any number of relations."""
        n_queries, size = self.data.n_queries, len(self.units)
        out = np.zeros((n_queries, 2 + size))
        pointers = np.stack([unit.pointers for unit in self.units])
        first = np.concatenate(([0], np.cumsum([unit.other.size for unit in self.units])))
        other, weight = (np.concatenate([getattr(unit, name) for unit in self.units]) for name in ("other", "weight"))
        over_queries(_factors, self.data.offsets, pointers, first, other, weight, a, np.ascontiguousarray(beta), out,
                     n_jobs=self.n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD)  # fmt: skip
        sums = self.query_weight @ out
        return float(sums[0]), float(sums[1]), sums[2:]


@kernel
def _spectrum(lo, hi, offsets, pointers, other, weight, out):
    """Eigenvalues of the Laplacian of each query."""
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        if pointers[first] == pointers[last]:
            continue
        table = np.zeros((last - first, last - first))
        for i in range(first, last):
            for p in range(pointers[i], pointers[i + 1]):
                table[i - first, other[p] - first] -= weight[p]
                table[i - first, i - first] += weight[p]
        eigenvalues = np.linalg.eigvalsh(table)
        for i in range(first, last):
            out[i] = max(eigenvalues[i - first], 0.0)


@kernel
def _factors(lo, hi, offsets, pointers, first_pair, other, weight, a, beta, out):
    """Log |A|, tr A⁻¹ and tr A⁻¹ L_k of each query, from one factor and a column of A⁻¹ at a time."""
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        n = last - first
        if n == 0:
            continue
        table = np.zeros((n, n))
        for i in range(n):
            table[i, i] = a
        for k in range(beta.size):
            for i in range(n):
                for p in range(pointers[k, first + i], pointers[k, first + i + 1]):
                    value = beta[k] * weight[first_pair[k] + p]
                    table[i, other[first_pair[k] + p] - first] -= value
                    table[i, i] += value
        factor = np.linalg.cholesky(table)
        column = np.empty(n)
        for i in range(n):
            out[q, 0] += 2.0 * np.log(factor[i, i])
        for j in range(n):
            for i in range(n):  # column j of the inverse
                total = 1.0 if i == j else 0.0
                for t in range(i):
                    total -= factor[i, t] * column[t]
                column[i] = total / factor[i, i]
            for i in range(n - 1, -1, -1):
                total = column[i]
                for t in range(i + 1, n):
                    total -= factor[t, i] * column[t]
                column[i] = total / factor[i, i]
            out[q, 1] += column[j]
            for k in range(beta.size):
                for p in range(pointers[k, first + j], pointers[k, first + j + 1]):
                    value = weight[first_pair[k] + p]
                    out[q, 2 + k] += value * (column[j] - column[other[first_pair[k] + p] - first])
