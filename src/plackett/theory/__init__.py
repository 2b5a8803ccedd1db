"""Risks, bounds, stability, consistency and the planner: theorems about ranking, as numbers.

The items are attributes of the package and imported when first used: ``plackett.theory.Risk``,
``plackett.theory.check_consistency``, ``plackett.theory.plan``. ``plackett list --kind theory`` names them.
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
