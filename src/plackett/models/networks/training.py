"""Training of a network: AdamW over batches of whole queries, driven by the gradient of a loss for the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.models._torch import load_torch
from plackett.models.base import Monitor
from plackett.models.networks.base import Network
from plackett.models.networks.features import FeatureMap
from plackett.models.networks.feed import Feed, batches_to_train, rows_of, scores_of, scoring_feed

if TYPE_CHECKING:
    from plackett.models.neural import Neural

__all__ = ["HostLoss", "Training"]


class HostLoss:
    """A loss that is evaluated on the host: scores go there, the gradient comes back, once per batch."""

    def __init__(self, bound: BoundLoss, device: Any) -> None:
        self.bound, self.device = bound, device

    def gradient(self, outputs: Any) -> Any:
        """Gradient for the outputs (rows × outputs) of the network, as a tensor of the same shape."""
        torch = load_torch()
        scores = outputs.detach().to("cpu", torch.float64).numpy()
        if not np.isfinite(scores).all():
            raise LossError("the scores are no longer finite; use a smaller learning_rate, or scale the features")
        gradient = self.bound.evaluate(scores[:, 0] if self.bound.n_outputs == 1 else scores, value=False)[1]
        gradient = gradient.reshape(scores.shape).astype(np.float32)
        return torch.from_numpy(gradient).to(self.device)


class Training:
    """The batches of a dataset with their losses, made once and used in each epoch."""

    def __init__(self, model: Neural, loss: Loss, data: RankingDataset, device: Any, *, list_aware: bool) -> None:
        self.model, self.data, self.device = model, data, device
        self.loss = loss.settle(data)
        self.rng = np.random.default_rng(model.random_state)
        self.batches = batches_to_train(data.group, model.batch_size, list_aware, self.rng)
        # the losses do not look at the features, which need not be copied for them
        bare = data.replace(X=np.empty((data.n_rows, 0), np.float32))
        self.bounds = [self.loss.bind(bare.select(queries), n_jobs=model.n_jobs) for queries in self.batches]
        outputs = {bound.n_outputs for bound in self.bounds}
        if len(outputs) != 1:
            raise LossError(f"{loss} has {sorted(outputs)} outputs in different batches; fix its number of classes")
        self.n_outputs = outputs.pop()
        total = sum(float(bound.query_weight.sum()) for bound in self.bounds)
        self.share = max(total, np.finfo(float).tiny) / len(self.bounds)

    def run(
        self, network: Network, features: FeatureMap, first: dict[str, np.ndarray], monitor: Monitor
    ) -> dict[str, np.ndarray]:
        """Train from these weights and return the best ones."""
        torch = load_torch()
        weights = {name: torch.tensor(array, device=self.device).requires_grad_() for name, array in first.items()}
        optimizer = self._optimizer(list(weights.values()))
        order = rows_of(np.concatenate(self.batches), self.data.offsets)
        sizes = [self.data.group[queries] for queries in self.batches]
        feed = Feed(self.data.X, order, sizes, features, self.device, lists=network.list_aware, keep=True)
        losses = [self._placed(bound) for bound in self.bounds]
        valid = monitor.valid
        valid_feed = (
            None if valid is None else scoring_feed(network, features, valid.X, valid.offsets, self.device, keep=True)
        )
        best = None
        monitor.start(self.model.max_epochs, f"{self.loss.name} · {network.name}")
        try:
            for _ in range(self.model.max_epochs):
                with torch.enable_grad():
                    self._epoch(network, weights, feed, losses, optimizer)
                previous = monitor.best_round
                scores = None
                if valid_feed is not None:
                    outputs = scores_of(network, weights, valid_feed)
                    scores = self.loss.ranking_scores(outputs[:, 0] if self.n_outputs == 1 else outputs)
                stop = monitor.update(scores)
                if monitor.best_round != previous:
                    best = _copied(weights)
                if stop:
                    break
        except KeyboardInterrupt:
            monitor.interrupted = True
        finally:
            monitor.stop()
        return _copied(weights) if best is None else best

    def _epoch(
        self, network: Network, weights: dict[str, Any], feed: Feed, losses: list[HostLoss], optimizer: Any
    ) -> None:
        torch = load_torch()
        tensors = list(weights.values())
        for i in self.rng.permutation(len(losses)):
            rows, lists = feed.block(i)
            if rows.shape[0] == 0:
                continue
            outputs = network.scores(weights, rows, lists, True)
            gradient = losses[i].gradient(outputs)
            optimizer.zero_grad(set_to_none=True)
            outputs.backward(gradient / self.share)
            if self.model.max_grad_norm is not None:
                torch.nn.utils.clip_grad_norm_(tensors, self.model.max_grad_norm)
            optimizer.step()

    def _placed(self, bound: BoundLoss) -> HostLoss:
        """Where the loss of a batch is evaluated; anything with a method ``gradient`` of tensors will do."""
        return HostLoss(bound, self.device)

    def _optimizer(self, weights: list[Any]) -> Any:
        matrices = [w for w in weights if w.ndim == 2]
        others = [w for w in weights if w.ndim != 2]  # biases and the scales of normalisations are not shrunk
        groups = [
            {"params": matrices, "weight_decay": self.model.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        return load_torch().optim.AdamW(groups, lr=self.model.learning_rate, fused=True)


def _copied(weights: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.array(tensor.detach().cpu()) for name, tensor in weights.items()}
