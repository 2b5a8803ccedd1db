"""Scores of a neural network."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett._kernels.torch_threads import load_torch, pick_device, threads
from plackett.scorers.base import Scorer, Size, check_finite
from plackett.scorers.networks import NETWORKS, Network
from plackett.scorers.networks.features import FeatureMap
from plackett.scorers.networks.feed import scores_of, scoring_feed
from plackett.scorers.networks.plain import plain_scores
from plackett.scorers.parts import Layer, NetworkLayers, Part

__all__ = ["NeuralScorer"]


@dataclass(frozen=True, eq=False)
class NeuralScorer(Scorer):
    """A network with its weights and the map of its features.

    On the CPU, a document's score does not depend on the order of rows and queries or on the other queries of a call.
    On CUDA it depends on them only through rounding.
    """

    kind: ClassVar[str] = "neural"
    hypothesis: ClassVar[str] = "neural networks"
    network: Network
    features: FeatureMap
    weights: dict[str, np.ndarray]
    device: str = "auto"

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on the other documents of its list."""
        return self.network.list_aware

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("network", self.network.n_features, self.network.n_outputs)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, or one per output; in blocks, so that memory is bounded."""
        if _on_host(self.device):
            scores = plain_scores(self.network, self.features, self._wide_weights, X, offsets, n_jobs)
            return scores[:, 0] if self.network.n_outputs == 1 else scores
        device = pick_device(self.device)
        with threads(device, n_jobs) as spread:
            feed = scoring_feed(self.network, self.features, X, offsets, device, keep=False)
            scores = scores_of(self.network, self._weights_on(device), feed, spread)
        return scores[:, 0] if self.network.n_outputs == 1 else scores

    @cached_property
    def _wide_weights(self) -> dict[str, np.ndarray]:
        return {name: np.asarray(weight, np.float64) for name, weight in self.weights.items()}

    def _weights_on(self, device: Any) -> dict[str, Any]:
        known = self.__dict__.setdefault("_tensors", {})
        if device not in known:
            torch = load_torch()
            known[device] = {name: torch.from_numpy(np.array(w)).to(device) for name, w in self.weights.items()}
        return known[device]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_tensors", "_wide_weights")}

    @property
    def not_exportable(self) -> str:
        """Why engines cannot have it, by its architecture."""
        if super().not_exportable:
            return super().not_exportable
        if self.network.name not in ("mlp", "sigmoid"):
            return f"has the architecture {self.network.name!r} and cannot be exported; mlp and sigmoid can"
        outputs = self.network.n_outputs
        return "" if outputs == 1 else f"has {outputs} outputs per document; engines expect one score"

    def export_parts(self) -> list[tuple[float, Part]]:
        """Its layers."""
        network, weights = self.network, self._wide_weights
        layers, width = [], network.n_features
        mlp = network.name == "mlp"
        for i, size in enumerate(network.hidden):
            name = f"hidden.{i}"
            norm = (weights[f"{name}.norm.weight"], weights[f"{name}.norm.bias"]) if mlp else None
            matrix, bias = weights[f"{name}.weight"].T, weights[f"{name}.bias"]
            activation = network.activation if mlp else "sigmoid"
            layers.append(Layer(matrix, bias, activation, norm, mlp and i > 0 and width == size))
            width = size
        layers.append(Layer(weights["output.weight"].T, weights["output.bias"], "identity"))
        mean, scale = (np.asarray(a, np.float64) for a in (self.features.mean, self.features.scale))
        return [(1.0, NetworkLayers(bool(self.features.log1p), mean, scale, tuple(layers)))]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays; the description of the network is JSON in bytes."""
        description = {"architecture": self.network.name, "log1p": self.features.log1p, **asdict(self.network)}
        arrays = {
            "network": np.frombuffer(json.dumps(description).encode(), np.uint8),
            "features.mean": self.features.mean,
            "features.scale": self.features.scale,
        }
        return arrays | {f"weights.{name}": value for name, value in self.weights.items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> NeuralScorer:
        """The scorer that `to_arrays` wrote."""
        try:
            description = json.loads(arrays["network"].tobytes())
            log1p = bool(description.pop("log1p"))
            network = NETWORKS[description.pop("architecture")](**description)
            if not 0 <= network.n_layers + len(network.hidden) <= len(arrays):  # every layer has weights
                raise DataError(f"a network of {network.n_layers} layers with {len(arrays)} arrays")
            features = FeatureMap(log1p, np.array(arrays["features.mean"]), np.array(arrays["features.scale"]))
            weights = {name: np.array(arrays[f"weights.{name}"]) for name in network.shapes()}
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the description of the network is damaged or of another version ({error!r})") from None
        for name, array in (("features.mean", features.mean), ("features.scale", features.scale)):
            if array.shape != (network.n_features,):
                raise DataError(f"array {name!r} has shape {array.shape} for {network.n_features} features")
        for name, shape in network.shapes().items():
            if weights[name].shape != shape:
                raise DataError(f"weights {name!r} have shape {weights[name].shape}, the network needs {shape}")
        check_finite({"features.mean": features.mean, "features.scale": features.scale})
        check_finite({f"weights.{name}": weight for name, weight in weights.items()})
        return cls(network, features, weights)


def _on_host(device: str) -> bool:
    """Whether scores are computed on the host, where NumPy does it.

    PyTorch is not imported just to look for an accelerator: a process that only serves uses the host, unless ``"cuda"``
    is requested.
    """
    if device == "auto":
        torch = sys.modules.get("torch")
        return torch is None or not torch.cuda.is_available()
    return device == "cpu"
