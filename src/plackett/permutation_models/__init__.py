"""Probability models of orders, one per file. ``plackett.permutation_models()`` gives them all by name.

>>> from plackett.permutation_models import Mallows
>>> Mallows([2, 0, 1], theta=1.0).mode().tolist()
[2, 0, 1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._lazy import open_package

if TYPE_CHECKING:
    from plackett.permutation_models.bradley_terry import BradleyTerry as BradleyTerry
    from plackett.permutation_models.mallows import Mallows as Mallows
    from plackett.permutation_models.plackett_luce import PlackettLuce as PlackettLuce
    from plackett.permutation_models.thurstone import Thurstone as Thurstone

open_package(__name__, "permutation model", {}, lambda item, cls: cls)
