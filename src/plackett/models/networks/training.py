"""Training of a network: AdamW over batches of whole queries, driven by the gradient of a loss for the scores."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, Protocol

import numpy as np

from plackett._base.errors import LossError
from plackett._kernels.torch_threads import Spread, load_torch
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.models.networks.device_pairs import DevicePairs
from plackett.models.networks.graphs import GraphSteps, fits
from plackett.scorers.networks.base import Network
from plackett.scorers.networks.blocks import batches, cut_by_rows, rows_at_once, rows_of
from plackett.scorers.networks.features import FeatureMap
from plackett.scorers.networks.feed import Feed, scores_of, scoring_feed
from plackett.solvers.monitor import Monitor


class TrainingParameters(Protocol):
    """What training reads of a model: parameters of `plackett.models.networks.neural.Neural`."""

    learning_rate: float
    weight_decay: float
    alpha: float
    max_grad_norm: float | None
    batch_size: int
    max_epochs: int
    average: int
    random_state: int | None
    n_jobs: int | None


class HostLoss:
    """A loss that is evaluated on the host: scores are copied there, and the gradient is copied back."""

    def __init__(self, bound: BoundLoss, device: Any) -> None:
        self.bound, self.device = bound, device

    def gradient(self, outputs: Any, share: float) -> Any:
        """Gradient, divided by ``share``, for the outputs (rows × outputs) of the network, as a tensor of the same
        shape.
        """
        torch = load_torch()
        scores = outputs.detach().to("cpu", torch.float64).numpy()
        if not np.isfinite(scores).all():
            raise LossError("the scores are no longer finite; use a smaller learning_rate, or standardize=True")
        gradient = self.bound.evaluate(scores[:, 0] if self.bound.n_outputs == 1 else scores, value=False)[1]
        return torch.from_numpy((gradient / share).astype(np.float32).reshape(scores.shape)).to(self.device)


class Training:
    """A dataset cut into batches of queries, reshuffled for each epoch, and batches cut into blocks with their losses.

    A loss is a sum over queries, so each block of whole queries runs forward, through its loss and backward by itself.
    The gradients of a batch's blocks are summed in a fixed order, whichever thread computed them. On devices where a
    launch costs more than its computation, batches of one block are steps of static shape instead (`GraphSteps`).
    """

    #: Devices on which steps have a static shape where the loss and the data allow it.
    static_on: ClassVar[tuple[str, ...]] = ("cuda",)

    def __init__(
        self, model: TrainingParameters, loss: Loss, data: RankingDataset, device: Any, *, list_aware: bool
    ) -> None:
        self.model, self.data, self.device, self.list_aware = model, data, device, list_aware
        self.loss = loss.settle(data)
        self.rng = np.random.default_rng(model.random_state)
        # the losses do not look at the features, which need not be copied for them
        self.bare = data.replace(X=np.empty((data.n_rows, 0), np.float32))
        whole = self.loss.bind(self.bare, n_jobs=model.n_jobs)
        self.n_outputs = whole.n_outputs
        self.form = whole.device_form() if device.type in self.static_on and whole.n_outputs == 1 else None
        self.total = max(float(whole.query_weight.sum()), np.finfo(float).tiny)

    def _draw(self) -> None:
        """Cut the queries into batches, and these into blocks, each with its loss."""
        group = self.data.group
        cut = [cut_by_rows(queries, group, rows_at_once(self.device)) for queries in self._batches(self.rng)]
        self.blocks = [block for batch in cut for block in batch]
        self.first_block = np.concatenate(([0], np.cumsum([len(batch) for batch in cut])))
        n_jobs = 1 if self.device.type == "cpu" else self.model.n_jobs
        self.losses = [self._bound(self.bare.select(queries), n_jobs) for queries in self.blocks]
        self.share = self.total / len(cut)

    def _bound(self, data: RankingDataset, n_jobs: int | None) -> HostLoss | DevicePairs:
        bound = self.loss.bind(data, n_jobs=n_jobs)
        if bound.n_outputs != self.n_outputs:
            raise LossError(
                f"{self.loss} has {bound.n_outputs} outputs in a part of the data and {self.n_outputs} in all; give "
                "its number of classes"
            )
        return self._placed(bound)

    def _placed(self, bound: BoundLoss) -> HostLoss | DevicePairs:
        """Where the loss of a block is evaluated."""
        form = None if self.device.type == "cpu" else bound.device_form()
        if form is not None and form.pairs:
            return DevicePairs(bound, self.device)
        return HostLoss(bound, self.device)

    def run(
        self, network: Network, features: FeatureMap, first: dict[str, np.ndarray], monitor: Monitor, spread: Spread
    ) -> dict[str, np.ndarray]:
        """Train from these weights and return the best ones."""
        torch = load_torch()
        weights = {name: torch.tensor(array, device=self.device) for name, array in first.items()}
        # if the level of the scores does not matter, its gradient is rounding noise, which Adam would amplify
        trained = [w for n, w in weights.items() if not (self.loss.shift_invariant and n == "output.bias")]
        for tensor in trained:
            tensor.requires_grad_()
        _wake(self.device)
        feed = Feed(self.data.X, np.empty(0, np.int64), [], features, self.device, lists=network.list_aware, keep=True)
        static = fits(self.form, feed, self.data.group, self.model.batch_size, list_aware=self.list_aware)
        optimizer = self._optimizer(trained, capturable=static and self.device.type == "cuda")
        steps = self._steps(network, weights, trained, feed, optimizer) if static else None
        valid_feed = None
        if monitor.valid is not None:
            X, offsets = monitor.valid.X, monitor.valid.offsets
            valid_feed = scoring_feed(network, features, X, offsets, self.device, keep=True)
        best = None
        recent: deque[dict[str, Any]] = deque(maxlen=self.model.average)

        def averaged() -> dict[str, Any]:
            return _mean(recent) if recent else weights

        with monitor.training(self.model.max_epochs, f"{self.loss.name} · {network.name}"):
            for _ in range(self.model.max_epochs):
                if steps is not None:
                    steps.epoch()
                else:
                    self._draw()
                    sizes = [self.data.group[queries] for queries in self.blocks]
                    feed.cut(rows_of(self.blocks, self.data.offsets), sizes)
                    self._epoch(network, weights, feed, optimizer, spread)
                _check_finite(trained)
                if self.model.average > 1:
                    recent.append({name: tensor.detach().clone() for name, tensor in weights.items()})
                previous = monitor.best_round
                scores = None
                if valid_feed is not None:
                    outputs = scores_of(network, averaged(), valid_feed, spread)
                    scores = self.loss.ranking_scores(outputs[:, 0] if self.n_outputs == 1 else outputs)
                stop = monitor.update(scores)
                if monitor.best_round != previous:
                    best = _copied(averaged())
                if stop:
                    break
        if best is None:
            best = first if monitor.kept == 0 else _copied(averaged())
        return best

    def _epoch(self, network: Network, weights: dict[str, Any], feed: Feed, optimizer: Any, spread: Spread) -> None:
        torch = load_torch()
        tensors = [tensor for tensor in weights.values() if tensor.requires_grad]
        seeds = self.rng.integers(2**62, size=len(feed))

        def backward(i: int) -> list[Any]:
            random = torch.Generator(self.device).manual_seed(int(seeds[i])) if network.dropout else None
            rows, lists = feed.block(i)
            with torch.enable_grad():
                outputs = network.scores(weights, rows, lists, random)
                return torch.autograd.grad(outputs, tensors, self.losses[i].gradient(outputs, self.share))

        for batch in self.rng.permutation(self.first_block.size - 1):
            first, end = int(self.first_block[batch]), int(self.first_block[batch + 1])
            blocks = [i for i in range(first, end) if feed.sizes[i].any()]
            for i, gradients in enumerate(spread(backward, blocks)):
                for tensor, gradient in zip(tensors, gradients, strict=True):
                    tensor.grad = gradient if i == 0 else tensor.grad.add_(gradient)
            if not blocks:
                continue
            self._step(tensors, optimizer)

    def _step(self, tensors: list[Any], optimizer: Any) -> None:
        """A step along the gradients that the tensors hold."""
        if self.model.max_grad_norm is not None:
            load_torch().nn.utils.clip_grad_norm_(tensors, self.model.max_grad_norm)
        if self.model.alpha:
            for tensor in tensors:
                if _is_shrunk(tensor):
                    tensor.grad.add_(tensor.detach(), alpha=self.model.alpha)
        optimizer.step()

    def _steps(
        self, network: Network, weights: dict[str, Any], trained: list[Any], feed: Feed, optimizer: Any
    ) -> GraphSteps:
        """The same epochs in steps of static shape, with the same batches for a seed."""
        assert self.form is not None
        made = len(self._batches(np.random.default_rng(0)))  # as many each time

        def draw() -> list[np.ndarray]:
            drawn = self._batches(self.rng)
            self.rng.integers(2**62, size=made)  # the seeds of the blocks
            return [drawn[i] for i in self.rng.permutation(made)]

        return GraphSteps(
            self.form,
            network,
            weights,
            feed,
            self.data,
            share=self.total / made,
            draw=draw,
            step=lambda: self._step(trained, optimizer),
            seed=int(np.random.default_rng(self.model.random_state).integers(2**62)),
        )

    def _batches(self, rng: np.random.Generator) -> list[np.ndarray]:
        return batches(self.data.group, self.model.batch_size, self.list_aware, rng)

    def _optimizer(self, weights: list[Any], *, capturable: bool) -> Any:
        matrices = [w for w in weights if _is_shrunk(w)]
        others = [w for w in weights if not _is_shrunk(w)]
        groups = [
            {"params": matrices, "weight_decay": self.model.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        adamw = load_torch().optim.AdamW
        optimizer = adamw(groups, lr=self.model.learning_rate, fused=True, capturable=capturable)
        optimizer._warned_capturable_if_run_uncaptured = True  # some steps run as they are, and it would say so
        return optimizer


def _is_shrunk(tensor: Any) -> bool:
    """Whether it is a matrix; biases and the scales of normalisations are not shrunk."""
    return bool(tensor.ndim == 2)


def _mean(recent: deque[dict[str, Any]]) -> dict[str, Any]:
    """Mean of each array of weights."""
    stack = load_torch().stack
    return {name: stack([weights[name] for weights in recent]).mean(0) for name in recent[0]}


def _wake(device: Any) -> None:
    """Let the thread of the backward pass use the device once: PyTorch warns if a matrix product is its first use."""
    torch = load_torch()
    if device.type == "cuda":
        with torch.enable_grad():
            one = torch.ones(1, device=device, requires_grad=True)
            torch.autograd.grad(one * one, one)


def _check_finite(tensors: list[Any]) -> None:
    """Check all weights together, once per epoch, because the check waits for the device."""
    torch = load_torch()
    if not bool(torch.cat([tensor.detach().view(-1) for tensor in tensors]).isfinite().all()):
        raise LossError("the weights are no longer finite; use a smaller learning_rate, or standardize=True")


def _copied(weights: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in weights.items()}
