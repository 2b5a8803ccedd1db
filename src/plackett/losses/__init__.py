"""Losses, one per file. ``plackett.losses()`` gives them all by name.

>>> from plackett.losses import Logistic
>>> Logistic(margin=1.0)
Logistic(margin=1.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._lazy import open_package

if TYPE_CHECKING:
    from plackett.losses.base import Loss as Loss
    from plackett.losses.listwise.approx_ndcg import ApproxNDCGLoss as ApproxNDCGLoss
    from plackett.losses.listwise.listmle import ListMLELoss as ListMLELoss
    from plackett.losses.listwise.listnet import ListNetLoss as ListNetLoss
    from plackett.losses.pairwise.exponential import Exponential as Exponential
    from plackett.losses.pairwise.hinge import Hinge as Hinge
    from plackett.losses.pairwise.lambdas import Lambda as Lambda
    from plackett.losses.pairwise.logistic import Logistic as Logistic
    from plackett.losses.pairwise.squared_hinge import SquaredHinge as SquaredHinge
    from plackett.losses.pointwise.softmax import Softmax as Softmax
    from plackett.losses.pointwise.square import Square as Square

open_package(__name__, "loss", {"Loss": "base"}, lambda item, cls: cls)
