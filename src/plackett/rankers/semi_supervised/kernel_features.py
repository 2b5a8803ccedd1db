"""Features computed from the test list itself: kernel principal components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.moments import spread
from plackett.data.training_part import training_part
from plackett.rankers.wrapper import Wrapper
from plackett.scorers.blend import BlendScorer
from plackett.scorers.kernel_pca import KERNELS
from plackett.scorers.transductive import TransductiveScorer
from plackett.solvers.monitor import Monitor

__all__ = ["KernelFeatures"]


@dataclass(kw_only=True, eq=False, repr=False)
class KernelFeatures(Wrapper):
    """Transductive ranker: each list is ranked with features from kernel PCA of its own documents.

    **It sees the test lists, without their labels,** when it scores: `predict` runs kernel PCA on the documents of a
    list, projects training and test documents on the components, appends them to the features, trains the base ranker
    again and ranks the list. What varies within this list may matter for it. The price is one training per list, and a
    model file that contains the training data; not every list improves. With 0 components it is the base ranker.

    Parameters
    ----------
    kernels
        Names of kernels: ``"linear"`` (ordinary PCA), ``"polynomial"``, ``"rbf"``, ``"diffusion"``.
    n_components
        Number of components of each kernel.
    base
        The ranker; None uses `RankBoost`.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=20, docs_per_query=8, n_features=5, random_state=0)
    >>> ranker = KernelFeatures(base="LinearRegression", n_components=2).fit(data.select(range(15)))
    >>> ranker.predict(data.select([17])).shape, ranker.card_["transductive"]
    ((8,), True)

    References
    ----------
    Duh, Kirchhoff: Learning to rank with partially-labeled data. SIGIR 2008.
    """

    search_space: ClassVar[SearchSpace] = {"n_components": (1, 3, 5)}
    _usual_base: ClassVar[str] = "RankBoost"
    _test_settings: ClassVar[dict[str, Any]] = {
        "base": "LinearRegression",
        "kernels": ("rbf",),
        "n_components": 1,
    }
    # scales of features are those of the documents, whatever they weigh; an interrupt ends a member
    _test_skips: ClassVar[tuple[str, ...]] = ("interrupt", "query_weight")

    kernels: Sequence[str] = ("linear", "polynomial", "rbf")
    n_components: int = 3

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        unknown = [name for name in self.kernels if name not in KERNELS]
        if isinstance(self.kernels, str) or unknown:
            raise DataError(f"kernels={self.kernels!r}; give a list of names out of {', '.join(KERNELS)}")
        whole("n_components", self.n_components, least=0)
        alone = self._trained(data, monitor.valid)  # report bad parameters of the base ranker now
        if self.n_components == 0 or not self.kernels:
            self.scorer_: Any = BlendScorer((alone,), np.ones(1))
        else:
            base = self._member(alone)
            base.early_stopping_rounds = base.calibration = None  # no validation data when a list is scored
            scale = spread(data.X, data.row_weight)
            self.scorer_ = TransductiveScorer(base, training_part(data), tuple(self.kernels), self.n_components, scale)
        monitor.judge(self.score_rows)

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Missing values are rejected: kernels need all values."""
        return False

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        return super()._card(data, monitor) | {"transductive": self.scorer_.kind == "transductive"}
