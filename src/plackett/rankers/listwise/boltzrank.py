"""BoltzRank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.listwise.boltzrank import BoltzRankLoss
from plackett.models.base import Model
from plackett.models.linear import Linear
from plackett.models.pair_potentials import PairPotentials
from plackett.rankers.base import GradientTrained

__all__ = ["BoltzRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class BoltzRank(GradientTrained, Linear):
    """BoltzRank: a linear model that maximises expected nDCG under a Boltzmann distribution over orders.

    The loss (`plackett.losses.BoltzRankLoss`) mixes expected nDCG with the divergence from the distribution of the
    labels, which makes it easier to optimise. It is exact for queries of up to `max_exact` documents; longer ones use a
    fixed sample of `n_samples` orders.

    With ``pair_units`` the scores get pairwise potentials (`plackett.models.PairPotentials`): a document is also
    compared with each other document of its list. `solver`, `l1_ratio`, `learning_rate` and `batch_size` are those of
    the linear model and have no effect then.

    Parameters
    ----------
    pair_units
        Number of comparisons in the pairwise potentials; 0 for none.
    mix
        Share of expected nDCG, 0 to 1; the rest is the divergence.
    divergence
        ``"target"``: from the distribution of the labels; ``"likelihood"``: minus the log-likelihood of their order.
    steepness
        α of the energy.
    target
        What the target distribution takes as scores: ``"linear"``, ``"exp2"``, ``"binary"`` or a table.
    gain
        Gain of nDCG.
    max_exact, n_samples
        Longest list that is computed exactly, and the number of orders sampled for longer ones.

    Examples
    --------
    >>> ranker = BoltzRank().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Volkovs, Zemel: BoltzRank: learning to maximize expected ranking gain. ICML 2009.
    """

    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"pair_units": 2},)
    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True), "mix": Real(0.0, 1.0)}

    pair_units: int = 0
    mix: float = 0.5
    divergence: str = "target"
    steepness: float = 1.0
    target: Any = "linear"
    gain: Any = "exp2"
    max_exact: int = 8
    n_samples: int = 32

    def make_model(self) -> Model:
        """The linear model itself, or pair potentials."""
        if not self.pair_units:
            return super().make_model()
        return PairPotentials(
            units=self.pair_units,
            alpha=self.alpha,
            max_iter=self.max_iter,
            tol=self.tol,
            standardize=self.standardize,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        return BoltzRankLoss(
            mix=self.mix,
            divergence=self.divergence,
            alpha=self.steepness,
            target=self.target,
            gain=self.gain,
            max_exact=self.max_exact,
            n_samples=self.n_samples,
            random_state=self.random_state or 0,
        )
