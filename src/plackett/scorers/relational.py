"""Scores of a ranker, changed by a relation of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.scorers._members import WithMembers, member_scores, trained
from plackett.scorers.fields import choice, number, plain
from plackett.scorers.member import Member
from plackett.scorers.relations.functions import FUNCTIONS, without_noise
from plackett.scorers.relations.laplacian import STRONGEST
from plackett.scorers.relations.lookup import is_relation, parsed, relation_of

__all__ = ["RelationalScorer"]


@dataclass(frozen=True)
class RelationalScorer(WithMembers):
    """The scores h(f) of one trained ranker f that respect a relation.

    Parameters
    ----------
    members
        The ranker f.
    function
        What the relation means, of `plackett.scorers.relations.functions.FUNCTIONS`.
    relation
        Name of the relation, or what builds it from the features.
    strength
        0 gives the scores of f; data without the relation are refused all the same.
    """

    kind: ClassVar[str] = "relational"
    list_aware: ClassVar[bool] = True  # type: ignore[assignment]
    members: tuple[Member, ...] = trained()
    function: str = choice(lambda: FUNCTIONS)
    relation: Any = plain(is_relation)
    strength: float = number(float, most=STRONGEST)

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row of a dataset without labels."""
        f = member_scores(self.members[0], data, n_jobs)
        if self.strength == 0.0 and callable(parsed(self.relation)):
            return f
        relation = relation_of(data, self.relation, n_jobs=n_jobs)
        if self.strength == 0.0:
            return f
        function = FUNCTIONS[self.function](data, relation, self.strength, n_jobs)
        return without_noise(function.scores(f), f, data.offsets)
