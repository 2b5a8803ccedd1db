"""Tables that may be sparse, as dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np


def dense(X: Any) -> np.ndarray:
    """A table as an array: itself, or a sparse one filled with zeros.

    >>> from scipy.sparse import csr_matrix
    >>> dense(csr_matrix([[0, 1], [2, 0]])).tolist()
    [[0, 1], [2, 0]]
    """
    return X if isinstance(X, np.ndarray) else X.toarray()
