"""Updates that stay near the previous model: train on new data, with a limit on how much the results change."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett._base.estimator import clone
from plackett.data.dataset import RankingDataset
from plackett.evaluation.churn import Churn, churn, mean_replaced
from plackett.models.linear import Linear, train_near
from plackett.rankers.base import GradientTrained, Ranker
from plackett.rankers.blend import Blend

if TYPE_CHECKING:
    import polars as pl

__all__ = ["update_ranker"]

#: Strengths ρ to try for linear rankers, the weakest first, and shares of the new scores for the others.
_STRENGTHS = (0.0, *np.logspace(-4, 4, 17).tolist())
_SHARES = tuple(np.linspace(1.0, 0.0, 21).round(2).tolist())


@dataclass(frozen=True)
class Update:
    """Result of `update_ranker`.

    Attributes
    ----------
    ranker
        The new ranker; the old one if every update would change too much.
    frame
        One row per candidate, from the freshly trained ranker to the old one: ``rho`` or ``share``, ``replaced`` (mean
        number of the first k results that are replaced) and ``chosen``.
    churn
        What would change for users on the monitored queries.
    """

    ranker: Ranker
    frame: pl.DataFrame
    churn: Churn


def update_ranker(
    old: Ranker, data: RankingDataset, *, max_churn: float = 1.0, k: int = 10, monitor: RankingDataset | None = None
) -> Update:
    r"""Train on new data, but change at most ``max_churn`` of the first k results of a query, on average.

    A linear ranker with a smooth loss is trained to minimise

    .. math:: L_\text{new}(w) + \frac{\rho}{2} \lVert w - w_\text{old} \rVert^2

    with the smallest ρ that respects the limit; ρ = 0 trains from scratch, and ρ → ∞ keeps the old model. Any other
    ranker is trained from scratch and blended with the old one, with the largest share of the new scores that respects
    the limit (each divided by its spread).

    Parameters
    ----------
    old
        A fitted ranker. It is not modified.
    data
        The new training data.
    max_churn
        How many of the first k results may be replaced, on average over queries: from 0 to k.
    k
        Number of results that users see.
    monitor
        Lists on which the change is measured; labels are optional. None uses ``data``. The limit holds on these lists,
        and on others to the extent that they are similar.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 20.7.

    Examples
    --------
    >>> import plackett as pk
    >>> before, after = (pk.datasets.make_ranking(30, 12, 4, random_state=seed) for seed in (0, 1))
    >>> update = update_ranker(pk.ListNet().fit(before), after, max_churn=0.5, k=3)
    >>> update.churn.mean["replaced"] <= 0.5
    True
    """
    import polars as pl

    if not isinstance(old, Ranker):
        raise DataError(f"a {type(old).__name__} cannot be updated; give a fitted ranker of plackett")
    old.check_fitted()
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise DataError(f"k={k!r}; give a whole number of 1 or more")
    number("max_churn", max_churn, least=0.0, most=k)
    lists = data if monitor is None else monitor
    before = old.predict(lists)
    name, candidates = _candidates(old, data)
    tried: list[tuple[float, float]] = []
    chosen = old
    for strength, make in candidates:
        ranker = make()
        tried.append((strength, mean_replaced(lists, before, ranker.predict(lists), k)))
        if tried[-1][1] <= max_churn:
            chosen = ranker
            break
    else:
        tried.append((np.inf if name == "rho" else 0.0, 0.0))
    frame = pl.DataFrame(
        {
            name: [strength for strength, _ in tried],
            "replaced": [replaced for _, replaced in tried],
            "chosen": [i == len(tried) - 1 for i in range(len(tried))],
        }
    )
    return Update(chosen, frame, churn(before, chosen.predict(lists), lists, k=k))


def _candidates(old: Ranker, data: RankingDataset) -> tuple[str, Iterator[tuple[float, Callable[[], Ranker]]]]:
    """Rankers from the freshly trained one towards the old one, each trained when it is needed."""
    fresh = clone(old).fit(data)
    if _is_linear(old):

        def near(rho: float) -> Ranker:
            if rho == 0.0:
                return fresh
            ranker, model = copy.copy(fresh), copy.copy(old.make_model())  # type: ignore[attr-defined]
            # the strength of the penalty that cross-validation chose on the new data
            model.alpha = getattr(fresh, "alpha_", model.alpha)
            part = ranker.prepared(ranker.columns_in.aligned(data))
            near_old = train_near(model, old.make_loss(), part, old.scorer_.model, rho)  # type: ignore[attr-defined]
            ranker.scorer_ = ranker.finished(near_old)  # type: ignore[attr-defined]
            ranker.note_distribution(part)
            return ranker

        return "rho", ((rho, lambda rho=rho: near(rho)) for rho in _STRENGTHS)  # type: ignore[misc]

    def blended(share: float) -> Ranker:
        return fresh if share == 1.0 else Blend.of([old, fresh], data, weights=(1.0 - share, share))

    return "share", ((share, lambda share=share: blended(share)) for share in _SHARES[:-1])  # type: ignore[misc]


def _is_linear(ranker: Ranker) -> bool:
    if not isinstance(ranker, GradientTrained) or ranker.scorer_.line is None:
        return False
    model, loss = ranker.make_model(), ranker.make_loss()
    return isinstance(model, Linear) and loss.has_value and loss.smooth and model.l1_ratio == 0.0
