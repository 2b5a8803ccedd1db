"""How much one query, document or pair of the training data matters."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._kernels.cores import n_threads
from plackett.data.dataset import RankingDataset
from plackett.theory.stability.changes import Change, change_of, prepared, units
from plackett.theory.stability.probe import Probe, loss_of
from plackett.theory.stability.proved import Proved, proved_stability, same_penalty

__all__ = ["stability"]


@dataclass(frozen=True, eq=False)
class Stability:
    """Result of `stability`.

    Attributes
    ----------
    changes
        For each retraining the largest change of the loss of one associate of the probe.
    proved
        The theoretical coefficient, which no change can exceed; None if none is known.
    sizes, by_size
        Numbers of training queries that were tried, and the largest change at each; empty without ``sizes``.
    """

    unit: str
    mode: str
    changes: np.ndarray
    proved: Proved | None
    sizes: np.ndarray
    by_size: np.ndarray

    @property
    def max(self) -> float:
        """The largest change: a lower bound of the stability coefficient."""
        return float(self.changes.max())

    @property
    def mean(self) -> float:
        """The mean change."""
        return float(self.changes.mean())

    @property
    def variance(self) -> float:
        """Variance of the changes (divided by n − 1)."""
        return float(self.changes.var(ddof=1)) if self.changes.size > 1 else 0.0

    @property
    def slope(self) -> float:
        """Slope of log(largest change) against log(number of queries); theory needs −1. NaN without sizes."""
        if self.sizes.size < 2 or not (self.by_size > 0).all():
            return float("nan")
        return float(np.polyfit(np.log(self.sizes), np.log(self.by_size), 1)[0])

    def __str__(self) -> str:
        lines = [
            f"{self.mode} one {self.unit}, {self.changes.size} times: largest change of a loss {self.max:.4g}, "
            f"mean {self.mean:.4g}, variance {self.variance:.4g}"
        ]
        if self.proved is not None:
            lines.append(f"at most {self.proved.value:.4g} by {self.proved.source}, λ = {self.proved.penalty:.4g}")
        if self.sizes.size:
            lines.append(f"the largest change falls like n to the power {self.slope:.2f}")
        return "\n".join(lines)


def stability(
    ranker: Any,
    data: RankingDataset,
    unit: str = "query",
    mode: str = "remove",
    *,
    n: int = 30,
    loss: Any = None,
    probe: RankingDataset | None = None,
    pool: RankingDataset | None = None,
    sizes: Sequence[float] = (),
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Stability:
    r"""How much the loss of any associate changes when one unit of a ranker's training data does,

    .. math:: \Delta_j = \max_z |l(f_S; z) - l(f_{S^j}; z)|

    where :math:`S^j` is the training data without unit j, or with another one in its place. The largest of them is a
    lower bound on the (unknown) stability coefficient; an upper bound is shown if theory provides one. Linear
    models with a convex loss start from the weights of the first training. The C of Ranking SVM and IR-SVM follows the
    number of pairs, so that the penalty λ of the theorems stays the same.

    Parameters
    ----------
    ranker
        Any ranker; a clone is trained n + 1 times.
    data
        The training data.
    unit
        ``"query"``, ``"document"`` or ``"pair"`` (of the preferences of the data, or of all pairs of unequal labels).
    mode
        ``"remove"``, or ``"replace"`` by one of the pool; a pair is replaced by its reverse.
    n
        How many units to change, one at a time, drawn at random; all of them if there are fewer.
    loss
        l; by default the loss that the ranker minimises, or the hinge of pairs.
    probe
        Data on whose associates the two functions are compared; the training data by default.
    pool
        Where replacements come from; the training data by default.
    sizes
        Shares of the training queries at which to measure again, for `Stability.slope`.
    n_jobs
        Number of parallel trainings; None means all cores.
    verbose
        Show a progress bar.

    References
    ----------
    Lan, Liu, Qin, Ma, Li: Query-level stability and generalization in learning to rank. ICML 2008.
    Liu: Learning to rank for information retrieval. Springer 2011, exercises 17.2 and 17.3.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.theory.PlantedWorld(n_features=3).sample(20, 6, random_state=0)
    >>> result = pk.theory.stability(pk.IRSVM(C=0.5, loss="hinge", standardize=False), data, n=5)
    >>> result.max < result.proved.value
    True
    """
    from plackett._base.estimator import clone

    change = change_of(unit, mode)
    n = whole("n", n, least=1)
    loss = loss_of(ranker) if loss is None else loss
    training = prepared(data, unit)
    compared = Probe(data if probe is None else probe, loss, random_state)
    from_pool = prepared(data if pool is None else pool, unit)

    def changes(part: RankingDataset) -> np.ndarray:
        fresh = clone(ranker).set_params(**same_penalty(ranker, training, part))
        return _changes(fresh, part, change, unit, compared, from_pool, n, random_state, n_jobs, verbose)

    largest, query_counts = [], []
    for share in sizes:
        if not 0 < share <= 1:
            raise DataError(f"sizes: {share} is not a share of the training queries")
        rng = np.random.default_rng([random_state, round(1e6 * share)])
        queries = np.sort(rng.permutation(data.n_queries)[: max(2, round(share * data.n_queries))])
        largest.append(float(changes(prepared(data.select(queries), unit)).max()))
        query_counts.append(queries.size)
    return Stability(
        unit,
        mode,
        changes(training),
        proved_stability(ranker, data, compared.data, unit, mode, loss),
        np.array(query_counts, np.int64),
        np.array(largest),
    )


def _changes(
    ranker: Any,
    data: RankingDataset,
    change: Change,
    unit: str,
    probe: Probe,
    pool: RankingDataset,
    n: int,
    seed: int,
    n_jobs: int | None,
    verbose: bool,
) -> np.ndarray:
    """The change of the losses for n units."""
    from plackett._base.estimator import clone
    from plackett._base.progress import progress

    able = units(data, unit)
    if able.size < 2:
        raise DataError(f"the data have {able.size} {unit} that can be changed; give 2 or more")
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(able)[:n]
    seeds = rng.integers(2**32, size=drawn.size)
    workers = min(n_threads(n_jobs), drawn.size)
    inner = {"n_jobs": 1} if workers > 1 and "n_jobs" in ranker.get_params(deep=False) else {}
    first = clone(ranker).set_params(**inner).fit(data)
    before = _scores(first, probe.data)

    def one(unit_number: int, own_seed: int) -> float:
        changed = change(data, int(unit_number), pool, np.random.default_rng(own_seed))
        again = _again(first, same_penalty(ranker, data, changed)).fit(changed)
        return probe.change(before, _scores(again, probe.data))

    with ThreadPoolExecutor(workers) as threads:
        retrained = threads.map(one, drawn, seeds)
        return np.array(list(progress(retrained, f"training without one {unit}", drawn.size, verbose=verbose)))


def _again(first: Any, parameters: dict[str, float]) -> Any:
    """A ranker to retrain, from the weights of the first one if that leads to the same minimum."""
    from plackett._base.estimator import clone

    if hasattr(first, "_penalty"):  # one that was chosen for the whole data is kept
        parameters = {**first.settled(), **parameters}
    convex = hasattr(first, "make_loss") and first.make_loss().convex and hasattr(first, "l1_ratio")
    if convex and hasattr(first, "warm_start"):
        return deepcopy(first).set_params(warm_start=True, **parameters)
    return clone(first).set_params(**parameters)


def _scores(ranker: Any, data: RankingDataset) -> np.ndarray:
    return np.asarray(ranker.predict(data.replace(preferences=None)), np.float64)
