"""Users for online simulations: when they look, click, stop and leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.clicks.models.base import ClickModel
from plackett.clicks.simulate import CascadeUsers, PositionUsers, SimulatedUsers, TrustUsers
from plackett.data.dataset import RankingDataset

__all__ = ["user_model"]


@dataclass(frozen=True, eq=False)
class UserModel:
    """Users who read from the top. At rank i they click a document with probability

        look_i · (right_i · attraction + wrong_i · (1 − attraction)),

    stop after a click with the document's ``stop``, and leave after any document with probability ``leave``.
    """

    attraction: np.ndarray
    stop: np.ndarray
    look: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    leave: float = 0.0


#: Probabilities of a click and of a stop after it by grade, for judgements of 3 and of 5 grades.
_TABLES: dict[str, dict[int, Any]] = {
    "perfect": {3: ((0, 0.5, 1), (0, 0, 0)), 5: ((0, 0.2, 0.4, 0.8, 1), (0, 0, 0, 0, 0))},
    "navigational": {
        3: ((0.05, 0.5, 0.95), (0.2, 0.5, 0.9)),
        5: ((0.05, 0.3, 0.5, 0.7, 0.95), (0.2, 0.3, 0.5, 0.7, 0.9)),
    },
    "informational": {
        3: ((0.4, 0.7, 0.9), (0.1, 0.3, 0.5)),
        5: ((0.4, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.3, 0.4, 0.5)),
    },
    "near-random": {3: ((0.4, 0.5, 0.6), (0.5, 0.5, 0.5)), 5: ((0.4, 0.45, 0.5, 0.55, 0.6), (0.5,) * 5)},
}
_HABITS: dict[str, SimulatedUsers] = {
    "cascade": CascadeUsers(),
    "position": PositionUsers(noise=0.05),
    "trust": TrustUsers(noise=0.05),
}
USERS = (*_TABLES, *_HABITS)


def user_model(users: str | SimulatedUsers | ClickModel | UserModel, data: RankingDataset, k: int = 10) -> UserModel:
    """Habits of users over the documents of a dataset.

    Parameters
    ----------
    users
        ``perfect``, ``navigational``, ``informational`` or ``near-random`` (tables for 3 and 5 grades; their ends for
        2, interpolated for others), ``cascade``, ``position`` or ``trust``; users with parameters of their own such as
        `PositionUsers`; or a fitted click model with examination by rank (PBM) or satisfaction (DBN), whose pairs are
        those of the dataset.
    data
        Documents with grades.
    k
        Documents shown.

    References
    ----------
    Hofmann, Whiteson, de Rijke. 2013.
    Oosterhuis, de Rijke: Differentiable unbiased online learning to rank. CIKM 2018.

    Examples
    --------
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=2, docs_per_query=4, random_state=0)
    >>> user_model("perfect", data).leave
    0.0
    """
    if isinstance(users, UserModel):
        rows, ranks = (users.attraction, users.stop), (users.look, users.right, users.wrong)
        if any(each.shape != (data.n_rows,) for each in rows) or any(each.size < k for each in ranks):
            raise DataError(f"the users do not fit {data.n_rows} documents of which {k} are shown")
        return users
    if isinstance(users, ClickModel):
        return _fitted(users, data, k)
    if isinstance(users, str):
        if users in _TABLES:
            return _tabled(_TABLES[users], data.labels, k)
        choice("users", users, _HABITS)
        users = _HABITS[users]
    attraction = np.clip(users.attraction(data.labels, float(data.labels.max(initial=0.0))), 0.0, 1.0)
    one, zero = np.ones(k), np.zeros(k)
    if isinstance(users, CascadeUsers):
        return UserModel(attraction, users.satisfaction * attraction, one, one, zero, 1.0 - users.go_on)
    look = users.examination(k)
    right, wrong = users.click_rates(k) if isinstance(users, TrustUsers) else (one, zero)
    return UserModel(attraction, np.zeros(data.n_rows), look, right, wrong)


def _tabled(tables: dict[int, Any], labels: np.ndarray, k: int) -> UserModel:
    highest = max(float(labels.max(initial=0.0)), 1.0)
    click, stop = tables[3 if highest == 2 else 5]
    at, grade = np.linspace(0, 1, len(click)), np.maximum(labels, 0.0) / highest
    one, zero = np.ones(k), np.zeros(k)
    return UserModel(np.interp(grade, at, click), np.interp(grade, at, stop), one, one, zero)


def _fitted(model: ClickModel, data: RankingDataset, k: int) -> UserModel:
    docids = np.arange(data.n_rows) if data.docids is None else data.docids
    pair = model.pairs_.find(np.repeat(data.qids, np.diff(data.offsets)), docids)
    known = pair >= 0

    def by_row(values: np.ndarray) -> np.ndarray:
        return np.where(known, values[pair], values.mean())

    one, zero = np.ones(k), np.zeros(k)
    if hasattr(model, "satisfaction_"):
        leave = 1.0 - float(getattr(model, "gamma_", 1.0))
        return UserModel(by_row(model.attraction_), by_row(model.satisfaction_), one, one, zero, leave)
    examination = getattr(model, "examination_", None)
    if examination is None or np.ndim(examination) != 1:
        raise DataError(f"{type(model).__name__} has neither examination by rank nor satisfaction: give a PBM or a DBN")
    look = np.concatenate([examination, np.full(max(k - examination.size, 0), examination[-1])])[:k]
    return UserModel(by_row(model.attraction_), np.zeros(data.n_rows), look, one, zero)
