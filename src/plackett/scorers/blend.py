"""The weighted sum of the scores of several rankers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.scorers._members import WithMembers, member_scores, trained
from plackett.scorers.base import Contributions
from plackett.scorers.fields import array
from plackett.scorers.member import Member
from plackett.scorers.parts import Part

__all__ = ["BlendScorer"]


@dataclass(frozen=True)
class BlendScorer(WithMembers):
    """Trained rankers, and the factor of each one's score in the sum."""

    kind: ClassVar[str] = "blend"
    members: tuple[Member, ...] = trained()
    factors: np.ndarray = array("members")

    def score_lists(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Score of each row of a dataset without labels."""
        scores = np.zeros(data.n_rows)
        for member, factor in zip(self.members, self.factors, strict=True):
            scores += factor * self._scaled(member_scores(member, data, n_jobs), data.offsets)
        return scores

    def _scaled(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The scores of a member as they are added up."""
        return scores

    def contributions(self, X: Any, n_jobs: int | None = None) -> Contributions | None:
        """The weighted sum over the members."""
        values, base = np.zeros(X.shape), np.zeros(X.shape[0])
        for member, factor in zip(self.members, self.factors, strict=True):
            own = member.scorer_.contributions(X, n_jobs)
            if own is None:
                return None
            values += factor * own.values
            base += factor * own.base
        return Contributions(values, base, "sum of members")

    @property
    def not_exportable(self) -> str:
        """What its members are not either."""
        return next((why for member in self.members if (why := member.scorer_.not_exportable)), "")

    def export_parts(self) -> list[tuple[float, Part]]:
        """The parts of all members."""
        pairs = zip(self.members, self.factors.tolist(), strict=True)
        return [(factor * own, part) for member, factor in pairs for own, part in member.scorer_.export_parts()]
