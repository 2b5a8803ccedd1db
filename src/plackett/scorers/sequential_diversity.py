"""Documents chosen one by one, relevant and unlike those above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.scorers._members import WithMembers, member_scores, trained
from plackett.scorers.fields import array, plain
from plackett.scorers.member import Member
from plackett.scorers.relations.lookup import is_relation, relation_of

__all__ = ["SequentialDiversityScorer"]

#: By what a document is compared with the chosen ones.
NOVELTY = ("largest similarity", "mean similarity")
#: Similarities of the rows as a sparse matrix: pointers, columns and values.
Near = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class SequentialDiversityScorer(WithMembers):
    """At each rank the document with the largest sum of relevance and novelty.

    Parameters
    ----------
    members
        One ranker, which scores relevance.
    relation
        Similarity of documents: name of the relation, or what builds it from the features.
    novelty
        Weights of `NOVELTY`.
    """

    kind: ClassVar[str] = "sequential_diversity"
    list_aware: ClassVar[bool] = True  # type: ignore[assignment]
    members: tuple[Member, ...] = trained()
    relation: Any = plain(is_relation)
    novelty: np.ndarray = array("2")

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row of a dataset without labels."""
        relevance = member_scores(self.members[0], data, n_jobs)
        near = similarities(relation_of(data, self.relation, n_jobs=n_jobs), data.n_rows)
        return decoded(data.offsets, relevance, self.novelty, near, n_jobs)


def similarities(relation: Relation, n_rows: int) -> Near:
    """The similarities as a sparse matrix, both directions."""
    if relation.weights.max(initial=0.0) > 1.0:
        raise DataError("similarities must be from 0 to 1")
    matrix = relation.matrix(n_rows)
    matrix = matrix.maximum(matrix.T).tocsr()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), np.asarray(matrix.data, np.float64)


def decoded(
    offsets: np.ndarray, relevance: np.ndarray, novelty: np.ndarray, near: Near, n_jobs: int | None
) -> np.ndarray:
    """Positions of the documents, counted from the end of their list."""
    out = np.empty(relevance.size)
    over_queries(_decode, offsets, relevance, novelty, *near, out, n_jobs=n_jobs)
    return out


@kernel
def _decode(lo, hi, offsets, relevance, novelty, pointers, other, near, out):  # type: ignore[no-untyped-def]
    """Positions by greedy choice; remaining documents that all tie, and cannot be told apart, share one position."""
    for q in range(lo, hi):
        first, last = offsets[q], offsets[q + 1]
        n = last - first
        largest, total = np.zeros(n), np.zeros(n)
        left = np.ones(n, np.bool_)
        related = pointers[first] < pointers[last]
        for position in range(n):
            best, least, most = -1, np.inf, -np.inf
            for i in range(n):
                if left[i]:
                    g = relevance[first + i] + novelty[0] * largest[i] + novelty[1] * total[i] / max(position, 1)
                    least = min(least, g)
                    if best < 0 or g > most:  # the first one is taken even if no value is a number
                        best, most = i, g
            if not related and least == most:
                for i in range(n):
                    if left[i]:
                        out[first + i] = n - position
                break
            left[best] = False
            out[first + best] = n - position
            for p in range(pointers[first + best], pointers[first + best + 1]):
                i = other[p] - first
                largest[i] = max(largest[i], near[p])
                total[i] += near[p]
