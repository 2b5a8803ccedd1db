"""The scores that minimise an expected loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plackett.losses.base import Loss
from plackett.theory.consistency.order_losses import order_loss
from plackett.theory.consistency.permutation_space import PermutationSpace

__all__ = ["expected_minimiser"]


class ExpectedMinimum(NamedTuple):
    """Scores with the least expected loss, that loss, the length of its gradient, and how far other starts ended up.

    ``spread`` is the largest difference in scores between starts that reached the minimum; 0 if it is unique.
    """

    scores: np.ndarray
    risk: float
    gradient: float
    spread: float


def expected_minimiser(
    loss: Any,
    space: PermutationSpace,
    *,
    n_starts: int = 2,
    starts: Any = (),
    smooth: bool | None = None,
    random_state: int = 0,
) -> ExpectedMinimum:
    r"""Minimise :math:`\sum_\pi P(\pi) L(s, \pi)` over the scores s of the documents, with mean 0.

    Smooth losses by BFGS, others by the simplex method of Nelder and Mead from the same starts. Scores are held within
    ±30: a loss whose infimum is at infinity ends there.

    Parameters
    ----------
    loss
        As `order_loss` takes it.
    n_starts, starts
        How many starting points to use (0 and random ones), and additional ones; the best result counts.
    smooth
        Whether the gradient is continuous; None uses what the loss declares.

    References
    ----------
    Xia, Liu, Li: Statistical consistency of top-k ranking. NIPS 2009.

    Examples
    --------
    For orders from a Plackett–Luce model ListMLE finds its scores:

    >>> from plackett.losses import ListMLELoss
    >>> expected_minimiser(ListMLELoss(), PermutationSpace.plackett_luce([1.0, 0.5, -1.5])).scores.round(4).tolist()
    [1.0, 0.5, -1.5]
    """
    from scipy.optimize import minimize

    evaluate = order_loss(loss, space.m)
    p = space.probabilities
    shifts = not isinstance(loss, Loss) or loss.shift_invariant
    smooth = (not isinstance(loss, Loss) or loss.smooth) if smooth is None else smooth

    def risk(scores: np.ndarray) -> tuple[float, np.ndarray]:
        # a weak pull to mean 0 if only differences count, and a penalty beyond ±30
        level = scores.mean() if shifts else 0.0
        out = np.clip(np.abs(scores) - 30.0, 0.0, None)
        values, gradient = evaluate(scores)
        value = p @ values + 0.5 * level**2 + 0.5 * out @ out
        return float(value), p @ gradient + level / scores.size + np.sign(scores) * out

    rng = np.random.default_rng(random_state)
    begin = [np.zeros(space.m), *(rng.normal(0, 1.0, space.m) for _ in range(n_starts - 1))]
    begin += [np.asarray(s, np.float64) for s in starts]
    if smooth:
        ends = [minimize(risk, s, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000}) for s in begin]
    else:
        options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000}
        ends = [minimize(lambda s: risk(s)[0], s, method="Nelder-Mead", options=options) for s in begin]
    best = min(ends, key=lambda end: end.fun)
    level = best.x.mean() if shifts else 0.0
    low = [
        end.x - (end.x.mean() if shifts else 0.0) for end in ends if end.fun <= best.fun + 1e-9 * (1 + abs(best.fun))
    ]
    return ExpectedMinimum(
        best.x - level,
        float(p @ evaluate(best.x)[0]),
        float(np.linalg.norm(risk(best.x)[1])),
        float(max(np.abs(x - low[0]).max() for x in low)),
    )
