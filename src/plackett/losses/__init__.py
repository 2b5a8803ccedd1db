"""Losses, one per file. ``plackett.losses()`` returns them all by name.

>>> from plackett.losses import Logistic
>>> Logistic(margin=1.0)
Logistic(margin=1.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._names.lazy import open_package

if TYPE_CHECKING:
    from plackett.losses.base import Loss as Loss

open_package(__name__, "loss", named={"Loss": "base"})
