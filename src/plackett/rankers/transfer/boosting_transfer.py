"""A ranker of the source, continued on the target or mixed with the target's ranker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.rankers.blend import spread_within_lists
from plackett.rankers.transfer.base import TransferRanker
from plackett.rankers.transfer.domains import pooled
from plackett.scorers.blend import BlendScorer

__all__ = ["BoostingTransfer"]


@dataclass(kw_only=True, eq=False, repr=False)
class BoostingTransfer(TransferRanker):
    r"""Model adaptation: start from the ranker of the source.

    The base ranker is trained on the source first. Then

    - ``mode="continue"``: training continues on the target's data. For trees, ``n_adapt`` more trees are added, which
      correct the source's ensemble where the target differs. Needs a base ranker with ``warm_start``; for convex linear
      ones the start hardly matters.
    - ``mode="interpolate"``: the scores are mixed, :math:`a F_s + (1 - a) F_t`, with any base ranker; both are
      scaled to the same spread within lists.

    Parameters
    ----------
    mode
        ``"continue"`` or ``"interpolate"``.
    n_adapt
        For ``mode="continue"`` with trees: number of trees to add; 0 keeps the source's ranker, None adds as many as
        ``base`` has.
    share
        For interpolation: the share a of the source's ranker.
    base
        The ranker; None uses `LambdaMART`.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=60, docs_per_query=8, n_features=5, random_state=0)
    >>> target, source = data.select(range(10)), data.select(range(10, 60))
    >>> ranker = BoostingTransfer(base=pk.LambdaMART(n_estimators=20), n_adapt=5).fit(target, source=source)
    >>> ranker.member_.booster_.num_trees()
    25

    References
    ----------
    Gao, Wu, Burges, Svore, Su, Khan, Shah, Zhou: Model adaptation via model interpolation and boosting for web search
    ranking. EMNLP 2009.
    """

    search_space: ClassVar[SearchSpace] = {"mode": ("continue", "interpolate"), "share": (0.25, 0.5, 0.75)}
    _usual_base: ClassVar[str] = "LambdaMART"

    mode: str = "continue"
    n_adapt: int | None = None
    share: float = 0.5

    def _transfer(
        self, data: RankingDataset, sources: dict[Any, RankingDataset], valid: RankingDataset | None, alone: Ranker
    ) -> None:
        choice("mode", self.mode, ("continue", "interpolate"))
        if not 0.0 <= self.share <= 1.0 or (self.n_adapt is not None and self.n_adapt < 0):
            raise DataError(f"share={self.share}, n_adapt={self.n_adapt}; give a share from 0 to 1, and 0 or more")
        parts = list(sources.values())
        background = self._trained(parts[0] if len(parts) == 1 else pooled(parts, [1.0] * len(parts)), valid)
        if self.mode == "interpolate":
            self.scorer_ = self._mixed(background, alone, data)
        else:
            self._end_with(self._continued(background, data, valid))

    def _continued(self, background: Ranker, data: RankingDataset, valid: RankingDataset | None) -> Ranker:
        known = background.get_params(deep=False)
        if "warm_start" not in known:
            raise DataError(
                f"{type(background).__name__} cannot continue training (it has no warm_start); use "
                "mode='interpolate', or another base"
            )
        if self.n_adapt == 0:
            return background
        settings: dict[str, Any] = {"warm_start": True}
        if self.n_adapt is not None:
            effort = getattr(background, "effort", None)
            if effort is None:
                raise DataError(f"n_adapt={self.n_adapt}: {type(background).__name__} has no rounds to count; use None")
            settings[effort] = self.n_adapt
        adapted = self._member(background).set_params(**settings)
        if valid is None:
            adapted.early_stopping_rounds = None
        return adapted.trained_copy(data, valid, start=background)

    def _mixed(self, background: Ranker, alone: Ranker, data: RankingDataset) -> BlendScorer:
        if self.share in (0.0, 1.0):
            return BlendScorer((background if self.share else alone,), np.ones(1))
        rankers = background, alone
        spreads = np.array([spread_within_lists(ranker.score_rows(data), data) for ranker in rankers])
        return BlendScorer(rankers, np.array([self.share, 1.0 - self.share]) / spreads)
