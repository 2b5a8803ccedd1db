"""Source queries weighted by how well the target's ranker orders them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.weights import given_or_ones
from plackett.rankers.base import Ranker
from plackett.rankers.transfer.base import TransferRanker, agreement
from plackett.rankers.transfer.domains import pooled

__all__ = ["InstanceTransfer"]


@dataclass(kw_only=True, eq=False, repr=False)
class InstanceTransfer(TransferRanker):
    r"""Instance-level transfer: source pairs that the target's ranker orders correctly, weighted by their share,

    .. math:: \min_w \sum_{i \in \text{source}} \delta_i L(w; \text{correct pairs of } i) + \text{target loss},
              \qquad \delta_i = \frac{\#\text{correct pairs of } i}{\#\text{pairs of } i}.

    A ranker is trained on the target and applied to the source. Pairs that it orders wrongly (or ties) are those on
    which the domains disagree, and are dropped. Base rankers that learn from pairs see the remaining pairs with weight
    :math:`\delta_i`; others see whole source queries with this weight. If no pair is left, it is the target alone.

    Parameters
    ----------
    include_target
        Whether the target's own queries are part of the training data, or are only used to select source pairs.

    Attributes
    ----------
    agreement_
        Share of correct pairs among all source pairs.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=40, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = InstanceTransfer().fit(data.select(range(5)), source=data.select(range(5, 40)))
    >>> 0.5 < ranker.agreement_ < 1.0
    True

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 9.2.
    """

    search_space: ClassVar[SearchSpace] = {"include_target": (True, False)}

    include_target: bool = True

    def _transfer(
        self, data: RankingDataset, sources: dict[Any, RankingDataset], valid: RankingDataset | None, alone: Ranker
    ) -> None:
        kept, self.agreement_ = agreeing(sources, alone, self.base_ranker())
        parts = [*([data] if self.include_target else []), *kept.values()]
        if not kept:
            self._end_with(alone)
            return
        self._end_with(self._trained(pooled(parts, [1.0] * len(parts)), valid))


def agreeing(
    sources: dict[Any, RankingDataset], alone: Ranker, base: Ranker
) -> tuple[dict[Any, RankingDataset], float]:
    """Source data weighed by their agreement with a ranker, without those of weight 0; the share of correct pairs."""
    kept: dict[Any, RankingDataset] = {}
    right = total = 0.0
    for name, source in sources.items():
        pairs, share = agreement(source, alone.score_rows(source))
        known = ~np.isnan(share)
        n_pairs = np.bincount(source.query_of_row[pairs.winner], minlength=source.n_queries)
        right += float(n_pairs.sum())
        total += float((n_pairs[known & (share > 0)] / share[known & (share > 0)]).sum())
        total += _without_agreement(source, share)
        weight = np.where(known, share, 0.0)
        if not weight.any():
            continue
        own = given_or_ones(source.query_weight, source.n_queries)
        changed = source.replace(query_weight=own * weight)
        if base.takes_preferences and right < total:
            changed = changed.replace(preferences=pairs)
        kept[name] = changed.select(np.flatnonzero(weight > 0))
    return kept, right / total if total else float("nan")


def _without_agreement(source: RankingDataset, share: np.ndarray) -> float:
    """Number of pairs of the queries of which none is correct."""
    from plackett.losses.pairwise.base import total_pair_weight

    unweighted = source.replace(sample_weight=None, preferences=None)
    return float(total_pair_weight(unweighted)[share == 0.0].sum())
