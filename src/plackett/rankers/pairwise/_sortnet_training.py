"""Training of SortNet on a set of pairs that grows with the mistakes of a sort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.torch_threads import load_torch
from plackett.aggregation.orderings.quicksort import QuickSort
from plackett.data.dataset import RankingDataset
from plackett.rankers.pairwise._listed_pairs import listed_pairs
from plackett.scorers.comparators.comparative_network import ComparativeNetwork, outputs
from plackett.scorers.networks.features import FeatureMap, dense_rows

#: Features of up to this many numbers (1 GB) are mapped once; larger ones batch by batch.
_KEPT = 1 << 28


@dataclass(frozen=True)
class SortNetSettings:
    """The parameters of `SortNet` that its training reads."""

    n_hidden: int
    n_epochs: int
    learning_rate: float
    weight_decay: float
    batch_size: int
    start_pairs: int
    max_pairs: int
    standardize: bool
    random_state: Any
    n_jobs: int | None


class SortNetTraining:
    """The set of pairs, and the weights learned from it, as tensors."""

    def __init__(self, settings: SortNetSettings, data: RankingDataset, device: Any) -> None:
        torch = load_torch()
        self.settings, self.data, self.device = settings, data, device
        self.rng = np.random.default_rng(settings.random_state)
        self.truth = _Truth(data)
        # all pairs are equally likely to be drawn; their weights enter the loss
        plain = data.replace(sample_weight=None, query_weight=None)
        start = min(settings.start_pairs, settings.max_pairs)
        self.winner, self.loser, share = listed_pairs(plain, start, False, settings.random_state)
        self.weight = self.truth.weight(self.winner, self.loser) * share * max(share.size, 1)
        row_weight = None if data.query_weight is None else data.query_weight[data.query_of_row]
        self.map = FeatureMap.learn(data.X, log1p=False, standardize=settings.standardize, weight=row_weight)
        self.features, self.kept = self.map.on(device), None
        if data.n_rows * data.n_features <= _KEPT:
            self.kept = self._rows(np.arange(data.n_rows))
        d, h = data.n_features, settings.n_hidden
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
            {"params": [w for w in self.weights.values() if w.ndim == 2], "weight_decay": settings.weight_decay},
            {"params": [w for w in self.weights.values() if w.ndim == 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate)

    def epochs(self) -> None:
        """Some passes over the pairs."""
        torch = load_torch()
        mean = max(float(self.weight.mean()) if self.weight.size else 0.0, np.finfo(float).tiny)
        for _ in range(self.settings.n_epochs):
            order = self.rng.permutation(self.winner.size)
            for start in range(0, order.size, self.settings.batch_size):
                part = order[start : start + self.settings.batch_size]
                u, v = (self._rows(side[part]) for side in (self.winner, self.loser))
                above, below = outputs(self.weights, u, v)
                weight = torch.tensor((self.weight[part] / mean).astype(np.float32), device=self.device)
                loss = (weight * ((1.0 - above) ** 2 + below**2)).mean()
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()

    def _rows(self, rows: np.ndarray) -> Any:
        """Features of some rows, mapped."""
        if self.kept is not None:
            return self.kept[load_torch().from_numpy(rows).to(self.device)]
        taken = np.ascontiguousarray(dense_rows(self.data.X, rows), np.float32)
        return self.features(load_torch().from_numpy(taken).to(self.device))

    def network(self) -> ComparativeNetwork:
        """The network for the original features: mean and scale become part of the weights."""
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
        """Sort the lists and add the wrong comparisons; return whether any are new."""
        none = np.empty(0, np.int64)
        compare, asked = self.network().bind(self.data.X, self.settings.n_jobs), [(none, none)]

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
        chosen, free_pairs = np.flatnonzero(new), self.settings.max_pairs - self.winner.size
        if chosen.size > free_pairs:
            chosen = np.sort(self.rng.choice(chosen, max(free_pairs, 0), replace=False))
        self.winner = np.concatenate([self.winner, winner[chosen]])
        self.loser = np.concatenate([self.loser, loser[chosen]])
        self.weight = np.concatenate([self.weight, weight[chosen]])
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
