"""An ensemble of rankers, each trained on some of the queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.rankers.blend import spread_within_lists
from plackett.rankers.wrapper import Wrapper
from plackett.scorers.blend import BlendScorer
from plackett.solvers.monitor import Monitor

__all__ = ["SubsampleEnsemble"]


@dataclass(kw_only=True, eq=False, repr=False)
class SubsampleEnsemble(Wrapper):
    r"""The mean of rankers trained on random samples of the queries.

    Each of the M members is trained on a share ρ of the queries, drawn without replacement. Whole queries are drawn,
    not documents. The score is the mean of the members' scores,

    .. math:: s(x) = \frac{1}{M} \sum_m \frac{f_m(x)}{\sigma_m},

    with :math:`\sigma_m` the standard deviation of the scores of member m within the training lists. With M·ρ below 1,
    training reads fewer documents than one training on all of them. The members' errors partly cancel: the expected
    squared error is bias² + variance / M + (1 − 1/M) covariance.

    Parameters
    ----------
    base
        The ranker to train; None uses `RankSVM`.
    n_members
        M.
    fraction
        ρ, the share of the queries of each member, at least one query. 1 trains every member on all queries.
    standardize
        Divide the scores of each member by their spread. False averages the raw scores; for linear members that is the
        ranker with the mean of the weights.

    Attributes
    ----------
    members_
        The trained rankers.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(40, 8, 3, random_state=0)
    >>> ensemble = SubsampleEnsemble(base="ListNet", n_members=3, fraction=0.25).fit(data)
    >>> len(ensemble.members_)
    3

    References
    ----------
    Breiman: Pasting small votes for classification in large databases and on-line. Machine Learning 36, 1999.
    """

    search_space: ClassVar[SearchSpace] = {"fraction": (0.1, 0.3, 0.5)}
    _test_settings: ClassVar[dict[str, Any]] = {"base": "ListNet(alpha=1.0)", "n_members": 3, "fraction": 1.0}

    n_members: int = 10
    fraction: float = 0.3
    standardize: bool = True

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if self.n_members < 1 or not 0.0 < self.fraction <= 1.0:
            raise DataError(
                f"n_members={self.n_members!r}, fraction={self.fraction!r}; give 1 or more members, and a share "
                "above 0 and up to 1"
            )
        rng = np.random.default_rng(self.random_state)
        size = max(1, round(self.fraction * data.n_queries))
        members: list[Ranker] = []
        with monitor.training(self.n_members, "members"):
            for _ in range(self.n_members):
                queries = np.sort(rng.choice(data.n_queries, size, replace=False))
                part = data if size == data.n_queries else data.select(queries)
                members.append(self._trained(part, monitor.valid))
                monitor.update()
        spread = np.ones(len(members))
        if self.standardize:
            spread[:] = [spread_within_lists(member.score_rows(data), data) for member in members]
        self.scorer_ = BlendScorer(tuple(members), 1.0 / (spread * len(members)))
        if monitor.valid is not None:
            monitor.update(self.score_rows(monitor.valid))
