"""Rules as a scorer: the mean confidence of the rules that match, grade by grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import offsets_fit
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dense import dense
from plackett.data.threshold_bins import MISSING
from plackett.scorers.base import Scorer, Size
from plackett.scorers.fields import array
from plackett.scorers.rules.bits import lowest_bit
from plackett.scorers.rules.ranges import range_code, range_text

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RuleScorer"]

#: Rows of a sparse table made dense at once.
_DENSE_ROWS = 4096
#: Documents scored together, as bits of this many words.
_WORDS = 8
_BLOCK = 64 * _WORDS


@dataclass(frozen=True, eq=False)
class RuleScorer(Scorer):
    """The rules and the scores they give.

    Attributes
    ----------
    grades, prior
        The grades in ascending order, and their shares of all weight, for documents that no rule matches.
    cuts, first
        Where features are cut: those of feature j are ``cuts[first[j]:first[j + 1]]``.
    feature, code, depth, after
        The conditions as a forest in preorder (`mining.Conjunctions`); ``after`` is the next node that is not below.
    counts, support, confidence
        Of the rule from a node's conditions to each grade; confidence is 0 where there is no such rule.
    """

    kind: ClassVar[str] = "rules"
    grades: np.ndarray = array("grades")
    prior: np.ndarray = array("grades", least=0)
    cuts: np.ndarray = array("cuts", np.float32)
    first: np.ndarray = array("features+1", np.int64)
    feature: np.ndarray = array("nodes", np.int64, least=0)
    code: np.ndarray = array("nodes", np.int64, least=0)
    depth: np.ndarray = array("nodes", np.int64, least=1)
    after: np.ndarray = array("nodes", np.int64)
    counts: np.ndarray = array("nodes grades", np.int64, least=0)
    support: np.ndarray = array("nodes grades", least=0)
    confidence: np.ndarray = array("nodes grades", least=0)

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("first", self.first.size - 1)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row."""
        if X.shape[1] != self.first.size - 1:
            raise DataError(f"rules of {self.first.size - 1} features for a table of {X.shape[1]}")
        out = np.empty(X.shape[0])
        steps = np.diff(self.first)
        first_set = self.first[:-1] + 2 * np.arange(steps.size)  # a feature has its ranges, and one for missing values
        item = first_set[self.feature] + np.where(self.code == MISSING, steps[self.feature] + 1, self.code)
        features = self.cuts, self.first, first_set, np.unique(self.feature)
        # what a match adds to the sums of each grade: confidences, and how many
        terms = np.hstack([self.confidence, self.confidence > 0])
        rules = item, self.depth, self.after, terms, self.grades, float(self.grades @ self.prior)
        step = max(X.shape[0], 1) if isinstance(X, np.ndarray) else _DENSE_ROWS
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            filled = dense(rows)
            blocks = np.append(np.arange(0, filled.shape[0], _BLOCK), filled.shape[0])
            args = filled, features, rules, out[start : start + step]
            over_queries(_score, blocks, *args, n_jobs=n_jobs, rows_per_thread=_BLOCK)
        return out

    def frame(self, names: Sequence[str]) -> pl.DataFrame:
        """One row per rule: conditions in words, grade, support, confidence, count; the highest grades first."""
        import polars as pl

        node, grade = np.nonzero(self.confidence > 0)
        texts = self._conditions([str(name) for name in names])
        frame = pl.DataFrame(
            {
                "conditions": [texts[i] for i in node],
                "grade": self.grades[grade],
                "support": self.support[node, grade],
                "confidence": self.confidence[node, grade],
                "count": self.counts[node, grade],
            },
            schema_overrides={"conditions": pl.String},
        )
        return frame.sort(["grade", "confidence", "support", "conditions"], descending=[True, True, True, False])

    def _conditions(self, names: list[str]) -> list[str]:
        texts: list[str] = []
        path: list[str] = []
        for j, code, depth in zip(self.feature.tolist(), self.code.tolist(), self.depth.tolist(), strict=True):
            here = range_text(names[j], code, self.cuts[self.first[j] : self.first[j + 1]])
            path[depth - 1 :] = [here]
            texts.append(" and ".join(path))
        return texts

    def check(self) -> None:
        """Grades and cuts ascend, and the conditions are a forest in preorder."""
        n, steps = self.feature.size, np.diff(self.first)
        grades = self.grades.size >= 1 and (np.diff(self.grades) > 0).all() and np.isclose(self.prior.sum(), 1.0)
        cuts = offsets_fit(self.first, self.cuts.size) and (steps < MISSING).all()
        self.check_that(bool(grades and cuts), "grades or cuts make no sense")
        if n == 0:
            return
        known = self.confidence.max() <= 1.0 + 1e-9 and self.feature.max() < steps.size
        self.check_that(bool(known), "a confidence above 1, or a feature that is not there")
        last = steps[self.feature]
        ordered = self.depth[0] == 1 and (self.depth[1:] <= self.depth[:-1] + 1).all()
        ranges = ((self.code == MISSING) | (self.code <= last)).all()
        self.check_that(bool(ordered and ranges), "conditions do not follow each other, or a range is not there")
        after = ((self.after > np.arange(n)) & (self.after <= n)).all()
        self.check_that(bool(after), "the order of the conditions is broken")


@kernel
def _score(lo, hi, blocks, X, features, rules, out):
    """Rule by rule for blocks of documents: the documents that have all conditions so far are a set of bits."""
    cuts, first, first_set, used = features
    item, depth, after, terms, grades, prior = rules
    k = grades.size
    sets = np.zeros((cuts.size + 2 * X.shape[1], _WORDS), np.uint64)
    path = np.zeros((depth.max() if depth.size else 1, _WORDS), np.uint64)
    sums = np.empty((_BLOCK, 2 * k))
    for b in range(lo, hi):
        start, n = blocks[b], blocks[b + 1] - blocks[b]
        sets.fill(0)
        sums.fill(0.0)
        for i in range(n):
            bit = np.uint64(1) << np.uint64(i & 63)
            for j in used:
                code = range_code(X[start + i, j], cuts, first[j], first[j + 1])
                code = first[j + 1] - first[j] + 1 if code == MISSING else code
                sets[first_set[j] + code, i >> 6] |= bit
        node = 0
        while node < item.size:
            level = depth[node] - 1
            any_match = np.uint64(0)
            for w in range(_WORDS):
                word = sets[item[node], w]
                if level > 0:
                    word &= path[level - 1, w]
                path[level, w] = word
                any_match |= word
            if not any_match:
                node = after[node]  # what is below has this condition too
                continue
            for w in range(_WORDS):
                word = path[level, w]
                while word:
                    i = w * 64 + lowest_bit(word)
                    for y in range(2 * k):
                        sums[i, y] += terms[node, y]
                    word &= word - np.uint64(1)
            node += 1
        for i in range(n):
            value, mass = 0.0, 0.0
            for y in range(k):
                if sums[i, k + y] > 0.0:
                    value += grades[y] * sums[i, y] / sums[i, k + y]
                    mass += sums[i, y] / sums[i, k + y]
            out[start + i] = value / mass if mass > 0.0 else prior
