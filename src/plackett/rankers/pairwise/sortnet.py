"""SortNet: a neural network that compares two documents, as the comparison of a sort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett.aggregation.orderings.named import find_ordering
from plackett.aggregation.orderings.quicksort import QuickSort
from plackett.data.dataset import RankingDataset
from plackett.models._torch import load_torch, pick_device, threads
from plackett.models.base import Monitor
from plackett.models.networks.features import FeatureMap, dense_rows
from plackett.models.search_space import Integer, Real, SearchSpace
from plackett.rankers.base import Ranker
from plackett.rankers.pairwise._comparative_network import ComparativeNetwork, outputs
from plackett.rankers.pairwise._listed_pairs import listed_pairs
from plackett.rankers.pairwise._ordered import OrderedScorer

__all__ = ["SortNet"]


@dataclass(kw_only=True, eq=False, repr=False)
class SortNet(Ranker):
    r"""SortNet: a comparative neural network, trained on the pairs that a sort with it gets wrong.

    The network has two outputs, "u before v" and "v before u", and weights that are shared so that exchanging the
    documents exchanges the outputs. It minimises

    .. math:: \sum_{u \succ v} (1 - P_>(u, v))^2 + P_<(u, v)^2

    over a set of pairs that grows: it begins with ``start_pairs`` drawn at random; after each round the lists are
    sorted by QuickSort with the network, and its comparisons that contradict the labels join the set. Training ends
    when there are none left. Needs the extra ``neural`` for training; a trained ranker predicts without it.

    Parameters
    ----------
    n_hidden
        Number of hidden units, each with its mirror.
    order
        ``"quicksort"``, ``"degree"``, ``"greedy"``, ``"exact"``, or an ordering such as ``QuickSort(k=10)``: how lists
        are made of comparisons when predicting.
    max_iter, n_epochs
        Most rounds in which pairs are added, and passes over the pairs in each of them.
    learning_rate, weight_decay, batch_size
        Of AdamW; the batch is a number of pairs.
    start_pairs, max_pairs
        Pairs at the start, and at most; of too many mistakes some are drawn.
    standardize
        Bring features to mean 0 and deviation 1. What was learned for this is part of the network's weights.
    device
        ``"cpu"``, ``"cuda"``, or ``"auto"``: CUDA where there is one.

    Attributes
    ----------
    n_pairs_
        Pairs learned from in each round.

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

    ids: ClassVar[tuple[str, ...]] = ("pairwise.sortnet",)
    paper: ClassVar[str] = "Rigutini, Papini, Maggini, Scarselli 2011"
    allow_nan: ClassVar[bool] = False
    search_space: ClassVar[SearchSpace] = {
        "n_hidden": Integer(5, 40, log=True),
        "learning_rate": Real(1e-3, 1e-1, log=True),
    }
    #: The pairs are drawn, and batches follow each other.
    one_at_a_time: ClassVar[bool] = True

    n_hidden: int = 10
    order: Any = "quicksort"
    max_iter: int = 20
    n_epochs: int = 10
    learning_rate: float = 0.01
    weight_decay: float = 1e-3
    batch_size: int = 256
    start_pairs: int = 10_000
    max_pairs: int = 100_000
    standardize: bool = True
    device: str = "auto"

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        for name in ("n_hidden", "max_iter", "n_epochs", "batch_size", "start_pairs", "max_pairs"):
            if getattr(self, name) < 1:
                raise DataError(f"{name}={getattr(self, name)}; give 1 or more")
        ordering = find_ordering(self.order, random_state=self.random_state)
        device = pick_device(self.device)
        with threads(device, 1), load_torch().inference_mode(False):
            training = _Training(self, data, device)
            best, self.n_pairs_ = OrderedScorer(training.network(), ordering), []
            with monitor.training(self.max_iter, "SortNet"):
                for _ in range(self.max_iter):
                    training.epochs()
                    self.n_pairs_.append(training.winner.size)
                    scorer = OrderedScorer(training.network(), ordering)
                    before, valid = monitor.best_round, monitor.valid
                    stop = monitor.update(
                        None if valid is None else scorer.predict(valid.X, valid.offsets, self.n_jobs)
                    )
                    if valid is None or monitor.best_round != before:
                        best = scorer
                    if stop or not training.grow():
                        break
        self.scorer_ = best


