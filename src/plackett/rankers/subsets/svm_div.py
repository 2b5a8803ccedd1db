"""Structural SVM for diverse subsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from plackett._base.errors import DataError
from plackett._base.estimator import Estimator, not_fitted
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.solvers.cutting_plane import minimise
from plackett.solvers.proved_gap import check_settings, warn_of_open_gap

__all__ = ["SVMDiv"]


@dataclass(kw_only=True, eq=False, repr=False)
class SVMDiv(Estimator):
    r"""Learns which words a set of documents should cover, so that it covers the subtopics of its query,

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + \frac{C}{n} \sum_i \xi_i, \qquad
              w \cdot \Psi(x_i, y_i) \ge w \cdot \Psi(x_i, y) + \Delta_i(y) - \xi_i
              \;\text{ for all sets } y,\; |y| = k,

    where :math:`\Psi(x, y) = \sum_\ell \sum_{v \in V_\ell(y)} \varphi_\ell(v, x)` sums the features of the words that
    the set covers. :math:`V_\ell(y)` are the words with a count of at least :math:`\ell` in some document of y, and
    :math:`\varphi_\ell(v, x)` encodes the share of the documents of the list that have the word at that level: words
    that many candidates share, but not all, tend to indicate a subtopic. Δ is the share of the judged subtopics that
    the set misses. Prediction does not need subtopics.

    The set with the largest score is found by lazy greedy search (within 1 − 1/e of the best if no weight is negative),
    since gains only fall as the set grows. In training by cutting planes, the most violated set is found the same way,
    so the gap is proved for the sets that the greedy search finds. Targets are the greedy cover of the subtopics.

    Parameters
    ----------
    k
        Number of documents to choose.
    levels
        Least counts ℓ.
    shares
        Shares of the list's documents: a word has the feature of each share that it reaches.
    C
        Weight of the mean loss of a query.
    tol, max_iter
        Relative gap at which to stop, and maximum number of planes.

    Attributes
    ----------
    coef_
        Weight of each level and share, ``(levels, shares)``.
    gap_, n_iter_
        Relative gap of the objective and number of planes.

    Examples
    --------
    >>> import plackett as pk
    >>> words = [[1, 0, 1], [1, 0, 1], [0, 1, 1]]  # the third word is in every document
    >>> data = pk.RankingDataset.from_arrays(words, None, [1, 1, 1], subtopics=[[1, 0], [1, 0], [0, 1]])
    >>> SVMDiv(k=2, shares=(0.3, 0.9)).fit(data).order(data)[:2].tolist()
    [0, 2]

    References
    ----------
    Yue, Joachims: Predicting diverse subsets using structural SVMs. ICML 2008.
    """

    k: int = 5
    levels: Sequence[float] = (1.0, 3.0)
    shares: Sequence[float] = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
    C: float = 10.0
    tol: float = 1e-3
    max_iter: int = 500
    n_jobs: int | None = None

    def fit(self, data: RankingDataset) -> Self:
        """Learn from the word counts (features of 0 or more) and judged subtopics of a dataset."""
        check_settings(self.C, self.tol, self.max_iter)
        if data.subtopics is None:
            raise DataError("SVMDiv learns from judged subtopics, and the dataset has none (subtopics=…)")
        words = self._words(data)
        subtopics = np.ascontiguousarray(np.nan_to_num(data.subtopics, nan=0.0) > 0).astype(np.float64)
        size = len(self.levels) * len(self.shares)
        weight = np.ones(data.n_queries) if data.query_weight is None else data.query_weight
        judged = np.bincount(data.query_of_row, subtopics.any(axis=1), data.n_queries) > 0
        weight = np.where(judged, weight, 0.0)
        if not weight.any():
            raise DataError("no document of the dataset is relevant to a subtopic; there is nothing to learn")
        weight = weight / weight.sum()
        target = self._search(data, words, np.zeros(size), subtopics, missed=1.0)[0]
        aim = self._features(data, words, target)

        def risk(weights: np.ndarray) -> tuple[float, np.ndarray]:
            violator, missed = self._search(data, words, weights, subtopics, missed=-1.0)
            slope = self._features(data, words, violator) - aim
            loss = missed + slope @ weights
            own = covered(data, subtopics, target, self.k)  # the target itself is a set, too
            better = loss >= own
            loss, slope = np.where(better, loss, own), np.where(better[:, None], slope, 0.0)
            return float(weight @ loss), weight @ slope

        solution = minimise(risk, size, C=self.C, tol=self.tol, max_iter=self.max_iter)
        warn_of_open_gap("SVMDiv", solution.gap, self.tol, solution.n_iter)
        self.coef_ = solution.coef.reshape(len(self.levels), len(self.shares))
        self.gap_, self.n_iter_ = solution.gap, solution.n_iter
        return self

    def order(self, data: RankingDataset) -> np.ndarray:
        """Rows of each query: the k chosen ones, in the order in which they were chosen, then the others."""
        if not hasattr(self, "coef_"):
            raise not_fitted("this SVMDiv is not fitted yet; call fit first")
        nothing = np.zeros((data.n_rows, 0))
        return self._search(data, self._words(data), self.coef_.ravel(), nothing, missed=0.0)[0]

    def rerank(self, data: RankingDataset) -> np.ndarray:
        """Scores whose order is that of `order`: the first document of m has m, the next m − 1, …."""
        out = np.empty(data.n_rows)
        out[self.order(data)] = np.repeat(data.offsets[1:], data.group) - np.arange(data.n_rows)
        return out

    # ------------------------------------------------------------------------------------------------------- parts

    def _words(self, data: RankingDataset) -> tuple[Any, ...]:
        """Words of each document with their counts, and for each word and level the shares it reaches in its list."""
        from scipy.sparse import csr_matrix

        if self.k < 1 or not self.levels or not self.shares or min(self.levels) <= 0:
            raise DataError(f"k={self.k}, levels={self.levels}, shares={self.shares}; give positive numbers")
        matrix = csr_matrix(data.X)
        if matrix.data.size and not matrix.data.min() >= 0:
            raise DataError("SVMDiv takes word counts: features of 0 or more")
        pointers, terms = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        levels, shares = (np.asarray(values, np.float64) for values in (self.levels, self.shares))
        reach = np.zeros((terms.size, levels.size), np.int64)
        over_queries(_reach, data.offsets, pointers, terms, matrix.data.astype(np.float64), matrix.shape[1], levels,
                     np.sort(shares), reach, n_jobs=self.n_jobs)  # fmt: skip
        return pointers, terms, matrix.shape[1], reach

    def _search(
        self, data: RankingDataset, words: Any, weights: np.ndarray, subtopics: np.ndarray, missed: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The greedy set by the weights plus the loss; ``missed`` is −1 to maximise it, 1 to minimise it, 0 if none."""
        pointers, terms, n_words, reach = words
        table = np.zeros((len(self.levels), len(self.shares) + 1))
        table[:, 1:] = np.cumsum(weights.reshape(len(self.levels), -1), axis=1)  # a word has all shares up to its own
        order, loss = np.arange(data.n_rows), np.zeros(data.n_queries)
        over_queries(_greedy, data.offsets, pointers, terms, n_words, reach, table, subtopics, missed, self.k, order,
                     loss, n_jobs=self.n_jobs)  # fmt: skip
        return order, loss

    def _features(self, data: RankingDataset, words: Any, order: np.ndarray) -> np.ndarray:
        """Ψ of the first k documents of each query."""
        pointers, terms, n_words, reach = words
        count = np.zeros((data.n_queries, len(self.levels), len(self.shares) + 1))
        over_queries(_cover, data.offsets, pointers, terms, n_words, reach, order, self.k, count, n_jobs=self.n_jobs)
        return count[:, :, :0:-1].cumsum(axis=2)[:, :, ::-1].reshape(data.n_queries, -1)


