"""The comparative neural network: two documents in, two outputs that are exchanged when the documents are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from plackett._kernels.torch_threads import load_torch
from plackett.aggregation.orderings.preference import Preference
from plackett.scorers.base import Size
from plackett.scorers.comparators.base import Comparator
from plackett.scorers.fields import array
from plackett.scorers.products import table_times

__all__ = ["ComparativeNetwork"]

#: Numbers of hidden units that are held at a time.
_AT_ONCE = 1 << 21


@dataclass(frozen=True, eq=False)
class ComparativeNetwork(Comparator):
    """A network with mirrored hidden units, evaluated without PyTorch.

    Hidden unit i is σ(a_i·x_u + b_i·x_v + c_i), and its mirror the same with u and v exchanged. The output "u before v"
    is σ(Σ_i own_i h_i + other_i h'_i + output), and "v before u" has own and other exchanged. So exchanging the
    documents exchanges the outputs exactly. The preference is ½ + ½ (first output − second output).
    """

    kind: ClassVar[str] = "comparative_network"
    first: np.ndarray = array("features units")
    second: np.ndarray = array("features units")
    bias: np.ndarray = array("units")
    own: np.ndarray = array("units")
    other: np.ndarray = array("units")
    output: np.ndarray = array("1")

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("comparator.first", self.first.shape[0])

    def bind(self, X: Any, n_jobs: int | None) -> Preference:
        """The preference for a row over another one; what a row adds to the hidden units is computed once."""
        a, b = table_times(X, self.first, n_jobs), table_times(X, self.second, n_jobs)
        rows = max(1, _AT_ONCE // max(self.bias.size, 1))

        def compare(u: np.ndarray, v: np.ndarray) -> np.ndarray:
            out = np.empty(u.size)
            for start in range(0, u.size, rows):
                i, j = u[start : start + rows], v[start : start + rows]
                above, below = self.outputs(a[i] + b[j], a[j] + b[i])
                out[start : start + rows] = 0.5 + 0.5 * (above - below)
            return out

        return compare

    def outputs(self, hidden: np.ndarray, mirror: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The two outputs, from the inputs of the hidden units and of their mirrors."""
        hidden, mirror = expit(hidden + self.bias), expit(mirror + self.bias)
        # sums row by row: matrix products would depend on the other pairs
        h_own, h_other = (np.einsum("ij,j->i", hidden, w) for w in (self.own, self.other))
        m_own, m_other = (np.einsum("ij,j->i", mirror, w) for w in (self.own, self.other))
        return expit(h_own + m_other + self.output[0]), expit(m_own + h_other + self.output[0])


def outputs(weights: dict[str, Any], u: Any, v: Any) -> tuple[Any, Any]:
    """The two outputs for tensors of features, with weights that are tensors: what training differentiates."""
    cat, n, width = load_torch().cat, u.shape[0], weights["bias"].shape[0]
    # one product for both documents and both weight matrices: small operations cost more to start than to do
    products = cat([u, v]) @ cat([weights["first"], weights["second"]], dim=1)
    hidden = (products[:n, :width] + products[n:, width:] + weights["bias"]).sigmoid()
    mirror = (products[n:, :width] + products[:n, width:] + weights["bias"]).sigmoid()
    above = hidden @ weights["own"] + mirror @ weights["other"] + weights["output"]
    below = mirror @ weights["own"] + hidden @ weights["other"] + weights["output"]
    return above.sigmoid(), below.sigmoid()
