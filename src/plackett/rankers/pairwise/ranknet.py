"""RankNet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.pairwise.logistic import Logistic
from plackett.models.networks.neural import Neural
from plackett.rankers.base import GradientTrained
from plackett.rankers.chosen_penalty import ChosenPenalty

__all__ = ["RankNet"]


@dataclass(kw_only=True, eq=False, repr=False)
class RankNet(ChosenPenalty, GradientTrained, Neural):
    r"""RankNet: a two-layer network trained by the cross entropy of pairs, :math:`\log(1 + e^{-(s_u - s_v)})`.

    The gradient of all pairs of a query is summed per document first, so each document passes through the network only
    once. For a deeper or list-aware network, set ``architecture``. Needs the extra ``neural``.

    Parameters
    ----------
    alpha
        Strength of the penalty on the matrices of weights, as in `Neural`. ``"auto"`` tries 0.001, 0.01 and 0.1 by
        three-fold cross-validation over the training queries, with `eval_measure` (a sample of about 50,000 documents
        of larger data; 0.01 for fewer than ten queries, or where no query has labels that differ), and takes the
        strongest that is at most one standard error behind the best. The choice is in ``alpha_`` and in the model card.
        A number saves the time. Labels above 1,000, for which nDCG has no gains, are judged with linear gain, and a
        warning, unless another measure is given.
    learning_rate, weight_decay, max_epochs, average
        As in `Neural`, but with larger steps, because few queries make few steps per epoch: at a rate of 0.001 the
        network hardly leaves its start. The mean of the last five epochs evens out what larger steps add in noise.
    graded
        Multiply the weight of a pair by the difference of its two labels, so that confusing grades 3 and 0 costs three
        times as much as confusing 1 and 0. False weighs all pairs alike, as in the paper. Explicit preferences keep
        their weights.
    normalize
        Divide each query's loss by the weight of its pairs, so that long lists do not dominate.

    References
    ----------
    Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton, Hullender: Learning to rank using gradient descent. ICML 2005.
    """

    search_space: ClassVar[SearchSpace] = {
        "alpha": Real(1e-3, 0.1, log=True),
        "learning_rate": Real(1e-3, 1e-1, log=True),
    }
    _penalty: ClassVar[tuple[str, tuple[float, ...]]] = ("alpha", (0.01, 0.1, 0.001))
    _folds: ClassVar[int] = 3
    _test_settings: ClassVar[dict[str, Any]] = {"alpha": 0.01}

    architecture: str = "sigmoid"
    learning_rate: float = 0.02
    weight_decay: float = 0.0
    alpha: float | str = "auto"  # type: ignore[assignment]
    max_epochs: int = 30
    average: int = 5
    graded: bool = True
    normalize: bool = True

    def _best(self, values: np.ndarray, worth: np.ndarray) -> int:
        """The strongest penalty that is at most one standard error, paired over queries, behind the best."""
        worth = np.nan_to_num(worth)
        behind = worth[worth.mean(axis=1).argmax()] - worth
        error = behind.std(axis=1, ddof=1) / np.sqrt(worth.shape[1])
        near = np.flatnonzero(behind.mean(axis=1) <= error)
        return int(near[values[near].argmax()])

    def _penalty_for_all(self, value: float, share: float) -> float:
        return value * share  # it is weighed against the mean loss of a query

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return Logistic(graded=self.graded, normalize=self.normalize)
