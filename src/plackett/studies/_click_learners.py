"""Ways to learn from clicks that the study compares, and the logs they learn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plackett.clicks.features import FeatureAttraction
from plackett.clicks.labels.dataset import labelled_dataset, page_dataset
from plackett.clicks.labels.from_model import model_labels
from plackett.clicks.log import ClickLog
from plackett.clicks.models.ctr import IndependentClickModel
from plackett.clicks.models.dbn import DBN
from plackett.clicks.models.pbm import PBM
from plackett.clicks.models.trust_bias import TrustBias
from plackett.clicks.models.ubm import UBM
from plackett.clicks.simulate import CascadeUsers, PositionUsers, SimulatedUsers, TrustUsers
from plackett.clicks.unbiased.agreement import Guarded, guarded_choice
from plackett.clicks.unbiased.dual_learning import DualLearning
from plackett.clicks.unbiased.propensities import harvest_propensities
from plackett.clicks.unbiased.tuning import out_of_fold, tune_by_clicks
from plackett.clicks.unbiased.weights import ips_labels
from plackett.data.dataset import RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.models.linear import Linear
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.rankers.pairwise.position_bias_lambdamart import PositionBiasLambdaMART

__all__ = ["LOGGING", "METHODS", "MOST_PAGES", "USERS", "Case", "learn", "learn_from_grades", "logging_scores"]

USERS: dict[str, SimulatedUsers] = {
    "position .5": PositionUsers(strength=0.5),
    "position 1": PositionUsers(strength=1.0),
    "position 2": PositionUsers(strength=2.0),
    "trust": TrustUsers(strength=1.0),
    "cascade": CascadeUsers(),
}
#: Share of the training queries whose grades the logging ranker has seen.
LOGGING = {"weak": 0.02, "strong": 0.5, "random": 0.0}
#: Strengths of regularisation to choose from.
ALPHAS = (0.1, 1.0, 10.0, 100.0)
#: Maximum number of pages for slow methods.
MOST_PAGES = {"dual learning": 20_000, "PositionBiasLambdaMART": 5_000}


@dataclass(frozen=True)
class Case:
    """What a method learns from. It must not look at the grades of ``data``."""

    log: ClickLog
    data: RankingDataset
    users: SimulatedUsers
    n_jobs: int | None
    tuned: bool = False
    #: What has been learned so far, by method.
    done: dict[str, Any] = field(default_factory=dict)


def _linear(n_jobs: int | None, alpha: float = Linear.alpha) -> Any:
    # with the default tolerance, labels that differ in the last digit end up with nDCG@10 that differs by .006
    model = Linear(alpha=alpha, tol=1e-8, max_iter=3000, random_state=0, n_jobs=n_jobs)
    return GradientRanker(loss="QuerySoftmax", model=model)


def _by_labels(labels: Callable[[Case], Any]) -> Callable[[Case], Any]:
    def learn(case: Case) -> Any:
        train = labelled_dataset(labels(case), case.data).data
        if not case.tuned:
            return _linear(case.n_jobs).fit(train)
        rankers = {f"{alpha:g}": _linear(case.n_jobs, alpha) for alpha in ALPHAS}
        return tune_by_clicks(case.log, case.data, train, rankers).ranker

    return learn


def _model(model: Any) -> Callable[[Case], Any]:
    return _by_labels(lambda case: model_labels(model(n_jobs=case.n_jobs).fit(case.log)))


def _known(case: Case) -> Any:
    return ips_labels(case.log, case.users.examination(case.log.longest))


def _harvested(case: Case) -> Any:
    examination = harvest_propensities(case.log).examination
    return ips_labels(case.log, np.where(np.isnan(examination), np.nanmin(examination), examination))


class _Attraction:
    """A `FeatureAttraction` as a ranker."""

    def __init__(self, fitted: FeatureAttraction) -> None:
        self.fitted = fitted

    def predict(self, data: RankingDataset) -> np.ndarray:
        return self.fitted.attraction(data)


def _of_features(case: Case) -> Any:
    return _Attraction(FeatureAttraction(PBM(n_jobs=case.n_jobs), n_rounds=30).fit(case.log, case.data))


def _first(case: Case, method: str) -> ClickLog:
    return case.log.select(np.arange(min(case.log.n_pages, MOST_PAGES[method])))


def _dual(case: Case) -> Any:
    return DualLearning(n_epochs=10, random_state=0).fit(_first(case, "dual learning"), case.data)


def _trees(case: Case) -> Any:
    pages = page_dataset(_first(case, "PositionBiasLambdaMART"), case.data).data
    return PositionBiasLambdaMART(n_estimators=50, num_leaves=7, n_jobs=case.n_jobs or 1).fit(pages)


#: What `guarded` and `chosen` choose from.
GUARDED = (
    *("naive", "harvested propensities", "PBM labels", "DBN labels", "trust labels", "PBM of features"),
    "dual learning",
)


def _choice(case: Case) -> Guarded:
    """The methods tried on held-out pages."""

    def learner(name: str) -> Callable[[ClickLog], Any]:
        return lambda log: learn(case if log is case.log else replace(case, log=log, done={}), name)

    if "choice" not in case.done:
        case.done["choice"] = guarded_choice(case.log, case.data, {name: learner(name) for name in GUARDED})
    return case.done["choice"]


def _guarded(case: Case) -> Any:
    return _choice(case).ranker


def _chosen(case: Case) -> Any:
    """The method that agrees best with held-out clicks, however little it is ahead."""
    table = _choice(case).table.drop_nulls("agreement")
    if table.is_empty():
        return _choice(case).ranker
    return learn(case, table.sort("agreement", descending=True, maintain_order=True)["method"][0])


#: Name to a function that learns from a log and features.
METHODS: dict[str, Callable[[Case], Any]] = {
    "naive": _model(IndependentClickModel),
    "known propensities": _by_labels(_known),
    "harvested propensities": _by_labels(_harvested),
    "PBM labels": _model(PBM),
    "UBM labels": _model(UBM),
    "DBN labels": _model(DBN),
    "trust labels": _model(TrustBias),
    "PBM of features": _of_features,
    "dual learning": _dual,
    "PositionBiasLambdaMART": _trees,
    "guarded": _guarded,
    "chosen": _chosen,
}


def learn(case: Case, method: str) -> Any:
    """The ranker that a method learns, fitted once for each case."""
    if method not in case.done:
        case.done[method] = METHODS[method](case)
    return case.done[method]


def learn_from_grades(train: RankingDataset, measure: str, n_jobs: int | None, tuned: bool) -> Any:
    """The linear model of all grades."""
    gains = train.replace(y=np.exp2(np.maximum(train.labels, 0.0)) - 1)
    if not tuned:
        return _linear(n_jobs).fit(gains)
    fold = np.random.default_rng(0).permutation(train.n_queries) % 3

    def quality(alpha: float) -> float:
        scores = out_of_fold(_linear(n_jobs, alpha), gains, train, fold)
        return float(evaluate(train, scores, [measure]).mean[measure])

    return _linear(n_jobs, max(ALPHAS, key=quality)).fit(gains)


def logging_scores(train: RankingDataset, logging: str, rng: np.random.Generator) -> np.ndarray:
    """Scores of a logging ranker, in standard deviations."""
    if logging == "random":
        return rng.normal(size=train.n_rows)
    n = max(2, round(LOGGING[logging] * train.n_queries))
    few = train.select(np.sort(rng.permutation(train.n_queries)[:n]))
    scores = GradientRanker(loss="Square", model="linear", random_state=0, n_jobs=1).fit(few).predict(train)
    return scores / max(float(scores.std()), 1e-12)