def covered(data: RankingDataset, subtopics: np.ndarray, order: np.ndarray, k: int) -> np.ndarray:
    """Share of the subtopics with relevant documents that the first k documents of each query miss."""
    position = np.arange(data.n_rows) - data.offsets[data.query_of_row]
    hit, known = np.zeros((data.n_queries, subtopics.shape[1])), np.zeros((data.n_queries, subtopics.shape[1]))
    np.maximum.at(known, data.query_of_row, subtopics)
    np.maximum.at(hit, data.query_of_row[position < k], subtopics[order[position < k]])
    total = known.sum(axis=1)
    return np.divide(total - hit.sum(axis=1), total, out=np.zeros(data.n_queries), where=total > 0)


@kernel
def _reach(lo, hi, offsets, pointers, terms, counts, n_words, levels, shares, reach):  # type: ignore[no-untyped-def]
    """How many of the shares each word reaches in its list, at each level; 0 if the document is below the level."""
    having = np.zeros((n_words, levels.size))
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        for p in range(pointers[first], pointers[last]):
            for a in range(levels.size):
                if counts[p] >= levels[a]:
                    having[terms[p], a] += 1.0
        for p in range(pointers[first], pointers[last]):
            for a in range(levels.size):
                if counts[p] >= levels[a]:
                    share = having[terms[p], a] / (last - first)
                    for s in range(shares.size):
                        if share >= shares[s]:
                            reach[p, a] = s + 1
        for p in range(pointers[first], pointers[last]):
            having[terms[p], :] = 0.0


