"""Ranking SVM on a stream of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError, LossError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.inputs import training_data
from plackett.data.moments import spread, weight_of_rows
from plackett.rankers.base import Ranker
from plackett.rankers.pairwise._pair_streams import KernelStream, LinearStream, Stream
from plackett.scorers.kernel import KERNELS, KernelSpace
from plackett.solvers.monitor import Monitor

__all__ = ["OnlineRankSVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineRankSVM(Ranker):
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

    takes_preferences: ClassVar[bool] = True
    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "n_steps"
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True)}
    #: What is learned depends on the order of the pairs: weights are probabilities, not sums.
    one_at_a_time: ClassVar[bool] = True

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

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Rounds are equal parts of the steps."""
        return {"n_steps": max(1, self.n_steps * rounds // self.n_rounds), "n_rounds": rounds}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check_settings()
        stream = self._begin(data)
        if self.n_steps < 1 or self.n_rounds < 1:
            raise LossError(f"n_steps={self.n_steps}, n_rounds={self.n_rounds}; give 1 or more")
        learn = stream.look_at(data, self.alpha, self.margin, self.normalize)
        with monitor.training(self.n_rounds, "OnlineRankSVM"):
            for round_ in range(self.n_rounds):
                learn(self.n_steps * (round_ + 1) // self.n_rounds - self.n_steps * round_ // self.n_rounds)
                if monitor.keep(stream.scorer()):
                    break
        self.scorer_, self.stream_ = monitor.best, stream

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        n_steps: int | None = None,
    ) -> Self:
        """Continue training on more queries; they are not stored.

        Parameters
        ----------
        X, y, qid, group, sample_weight, query_weight
            As in `fit`. Whole queries: pairs are drawn among the documents given here.
        n_steps
            Number of pairs to draw; None draws as many as there are documents.

        Notes
        -----
        After `fit`, training continues from there. A ranker loaded from a file has only its weights and cannot
        continue; pickle it instead if it should.
        """
        self._check_settings()
        self._refuse_validation("partial_fit", "fit takes it, or set it to None")
        columns = self.columns_in if hasattr(self, "scorer_") else None
        data = self.prepared(training_data(X, y, qid, group, sample_weight, query_weight, columns=columns))
        if hasattr(self, "scorer_"):
            self.check_features(data)
            if not hasattr(self, "stream_"):
                raise DataError("a loaded ranker cannot continue training: only its weights were saved; fit it again")
        else:
            self.stream_ = self._begin(data)
        self.stream_.look_at(data, self.alpha, self.margin, self.normalize)(data.n_rows if n_steps is None else n_steps)
        self.scorer_ = self.stream_.scorer()
        self._note_part(data)
        return self

    def _check_settings(self) -> None:
        if self.kernel not in KERNELS:
            raise LossError(f"kernel={self.kernel!r}; the kernels are {', '.join(KERNELS)}")
        if not (self.alpha > 0 and np.isfinite(self.alpha)):
            raise LossError(f"alpha={self.alpha}; give a positive number")

    def _begin(self, data: RankingDataset) -> Stream:
        scale = np.ones(data.n_features)
        if self.standardize:
            scale = spread(data.X, weight_of_rows(data), self.n_jobs)
        rng = np.random.default_rng(self.random_state)
        if self.kernel == "linear":
            return LinearStream(rng, scale, weights=np.zeros(scale.size), mean=np.zeros(scale.size))
        space = KernelSpace.of(self.kernel, scale, self.gamma, self.coef0, self.degree, self.n_jobs)
        return KernelStream(rng, scale, space=space, support=np.empty((0, scale.size)))
