"""A monitor that neither watches nor shows anything, for training that comes before the training proper."""

from __future__ import annotations

import numpy as np

from plackett.models.base import Monitor

__all__ = ["Quiet"]


class Quiet(Monitor):
    """No validation data, no display; Ctrl-C goes on to the caller, as there is nothing to keep yet."""

    def update(self, scores: np.ndarray | None = None) -> bool:
        """Never ends the training."""
        return False
