"""Is a loss consistent with a true loss? A verdict, with a counterexample if there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import choice
from plackett.losses.base import Loss
from plackett.losses.pairwise.base import PairLoss
from plackett.theory.consistency.generalised_pairwise import pair_surrogate_conditions
from plackett.theory.consistency.minimiser import expected_minimiser
from plackett.theory.consistency.order_sensitive import order_sensitivity
from plackett.theory.consistency.permutation_space import PermutationSpace, all_orders
from plackett.theory.consistency.separability import separability
from plackett.theory.consistency.true_risks import true_loss_table
from plackett.theory.risks.permutation_zero_one import TopKZeroOne

__all__ = ["check_consistency"]

#: Smallest differences of scores and of risks that count.
_GAP = 1e-4
_EXCESS = 1e-6


class Counterexample(NamedTuple):
    """A distribution over orders on which the minimiser of the expected loss ranks worse than it could."""

    probabilities: dict[tuple[int, ...], float]
    scores: np.ndarray
    ranking: tuple[int, ...]
    risk: float
    best_ranking: tuple[int, ...]
    best_risk: float


@dataclass(frozen=True)
class ConsistencyCheck:
    """Result of `check_consistency`.

    Attributes
    ----------
    verdict
        ``"consistent"``: a theorem's conditions were met in every test, and no counterexample was found.
        ``"inconsistent"``: there is a counterexample. ``"unknown"``: neither.
    reason
        The theorem, or what was found.
    tested
        Number of distributions on which the minimiser was compared with the best ranking.
    conditions
        Which sufficient conditions hold, as far as could be tested.
    counterexample
        A counterexample, if the loss is inconsistent.
    """

    loss: str
    true_loss: str
    condition: str
    verdict: str
    reason: str
    tested: int
    conditions: dict[str, bool] = field(default_factory=dict)
    counterexample: Counterexample | None = None

    def __str__(self) -> str:
        lines = [f"{self.loss} with {self.true_loss} on {self.condition} spaces: {self.verdict}. {self.reason}"]
        if (example := self.counterexample) is not None:
            chances = ", ".join(f"{order}: {p:.3f}" for order, p in example.probabilities.items())
            lines += [
                f"  orders and their probabilities: {chances}",
                f"  the expected loss is least at the scores {np.round(example.scores, 3).tolist()},",
                f"  which rank {example.ranking} with expected true loss {example.risk:.4f};",
                f"  {example.best_ranking} has {example.best_risk:.4f}",
            ]
        return "\n".join(lines)


def _separable(m: int, seed: int, k: int | None) -> PermutationSpace:
    rng = np.random.default_rng(seed)
    while True:
        space = PermutationSpace.random(m, random_state=rng)
        if separability(space).transitive:
            return space


#: From the number of documents, a seed and k to a distribution.
_SPACES: dict[str, Callable[[int, int, int | None], PermutationSpace]] = {
    "order-preserving": lambda m, seed, k: PermutationSpace.order_preserving(
        m, random_state=seed, noise=2.0 if seed % 2 else 0.3
    ),
    "top-k order-preserving": lambda m, seed, k: PermutationSpace.order_preserving(
        m, k=k, random_state=seed, noise=2.0
    ),
    "separable": _separable,
    "all": lambda m, seed, k: PermutationSpace.random(m, random_state=seed),
}


def check_consistency(
    loss: Any,
    true: Any = "permutation 0-1",
    *,
    condition: str | None = None,
    n_documents: int = 3,
    n_spaces: int = 40,
    spaces: Any = (),
    random_state: int = 0,
) -> ConsistencyCheck:
    """Does the minimiser of an expected loss rank as well as possible by a true loss?

    The exact minimiser is computed on random distributions over the orders of a few documents and compared with the
    ranking of the least expected true loss. Then the conditions of the theorems are tested numerically.

    Parameters
    ----------
    loss
        A loss of the library, your own (`plackett.loss`), or a function of scores and orders (see `order_loss`).
    true
        The true loss: ``"permutation 0-1"``, ``"pairwise 0-1"``, `TopKZeroOne`, `WeightedKendall`, a measure, …
    condition
        What is assumed about the distributions: ``"order-preserving"``, ``"top-k order-preserving"``, ``"separable"``
        or ``"all"``. None uses that of the theorem for the true loss.
    n_documents, n_spaces, random_state
        Documents of a list, random distributions, and their seed.
    spaces
        Your own distributions to try first (`PermutationSpace`). They are not checked: make sure that they meet the
        condition (`is_order_preserving`).

    References
    ----------
    Xia, Liu, Wang, Zhang, Li: Listwise approach to learning to rank: theory and algorithm. ICML 2008.
    Xia, Liu, Li: Statistical consistency of top-k ranking. NIPS 2009.
    Lan, Zhu, Guo, Niu, Cheng. 2012.

    Examples
    --------
    >>> from plackett.losses import ListMLELoss
    >>> from plackett.theory import TopKZeroOne
    >>> check_consistency(ListMLELoss()).verdict
    'consistent'
    >>> print(check_consistency(ListMLELoss(), TopKZeroOne(1)).verdict)  # another document may come first
    inconsistent
    """
    k = true.k if isinstance(true, TopKZeroOne) else None
    if condition is None:
        condition = "order-preserving" if k is None else "top-k order-preserving"
    choice("condition", condition, _SPACES)
    name = loss.name if isinstance(loss, Loss) else getattr(loss, "__name__", "the loss")
    drawn = (_SPACES[condition](n_documents, 1000 * random_state + i, k) for i in range(n_spaces))
    tested = 0
    mode_is_best = True
    tables: dict[int, np.ndarray] = {}
    for space in [*spaces, *drawn]:
        if space.m not in tables:
            tables[space.m] = true_loss_table(true, space.m)
        risks = tables[space.m] @ space.probabilities
        best = int(np.argmin(risks))
        starts = [scale * (space.m / 2.0 - space.positions[best]) for scale in (1.0, 4.0)]
        one = isinstance(loss, Loss) and loss.convex and loss.smooth  # every start ends at the same minimum
        minimum = expected_minimiser(loss, space, n_starts=1 if one else 2, starts=() if one else starts)
        tested += 1
        mode_is_best &= bool(risks[int(np.argmax(space.probabilities))] <= risks[best] + _EXCESS)
        ranked = _rankings(minimum.scores)
        worst = ranked[int(np.argmax(risks[ranked]))]
        if risks[worst] > risks[best] + _EXCESS and minimum.spread < _GAP:
            example = Counterexample(
                {tuple(o): float(p) for o, p in zip(space.orders.tolist(), space.probabilities, strict=True) if p > 0},
                minimum.scores,
                tuple(space.orders[worst].tolist()),
                float(risks[worst]),
                tuple(space.orders[best].tolist()),
                float(risks[best]),
            )
            tie = " (it ties documents that should be apart)" if len(ranked) > 1 else ""
            reason = f"The minimiser of the expected loss is not the best ranking{tie}."
            return ConsistencyCheck(name, str(true), condition, "inconsistent", reason, tested, {}, example)
    conditions = _conditions(loss, k)
    theorem = _theorem(conditions, condition, k, mode_is_best)
    verdict = "consistent" if theorem else "unknown"
    reason = theorem or f"No counterexample among {tested} distributions, and no theorem applies."
    return ConsistencyCheck(name, str(true), condition, verdict, reason, tested, conditions)


def _rankings(scores: np.ndarray) -> np.ndarray:
    """Indices of the orders consistent with these scores; several if scores tie."""
    orders = all_orders(scores.size)
    return np.flatnonzero((np.diff(scores[orders], axis=1) <= _GAP).all(axis=1))


def _conditions(loss: Any, k: int | None) -> dict[str, bool]:
    """The sufficient conditions of the theorems, tested on lists of four documents."""
    smooth = not isinstance(loss, Loss) or loss.smooth  # the theorems are about differentiable losses
    conditions = {"differentiable": smooth, "order sensitive": order_sensitivity(loss, 4, n_scores=8).holds}
    if k is not None:
        for level in range(1, min(k, 3) + 1):
            conditions[f"top-{level} order sensitive"] = order_sensitivity(loss, 4, k=level, n_scores=8).holds
    if isinstance(loss, PairLoss):
        from plackett.theory.consistency.pairwise_01 import pair_loss_curve

        conditions["decreasing pair loss"] = pair_surrogate_conditions(lambda z: pair_loss_curve(loss, z)).all
    return conditions


def _theorem(conditions: dict[str, bool], condition: str, k: int | None, mode_is_best: bool) -> str:
    """The theorem by which the loss is consistent, or an empty string."""
    if not conditions["differentiable"]:
        return ""
    if k is not None and condition == "top-k order-preserving":
        levels = [name for name, holds in conditions.items() if name.startswith("top-") and holds]
        return f"It is {levels[0]}: Theorem 18.4." if levels else ""
    if condition == "order-preserving" and mode_is_best:
        if conditions["order sensitive"]:
            return "It is order sensitive: Theorem 18.3 (the most probable order is the best ranking here)."
        if conditions.get("decreasing pair loss"):
            return "The pair loss is differentiable and falls at 0: Theorem 18.5."
    return ""
