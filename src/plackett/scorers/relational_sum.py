"""Scores of a ranker, changed by several relations of the documents at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.scorers._members import WithMembers, member_scores, trained
from plackett.scorers.fields import array, plain
from plackett.scorers.member import Member
from plackett.scorers.relations.functions import QuadraticFunction, lift, without_noise
from plackett.scorers.relations.laplacian import STRONGEST, Laplacian
from plackett.scorers.relations.lookup import are_relations, relation_of

__all__ = ["RelationalSumScorer"]


@dataclass(frozen=True)
class RelationalSumScorer(WithMembers):
    """The scores h(f) of one trained ranker f that respect several relations.

    Parameters
    ----------
    members
        The ranker f.
    relations
        Names of the relations, or what builds them from the features.
    up, strengths
        Whether each relation goes from children to parents, and its strength.
    """

    kind: ClassVar[str] = "relational_sum"
    list_aware: ClassVar[bool] = True  # type: ignore[assignment]
    members: tuple[Member, ...] = trained()
    relations: tuple[Any, ...] = plain(are_relations)
    up: np.ndarray = array("relations", np.bool_)
    strengths: np.ndarray = array("relations", least=0)

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row of a dataset without labels."""
        f = member_scores(self.members[0], data, n_jobs)
        relations = [relation_of(data, relation, n_jobs=n_jobs) for relation in self.relations]
        function = sum_of_relations(data, relations, self.up, self.strengths, n_jobs)
        return without_noise(function.scores(f), f, data.offsets)

    def check(self) -> None:
        """Every relation has a strength."""
        known = self.strengths.size == len(self.relations) and self.strengths.max(initial=0.0) <= STRONGEST
        self.check_that(bool(known), f"{len(self.relations)} relations of strengths {self.strengths.tolist()}")


def sum_of_relations(
    data: RankingDataset, relations: Sequence[Relation], up: Any, strengths: np.ndarray, n_jobs: int | None
) -> QuadraticFunction:
    """The function of the relations of a dataset."""
    terms = list(zip(relations, strengths.tolist(), strict=True))
    lifts = [lift(data, *term) for term, parents in zip(terms, up, strict=True) if parents]
    return QuadraticFunction(Laplacian.of(data, terms, n_jobs), np.sum(lifts, axis=0) if lifts else None)
