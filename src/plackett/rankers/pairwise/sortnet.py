"""SortNet: a neural network that compares two documents, used as the comparison function of a sort."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.search_space import Integer, Real, SearchSpace
from plackett._kernels.torch_threads import load_torch, pick_device, threads
from plackett.aggregation.orderings.named import find_ordering
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.rankers.pairwise._sortnet_training import SortNetSettings, SortNetTraining
from plackett.scorers.linear import LinearScorer
from plackett.scorers.ordered import OrderedScorer
from plackett.solvers.monitor import Monitor

__all__ = ["SortNet"]


@dataclass(kw_only=True, eq=False, repr=False)
class SortNet(Ranker):
    r"""SortNet: a comparative neural network, trained on the pairs that a sort with it gets wrong.

    The network has two outputs, "u before v" and "v before u", and weights that are shared so that exchanging the
    documents exchanges the outputs. It minimises

    .. math:: \sum_{u \succ v} (1 - P_>(u, v))^2 + P_<(u, v)^2

    over a growing set of pairs: it starts with ``start_pairs`` drawn at random; after each round the lists are sorted
    by QuickSort with the network, and its comparisons that contradict the labels join the set. Training stops when
    there are none left. Needs the extra ``neural`` for training; a trained ranker predicts without it.

    Parameters
    ----------
    n_hidden
        Number of hidden units, each with its mirror.
    order
        ``"quicksort"``, ``"degree"``, ``"greedy"``, ``"exact"``, or an ordering such as ``QuickSort(k=10)``: how
        `predict` builds lists from comparisons.
    max_iter, n_epochs
        Maximum number of rounds that add pairs, and number of passes over the pairs in each round.
    learning_rate, weight_decay, batch_size
        Settings of AdamW; the batch size is a number of pairs.
    start_pairs, max_pairs
        Initial and maximum number of pairs; if there are too many mistakes, a sample is added.
    standardize
        Scale features to mean 0 and standard deviation 1. The scaling is folded into the weights of the network.
    device
        ``"cpu"``, ``"cuda"``, or ``"auto"``: CUDA if available.

    Attributes
    ----------
    n_pairs_
        Number of training pairs in each round.

    Examples
    --------
    >>> X, y, qid = [[0.0], [1.0], [2.0], [3.0]] * 2, [0, 1, 1, 2] * 2, [1, 1, 1, 1, 2, 2, 2, 2]
    >>> SortNet(device="cpu").fit(X, y, qid=qid).rank([[0.5], [2.5], [1.5]], qid=[1, 1, 1])
    array([3, 1, 2])

    References
    ----------
    Rigutini, Papini, Maggini, Scarselli: SortNet: learning to rank by a neural preference function. IEEE Transactions
    on Neural Networks 2011.
    """

    takes_preferences: ClassVar[bool] = True
    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {
        "n_hidden": Integer(5, 40, log=True),
        "learning_rate": Real(1e-3, 1e-1, log=True),
    }
    #: The pairs are drawn, and batches follow each other.
    one_at_a_time: ClassVar[bool] = True

    _test_settings: ClassVar[dict[str, Any]] = {"max_iter": 4, "n_epochs": 6, "learning_rate": 0.05}

    n_hidden: int = 10
    order: Any = "quicksort"
    max_iter: int = 20
    n_epochs: int = 10
    learning_rate: float = 0.01
    weight_decay: float = 1e-3
    batch_size: int = 512
    start_pairs: int = 10_000
    max_pairs: int = 100_000
    standardize: bool = True
    device: str = "auto"

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        for name in ("n_hidden", "max_iter", "n_epochs", "batch_size", "start_pairs", "max_pairs"):
            whole(name, getattr(self, name), least=1)
        settings = SortNetSettings(**{field.name: getattr(self, field.name) for field in fields(SortNetSettings)})
        ordering = find_ordering(self.order, random_state=self.random_state)
        device = pick_device(self.device)
        with threads(device, 1), load_torch().inference_mode(False):
            training = SortNetTraining(settings, data, device)
            start: Any = OrderedScorer(training.network(), ordering)
            self.n_pairs_: list[int] = []
            pairs = bool(training.weight.any())
            if not pairs:  # nothing to learn: no order is better than another
                start = LinearScorer(np.zeros((data.n_features, 1)), np.zeros(1))
            with monitor.training(self.max_iter, "SortNet"):
                for _ in range(self.max_iter if pairs else 0):
                    training.epochs()
                    self.n_pairs_.append(training.winner.size)
                    if monitor.keep(OrderedScorer(training.network(), ordering)) or not training.grow():
                        break
        self.scorer_ = monitor.best or start
