"""Networks of logistic neurons as other tools write them: every layer ends in a sigmoid, the last one too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers.base import Scorer, Size
from plackett.scorers.parts import Layer, NetworkLayers, Part
from plackett.scorers.products import table_times

__all__ = ["SigmoidLayersScorer"]


@dataclass(frozen=True, eq=False)
class SigmoidLayersScorer(Scorer):
    r"""Scores :math:`\sigma(W_k \cdots \sigma(W_1 x + b_1) \cdots + b_k)`, between 0 and 1.

    Parameters
    ----------
    weights, biases
        Of each layer: a matrix (inputs × outputs) and a vector. The last layer has one output.

    Examples
    --------
    >>> scorer = SigmoidLayersScorer((np.array([[1.0], [0.0]]),), (np.array([0.0]),))
    >>> scorer.predict(np.array([[0.0, 5.0]], np.float32), np.array([0, 1])).tolist()
    [0.5]
    """

    kind: ClassVar[str] = "sigmoid_layers"
    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("weights.0", self.weights[0].shape[0])

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row; it does not depend on the other rows."""
        from scipy.special import expit

        rows = X
        for weight, bias in zip(self.weights, self.biases, strict=True):
            rows = expit(table_times(rows, weight, n_jobs) + bias)
        return rows[:, 0]

    def export_parts(self) -> list[tuple[float, Part]]:
        """Its layers."""
        size = self.weights[0].shape[0]
        layers = tuple(Layer(w, b, "sigmoid") for w, b in zip(self.weights, self.biases, strict=True))
        return [(1.0, NetworkLayers(False, np.zeros(size), np.ones(size), layers))]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        arrays = {f"weights.{i}": weight for i, weight in enumerate(self.weights)}
        return arrays | {f"biases.{i}": bias for i, bias in enumerate(self.biases)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> SigmoidLayersScorer:
        """The scorer that `to_arrays` wrote."""
        n_layers = len(arrays) // 2
        try:
            weights = tuple(np.array(arrays[f"weights.{i}"], np.float64) for i in range(n_layers))
            biases = tuple(np.array(arrays[f"biases.{i}"], np.float64) for i in range(n_layers))
        except (KeyError, ValueError) as error:
            raise DataError(f"the network is damaged ({error!r})") from None
        widths = [w.shape[0] if w.ndim == 2 else -1 for w in weights[1:]] + [1]
        if n_layers == 0 or any(
            w.ndim != 2 or w.shape[1] != width or b.shape != (width,)
            for w, b, width in zip(weights, biases, widths, strict=True)
        ):
            raise DataError("the network is damaged (its layers do not fit together)")
        return cls(weights, biases)
