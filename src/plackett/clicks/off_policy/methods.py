"""The estimators of what a new ranker would earn: the contribution of each page, and the weight of each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.log import ClickLog
from plackett.clicks.models.base import ClickModel
from plackett.clicks.off_policy.lists import NewLists
from plackett.clicks.off_policy.worth import ClickWorth


@dataclass(frozen=True)
class Case:
    """What an estimate is made of: the pages of the log, the new lists, and what users did."""

    log: ClickLog
    new: NewLists
    model: ClickModel | None
    k: int
    clip: float
    reward: np.ndarray
    #: What a click is worth if the reward is actions.
    worth: ClickWorth | None = None

    @property
    def match(self) -> np.ndarray:
        """Whether each row shows what the new ranker would show at its rank."""
        return (self.new.row_rank == self.log.rank) & (self.log.rank <= self.k)

    def chances(self, kind: str) -> np.ndarray:
        """Propensities of the rows, those that are too small raised."""
        propensities = getattr(self.log, kind)
        if propensities is None:
            others = {"propensities": "item-position", "conditional_propensities": "cascade"}
            ways = [f"'{method}'" for other, method in others.items() if getattr(self.log, other, None) is not None]
            raise DataError(
                f"this method needs {kind} of the logging ranker, which the log does not have; log them, or use the "
                f"method {' or '.join([*ways, repr('model')])}"
            )
        return np.maximum(propensities, self.clip)

    def page_sum(self, values: np.ndarray) -> np.ndarray:
        """Sums of the rows of each page."""
        return np.bincount(self.log.page, values, minlength=self.log.n_pages)

    def predicted(self) -> tuple[np.ndarray, np.ndarray]:
        """Model's reward of each logged row, and of the new list of each page."""
        if self.model is None:
            raise DataError("this method needs a fitted click model: model=PBM().fit(log)")
        expected = self.model.click_probabilities(self.log)
        return expected if self.worth is None else expected * self.worth.of(self.log), _new_rewards(self)


def _item_position(case: Case) -> tuple[np.ndarray, np.ndarray]:
    weight = np.where(case.match, 1.0 / case.chances("propensities"), 0.0)
    return case.page_sum(weight * case.reward), weight


def _cascade_weight(case: Case) -> np.ndarray:
    step = np.where(case.match, 1.0 / case.chances("conditional_propensities"), 0.0)
    return _running_product(step, case.log)


def _running_product(values: np.ndarray, log: ClickLog) -> np.ndarray:
    out = values.copy()
    for i in range(1, int(log.lengths.max(initial=0))):
        rows = log.offsets[:-1][log.lengths > i] + i
        out[rows] *= out[rows - 1]
    return out


def _cascade(case: Case) -> tuple[np.ndarray, np.ndarray]:
    weight = _cascade_weight(case)
    return case.page_sum(weight * case.reward), weight


def _list(case: Case) -> tuple[np.ndarray, np.ndarray]:
    log = case.log
    within = np.flatnonzero(log.rank <= case.k)
    running = _cascade_weight(case)
    last = np.zeros(log.n_pages)
    last[log.page[within]] = running[within]  # the last row of the page that counts is written last
    weight = last[log.page] * (log.rank <= case.k)
    return case.page_sum(weight * case.reward), weight


def _doubly_robust(case: Case) -> tuple[np.ndarray, np.ndarray]:
    expected, fresh = case.predicted()
    weight = np.where(case.match, 1.0 / case.chances("propensities"), 0.0)
    return fresh + case.page_sum(weight * (case.reward - expected * (case.log.rank <= case.k))), weight


def _cascade_doubly_robust(case: Case) -> tuple[np.ndarray, np.ndarray]:
    expected, fresh = case.predicted()
    weight = _cascade_weight(case)
    return fresh + case.page_sum(weight * (case.reward - expected * (case.log.rank <= case.k))), weight


def _model(case: Case) -> tuple[np.ndarray, np.ndarray]:
    return case.predicted()[1], np.ones(case.log.n_rows)


def _new_rewards(case: Case) -> np.ndarray:
    """Clicks that the model expects on the new list of each page's query, or what they are worth."""
    log, new = case.log, case.new
    queries = np.flatnonzero(np.diff(new.offsets) > 0)
    sizes = np.diff(new.offsets)[queries]
    documents = np.append(log.documents, _unknown_id(log.documents))
    names = documents[new.document]
    # a page may have several documents that the log never showed: each of them is just "unknown"
    pages = ClickLog(
        offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        query=queries.astype(np.int32),
        document=np.where(new.document >= 0, new.document, log.documents.size).astype(np.int32),
        clicks=np.zeros(names.size, np.int32),
        queries=log.queries,
        documents=documents,
    )
    assert case.model is not None
    chance = case.model.click_probabilities(pages) * (pages.rank <= case.k)
    if case.worth is not None:
        chance = chance * case.worth.of(pages)
    per_query = np.zeros(log.n_queries)
    per_query[queries] = np.bincount(pages.page, chance, minlength=queries.size)
    return per_query[log.query]


def _unknown_id(ids: np.ndarray) -> np.ndarray:
    if ids.dtype.kind == "i":
        return np.array([int(ids.max(initial=0)) + 1])
    return np.array(["\uffff never shown"], ids.dtype)


#: Name to estimator: contribution of each page, and the weight of each row.
METHODS: dict[str, Callable[[Case], tuple[np.ndarray, np.ndarray]]] = {
    "item-position": _item_position,
    "cascade": _cascade,
    "list": _list,
    "doubly-robust": _doubly_robust,
    "cascade-doubly-robust": _cascade_doubly_robust,
    "model": _model,
}


#: The methods that need a click model.
WITH_MODEL = ("doubly-robust", "cascade-doubly-robust", "model")


def normalised(case: Case, weight: np.ndarray) -> np.ndarray:
    """Page values whose mean is the self-normalised estimate, and whose spread is that of its linearisation."""
    log, rank = case.log, case.log.rank - 1
    share = log.page_weight / log.page_weight.sum()
    total = np.bincount(rank, weight * share[log.page], minlength=log.longest)
    hits = np.bincount(rank, weight * case.reward * share[log.page], minlength=log.longest)
    means = np.divide(hits, total, out=np.zeros_like(hits), where=total > 0)
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return means.sum() + case.page_sum(scale[rank] * weight * (case.reward - means[rank]))
