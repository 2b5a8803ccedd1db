"""Shared base of the semi-supervised rankers: automatic labels, and a check whether they help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.data.weights import given_or_ones
from plackett.rankers.wrapper import SingleMember
from plackett.solvers.monitor import Monitor


@dataclass(kw_only=True, eq=False, repr=False)
class SemiSupervised(SingleMember):
    """Base class of rankers that also learn from documents without labels (label below 0).

    Parameters
    ----------
    fallback
        Compare with the base ranker trained only on the labelled documents, on the validation data, and keep that one
        if unlabelled documents do not help. Without validation data there is no comparison.

    Attributes
    ----------
    unlabelled_helps_
        Whether the unlabelled documents improved `eval_measure` on the validation data; None if unknown.
    """

    _test_settings: ClassVar[dict[str, Any]] = {"base": "LinearRegression"}

    fallback: bool = True

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self.unlabelled_helps_: bool | None = None
        self._more: dict[str, Any] = {}
        changed = self._augmented(data)
        alone = None
        if changed is None or (self.fallback and monitor.valid is not None):
            alone = self._trained(data, monitor.valid)
            self._end_with(alone)
            _, stop = monitor.judge(self.score_rows)
            if changed is None or stop:
                return
        self._end_with(self._trained(changed, monitor.valid))
        better, _ = monitor.judge(self.score_rows)
        if alone is not None:
            self.unlabelled_helps_ = better
            if not better:
                self._end_with(alone)

    def _augmented(self, data: RankingDataset) -> RankingDataset | None:
        """The data with what was learned about unlabelled documents; None if there is nothing to add.

        Numbers for the model card go into ``self._more``.
        """
        raise NotImplementedError

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        labels = {"labelled": int((data.labels >= 0).sum()), "unlabelled": int((data.labels < 0).sum())}
        extra = self.__dict__.pop("_more", {})
        if self.unlabelled_helps_ is not None:
            extra |= {"labelled alone": monitor.history[0], "with unlabelled": monitor.history[1]}
        return super()._card(data, monitor) | {"documents": labels | extra}


def with_labels(data: RankingDataset, labels: np.ndarray, weight: float) -> RankingDataset | None:
    """The data with automatic labels of this weight; None if there are none."""
    automatic = (labels >= 0) & (data.labels < 0)
    if not automatic.any():
        return None
    own = given_or_ones(data.sample_weight, data.n_rows)
    return data.replace(y=labels, sample_weight=np.where(automatic, weight, 1.0) * own)


def with_pairs(data: RankingDataset, human: Preferences, pairs: Preferences, share: float) -> RankingDataset:
    """The data with the pairs of their labels and others, whose weights are multiplied by a share."""
    assert pairs.weight is not None
    both = Preferences(
        np.concatenate([human.winner, pairs.winner]),
        np.concatenate([human.loser, pairs.loser]),
        None,
        np.concatenate([np.ones(len(human)), share * pairs.weight]),
    )
    return data.replace(preferences=both)
