"""Ways to learn from clicks that the study compares, and the logs they learn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plackett.clicks.features import FeatureAttraction
from plackett.clicks.labels.dataset import labelled_dataset, page_dataset
from plackett.clicks.labels.from_model import examined_labels, model_labels
from plackett.clicks.log import ClickLog
from plackett.clicks.models.ctr import IndependentClickModel
from plackett.clicks.models.dbn import DBN
from plackett.clicks.models.pbm import PBM
from plackett.clicks.models.trust_bias import TrustBias
from plackett.clicks.rankers.exposure_softmax import ExposureSoftmax
from plackett.clicks.simulate import CascadeUsers, PositionUsers, SimulatedUsers, TrustUsers
from plackett.clicks.unbiased.agreement import guarded_choice
from plackett.clicks.unbiased.dual_learning import DualLearning
from plackett.clicks.unbiased.learning import propensity_labels
from plackett.clicks.unbiased.propensities import harvest_propensities
from plackett.data.dataset import RankingDataset
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.rankers.pairwise.position_bias_lambdamart import PositionBiasLambdaMART

USERS: dict[str, SimulatedUsers] = {
    "position .5": PositionUsers(strength=0.5),
    "position 1": PositionUsers(strength=1.0),
    "position 2": PositionUsers(strength=2.0),
    "trust": TrustUsers(strength=1.0),
    "cascade": CascadeUsers(),
}
#: Share of the training queries whose grades the logging ranker has seen.
LOGGING = {"weak": 0.02, "strong": 0.5, "random": 0.0}
#: Maximum number of pages of slow methods.
MOST_PAGES = {"DBN": 100_000, "DBN labels": 100_000}
#: Size of the largest log that very slow methods learn from; they are left out of larger ones.
SMALL_LOGS = {"PBM of features": 10_000, "dual learning": 10_000, "PositionBiasLambdaMART": 1_000}


@dataclass(frozen=True)
class Case:
    """What a method learns from. It must not look at the grades of ``data``."""

    log: ClickLog
    data: RankingDataset
    users: SimulatedUsers
    n_jobs: int | None
    #: Click models that have been fitted, labels joined with features, and rankers.
    models: dict[str, Any] = field(default_factory=dict)
    joined: dict[str, RankingDataset] = field(default_factory=dict)
    done: dict[str, Any] = field(default_factory=dict)

    def model(self, kind: Any) -> Any:
        """A click model, fitted once."""
        if kind.__name__ not in self.models:
            most = MOST_PAGES.get(kind.__name__, self.log.n_pages)
            log = self.log if most >= self.log.n_pages else self.log.select(np.arange(most))
            self.models[kind.__name__] = kind(n_jobs=self.n_jobs).fit(log)
        return self.models[kind.__name__]


def _linear() -> ExposureSoftmax:
    """The learner of all methods that make labels; its parameters were chosen on logs that no table shows."""
    return ExposureSoftmax(alpha=0.3, saturation=5.0)


#: Name to a function that makes labels of a log, and whether they weigh by their examinations.
LABELS: dict[str, tuple[Callable[[Case], Any], bool]] = {
    "naive": (lambda case: model_labels(case.model(IndependentClickModel)), False),
    "weighted rates": (lambda case: propensity_labels(case.log, np.ones(case.log.longest)), True),
    "known propensities": (lambda case: propensity_labels(case.log, case.users.examination(case.log.longest)), True),
    "harvested propensities": (
        lambda case: propensity_labels(case.log, harvest_propensities(case.log).examination),
        True,
    ),
    "PBM": (lambda case: propensity_labels(case.log, case.model(PBM).examination_), True),
    "DBN": (lambda case: examined_labels(case.model(DBN)), True),
    "trust": (lambda case: case.model(TrustBias).corrected_labels(case.log), True),
    "PBM labels": (lambda case: model_labels(case.model(PBM)), False),
    "DBN labels": (lambda case: model_labels(case.model(DBN)), False),
    "trust labels": (lambda case: model_labels(case.model(TrustBias)), False),
}


def _labelled(case: Case, name: str) -> RankingDataset:
    """The documents with labels of this kind, made once."""
    if name not in case.joined:
        labels, weighted = LABELS[name]
        case.joined[name] = labelled_dataset(labels(case), case.data, weighted=weighted).data
    return case.joined[name]


def _by_labels(name: str) -> Callable[[Case], Any]:
    return lambda case: _linear().fit(_labelled(case, name))


class _Attraction:
    """A `FeatureAttraction` as a ranker."""

    def __init__(self, fitted: FeatureAttraction) -> None:
        self.fitted = fitted

    def predict(self, data: RankingDataset) -> np.ndarray:
        return self.fitted.attraction(data)


def _of_features(case: Case) -> Any:
    return _Attraction(FeatureAttraction(PBM(n_jobs=case.n_jobs), n_rounds=30).fit(case.log, case.data))


def _dual(case: Case) -> Any:
    return DualLearning(n_epochs=10, random_state=0).fit(case.log, case.data)


def _trees(case: Case) -> Any:
    pages = page_dataset(case.log, case.data).data
    return PositionBiasLambdaMART(n_estimators=50, num_leaves=7, n_jobs=case.n_jobs or 1).fit(pages)


#: What `guarded` chooses from; the first is the baseline.
GUARDED = ("naive", "weighted rates", "harvested propensities", "DBN", "trust")


def _guarded(case: Case) -> Any:
    def learner(name: str) -> Callable[[RankingDataset], Any]:
        def learn_part(part: RankingDataset) -> Any:
            if part.n_queries == case.data.n_queries:
                return learn(case, name)
            labelled = _labelled(case, name)
            return _linear().fit(labelled.select(np.flatnonzero(np.isin(labelled.qids, part.qids))))

        return learn_part

    return guarded_choice(case.log, case.data, {name: learner(name) for name in GUARDED}).ranker


#: Name to a function that learns from a log and features.
METHODS: dict[str, Callable[[Case], Any]] = {
    **{name: _by_labels(name) for name in LABELS},
    "PBM of features": _of_features,
    "dual learning": _dual,
    "PositionBiasLambdaMART": _trees,
    "guarded": _guarded,
}


def learn(case: Case, method: str) -> Any:
    """The ranker that a method learns, fitted once for each case."""
    if method not in case.done:
        case.done[method] = METHODS[method](case)
    return case.done[method]


def learn_from_grades(train: RankingDataset, rows: np.ndarray | None = None) -> Any:
    """The linear model of all grades, or of those of some rows."""
    gains = np.exp2(np.maximum(train.labels, 0.0)) - 1
    if rows is not None:
        shown = np.zeros(train.n_rows, bool)
        shown[rows] = True
        gains[~shown] = -1.0  # left out
    return _linear().fit(train.replace(y=gains))


def logging_scores(train: RankingDataset, logging: str, rng: np.random.Generator, variation: str) -> np.ndarray:
    """Scores of a logging ranker: minus the logarithms of its ranks, or in standard deviations."""
    if logging == "random":
        scores = rng.normal(size=train.n_rows)
    else:
        n = max(2, round(LOGGING[logging] * train.n_queries))
        few = train.select(np.sort(rng.permutation(train.n_queries)[:n]))
        scores = GradientRanker(loss="Square", model="linear", random_state=0, n_jobs=1).fit(few).predict(train)
    if variation == "scores":
        return scores / max(float(scores.std()), 1e-12)
    query = train.query_of_row
    order = np.lexsort((-scores, query))
    rank = np.empty(train.n_rows)
    rank[order] = np.arange(train.n_rows) - train.offsets[query[order]] + 1.0
    return -np.log(rank)
