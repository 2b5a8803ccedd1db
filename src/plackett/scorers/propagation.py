"""Scores of a ranker after one step of propagation over a relation of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.scorers._members import WithMembers, member_scores, trained
from plackett.scorers.fields import choice, number, plain
from plackett.scorers.member import Member
from plackett.scorers.relations.lookup import is_relation, relation_of

__all__ = ["PropagationScorer"]

#: From which documents a document collects: from those related to it, or from those it is related to.
COLLECTS = ("in", "out")


@dataclass(frozen=True)
class PropagationScorer(WithMembers):
    """The scores of one ranker, each plus a share of the mean over the related documents.

    Parameters
    ----------
    members
        The ranker.
    relation
        Name of the relation, or what builds it from the features.
    collect
        One of `COLLECTS`.
    alpha
        From 0 to 1: 1 + α times the own score, 1 − α times the mean.
    """

    kind: ClassVar[str] = "propagation"
    list_aware: ClassVar[bool] = True  # type: ignore[assignment]
    members: tuple[Member, ...] = trained()
    relation: Any = plain(is_relation)
    collect: str = choice(lambda: COLLECTS)
    alpha: float = number(float, most=1)

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row of a dataset without labels."""
        relation = relation_of(data, self.relation, n_jobs=n_jobs)
        scores = member_scores(self.members[0], data, n_jobs)
        return propagated(scores, relation, data.offsets, self.collect, self.alpha, n_jobs)


def propagated(
    scores: np.ndarray, relation: Relation, offsets: np.ndarray, collect: str, alpha: float, n_jobs: int | None
) -> np.ndarray:
    """The scores after one step."""
    matrix = relation.matrix(scores.size)
    matrix = matrix.T.tocsr() if collect == "in" else matrix
    pairs = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)
    out = np.empty_like(scores)
    over_queries(_mixed, offsets, *pairs, 1.0 + alpha, 1.0 - alpha, scores, out, n_jobs=n_jobs)
    return out


@kernel
def _mixed(lo, hi, offsets, pointers, other, weight, keep, share, s, out):  # type: ignore[no-untyped-def]
    for i in range(offsets[lo], offsets[hi]):
        total, mass = 0.0, 0.0
        for p in range(pointers[i], pointers[i + 1]):
            total += weight[p] * s[other[p]]
            mass += weight[p]
        out[i] = keep * s[i] + (share * total / mass if mass > 0.0 else 0.0)
