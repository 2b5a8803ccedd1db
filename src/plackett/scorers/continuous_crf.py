"""The mean of a continuous conditional random field over the documents of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.scorers._members import WithMembers, member_scores, trained
from plackett.scorers.fields import array, plain
from plackett.scorers.member import Member
from plackett.scorers.relations.functions import lift
from plackett.scorers.relations.laplacian import Laplacian
from plackett.scorers.relations.lookup import are_relations, relation_of

__all__ = ["ContinuousCRFScorer"]


@dataclass(frozen=True)
class ContinuousCRFScorer(WithMembers):
    """The mean of the field, given the weighted mean of its estimates.

    Parameters
    ----------
    members
        One ranker, whose score is the mean of the estimates, weighted by ``alpha``.
    similar, parents
        Names of the relations of each kind, or what builds them from the features.
    alpha, beta, gamma
        Weights of the estimates, of the similarities and of the parents.
    """

    kind: ClassVar[str] = "continuous_crf"
    list_aware: ClassVar[bool] = True  # type: ignore[assignment]
    members: tuple[Member, ...] = trained()
    similar: tuple[Any, ...] = plain(are_relations)
    parents: tuple[Any, ...] = plain(are_relations)
    alpha: np.ndarray = array("estimates", least=0)
    beta: np.ndarray = array("similar", least=0)
    gamma: np.ndarray = array("parents", least=0)

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row of a dataset without labels."""
        f = member_scores(self.members[0], data, n_jobs)
        similar, parents = (
            [relation_of(data, relation, n_jobs=n_jobs) for relation in relations]
            for relations in (self.similar, self.parents)
        )
        terms = RelationTerms(data, similar, parents, n_jobs)
        return terms.mean(f * self.alpha.sum(), self.alpha, self.beta, self.gamma)

    def check(self) -> None:
        """Every relation has a weight, and there is an estimate."""
        fits = self.beta.size == len(self.similar) and self.gamma.size == len(self.parents)
        self.check_that(fits and self.alpha.any(), "its weights do not fit its relations")


class RelationTerms:
    """The relations of a dataset as the two kinds of terms."""

    def __init__(
        self, data: RankingDataset, similar: list[Relation], parents: list[Relation], n_jobs: int | None = None
    ) -> None:
        self.data, self.n_jobs, self.similar = data, n_jobs, similar
        self.units = [Laplacian.of(data, [(relation, 1.0)], n_jobs) for relation in similar]
        self.lifts = [2.0 * lift(data, relation, 1.0) for relation in parents]  # children − parents

    def mean(self, weighted: np.ndarray, alpha: np.ndarray, beta: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """μ = A⁻¹ b, for the estimates weighted by α."""
        a = float(alpha.sum())
        b = weighted + sum(0.5 * g * c for g, c in zip(gamma, self.lifts, strict=True))
        if not self.similar:
            return b / a
        if len(self.units) == 1:
            return self.units[0].scaled(float(beta[0]) / a).solve(b / a)
        terms = [(relation, float(strength) / a) for relation, strength in zip(self.similar, beta, strict=True)]
        return Laplacian.of(self.data, terms, self.n_jobs).solve(b / a)
