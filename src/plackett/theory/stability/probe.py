"""The losses of single associates, used to compare two scoring functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.losses.associates import ASSOCIATES
from plackett.losses.pairwise.base import PairLoss
from plackett.theory.risks.associate_loss import AssociateLoss
from plackett.theory.risks.associate_losses import LibraryLoss, as_associate_loss, pair_values

#: Largest number of pairs of the probe; if there are more, queries are sampled.
_MOST_PAIRS = 2_000_000


class Probe:
    """Single documents, pairs or lists of a dataset, and their losses for any scores."""

    def __init__(self, data: RankingDataset, loss: Any, random_state: int = 0) -> None:
        self.data = data
        self.loss = as_associate_loss(loss)
        self.pairs = np.empty((0, 2), np.int64)
        if self.loss.associate == "pair":
            from plackett.data.preferences import Preferences

            self.data = data = _fewer(data, random_state)
            preferences = data.preferences or Preferences.from_labels(data, margin=False)
            table = preferences.to_pairs()
            if not table.shape[0]:
                raise DataError("the probe has no pair of unequal labels: there is nothing to compare")
            self.pairs = table

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Loss of each associate."""
        return _LOSSES[self.loss.associate](self, np.asarray(scores, np.float64))

    def change(self, before: np.ndarray, after: np.ndarray) -> float:
        """The largest difference of the loss of one associate."""
        return float(np.abs(self.losses(before) - self.losses(after)).max())


def _fewer(data: RankingDataset, random_state: int) -> RankingDataset:
    """The dataset, or a random sample of its queries that has few enough pairs."""
    counts = ASSOCIATES["pair"].labelled(data)
    if counts.sum() <= _MOST_PAIRS:
        return data
    drawn = np.random.default_rng(random_state).permutation(data.n_queries)
    sampled = drawn[: max(1, int(np.searchsorted(np.cumsum(counts[drawn]), _MOST_PAIRS, side="right")))]
    return data.select(np.sort(sampled))


def _of_pairs(probe: Probe, scores: np.ndarray) -> np.ndarray:
    winner, loser = probe.pairs.T
    inner = probe.loss.loss if isinstance(probe.loss, LibraryLoss) else None
    if isinstance(inner, PairLoss):
        value, slope, curvature = np.empty((3, winner.size))
        inner.phi(scores[winner] - scores[loser] - inner.margin, value, slope, curvature, *inner.shape)
        return value
    labels = np.tile([1.0, 0.0], (winner.size, 1))
    return pair_values(probe.loss, np.stack([scores[winner], scores[loser]], axis=1), labels)


def _of_documents(probe: Probe, scores: np.ndarray) -> np.ndarray:
    single = RankingDataset.from_arrays(None, probe.data.labels, np.arange(probe.data.n_rows))
    return probe.loss.sums(scores, single)


def _of_lists(probe: Probe, scores: np.ndarray) -> np.ndarray:
    return probe.loss.sums(scores, probe.data.replace(sample_weight=None, query_weight=None))


_LOSSES = {"pair": _of_pairs, "document": _of_documents, "list": _of_lists}


def loss_of(ranker: Any) -> AssociateLoss | Any:
    """The loss that a ranker minimises if it declares one, otherwise the pairwise hinge."""
    from plackett.losses.pairwise.hinge import Hinge
    from plackett.losses.pairwise.squared_hinge import SquaredHinge
    from plackett.rankers.pairwise.linear_svm import LinearPairSVM

    if hasattr(ranker, "make_loss"):
        loss = ranker.make_loss()
        if loss.has_value:
            return loss
    if isinstance(ranker, LinearPairSVM) and ranker.loss == "squared_hinge":
        return SquaredHinge()
    return Hinge()
