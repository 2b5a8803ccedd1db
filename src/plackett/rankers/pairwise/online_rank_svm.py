"""Ranking SVM on a stream of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import LossError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.moments import feature_scale, weight_of_rows
from plackett.rankers.pairwise._drawn_examples import DrawnExamples, check_count
from plackett.rankers.pairwise._pair_streams import KernelStream, LinearStream, Stream
from plackett.scorers.base import Scorer
from plackett.scorers.kernel import KERNELS, KernelSpace

__all__ = ["OnlineRankSVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineRankSVM(DrawnExamples):
    r"""Ranking SVM trained on one pair at a time, by stochastic subgradient steps on

    .. math:: \frac{\lambda}{2} \lVert w \rVert^2 + \text{mean of} \max(0,\; m_{uv} - w \cdot (x_u - x_v))

    Step t draws a pair in proportion to its weight, goes :math:`\eta_t = 1 / (\lambda t)` along the subgradient and
    back into the ball :math:`\lVert w \rVert \le \sqrt{m / \lambda}` (m the largest margin so far), which contains the
    minimum. The ranker scores with the mean of the weights, step t weighing t; its expected objective is then within
    O(1 / (λ t)) of the minimum. With N pairs it is the objective of `RankSVM` for ``C = 1 / (λ N)``, divided by C N. A
    linear step takes time proportional to the number of features. With a kernel the coefficients of documents are kept,
    and a step takes time proportional to their number.

    Parameters
    ----------
    alpha
        λ, the strength of the penalty.
    n_steps
        Number of pairs drawn by ``fit``.
    kernel
        ``"linear"``, x·z; ``"rbf"``, exp(−γ |x − z|²); ``"poly"``, (γ x·z + c)^degree.
    gamma
        γ of the kernel; None uses 1 / number of features.
    coef0, degree
        c and the degree of the kernel.
    margin
        Margin by which the better document should lead: a number, or ``"label"`` for the difference of the labels. A
        preference with a margin of its own uses that instead.
    normalize
        Draw a query first, then one of its pairs, both uniformly, as in `IRSVM`; otherwise draw uniformly from all
        pairs.
    standardize
        Divide each feature by its standard deviation in the first data seen.
    n_rounds
        How many times to evaluate the validation data, at equal intervals of steps.

    Examples
    --------
    >>> ranker = OnlineRankSVM(n_steps=1000).fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.partial_fit([[3.0], [0.5]], [1, 0], qid=[2, 2]).rank([[5.0], [7.0]], qid=[3, 3])
    array([2, 1])

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. 2012, exercise on on-line ranking.
    Shalev-Shwartz, Singer, Srebro: Pegasos: primal estimated sub-gradient solver for SVM. ICML 2007.
    Lacoste-Julien, Schmidt, Bach: A simpler approach to obtaining an O(1/t) convergence rate. 2012.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True)}
    alpha: float = 1e-2
    n_steps: int = 100_000
    kernel: str = "linear"
    gamma: float | None = None
    coef0: float = 0.0
    degree: int = 3
    margin: float | str = 1.0
    normalize: bool = False
    standardize: bool = True
    n_rounds: int = 20

    def _check_settings(self) -> None:
        choice("kernel", self.kernel, KERNELS, error=LossError)
        number("alpha", self.alpha, above=0, error=LossError)
        for name in ("n_steps", "n_rounds"):
            check_count(name, getattr(self, name))

    def _begin(self, data: RankingDataset) -> Stream:
        scale = feature_scale(data.X, weight_of_rows(data), self.standardize)
        rng = np.random.default_rng(self.random_state)
        if self.kernel == "linear":
            return LinearStream(rng, scale, weights=np.zeros(scale.size), mean=np.zeros(scale.size))
        space = KernelSpace.of(self.kernel, scale, self.gamma, self.coef0, self.degree, self.n_jobs)
        return KernelStream(rng, scale, space=space, support=np.empty((0, scale.size)))

    def _steps_on(self, descent: Stream, data: RankingDataset) -> Callable[[int], None]:
        return descent.steps_on(data, self.alpha, self.margin, self.normalize)

    def _scorer(self, descent: Stream) -> Scorer:
        return descent.scorer()
