"""Losses, one per file. ``plackett.losses()`` returns them all by name.

>>> from plackett.losses import Logistic
>>> Logistic(margin=1.0)
Logistic(margin=1.0)
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__, "loss")
