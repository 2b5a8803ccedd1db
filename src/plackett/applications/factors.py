"""Collaborative filtering as ranking: factors of users and items, trained by a ranking loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import DataError
from plackett._base.progress import progress
from plackett._kernels.kernel import kernel
from plackett._kernels.randomness import below, mix
from plackett.applications.ratings import Ratings
from plackett.applications.recommender import Recommender, pair_scores
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pointwise.square import Square

__all__ = ["FactorRecommender"]

#: How often an unrated item is drawn before the entry stays empty, because the user has rated nearly everything.
_TRIES = 30
#: Decay of the means of Adam, and what keeps its steps finite.
_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-8


@kernel
def _draw(offsets, items, first_entry, n_items, n_drawn, seed, drawn):
    """Draw items that a user has not rated, after the rated ones of the user; −1 if none was drawn."""
    for u in range(offsets.size - 1):
        lo, hi = offsets[u], offsets[u + 1]
        for j in range((hi - lo) * n_drawn):
            entry = first_entry[u] + (hi - lo) + j
            drawn[entry] = -1
            bits = mix(seed ^ mix(np.uint64(entry)))
            for _ in range(_TRIES):
                item = below(bits, n_items)
                at = lo + np.searchsorted(items[lo:hi], item)
                if at == hi or items[at] != item:
                    drawn[entry] = item
                    break
                bits = mix(bits)


@kernel
def _gradients(user, item, slope, P, Q, dP, dQ, db):
    for r in range(user.size):
        g, i = slope[r], item[r]
        if i < 0 or g == 0.0:
            continue
        p, q, dp, dq = P[user[r]], Q[i], dP[user[r]], dQ[i]
        for k in range(p.size):
            dp[k] += g * q[k]
            dq[k] += g * p[k]
        db[i] += g


@dataclass(kw_only=True, eq=False)
class FactorRecommender(Recommender):
    r"""Factors of users and items, trained so that each user's items are in the right order.

    .. math::

        f(u, i) &= b_i + p_u^\top q_i, \qquad
        p_u = P_u + A^\top x_u, \quad q_i = Q_i + B^\top z_i, \quad b_i = \beta_i + c^\top z_i \\
        \min &\; \sum_u L\big(f(u, \cdot), r_u\big)
        + \lambda \big(\|P\|^2 + \|Q\|^2 + \|A\|^2 + \|B\|^2 + \|\beta\|^2 + \|c\|^2\big)

    Users are queries and items are documents, so L is any loss of the library: of points, pairs or lists. :math:`x_u`
    and :math:`z_i` are features, if there are any: they carry what is known of users and items that have few ratings,
    or none.

    Each step compares the rated items of a user with each other and with ``negatives`` times as many unrated items,
    drawn anew, which have label 0. The steps are Adam's, over all users.

    Parameters
    ----------
    loss
        Any loss with one score per document.
    n_factors
        Length of the factors.
    negatives
        Unrated items drawn for each rated one; 0 compares rated items only, as in predicting ratings.
    penalty
        λ. The loss is a sum over a user's points, pairs or lists, so that the right penalty depends on the loss and on
        how many ratings users have: choose it on ratings that are neither trained nor tested on.
    learning_rate, n_steps
        Size and number of the steps.
    random_state
        Seed of the start and of the draws.

    Attributes
    ----------
    user_factors_, item_factors_, item_bias_
        p, q and b with the part of the features.
    users_, items_
        The ids to which they belong.
    losses_
        Value of the loss before each step, without the penalty; empty for losses without a value.

    Examples
    --------
    >>> ratings = Ratings.from_arrays(["ann", "ann", "bob", "bob", "eve"], ["tea", "mate", "rye", "ale", "tea"])
    >>> model = FactorRecommender(n_factors=2, n_steps=100, penalty=0.05).fit(ratings)
    >>> model.recommend("eve", 1)
    ['mate']

    References
    ----------
    Rendle, Freudenthaler, Gantner, Schmidt-Thieme: BPR: Bayesian personalized ranking from implicit feedback. UAI 2009.
    Kula: Metadata embeddings for user and item cold-start recommendations. CBRecSys 2015.
    """

    _more: ClassVar[tuple[str, ...]] = ("_user_map", "_item_map", "_bias_map")

    loss: Loss = field(default_factory=Square)
    n_factors: int = 16
    negatives: int = 10
    penalty: float = 3.0
    learning_rate: float = 0.05
    n_steps: int = 60
    random_state: int = 0

    def fit(
        self, ratings: Ratings, *, user_features: Any = None, item_features: Any = None, verbose: bool = False
    ) -> Self:
        """Train on ratings.

        Parameters
        ----------
        user_features, item_features
            A row of numbers for each of ``ratings.users``, of ``ratings.items``.
        """
        if ratings.n_rows == 0:
            raise DataError("there are no ratings")
        for name in ("n_factors", "n_steps"):
            whole(name, getattr(self, name), least=1)
        if not self.negatives >= 0 or not 0 <= self.penalty < np.inf:
            raise DataError(f"negatives={self.negatives}, penalty={self.penalty}; give 0 or more")
        number("learning_rate", self.learning_rate, above=0)
        problem = _Problem(self, ratings, user_features, item_features)
        parameters = problem.start(np.random.default_rng(self.random_state))
        adam = _Adam(parameters, self.learning_rate)
        self.losses_: list[float] = []
        for step in progress(range(1, self.n_steps + 1), "training factors", self.n_steps, verbose=verbose):
            problem.draw(step)
            value, slope = problem.evaluate(parameters)
            if self.loss.has_value:
                self.losses_.append(value)
            adam.step(slope)
        parts = problem.parts(parameters)
        self._user_map, self._item_map, self._bias_map = parts["A"], parts["B"], parts["c"]
        return self._learned(ratings, *problem.factors(parameters), unknown=np.zeros(self.n_factors))

    # ---------------------------------------------------------------------------------------------------- cold start

    def new_users(self, features: Any) -> np.ndarray:
        """Factors of users without ratings, from their features."""
        self.check_fitted()
        return _features(features, None, "features", self._user_map.shape[0]) @ self._user_map

    def new_items(self, features: Any) -> tuple[np.ndarray, np.ndarray]:
        """Factors and biases of items without ratings, from their features."""
        self.check_fitted()
        table = _features(features, None, "features", self._item_map.shape[0])
        return table @ self._item_map, table @ self._bias_map

    def fold_in(self, items: Any, values: Any = None) -> np.ndarray:
        """Factors of a new user from some ratings: the same problem with the items' factors held fixed.

        This is a linear ranker whose features are the factors of the items. Items without a rating are compared with
        the rated ones, unless ``negatives`` is 0; each counts as much as in training on average. A loss without a value
        is followed by the steps of training, any other is solved for.
        """
        from scipy.optimize import minimize

        self.check_fitted()
        one = Ratings.from_arrays(np.zeros(len(items), int), items, values)
        item = self._item_numbers(one.items)
        labels = np.zeros(self.items_.size)
        labels[item] = one.values[np.argsort(one.item)]
        weight = np.full(self.items_.size, min(1.0, self.negatives * item.size / max(self.items_.size - item.size, 1)))
        weight[item] = 1.0
        rows = np.sort(item) if self.negatives == 0 else np.arange(self.items_.size)
        data = RankingDataset.from_arrays(None, labels[rows], sample_weight=weight[rows])
        bound = self.loss.bind(data)
        Q, b = self.item_factors_[rows], self.item_bias_[rows]

        def objective(p: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope, _ = bound.evaluate(b + Q @ p)
            return float(value.sum()) + self.penalty * float(p @ p), Q.T @ slope + 2 * self.penalty * p

        factors = np.zeros(Q.shape[1])
        if self.loss.has_value:
            return np.asarray(minimize(objective, factors, jac=True, method="L-BFGS-B").x)
        adam = _Adam(factors, self.learning_rate)
        for _ in range(self.n_steps):
            adam.step(objective(factors)[1])
        return factors


class _Adam:
    """The steps of Adam, which change some parameters in place."""

    def __init__(self, parameters: np.ndarray, learning_rate: float) -> None:
        self.parameters, self.learning_rate, self.n_steps = parameters, learning_rate, 0
        self.mean, self.square = np.zeros_like(parameters), np.zeros_like(parameters)

    def step(self, slope: np.ndarray) -> None:
        self.n_steps += 1
        self.mean += (1 - _FIRST) * (slope - self.mean)
        self.square += (1 - _SECOND) * (slope * slope - self.square)
        size = self.learning_rate / (1 - _FIRST**self.n_steps)
        self.parameters -= size * self.mean / (np.sqrt(self.square / (1 - _SECOND**self.n_steps)) + _TINY)


class _Problem:
    """The objective as a function of one flat vector of parameters."""

    def __init__(self, model: FactorRecommender, ratings: Ratings, user_features: Any, item_features: Any) -> None:
        self.model, self.ratings = model, ratings
        self.x = _features(user_features, ratings.n_users, "user_features")
        self.z = _features(item_features, ratings.n_items, "item_features")
        k, m, n = model.n_factors, ratings.n_users, ratings.n_items
        self.shapes = {
            "P": (m, k),
            "Q": (n, k),
            "beta": (n,),
            "A": (self.x.shape[1], k),
            "B": (self.z.shape[1], k),
            "c": (self.z.shape[1],),
        }
        rated = np.diff(ratings.offsets)
        counts = rated * (1 + model.negatives)
        self.first_entry = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self.user = np.repeat(np.arange(m), counts)
        self.item = np.full(self.user.size, -1, np.int64)
        self.rows = np.repeat(self.first_entry - ratings.offsets[:-1], rated) + np.arange(ratings.n_rows)
        self.item[self.rows] = ratings.item
        self.labels = np.zeros(self.user.size)
        self.labels[self.rows] = ratings.values
        self.group = counts[counts > 0]
        self.bound: BoundLoss | None = None

    def start(self, rng: np.random.Generator) -> np.ndarray:
        size = sum(int(np.prod(shape)) for shape in self.shapes.values())
        parameters = rng.normal(0.0, 0.1, size)
        for name in ("beta", "A", "B", "c"):
            self.parts(parameters)[name][...] = 0.0
        if self.z.shape[1] or self.x.shape[1]:
            for name in ("A", "B"):
                part = self.parts(parameters)[name]
                part[...] = rng.normal(0.0, 0.1, part.shape)
        return parameters

    def parts(self, parameters: np.ndarray) -> dict[str, np.ndarray]:
        """Views of the matrices in the vector."""
        views, first = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            views[name] = parameters[first : first + size].reshape(shape)
            first += size
        return views

    def factors(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """p, q and b with the part of the features."""
        part = self.parts(parameters)
        P, Q, b = part["P"] + self.x @ part["A"], part["Q"] + self.z @ part["B"], part["beta"] + self.z @ part["c"]
        return P, Q, b

    def draw(self, step: int) -> None:
        """Draw the unrated items of one step and bind the loss to the lists."""
        if self.bound is not None and self.model.negatives == 0:
            return
        ratings, seed = self.ratings, np.uint64(self.model.random_state * 1_000_003 + step)
        _draw(ratings.offsets, ratings.item, self.first_entry, ratings.n_items, self.model.negatives, seed, self.item)
        if self.bound is None:
            # an entry for which no item was drawn is unjudged; whether there is one hardly changes between steps
            self.bound = self._bind(np.where(self.item < 0, -1.0, self.labels))
            self.empty = self.item < 0
        elif not np.array_equal(self.item < 0, self.empty):
            self.empty = self.item < 0
            self.bound = self._bind(np.where(self.empty, -1.0, self.labels))

    def _bind(self, labels: np.ndarray) -> BoundLoss:
        bound = self.model.loss.bind(RankingDataset.from_arrays(None, labels, group=self.group))
        if bound.n_outputs != 1:
            raise DataError(f"{self.model.loss} has {bound.n_outputs} scores per document; a recommender has one")
        return bound

    def evaluate(self, parameters: np.ndarray) -> tuple[float, np.ndarray]:
        """Loss without penalty, and the gradient with it."""
        assert self.bound is not None
        P, Q, b = self.factors(parameters)
        scores = np.empty(self.user.size)
        pair_scores(self.user, self.item, P, Q, b, scores)
        value, slope, _ = self.bound.evaluate(scores)
        gradient = 2 * self.model.penalty * parameters
        part = self.parts(gradient)
        dP, dQ, db = np.zeros_like(P), np.zeros_like(Q), np.zeros_like(b)
        _gradients(self.user, self.item, slope, P, Q, dP, dQ, db)
        part["P"] += dP
        part["Q"] += dQ
        part["beta"] += db
        part["A"] += self.x.T @ dP
        part["B"] += self.z.T @ dQ
        part["c"] += self.z.T @ db
        return float(value.sum()), gradient


def _features(table: Any, n_rows: int | None, name: str, n_columns: int | None = None) -> np.ndarray:
    """Features as an array; without features, an array without columns."""
    if table is None and n_rows is not None:
        return np.zeros((n_rows, 0))
    features = np.asarray(table, np.float64)
    if features.ndim != 2 or (n_rows is not None and len(features) != n_rows):
        raise DataError(f"{name} has shape {features.shape}; give a row for each of {n_rows}")
    if n_columns is not None and features.shape[1] != n_columns:
        raise DataError(f"{name} has {features.shape[1]} columns; the model was trained with {n_columns}")
    if not np.isfinite(features).all():
        raise DataError(f"{name} has missing or infinite values")
    return features