@kernel
def _greedy(  # type: ignore[no-untyped-def]
    lo, hi, offsets, pointers, terms, n_words, reach, table, subtopics, missed, k, order, loss
):
    """Choose k documents one by one; a gain is computed again only while it may be the largest."""
    n_levels = table.shape[0]
    done = np.zeros((n_words, n_levels), np.bool_)
    falling = True  # with negative weights a gain may rise: then all are computed
    for a in range(n_levels):
        for s in range(table.shape[1]):
            falling = falling and table[a, s] >= 0.0
    falling = falling and missed >= 0.0
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        n = last - first
        known, hit = np.zeros(subtopics.shape[1], np.bool_), np.zeros(subtopics.shape[1], np.bool_)
        total = 0
        for t in range(known.size):
            for i in range(first, last):
                if subtopics[i, t] > 0:
                    known[t] = True
            total += known[t]
        price = missed / total if total > 0 else 0.0
        gain, taken = np.full(n, np.inf), np.zeros(n, np.bool_)
        chosen = np.empty(min(k, n), np.int64)
        for position in range(min(k, n)):
            best = -1
            fresh = np.zeros(n, np.bool_)
            while True:
                best = -1
                for i in range(n):
                    if not taken[i] and (best < 0 or gain[i] > gain[best]):
                        best = i
                if fresh[best]:
                    break
                for i in range(n):
                    if taken[i] or fresh[i] or (falling and i != best):
                        continue
                    value = 0.0
                    for p in range(pointers[first + i], pointers[first + i + 1]):
                        for a in range(n_levels):
                            if reach[p, a] > 0 and not done[terms[p], a]:
                                value += table[a, reach[p, a]]
                    for t in range(known.size):
                        if subtopics[first + i, t] > 0 and not hit[t]:
                            value += price
                    gain[i], fresh[i] = value, True
            taken[best] = True
            chosen[position] = first + best
            for p in range(pointers[first + best], pointers[first + best + 1]):
                for a in range(n_levels):
                    if reach[p, a] > 0:
                        done[terms[p], a] = True
            for t in range(known.size):
                if subtopics[first + best, t] > 0:
                    hit[t] = True
            if not falling:
                gain[:] = np.inf
        for p in range(pointers[first], pointers[last]):
            done[terms[p], :] = False
        missing = 0
        for t in range(known.size):
            missing += known[t] and not hit[t]
        loss[q] = missing / total if total > 0 else 0.0
        for position in range(chosen.size):
            order[first + position] = chosen[position]
        end = first + chosen.size
        for i in range(n):
            if not taken[i]:
                order[end] = first + i
                end += 1


@kernel
def _cover(lo, hi, offsets, pointers, terms, n_words, reach, order, k, count):  # type: ignore[no-untyped-def]
    """Words that the first k documents cover, by level and by the largest share that they reach."""
    n_levels = reach.shape[1]
    done = np.zeros((n_words, n_levels), np.bool_)
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        for position in range(first, min(first + k, last)):
            row = order[position]
            for p in range(pointers[row], pointers[row + 1]):
                for a in range(n_levels):
                    if reach[p, a] > 0 and not done[terms[p], a]:
                        done[terms[p], a] = True
                        count[q, a, reach[p, a]] += 1.0
        for p in range(pointers[first], pointers[last]):
            done[terms[p], :] = False
