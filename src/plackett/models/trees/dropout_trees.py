"""Boosted trees with dropout, for one round or permanently: DART, its variants, and X-DART."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, number, number_or_none, whole
from plackett._base.errors import LossError
from plackett._base.search_space import Real, SearchSpace
from plackett._kernels.openmp import dismiss_waiting_threads
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.measures.language import parse
from plackett.models.trees.dropout import RESCALES, SAMPLES, DropCount
from plackett.models.trees.grown_trees import Grower, GrownTrees
from plackett.models.trees.model import Trees, boosted_gradients, lightgbm_dataset
from plackett.models.trees.tree_start import start_scores, start_trees
from plackett.scorers.base import Scorer
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import join_trees
from plackett.solvers.measure_objective import MeasureObjective
from plackett.solvers.monitor import Monitor

__all__ = ["DropoutTrees"]

#: Weights that a line search tries for the new tree.
_STEPS = np.arange(1, 17) / 8.0
#: Smallest difference that counts as an improvement.
_ROUNDING = 1e-12
_RULES = ("never", "last", "best")


@dataclass(kw_only=True, eq=False)
class DropoutTrees(Trees):
    r"""Boosted trees with dropout (DART), optionally permanent (X-DART).

    In each round some trees are dropped, and the new tree takes its step from the scores of the others. Then the
    dropped trees come back, and they and the new tree are reweighted so that together they do not overshoot. With
    ``drop_for_good`` they are removed if the ensemble is better without them: fewer trees for the same quality.

    With k trees dropped, of weights :math:`w_i`, and the learning rate η, the weights of the new tree and the dropped
    ones are

    ==================  =============================================  =============================================
    ``rescale``         new tree, dropped ones                         new tree where they are gone for good
    ==================  =============================================  =============================================
    ``"tree"``          η/(k+η), :math:`w_i` k/(k+η)                   η
    ``"tree_always"``   the same                                       η/(k+η)
    ``"triple"``        the same with 3η for η                         3η/(k+3η)
    ``"forest"``        η/(1+η), :math:`w_i`/(1+η)                     η
    ``"weight"``        η/(W+η), :math:`w_i` W/(W+η); W = Σ w          η
    ``"output"``        o/(O+o), :math:`w_i` O/(O+o)                   η O/o
    ``"contribution"``  ηo/(C+ηo), :math:`w_i` C/(C+ηo)                C/o
    ``"line_search"``   as ``"tree"`` with s for η                     s
    ``"none"``          η, :math:`w_i`                                 η
    ==================  =============================================  =============================================

    with o the mean absolute output of the new tree on the training data, O the sum of those of the dropped trees, C the
    same with their weights, and s the best of ⅛, ¼, …, 2 for ``drop_measure`` on the training data. If none was
    dropped, the new tree has weight η (or s). ``"tree"`` with η = 1 is the rule of the first paper.

    Parameters
    ----------
    n_estimators
        Number of rounds, each of which grows a tree. The ensemble is what remains of them.
    drop_rate
        Share of the trees dropped in a round or, if 1 or more, their number; at most half of them. With 0 this
        is plain boosting.
    skip_drop
        Probability that a round drops nothing.
    drop_sample
        Which trees: ``"uniform"``, ``"first_half"`` (of the older half); with chances by ``"weight"``, ``"output"``
        (mean absolute output without the weight) or ``"contribution"`` (with it), or by one minus these shares,
        ``"inverse_weight"``, ``"inverse_output"``, ``"inverse_contribution"``; those with the ``"largest"`` or
        ``"smallest"`` contribution.
    drop_growth, drop_restart
        None drops ``drop_rate`` in every round. Otherwise the number dropped starts at 1 and grows by ``drop_growth``
        after each round that is not the best so far, up to ``drop_rate``. After a best round it returns to 1, or is
        halved without ``drop_restart``.
    rescale
        How the new and the dropped trees are weighted, as above.
    drop_for_good
        ``"never"`` (DART); ``"last"`` or ``"best"``: the dropped trees are removed where the ensemble without them,
        with the new tree, is better than that of the last round, or of the best round so far.
    random_for_good
        Probability that dropped trees are removed regardless of the effect.
    drop_measure
        The measure that decides what is better.
    judge_on_train
        Evaluate on the training data even if there are validation data.

    Notes
    -----
    The number of each row's leaf is kept for every tree of the ensemble: a byte per row and tree up to 256 leaves. A
    round of a loss with several outputs is one tree here. Validation data used to remove trees are no longer unbiased:
    check the result on other data. Trees to continue from (``warm_start``) are not dropped. ``boosting`` stays
    ``"gbdt"``.

    Examples
    --------
    >>> import plackett as pk
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> model = DropoutTrees(n_estimators=10, drop_rate=0.3, drop_for_good="last")
    >>> ranker = pk.GradientRanker(loss="Logistic", model=model)
    >>> ranker = ranker.fit(X, [i % 10 > 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rank([[1.0], [9.0]], qid=[0, 0])
    array([2, 1])

    References
    ----------
    Lucchese, Nardini, Orlando, Perego, Trani: X-DART: blending dropout and pruning for efficient learning to rank.
    SIGIR 2017.
    Rashmi, Gilad-Bachrach: DART: dropouts meet multiple additive regression trees. AISTATS 2015.
    """

    search_space: ClassVar[SearchSpace] = {**Trees.search_space, "drop_rate": Real(0.01, 0.3, log=True)}

    drop_rate: float = 0.1
    skip_drop: float = 0.0
    drop_sample: str = "uniform"
    drop_growth: float | None = None
    drop_restart: bool = True
    rescale: str = "tree"
    drop_for_good: str = "never"
    random_for_good: float = 0.0
    drop_measure: Any = "nDCG@10"
    judge_on_train: bool = False

    def train(self, loss: Loss, data: RankingDataset, monitor: Monitor, start: Scorer | None = None) -> TreeScorer:
        """Grow the trees."""
        self._check()
        loss = loss.settle(data)
        ensemble = _Ensemble(self, loss, data, monitor.valid, start)
        best: list[tuple[GrownTrees, float]] = []
        with monitor.training(self.n_estimators, f"{loss.name} · trees with dropout"):
            for i in range(self.n_estimators):
                ensemble.round()
                dismiss_waiting_threads()
                watched = None if monitor.valid is None else loss.ranking_scores(_flat(ensemble.scores[1]))
                stop = monitor.update(watched)
                if monitor.best_round in (-1, i):
                    best = ensemble.members()
                if stop:
                    break
        return TreeScorer(ensemble.text(best))

    def _check(self) -> None:
        for name, known in (("drop_sample", SAMPLES), ("rescale", RESCALES), ("drop_for_good", _RULES)):
            choice(name, getattr(self, name), known, error=LossError)
        for name in ("skip_drop", "random_for_good"):
            number(name, getattr(self, name), least=0.0, most=1.0, error=LossError)
        for name in ("drop_rate", "drop_growth"):
            value = getattr(self, name)
            number_or_none(name, value, least=0.0, error=LossError)
        whole("n_estimators", self.n_estimators, least=1, error=LossError)
        if self.bags > 1 or self.refit:
            raise LossError(
                "trees with dropout of their own have neither n_bags nor refit; use boosting='dart' or 'gbdt'"
            )
        kind = (self.lightgbm_params or {}).get("boosting", self.boosting)
        if kind != "gbdt":
            raise LossError(f"boosting={kind!r}; trees with dropout of their own need 'gbdt'")


class _Ensemble:
    """The remaining trees, their weights, and the scores ``(outputs, rows)`` of training and validation data."""

    def __init__(
        self, model: DropoutTrees, loss: Loss, data: RankingDataset, valid: RankingDataset | None, start: Scorer | None
    ) -> None:
        import lightgbm as lgb

        self.model, self.loss = model, loss
        bound = loss.bind(data, n_jobs=model.n_jobs)
        parameters = model.lightgbm_parameters(bound, data) | {"objective": "none"}
        self.rate = float(parameters["learning_rate"])  # the outputs of grown trees have it in them already
        self.before = [] if start is None else start_trees(start, data.n_features, bound.n_outputs)[1]
        parts = [data] if valid is None else [data, valid]
        self.base = [np.ascontiguousarray(start_scores(part, start, bound.n_outputs).T) for part in parts]
        datasets = [lightgbm_dataset(lgb, data, parameters, model.categorical_numbers(data))]
        datasets += [lightgbm_dataset(lgb, part, parameters, reference=datasets[0]) for part in parts[1:]]
        self.grower = Grower(parameters, datasets, [part.offsets for part in parts], model.n_jobs)
        self.gradients = boosted_gradients(model, loss, bound)
        self.row_weight = data.row_weight
        self.rng = np.random.default_rng(model.random_state).spawn(1)[0]  # apart from the draws of queries
        self.count = DropCount(model.drop_rate, model.drop_growth, model.drop_restart)
        self.trees: list[GrownTrees] = []
        self.weights, self.sizes = np.empty(0), np.empty(0)
        self.scores = self.base
        self.judge = len(parts) - 1 if not model.judge_on_train else 0
        measure = parse(model.drop_measure)
        self.lists = self.steps = None
        if model.drop_for_good != "never" or model.drop_growth is not None:
            self.lists = MeasureObjective(parts[self.judge], measure, model.n_jobs)
        if model.rescale == "line_search":
            self.steps = MeasureObjective(data, measure, model.n_jobs)
        self.last = self.best = -np.inf

    def round(self) -> None:
        """Drop, grow, weigh. The state changes only at the end, because an interrupt may come at any time."""
        dropped = self._draw()
        weights = self.weights.copy()
        weights[dropped] = 0.0
        rest = self._sum(self.trees, weights) if dropped.size else self.scores
        dismiss_waiting_threads()
        gradient, curvature = self.gradients(_flat(rest[0]), None)
        new = self.grower.grow(gradient, curvature, self.trees)
        if new is None:
            return
        dismiss_waiting_threads()
        size = self.grower.size(new, self.row_weight) / self.rate
        weight = with_dropped = self._step(rest[0], new)
        factor = 1.0
        if dropped.size and size > 0.0:
            rescale = RESCALES[self.model.rescale]
            weight, with_dropped, factor = rescale(weight, self.weights[dropped], self.sizes[dropped], size)
        scores = self._with(rest, new, weight)
        if dropped.size and not self._better(scores):
            weight = with_dropped
            weights[dropped] = self.weights[dropped] * factor
            scores = self._sum([*self.trees, new], np.append(weights, weight))
        kept = np.flatnonzero(weights)
        self.trees = [*(self.trees[i] for i in kept), new]
        self.weights, self.sizes = np.append(weights[kept], weight), np.append(self.sizes[kept], size)
        self.scores = scores
        if self.lists is not None:
            self.last = self._value(scores)
            self.count.note(len(self.trees), self.last > self.best + _ROUNDING)
            self.best = max(self.best, self.last)

    def _draw(self) -> np.ndarray:
        """Indices of the trees to drop."""
        number = self.count(len(self.trees))
        if self.rng.random() < self.model.skip_drop or number == 0:
            return np.empty(0, np.int64)
        keys = SAMPLES[self.model.drop_sample](self.weights, self.sizes, self.rng)
        return np.sort(np.argsort(keys, kind="stable")[:number])

    def _sum(self, trees: list[GrownTrees], weights: np.ndarray) -> list[np.ndarray]:
        """Scores of the trees with nonzero weight."""
        some = np.flatnonzero(weights)
        scores = [base.copy() for base in self.base]
        for part, flat in enumerate(scores):
            self.grower.add([trees[i] for i in some], weights[some] / self.rate, part, flat)
        return scores

    def _with(self, rest: list[np.ndarray], new: GrownTrees, weight: float) -> list[np.ndarray]:
        """Scores with one more tree."""
        scores = [flat.copy() for flat in rest]
        for part, flat in enumerate(scores):
            self.grower.add([new], np.array([weight / self.rate]), part, flat)
        return scores

    def _step(self, rest: np.ndarray, new: GrownTrees) -> float:
        """Weight of the new tree if none is dropped."""
        if self.steps is None:
            return self.rate
        output = np.zeros_like(rest)
        self.grower.add([new], np.array([1.0 / self.rate]), 0, output)
        tried = [self.loss.ranking_scores(_flat(rest + step * output)) for step in _STEPS]
        return float(_STEPS[np.argmax(self.steps.values(np.stack(tried)).round(12))])

    def _better(self, without: list[np.ndarray]) -> bool:
        """Whether the dropped trees go for good, given the scores without them and with the new tree."""
        if self.rng.random() < self.model.random_for_good:
            return True
        if self.model.drop_for_good == "never":
            return False
        return self._value(without) > (self.last if self.model.drop_for_good == "last" else self.best) + _ROUNDING

    def _value(self, scores: list[np.ndarray]) -> float:
        assert self.lists is not None
        return self.lists.value(self.loss.ranking_scores(_flat(scores[self.judge])))

    def members(self) -> list[tuple[GrownTrees, float]]:
        """The remaining trees, each with its weight."""
        return list(zip(self.trees, (self.weights / self.rate).tolist(), strict=True))

    def text(self, members: list[tuple[GrownTrees, float]]) -> str:
        """LightGBM's text of some of the trees, after those that training continued from."""
        trees = [tree for grown, times in members for tree in grown.scaled(times)]
        return join_trees(self.grower.head, self.before + trees)


def _flat(scores: np.ndarray) -> np.ndarray:
    """Scores in the shape that losses expect: a vector for one output, otherwise one column per output."""
    return scores[0] if len(scores) == 1 else np.ascontiguousarray(scores.T)