class _Training:
    """The set of pairs, and the weights, as tensors, that are learned from it."""

    def __init__(self, ranker: SortNet, data: RankingDataset, device: Any) -> None:
        torch = load_torch()
        self.ranker, self.data, self.device = ranker, data, device
        self.rng = np.random.default_rng(ranker.random_state)
        self.truth = _Truth(data)
        plain = data.replace(
            sample_weight=None, query_weight=None
        )  # all pairs as likely; their weights count in the loss
        start = min(ranker.start_pairs, ranker.max_pairs)
        self.winner, self.loser, share = listed_pairs(plain, start, False, ranker.random_state)
        self.weight = self.truth.weight(self.winner, self.loser) * share * max(share.size, 1)
        row_weight = None if data.query_weight is None else data.query_weight[data.query_of_row]
        self.map = FeatureMap.learn(data.X, log1p=False, standardize=ranker.standardize, weight=row_weight)
        d, h = data.n_features, ranker.n_hidden
        first = {
            "first": self.rng.normal(size=(d, h)) / np.sqrt(2 * d),
            "second": self.rng.normal(size=(d, h)) / np.sqrt(2 * d),
            "bias": np.zeros(h),
            "own": self.rng.normal(size=h) / np.sqrt(h),
            "other": self.rng.normal(size=h) / np.sqrt(h),
            "output": np.zeros(1),
        }
        self.weights = {name: torch.tensor(array.astype(np.float32), device=device) for name, array in first.items()}
        for tensor in self.weights.values():
            tensor.requires_grad_()
        groups = [
            {"params": [w for w in self.weights.values() if w.ndim == 2], "weight_decay": ranker.weight_decay},
            {"params": [w for w in self.weights.values() if w.ndim == 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=ranker.learning_rate)

    def epochs(self) -> None:
        """Some passes over the pairs."""
        torch = load_torch()
        mean = max(float(self.weight.mean()) if self.weight.size else 0.0, np.finfo(float).tiny)
        features = self.map.on(self.device)
        for _ in range(self.ranker.n_epochs):
            order = self.rng.permutation(self.winner.size)
            for start in range(0, order.size, self.ranker.batch_size):
                part = order[start : start + self.ranker.batch_size]
                u, v = (features(self._rows(side[part])) for side in (self.winner, self.loser))
                above, below = outputs(self.weights, u, v)
                weight = torch.tensor((self.weight[part] / mean).astype(np.float32), device=self.device)
                loss = (weight * ((1.0 - above) ** 2 + below**2)).mean()
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()

    def _rows(self, rows: np.ndarray) -> Any:
        taken = np.ascontiguousarray(dense_rows(self.data.X, rows), np.float32)
        return load_torch().from_numpy(taken).to(self.device)

    def network(self) -> ComparativeNetwork:
        """The network for features as they are: mean and scale become part of the weights."""
        w = {name: tensor.detach().to("cpu").numpy().astype(np.float64) for name, tensor in self.weights.items()}
        mean, scale = (np.asarray(a, np.float64) for a in (self.map.mean, self.map.scale))
        if not all(np.isfinite(array).all() for array in w.values()):
            raise DataError("the weights are no longer finite; use a smaller learning_rate, or standardize=True")
        if self.winner.size == 0 or not self.weight.any():  # nothing was learned, so nothing is preferred
            w["own"] = w["other"] = np.zeros_like(w["own"])
        scaled = {name: w[name] * scale[:, None] for name in ("first", "second")}
        shift = mean @ (scaled["first"] + scaled["second"])
        return ComparativeNetwork(**scaled, **{n: w[n] for n in ("own", "other", "output")}, bias=w["bias"] - shift)

    def grow(self) -> bool:
        """Sort the lists, and add the comparisons that were wrong; whether there are any new ones."""
        none = np.empty(0, np.int64)
        compare, asked = self.network().bind(self.data.X, self.ranker.n_jobs), [(none, none)]

        def noted(u: np.ndarray, v: np.ndarray) -> np.ndarray:
            h = compare(u, v)
            wrong = self.truth.before(u, v) & (h <= 0.5)
            other = self.truth.before(v, u) & (h >= 0.5)
            asked.append((np.concatenate([u[wrong], v[other]]), np.concatenate([v[wrong], u[other]])))
            return h

        QuickSort(random_state=int(self.rng.integers(2**31))).scores(noted, self.data.offsets)
        winner, loser = (np.concatenate(side) for side in zip(*asked, strict=True))
        weight = self.truth.weight(winner, loser)
        n = self.data.n_rows
        new = (weight > 0) & ~np.isin(winner * n + loser, self.winner * n + self.loser)
        found, room = np.flatnonzero(new), self.ranker.max_pairs - self.winner.size
        if found.size > room:
            found = np.sort(self.rng.choice(found, max(room, 0), replace=False))
        self.winner = np.concatenate([self.winner, winner[found]])
        self.loser = np.concatenate([self.loser, loser[found]])
        self.weight = np.concatenate([self.weight, weight[found]])
        return bool(weight.any())


class _Truth:
    """Which of two documents belongs first, by the preferences of a dataset or else by its labels."""

    def __init__(self, data: RankingDataset) -> None:
        self.data, pairs = data, data.preferences
        self.known = None if pairs is None else np.unique(pairs.winner * data.n_rows + pairs.loser)

    def before(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Whether each u belongs before its v."""
        if self.known is not None:
            return np.isin(u * self.data.n_rows + v, self.known)
        y = self.data.labels
        return (y[u] > y[v]) & (y[v] >= 0)

    def weight(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Weight of pairs from those of their documents and queries."""
        data, weight = self.data, np.ones(u.size)
        if data.sample_weight is not None:
            weight = weight * data.sample_weight[u] * data.sample_weight[v]
        return weight if data.query_weight is None else weight * data.query_weight[data.query_of_row[u]]
