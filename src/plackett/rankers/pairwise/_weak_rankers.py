"""Weak rankers made of one feature, and the search for the best one under a distribution over pairs.

A distribution D over pairs "u before v" enters the search only through the potential of each document,
π(x) = Σ D over pairs that x should win − Σ D over those it should lose: the edge of a weak ranker h is
r = Σ D(u, v) (h(u) − h(v)) = Σ π(x) h(x).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._kernels.kernel import REASSOC, kernel, over_queries
from plackett.data.threshold_bins import MISSING, ThresholdBins, columns
from plackett.scorers.additive import AdditiveTerms


@dataclass(frozen=True)
class WeakRanker(ABC):
    """A weak ranker of one feature; a document whose feature is missing gets ``default``."""

    feature: int
    #: NaN where there is none.
    threshold: float
    default: float
    edge: float

    def values(self, X: Any) -> np.ndarray:
        """The value h of each row of a dense table or a CSC matrix."""
        x = columns(X, self.feature)
        return np.where(np.isnan(x), self.default, self._known(x))

    @abstractmethod
    def _known(self, x: np.ndarray) -> np.ndarray:
        """The value h for values that are not missing."""

    @abstractmethod
    def add_to(self, terms: AdditiveTerms, alpha: float) -> None:
        """Add α h to a scorer in the making."""


@dataclass(frozen=True)
class ThresholdRanker(WeakRanker):
    """h(x) = 1 above the threshold and 0 elsewhere."""

    def _known(self, x: np.ndarray) -> np.ndarray:
        return (x > self.threshold).astype(np.float64)

    def add_to(self, terms: AdditiveTerms, alpha: float) -> None:
        """Add α h to a scorer in the making."""
        terms.step(self.feature, self.threshold, alpha, alpha * self.default)


@dataclass(frozen=True)
class RealRanker(WeakRanker):
    """h(x) = (x − low) · scale: the feature itself, in 0..1 on the training data."""

    low: float
    scale: float

    def _known(self, x: np.ndarray) -> np.ndarray:
        return (x.astype(np.float64) - self.low) * self.scale

    def add_to(self, terms: AdditiveTerms, alpha: float) -> None:
        """Add α h to a scorer in the making."""
        slope = alpha * self.scale
        terms.line(self.feature, -slope * self.low, slope, alpha * self.default)


class ThresholdSearch:
    """All thresholds of all features, by one histogram of the potential per feature."""

    def __init__(self, X: np.ndarray, n_thresholds: int, n_jobs: int | None) -> None:
        self.bins = ThresholdBins.of(X, n_thresholds, n_jobs)
        self.n_jobs = n_jobs
        self._features = np.arange(X.shape[1] + 1) * X.shape[0]  # work of each feature, for the threads

    def best(self, potential: np.ndarray) -> ThresholdRanker:
        """The weak ranker with the largest |r|; among equals, the first feature and the largest threshold."""
        return self.candidates(potential, 1)[0]

    def candidates(self, potential: np.ndarray, n: int) -> list[ThresholdRanker]:
        """The best weak ranker of each of the n features that have the largest |r|, in that order."""
        bins = self.bins
        d = bins.missing.size
        edges, n_below, defaults = np.zeros(d), np.zeros(d, np.int64), np.zeros(d)
        over_queries(
            _best_thresholds,
            self._features,
            bins.codes,
            potential,
            bins.first,
            bins.missing,
            edges,
            n_below,
            defaults,
            n_jobs=self.n_jobs,
        )
        rankers = []
        for j in np.argsort(-np.abs(edges), kind="stable")[:n].tolist():
            below = int(n_below[j])  # thresholds that are not passed
            threshold = -np.inf if below == 0 else float(bins.thresholds[bins.first[j] + below - 1])
            rankers.append(ThresholdRanker(j, threshold, float(defaults[j]), float(edges[j])))
        return rankers


class RealSearch:
    """All features as they are, by one product of the table with the potential."""

    def __init__(self, X: np.ndarray, n_thresholds: int, n_jobs: int | None) -> None:
        table = columns(X, slice(None))
        known = ~np.isnan(table)
        low = np.where(known, table, np.inf).min(axis=1, initial=np.inf).astype(np.float64)
        width = np.where(known, table, -np.inf).max(axis=1, initial=-np.inf) - low
        some = (width > 0) & np.isfinite(width)
        self.low = np.where(np.isfinite(low), low, 0.0)
        self.scale = np.divide(1.0, width, out=np.zeros_like(width), where=some)
        self.table = ((table - self.low[:, None]) * self.scale[:, None]).astype(np.float32)
        self.n_jobs = n_jobs
        self._features = np.arange(X.shape[1] + 1) * X.shape[0]

    def best(self, potential: np.ndarray) -> RealRanker:
        """The weak ranker of largest |r|; the first feature among equals."""
        return self.candidates(potential, 1)[0]

    def candidates(self, potential: np.ndarray, n: int) -> list[RealRanker]:
        """The n features that have the largest |r|, in that order."""
        edges, defaults = np.zeros(self.low.size), np.zeros(self.low.size)
        over_queries(_products, self._features, self.table, potential, edges, defaults, n_jobs=self.n_jobs)
        return [
            RealRanker(j, np.nan, float(defaults[j]), float(edges[j]), float(self.low[j]), float(self.scale[j]))
            for j in np.argsort(-np.abs(edges), kind="stable")[:n].tolist()
        ]


WEAK_RANKERS: dict[str, Any] = {"threshold": ThresholdSearch, "real": RealSearch}


@kernel
def _best_thresholds(lo, hi, rows, codes, potential, first, missing, edges, n_below, defaults):
    n = codes.shape[1]
    # four histograms in turn, so that an addition does not wait for the previous one to the same bin
    h0, h1, h2, h3 = np.empty(256), np.empty(256), np.empty(256), np.empty(256)
    for j in range(lo, hi):
        code = codes[j]
        h0[:] = 0.0
        h1[:] = 0.0
        h2[:] = 0.0
        h3[:] = 0.0
        for i in range(0, n - 3, 4):
            h0[code[i]] += potential[i]
            h1[code[i + 1]] += potential[i + 1]
            h2[code[i + 2]] += potential[i + 2]
            h3[code[i + 3]] += potential[i + 3]
        for i in range(n - n % 4, n):
            h0[code[i]] += potential[i]
        for b in range(256):
            h0[b] += h1[b] + (h2[b] + h3[b])
        rest = h0[MISSING] if missing[j] else 0.0
        above = 0.0
        best = 0.0
        # with missing values, "known at all" is a weak ranker too: that of no threshold
        for b in range(first[j + 1] - first[j], -1 if missing[j] else 0, -1):
            above += h0[b]
            if abs(above) > abs(best):
                best = above
                n_below[j] = b
                defaults[j] = 0.0
            if missing[j] and b > 0 and abs(above + rest) > abs(best):
                best = above + rest
                n_below[j] = b
                defaults[j] = 1.0
        edges[j] = best


@kernel(fastmath=REASSOC)
def _products(lo, hi, rows, table, potential, edges, defaults):
    for j in range(lo, hi):
        known = 0.0
        rest = 0.0
        for i in range(table.shape[1]):
            x = table[j, i]
            missing = x != x
            known += 0.0 if missing else x * potential[i]
            rest += potential[i] if missing else 0.0
        edges[j] = known
        if abs(known + rest) > abs(known):
            edges[j] = known + rest
            defaults[j] = 1.0
