"""Base class of rankers that train another ranker, or several, on data that they derive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.estimator import clone
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.rankers.chosen_penalty import ChosenPenalty
from plackett.rankers.named import ranker_named
from plackett.scorers.blend import BlendScorer


def base_ranker(given: Any, usual: str = "RankSVM") -> Ranker:
    """The ranker given as an object or by name, or the default."""
    base = usual if given is None else given
    if isinstance(base, str):
        base = ranker_named(base)[0]
    if not isinstance(base, Ranker):
        raise DataError(f"base={given!r} is not a plackett ranker; give one, such as RankSVM(), or its name")
    return base


def needs_whole_lists(ranker: Ranker) -> bool:
    """Whether a ranker, or one inside it, reads groups of documents, which a part of a list does not fully describe."""
    if getattr(ranker, "_reads_groups", False):
        return True
    return any(needs_whole_lists(part) for part in ranker.parts())


@dataclass(kw_only=True, eq=False, repr=False)
class Wrapper(Ranker):
    """Base class of rankers around another ranker.

    Parameters
    ----------
    base
        The ranker to train: an estimator, which is copied, or the name of a ranker, with parameters as in a call
        (``"LambdaMART(num_leaves=7)"``). None uses `RankSVM`, or `LinearRegression` where only
        regressions are accepted.
    """

    effort: ClassVar[str | None] = None
    # an interrupt ends a member, not a round of the wrapper
    _test_skips: ClassVar[tuple[str, ...]] = ("interrupt",)

    #: The ranker used for None.
    _usual_base: ClassVar[str] = "RankSVM"

    base: Any = None

    def base_ranker(self) -> Ranker:
        """The ranker in ``base``, as given."""
        return base_ranker(self.base, self._usual_base)

    def parts(self) -> list[Ranker]:
        """The ranker that this one trains."""
        return [self.base_ranker()]

    def _member(self, like: Ranker | None = None) -> Ranker:
        """A fresh ranker to train; it takes over a penalty that ``like`` chose by cross-validation."""
        member = clone(self.base_ranker())
        member.n_jobs = self.n_jobs
        member.verbose = False  # the wrapper shows its own progress
        if member.early_stopping_rounds is None:
            member.early_stopping_rounds = self.early_stopping_rounds
        if isinstance(like, ChosenPenalty):
            member.set_params(**like.chosen_parameters())
        return member

    def _trained(self, data: RankingDataset, valid: RankingDataset | None, like: Ranker | None = None) -> Ranker:
        """A member trained on some of the data, or on data derived from them."""
        member = self._member(like)
        if valid is None:
            member.early_stopping_rounds = None
        return member.trained_copy(data, valid)

    @property
    def takes_preferences(self) -> bool:  # type: ignore[override]
        """Whether it learns from explicit preferences; decided by the base ranker."""
        return self.base_ranker().takes_preferences

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Whether NaN features are treated as missing values; decided by the base ranker."""
        return self.base_ranker().allow_nan


@dataclass(kw_only=True, eq=False, repr=False)
class SingleMember(Wrapper):
    """Base class of wrappers that end with one trained base ranker, on the features as given."""

    def _end_with(self, member: Ranker) -> None:
        """Use this ranker."""
        self.scorer_ = BlendScorer((member,), np.ones(1))

    @property
    def member_(self) -> Ranker:
        """The trained base ranker."""
        return self.members_[0]
