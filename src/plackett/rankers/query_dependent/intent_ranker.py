"""Losses for the top of the list and for its first rank only, mixed by the intent of the query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.parts import per_row
from plackett.data.weights import given_or_ones
from plackett.losses.base import Loss
from plackett.losses.blocks import bind_in_blocks
from plackett.models.base import Model
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.rankers.query_dependent._base import UsesQueryFeatures
from plackett.rankers.query_dependent._losses import MixedLoss, TopLoss
from plackett.solvers.monitor import Monitor, SilentMonitor
from plackett.solvers.quasi_newton import quasi_newton

__all__ = ["IntentRanker"]


@dataclass(kw_only=True, eq=False, repr=False)
class IntentRanker(UsesQueryFeatures, GradientRanker):
    r"""One ranking function, trained for the first k ranks of informational queries and the first of navigational ones,

    .. math:: L(f; q) = \alpha(q)\, L_{1..k}(f; q) + (1 - \alpha(q))\, L_{1}(f; q).

    A user who looks for a homepage needs only that page, at the top; one who collects information reads ten results.
    :math:`L_{1..k}` counts the documents that may be among the first k of an ideal order (fewer than k documents have a
    larger label): a loss of documents counts only these, a pair loss the pairs with one of them, ListMLE its first k
    stages. Each part is divided by its number of terms.

    The share :math:`\alpha(q)` of informational intent is a number, a column of the dataset's query features, or
    learned from the query features as :math:`\alpha(q) = \sigma(\gamma \cdot z_q + \gamma_0)`, in turn with the ranker.
    As the loss is linear in α, learning it favours whichever part is easier. So the parts are normalised, and α is held
    near a prior by its relative entropy. Prediction does not need α.

    Parameters
    ----------
    k
        Number of ranks that count for informational queries.
    intent
        ``"learned"``; ``"given"``: the first query feature of the dataset, from 0 (navigational) to 1; or a number.
    prior, prior_strength
        For learned intents: the prior share, and its strength in units of the loss of a query.
    n_sweeps
        For learned intents: number of turns.
    loss
        A loss of documents or pairs, or ``"ListMLE"``.
    model
        As in `GradientRanker`.

    Attributes
    ----------
    gate_
        For learned intents: γ, the intercept last.
    losses_
        For learned intents: the value of the objective after each turn.

    Examples
    --------
    >>> X, y, qid = [[0.0], [1.0], [2.0], [0.0], [1.0]], [0, 1, 2, 0, 1], [1, 1, 1, 2, 2]
    >>> IntentRanker(k=2, intent=0.5).fit(X, y, qid=qid).rank(X, qid=qid).tolist()
    [3, 2, 1, 2, 1]

    References
    ----------
    Bian, Liu, Qin, Zha: Ranking with query-dependent loss for web search. WSDM 2010.
    """

    search_space: ClassVar[SearchSpace] = {"k": (5, 10, 20), "intent": ("learned", 0.5, 1.0)}
    _test_settings: ClassVar[dict[str, Any]] = {"k": 5, "n_sweeps": 2}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"intent": 1.0, "loss": "ListMLE"},)
    # query features are standardised over the queries, whatever they weigh; an interrupt ends a turn
    _test_skips: ClassVar[tuple[str, ...]] = ("query_weight", "interrupt", "warm_start")

    k: int = 10
    intent: float | str = "learned"
    prior: float = 0.5
    prior_strength: float = 1.0
    n_sweeps: int = 5

    def make_loss(self) -> Loss:
        """The mixture of the loss for the first k ranks and that for the first rank."""
        whole("k", self.k, least=1)
        loss = super().make_loss()
        return MixedLoss(losses=(TopLoss(loss=loss, k=self.k), TopLoss(loss=loss, k=1)))

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self.__dict__.pop("gate_", None)
        self.__dict__.pop("losses_", None)
        if not 0.0 < self.prior < 1.0 or self.prior_strength < 0.0 or self.n_sweeps < 1:
            raise DataError(
                f"prior={self.prior}, prior_strength={self.prior_strength}, n_sweeps={self.n_sweeps}; give a share "
                "between 0 and 1, 0 or more, and 1 or more"
            )
        share = self.prior * np.ones(data.n_queries) if self.intent == "learned" else self._given(data)
        loss, model = self.make_loss(), self.make_model()
        if self.intent == "learned":
            share = self._learned(data, share, loss, model)
        self.scorer_ = self.finished(model.train(loss, _with_share(data, share), monitor, None))

    def _given(self, data: RankingDataset) -> np.ndarray:
        if self.intent == "given":
            if data.query_features is None:
                raise DataError("intent='given' needs query_features: one column, from 0 to 1; or use intent='learned'")
            share = data.query_features[:, 0].astype(np.float64)
        elif isinstance(self.intent, str):
            raise DataError(f"intent={self.intent!r}; give 'learned', 'given' or a number from 0 to 1")
        else:
            share = np.full(data.n_queries, float(self.intent))
        if not ((share >= 0.0) & (share <= 1.0)).all():
            raise DataError("the share of informational intent must be from 0 to 1")
        return share

    def _learned(self, data: RankingDataset, share: np.ndarray, loss: Loss, model: Model) -> np.ndarray:
        """The share of each query after a few turns of training ranker and gate."""
        assert isinstance(loss, MixedLoss)
        if not loss.has_value:
            raise DataError(f"intent='learned' needs a loss with a value; {self.loss} has only a gradient")
        z = self._query_map(data)(data.X, data.offsets, data.query_features)
        z = np.hstack([z, np.ones((len(z), 1))])
        gate = np.append(np.zeros(z.shape[1] - 1), np.log(self.prior / (1.0 - self.prior)))
        bound = [bind_in_blocks(one, data, self.n_jobs) for one in loss.losses]
        weight = given_or_ones(data.query_weight, data.n_queries)
        values = []
        for _ in range(self.n_sweeps):
            scorer = model.train(loss, _with_share(data, share), SilentMonitor(), None)
            scores = per_row(data, partial(_scores, scorer, self.n_jobs))
            parts = np.stack([one.evaluate(one.check(scores))[0] for one in bound], axis=1)
            objective = partial(
                gate_objective, z=z, losses=parts, weight=weight, prior=self.prior, strength=self.prior_strength
            )
            optimum = quasi_newton(objective, gate)
            gate, share = optimum.x, 1.0 / (1.0 + np.exp(-z @ optimum.x))
            values.append(optimum.fun)
        self.gate_, self.losses_ = gate, np.array(values)
        return share


def gate_objective(
    gate: np.ndarray, z: np.ndarray, losses: np.ndarray, weight: np.ndarray, prior: float, strength: float
) -> tuple[float, np.ndarray]:
    """Sum over queries of the mixed loss and of the relative entropy of α to its prior; value and gradient for γ.

    ``losses`` has the loss of the first k ranks and that of the first rank, with the weights of the queries.
    """
    a = np.clip(1.0 / (1.0 + np.exp(-np.clip(z @ gate, -30.0, 30.0))), 1e-13, 1.0 - 1e-13)
    entropy = a * np.log(a / prior) + (1.0 - a) * np.log((1.0 - a) / (1.0 - prior))
    value = a @ losses[:, 0] + (1.0 - a) @ losses[:, 1] + strength * (weight @ entropy)
    rise = np.log(a / (1.0 - a)) - np.log(prior / (1.0 - prior))
    slope = a * (1.0 - a) * (losses[:, 0] - losses[:, 1] + strength * weight * rise)
    return float(value), z.T @ slope


def _scores(scorer: Any, n_jobs: int | None, data: RankingDataset) -> np.ndarray:
    return scorer.predict(data.X, data.offsets, n_jobs)


def _with_share(data: RankingDataset, share: np.ndarray) -> RankingDataset:
    return data.replace(query_features=np.stack([share, 1.0 - share], axis=1).astype(np.float32))
