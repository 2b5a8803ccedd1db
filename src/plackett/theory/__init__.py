"""Risks, bounds, stability, consistency and the planner: theorems about ranking, as numbers.

Five packages, one for each question:

- `planner`: how many queries to judge, and how many documents of each (`plan`).
- `bounds`: how much worse a ranker may be on new data than on its training data, and how a loss or a round of boosting
  bounds an error. Bounds with an inverse are classes (`TwoLayerBound(…).solve(0.1)`), the rest are functions.
- `stability`: how much one query, document or pair of the training data matters, measured (`stability`) and proved.
- `consistency`: whether the least loss gives the best ranking (`check_consistency`), and what is known of methods.
- `risks`: what a risk is of (`Risk`), true losses, distributions with known risks, preferences and their regret.

All items are attributes of the package itself and imported when first used: ``plackett.theory.Risk``.
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
