"""Relational Ranking SVM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.relation_builders.neighbours import Neighbours
from plackett.losses.pairwise.margin_pairs import MarginPairs
from plackett.rankers.base import Ranker
from plackett.rankers.pairwise.linear_svm import LinearPairSVM
from plackett.rankers.pairwise.rank_svm import RankSVM
from plackett.rankers.relational.base import RelationalWrapper
from plackett.solvers.monitor import Monitor

__all__ = ["RelationalRankSVM"]

#: What the relation means in each task.
_TASKS = {"feedback": "similarity", "distillation": "parents"}


@dataclass(kw_only=True, eq=False, repr=False)
class RelationalRankSVM(RelationalWrapper):
    r"""Ranking SVM whose margins are those of the relational function h, exactly,

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \sum_{(u, v)} \xi_{uv}^p, \qquad
              h_u - h_v \ge 1 - \xi_{uv}, \quad h = A^{-1} (X w + o).

    h is linear in the weights, so the features of a list become :math:`X' = A^{-1} X`, solved once, and a `RankSVM` is
    trained on them to its proved gap. Topic distillation adds the constant part :math:`A^{-1} o`, whose weight is fixed
    at 1: a pair has the margin :math:`1 - (A^{-1}o)_u + (A^{-1}o)_v`. Features become dense.

    Parameters
    ----------
    base
        The support vector machine with its settings: ``RankSVM(C=0.01)``, ``IRSVM()``; None for ``RankSVM()``.
    task
        ``"feedback"``: similar documents get similar scores (`RelationalFeedback`); ``"distillation"``: parents are
        lifted above their children (`TopicDistillation`, quadratic form), with ``relation="parent"``.

    Examples
    --------
    >>> import plackett as pk
    >>> X, y, qid = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2], [1, 1, 1, 1]
    >>> similar = pk.Relation.from_pairs([(0, 1), (2, 3)])
    >>> data = pk.RankingDataset.from_arrays(X, y, qid, relations={"similarity": similar})
    >>> RelationalRankSVM(beta=0.5).fit(data).rank(data).tolist()
    [4, 3, 2, 1]

    References
    ----------
    Qin, Liu, Zhang, Wang, Xiong, Li: Learning to rank relational objects and its application to web search. WWW 2008.
    """

    _test_settings: ClassVar[dict[str, Any]] = {
        "base": RankSVM(C=1e-3),
        "relation": Neighbours(k=2),
        "beta": 0.1,
    }
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"task": "distillation", "beta": 0.05},)

    task: str = "feedback"

    def _machine(self) -> Any:
        machine = RankSVM() if self.base is None else self.base
        if not isinstance(machine, LinearPairSVM):
            raise DataError(f"base={self.base!r}; give a linear support vector machine such as RankSVM(C=0.01)")
        return machine

    @property
    def allow_nan(self) -> bool:  # type: ignore[override]
        """Missing values are rejected."""
        return False

    def parts(self) -> list[Ranker]:
        """The support vector machine, as given."""
        return [self._machine()]

    def refits(self) -> bool:
        """Whether the final model is also trained on the validation data."""
        return False

    def _categories(self, X: Any) -> dict[str, list[Any]]:
        return {}

    def _fresh(self) -> Ranker:
        machine: Ranker = type(self._machine())(**self._machine().get_params(deep=False))
        machine.n_jobs, machine.verbose = self.n_jobs, False
        if machine.get_params(deep=False)["margin"] == "auto":
            machine.set_params(margin=1.0)
        if self.base is None:
            machine.eval_measure = self.eval_measure
        return machine

    @property
    def function(self) -> str:
        """What the relation means."""
        choice("task", self.task, _TASKS)
        return _TASKS[self.task]

    def _train_base(
        self, data: RankingDataset, monitor: Monitor, make: Callable[[RankingDataset], Any] | None, through: bool
    ) -> Ranker:
        if make is None or not through:
            return super()._train_base(data, monitor, make, through=False)
        machine: Any = self._fresh()
        kind: Any = type(machine)

        def fixed(part: RankingDataset) -> np.ndarray | None:
            """The part of h that no weight changes."""
            function = make(part)
            return None if function.offset is None else function.system.solve(function.offset)

        class Shifted(kind):  # type: ignore[misc]
            def make_pairs(self, part: RankingDataset) -> MarginPairs:
                offset = fixed(part)
                return super().make_pairs(part) if offset is None else _Moved(super().make_pairs(part), offset)

            def score_rows(self, part: RankingDataset) -> np.ndarray:
                """Score of each row of a dataset, in its order."""
                offset = fixed(part)
                return super().score_rows(part) + (0.0 if offset is None else offset)

        machine.__class__ = Shifted
        Shifted.__name__ = kind.__name__
        valid = monitor.valid
        if valid is not None:
            offset = fixed(valid)
            monitor.final = None if offset is None else lambda scores: scores + offset
            monitor.valid = _solved(valid, make(valid))
        try:
            machine.train_on(_solved(data, make(data)), monitor)
        finally:
            machine.__class__ = kind
            monitor.final, monitor.valid = None, valid
        machine.note_training(data, monitor)
        return machine  # type: ignore[no-any-return]


def _solved(data: RankingDataset, function: Any) -> RankingDataset:
    """The data with the transformed features of h."""
    return data.replace(X=function.system.solve(dense(data.X).astype(np.float64)).astype(np.float32))


@dataclass
class _Moved:
    """Pairs whose scores have a constant part."""

    pairs: MarginPairs
    offset: np.ndarray

    def evaluate(self, scores: np.ndarray, squared: bool, out: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        return self.pairs.evaluate(scores + self.offset, squared, out)

    def curvature(self, scores: np.ndarray) -> Callable[..., np.ndarray]:
        return self.pairs.curvature(scores + self.offset)
