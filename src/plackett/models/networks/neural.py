"""Neural scoring: PyTorch networks, trained on the gradients of any loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice, number, whole
from plackett._base.errors import LossError
from plackett._base.search_space import Real, SearchSpace
from plackett._kernels.torch_threads import load_torch, pick_device, threads
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.models.networks.training import Training
from plackett.scorers.base import Scorer
from plackett.scorers.networks import NETWORKS, Network
from plackett.scorers.networks.features import FeatureMap
from plackett.scorers.neural import NeuralScorer
from plackett.solvers.monitor import Monitor

__all__ = ["Neural"]


@dataclass(kw_only=True, eq=False)
class Neural:
    r"""Neural network, trained by AdamW on batches of queries. The step of a batch follows the gradient of

    .. math:: \frac{1}{\sum_q w_q} \sum_q w_q L_q(f(X_q)) + \frac{\alpha}{2} \sum_l \|W_l\|^2

    with the matrices of weights :math:`W_l`, estimated from the batch: a forward pass, the gradient of the loss for
    the scores, a backward pass.

    With the same ``random_state``, the result is bit-identical on the same kind of CPU, for any number of threads. CUDA
    sums in no fixed order, so there it is the same up to rounding. The random state, the number of threads and all
    other PyTorch settings of the process are left unchanged.

    On CUDA the steps of the losses that the device can compute (ListNet, XENDCG, the logistic, sigmoid and fidelity
    pair losses, the square loss) are recorded as CUDA graphs and replayed; other losses are evaluated on the host.
    ``"attention"`` then trains lists of more than 512 documents with attention in bfloat16.

    Parameters
    ----------
    architecture
        ``"sigmoid"`` (the textbook's two-layer network) or ``"mlp"`` (layers with normalisation, dropout and skip
        connections) score each document by itself. The others look at the whole list, whatever its order:
        ``"attention"`` (documents attend to each other), ``"set"`` (the same through 16 learned points, at a cost that
        grows with the length of a list and not with its square) and ``"groupwise"`` (every pair of documents is
        compared, and the comparisons averaged).
    hidden
        Width of each hidden layer; none makes ``"sigmoid"`` and ``"mlp"`` linear. ``"attention"`` has these layers
        first, and the last is the width of its encoder; so have ``"set"`` and ``"groupwise"``. None is (32,),
        (128, 128, 128), (128,), (128,) and (64, 32).
    activation, dropout
        ``"relu"``, ``"gelu"``, ``"silu"`` or ``"tanh"``; share of the units left out in training. Not for
        ``"sigmoid"``.
    n_heads, n_layers
        For ``"attention"`` and ``"set"``: number of heads per encoder layer, and number of layers.
    learning_rate, weight_decay
        Step size of AdamW, and how much it shrinks the matrices of weights. The decay takes no part in Adam's scaling
        of the gradient: it bounds each weight by about 1 / ``weight_decay``, whatever the loss.
    alpha
        Strength of the penalty :math:`\alpha/2\,\|W\|^2` on the matrices of weights. It is part of what is minimised,
        as in linear models.
    max_grad_norm
        Gradients are clipped to this norm; None disables clipping.
    batch_size
        Queries per step, reshuffled for each epoch. ``"attention"`` uses fewer if lists are very long.
    max_epochs
        Maximum number of passes over the data. With validation data the best one is kept.
    average
        The model is the mean of the weights after this many last epochs, which evens out the noise of single steps;
        1 takes the last ones as they are. With validation data, this mean is what each epoch is judged by.
    standardize, log1p
        Scale features to mean 0 and standard deviation 1; before that, apply sign(x) log(1 + \|x\|), which tames counts
        and lengths (None: all but ``"sigmoid"`` do). The learned transformation is part of the scorer.
    warm_start
        Continue from the network of the last ``fit``, with its feature transformation. With validation data, that
        network is kept if no epoch improves on it.
    device
        ``"cpu"``, ``"cuda"``, or ``"auto"``: CUDA if available.
    random_state
        Seed of the initial weights, the batches and the dropout; None gives a different result each time.
    n_jobs
        Number of CPU threads, each with its own blocks of queries; None uses all cores.

    References
    ----------
    Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton, Hullender: Learning to rank using gradient descent. ICML 2005.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.losses.listwise.listnet import ListNetLoss
    >>> from plackett.solvers.monitor import Monitor
    >>> data = pk.RankingDataset.from_arrays([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> scorer = Neural(hidden=(8,), max_epochs=30).train(ListNetLoss(), data, Monitor())
    >>> bool((np.diff(scorer.predict(data.X, data.offsets)) > 0).all())
    True
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_epochs"
    search_space: ClassVar[SearchSpace] = {"learning_rate": Real(1e-3, 1e-1, log=True)}

    architecture: str = "mlp"
    hidden: tuple[int, ...] | None = None
    activation: str = "relu"
    dropout: float = 0.1
    n_heads: int = 4
    n_layers: int = 2
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    alpha: float = 0.0
    max_grad_norm: float | None = 1.0
    batch_size: int = 32
    max_epochs: int = 50
    average: int = 1
    standardize: bool = True
    log1p: bool | None = None
    warm_start: bool = False
    device: str = "auto"
    random_state: int | None = 0
    n_jobs: int | None = None

    def train(self, loss: Loss, data: RankingDataset, monitor: Monitor, start: Scorer | None = None) -> NeuralScorer:
        """Minimise the loss on the data."""
        for name in ("batch_size", "max_epochs", "average"):
            whole(name, getattr(self, name), least=1, error=LossError)
        number("alpha", self.alpha, least=0.0, error=LossError)
        device = pick_device(self.device)
        with threads(device, self.n_jobs) as spread, load_torch().inference_mode(False):
            training = Training(self, loss, data, device, list_aware=self._kind().list_aware)
            network, features, weights = self._beginning(data, training.n_outputs, start)
            if nothing_to_learn(data, training.loss):
                weights = _constant(weights) if start is None else weights
                with monitor.training(1, f"{training.loss.name} · {network.name}"):
                    scorer = NeuralScorer(network, features, weights, self.device)
                    monitor.update(_valid_scores(scorer, training.loss, monitor, self.n_jobs))
                return scorer
            monitor.consider(start, training.loss)
            weights = training.run(network, features, weights, monitor, spread)
        return NeuralScorer(network, features, weights, self.device)

    def _beginning(
        self, data: RankingDataset, n_outputs: int, start: Scorer | None
    ) -> tuple[Network, FeatureMap, dict[str, np.ndarray]]:
        """Network, map of the features and first weights."""
        network = self._network(data.n_features, n_outputs)
        if start is not None:
            if not isinstance(start, NeuralScorer) or start.network.shapes() != network.shapes():
                raise LossError(
                    "a neural model can only continue from one with the same architecture, features and outputs"
                )
            return network, start.features, start.weights
        log1p = network.default_log1p if self.log1p is None else self.log1p
        weight = None if data.query_weight is None else data.query_weight[data.query_of_row]
        features = FeatureMap.learn(data.X, log1p=log1p, standardize=self.standardize, weight=weight)
        return network, features, network.initial(np.random.default_rng(self.random_state))

    def _kind(self) -> type[Network]:
        choice("architecture", self.architecture, NETWORKS, error=LossError)
        return NETWORKS[self.architecture]

    def _network(self, n_features: int, n_outputs: int) -> Network:
        kind = self._kind()
        return kind(
            n_features=n_features,
            n_outputs=n_outputs,
            hidden=kind.default_hidden if self.hidden is None else self.hidden,
            activation=self.activation,
            dropout=self.dropout,
            n_heads=self.n_heads,
            n_layers=self.n_layers,
        )


def nothing_to_learn(data: RankingDataset, loss: Loss) -> bool:
    """Whether the data prefer no order to any other: every query has only one label, or only one document.

    A loss that depends on the level of the scores has nothing to learn only if all queries share the same label.
    """
    if data.preferences is not None and len(data.preferences):
        return False
    judged = np.flatnonzero(data.labels >= 0)
    labels, query = data.labels[judged], data.query_of_row[judged]
    if not loss.shift_invariant:
        return np.unique(labels).size < 2
    lowest, highest = np.full(data.n_queries, np.inf), np.full(data.n_queries, -np.inf)
    np.minimum.at(lowest, query, labels)
    np.maximum.at(highest, query, labels)
    return not (lowest < highest).any()


def _constant(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The weights with those of the output layer set to 0, so that all scores are equal."""
    zero = ("output.weight", "output.bias")
    return {name: np.zeros_like(array) if name in zero else array for name, array in weights.items()}


def _valid_scores(scorer: NeuralScorer, loss: Loss, monitor: Monitor, n_jobs: int | None) -> np.ndarray | None:
    if monitor.valid is None:
        return None
    return loss.ranking_scores(scorer.predict(monitor.valid.X, monitor.valid.offsets, n_jobs))
