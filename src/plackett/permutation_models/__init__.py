"""Probability models of orders, one per file. ``plackett.permutation_models()`` returns them all by name.

>>> from plackett.permutation_models import Mallows
>>> Mallows([2, 0, 1], theta=1.0).mode().tolist()
[2, 0, 1]
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__, "permutation model")
