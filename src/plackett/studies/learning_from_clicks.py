"""How much of full judgements can clicks replace, and which correction of position bias helps?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plackett._chart import line_chart
from plackett._errors import DataError
from plackett._progress import progress
from plackett._provenance import fulfils
from plackett.clicks.features import FeatureAttraction
from plackett.clicks.labels.dataset import labelled_dataset, page_dataset
from plackett.clicks.labels.from_model import model_labels
from plackett.clicks.log import ClickLog
from plackett.clicks.models.ctr import IndependentClickModel
from plackett.clicks.models.dbn import DBN
from plackett.clicks.models.pbm import PBM
from plackett.clicks.models.trust_bias import TrustBias
from plackett.clicks.models.ubm import UBM
from plackett.clicks.simulate import CascadeUsers, PositionUsers, SimulatedUsers, TrustUsers, simulate_log
from plackett.clicks.unbiased.agreement import guarded_choice
from plackett.clicks.unbiased.dual_learning import DualLearning
from plackett.clicks.unbiased.propensities import harvest_propensities
from plackett.clicks.unbiased.tuning import out_of_fold, tune_by_clicks
from plackett.clicks.unbiased.weights import ips_labels
from plackett.data.dataset import RankingDataset
from plackett.datasets.generate import make_ranking
from plackett.evaluation.evaluate import evaluate
from plackett.experiments.data import folds_by_dataset
from plackett.models.linear import Linear
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.rankers.pairwise.position_bias_lambdamart import PositionBiasLambdaMART
from plackett.studies.base import Study

__all__ = ["learning_from_clicks"]

USERS: dict[str, SimulatedUsers] = {
    "position .5": PositionUsers(strength=0.5),
    "position 1": PositionUsers(strength=1.0),
    "position 2": PositionUsers(strength=2.0),
    "trust": TrustUsers(strength=1.0),
    "cascade": CascadeUsers(),
}
#: Share of the training queries whose grades the logging ranker has seen.
LOGGING = {"weak": 0.02, "strong": 0.5, "random": 0.0}
#: What a study of each size runs.
SIZES: dict[str, dict[str, Any]] = {
    "small": {"users": ("position 1", "trust", "cascade"), "pages": (1_000, 10_000), "logging": ("weak",), "seeds": 3},
    "whole": {"users": tuple(USERS), "pages": (1_000, 10_000, 100_000, 1_000_000), "logging": ("weak", "strong")}
    | {"seeds": 5},
}
#: Strengths of regularisation to choose from; the first is the default of linear models.
ALPHAS = (1e-4, 1e-2, 1e-1, 1.0, 10.0, 100.0)
#: Pages that slow methods see at most.
MOST_PAGES = {"dual learning": 20_000, "PositionBiasLambdaMART": 5_000}


@dataclass(frozen=True)
class _Case:
    """What a method learns from. It must not look at the grades of ``data``."""

    log: ClickLog
    data: RankingDataset
    users: SimulatedUsers
    n_jobs: int | None
    tuned: bool = False


def _linear(n_jobs: int | None, alpha: float = Linear.alpha) -> Any:
    return GradientRanker(loss="QuerySoftmax", model=Linear(alpha=alpha, random_state=0, n_jobs=n_jobs))


def _by_labels(labels: Callable[[_Case], Any]) -> Callable[[_Case], Any]:
    def learn(case: _Case) -> Any:
        train = labelled_dataset(labels(case), case.data).data
        if not case.tuned:
            return _linear(case.n_jobs).fit(train)
        rankers = {f"{alpha:g}": _linear(case.n_jobs, alpha) for alpha in ALPHAS}
        return tune_by_clicks(case.log, case.data, train, rankers).ranker

    return learn


def _model(model: Any) -> Callable[[_Case], Any]:
    return _by_labels(lambda case: model_labels(model(n_jobs=case.n_jobs).fit(case.log)))


def _known(case: _Case) -> Any:
    return ips_labels(case.log, case.users.examination(case.log.longest))


def _harvested(case: _Case) -> Any:
    found = harvest_propensities(case.log).examination
    return ips_labels(case.log, np.where(np.isnan(found), np.nanmin(found), found))


class _Attraction:
    """A `FeatureAttraction` as a ranker."""

    def __init__(self, fitted: FeatureAttraction) -> None:
        self.fitted = fitted

    def predict(self, data: RankingDataset) -> np.ndarray:
        return self.fitted.attraction(data)


def _of_features(case: _Case) -> Any:
    return _Attraction(FeatureAttraction(PBM(n_jobs=case.n_jobs), n_rounds=30).fit(case.log, case.data))


def _first(case: _Case, method: str) -> ClickLog:
    return case.log.select(np.arange(min(case.log.n_pages, MOST_PAGES[method])))


def _dual(case: _Case) -> Any:
    return DualLearning(n_epochs=10, random_state=0).fit(_first(case, "dual learning"), case.data)


def _trees(case: _Case) -> Any:
    pages = page_dataset(_first(case, "PositionBiasLambdaMART"), case.data).data
    return PositionBiasLambdaMART(n_estimators=50, num_leaves=7, n_jobs=case.n_jobs or 1).fit(pages)


#: What `guarded` chooses from.
GUARDED = (
    *("naive", "harvested propensities", "PBM labels", "DBN labels", "trust labels", "PBM of features"),
    "dual learning",
)


def _guarded(case: _Case) -> Any:
    def learner(name: str) -> Callable[[ClickLog], Any]:
        return lambda log: METHODS[name](replace(case, log=log))

    return guarded_choice(case.log, case.data, {name: learner(name) for name in GUARDED}).ranker


#: Name to a function that learns from a log and features.
METHODS: dict[str, Callable[[_Case], Any]] = {
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
}


@fulfils()
def learning_from_clicks(
    data: Any = None,
    *,
    size: str = "small",
    users: Sequence[str] | None = None,
    pages: Sequence[int] | None = None,
    logging: str | Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    temperature: float = 0.5,
    tuned: bool = False,
    measure: str = "nDCG@10",
    seeds: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Study:
    """How much of full judgements can clicks replace, and which correction of position bias helps?

    A logging ranker shows lists of judged documents, simulated users click, each method learns from the log alone, and
    is measured by the true grades of other queries. All but one fit the same linear model with the same softmax loss,
    to labels made in different ways. ``gain`` is the difference from naive learning (click rates as labels) on the same
    logs with the half width of its 95 % interval over seeds, ``closed`` the share of the gap between naive learning and
    learning from all grades that a method closes.

    Parameters
    ----------
    data
        Datasets with grades, in any form that `plackett.experiment` accepts; None generates one. A seed takes a fold.
    size
        ``small`` (three kinds of users, 1,000 and 10,000 pages, weak logging ranker, 3 seeds) or ``whole`` (all kinds,
        1,000 to 1,000,000 pages, weak and strong, 5 seeds). What follows overrides parts of it.
    users
        Kinds of users: ``position .5``, ``position 1``, ``position 2``, ``trust``, ``cascade``.
    pages
        Sizes of the log.
    logging
        ``weak`` (trained on 2 % of the queries), ``strong`` (on 50 %), ``random``, or several.
    methods
        Some of the methods; all by default.
    temperature
        How much lists vary, in standard deviations of the logging ranker's scores.
    tuned
        Whether linear models choose the strength of their regularisation: those that learn from clicks by
        `plackett.clicks.tune_by_clicks`, that of all grades by cross-validation. It takes ten times as long.
    """
    import polars as pl

    if size not in SIZES:
        raise DataError(f"size={size!r}; give {' or '.join(SIZES)}")
    given = {"users": users, "pages": pages, "logging": logging, "seeds": seeds}
    plan = SIZES[size] | {name: value for name, value in given.items() if value is not None}
    plan = {
        name: [value] if name != "seeds" and isinstance(value, (str, int)) else value for name, value in plan.items()
    }
    chosen = list(METHODS) if methods is None else list(methods)
    chosen = chosen if "naive" in chosen else ["naive", *chosen]
    for names, known in ((chosen, METHODS), (plan["users"], USERS), (plan["logging"], LOGGING)):
        for name in names:
            if name not in known:
                raise DataError(f"{name!r}; give some of {', '.join(known)}")
    whole = make_ranking(300, (10, 20), 20, random_state=random_state) if data is None else data
    cells = [
        (name, kind, list(folds.values()), seed)
        for name, folds in folds_by_dataset(whole, 5).items()
        for kind in plan["logging"]
        for seed in range(plan["seeds"])
    ]
    values: dict[tuple[str, str, str, int, str], list[float]] = {}
    for name, kind, folds, seed in progress(cells, "logs", len(cells), verbose=verbose):
        fold = folds[seed % len(folds)]
        for *key, value in _measured(fold, kind, seed, plan, chosen, temperature, measure, random_state, n_jobs, tuned):
            values.setdefault((name, kind, *key), []).append(value)  # type: ignore[arg-type]
    rows = [_row(key, found, values, measure) for key, found in values.items()]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if frame["data"].n_unique() == 1:
        frame = frame.drop("data")
    notes = [
        f"{plan['seeds']} seeds, temperature {temperature}; ±: half of a 95 % interval over seeds",
        *(f"{name} sees at most {most:,} pages" for name, most in MOST_PAGES.items() if name in chosen),
    ]
    return Study(
        frame, "How much of full judgements can clicks replace?", tuple(notes), picture=_chart(values, measure)
    )


def _measured(
    fold: Any,
    kind: str,
    seed: int,
    plan: dict[str, Any],
    methods: Sequence[str],
    temperature: float,
    measure: str,
    random_state: int,
    n_jobs: int | None,
    tuned: bool,
) -> Iterator[tuple[str, int, str, float]]:
    """Users, pages, method and quality of every method on one fold with one logging ranker."""
    rng = np.random.default_rng((random_state, seed))
    train, test = fold.train.replace(docids=np.arange(fold.train.n_rows)), fold.test
    gains = np.exp2(np.maximum(train.labels, 0.0)) - 1
    best = _quality(_of_grades(train.replace(y=gains), train, measure, n_jobs, tuned), test, measure)
    shown = _logging_scores(train, kind, rng)
    for who in plan["users"]:
        for n_pages in plan["pages"]:
            log = simulate_log(
                train,
                shown,
                n_pages=n_pages,
                users=USERS[who],
                temperature=temperature,
                random_state=(random_state, seed),
                n_jobs=n_jobs,
            )
            blind = _Case(log, train.replace(y=np.zeros(train.n_rows)), USERS[who], n_jobs, tuned)
            yield who, n_pages, "all grades", best
            for name in methods:
                if name == "known propensities" and not isinstance(USERS[who], PositionUsers):
                    continue
                yield who, n_pages, name, _quality(METHODS[name](blind), test, measure)


def _of_grades(gains: RankingDataset, train: RankingDataset, measure: str, n_jobs: int | None, tuned: bool) -> Any:
    """The linear model of all grades."""
    if not tuned:
        return _linear(n_jobs).fit(gains)
    fold = np.random.default_rng(0).permutation(train.n_queries) % 3

    def quality(alpha: float) -> float:
        scores = out_of_fold(_linear(n_jobs, alpha), gains, train, fold)
        return float(evaluate(train, scores, [measure]).mean[measure])

    return _linear(n_jobs, max(ALPHAS, key=quality)).fit(gains)


def _row(key: tuple[str, str, str, int, str], found: list[float], values: Any, measure: str) -> dict[str, Any]:
    data, logging, users, pages, method = key
    naive, top = (np.array(values[(*key[:4], other)]) for other in ("naive", "all grades"))
    gain, gap = np.array(found) - naive, float((top - naive).mean())
    row: dict[str, Any] = {"data": data, "logging": logging, "users": users, "pages": pages, "method": method}
    row |= {measure: float(np.mean(found)), "gain": float(gain.mean()), "±": _half(gain)}
    return row | {"closed": float(gain.mean()) / gap if gap > 0.002 and method != "naive" else None}


def _half(values: np.ndarray) -> float | None:
    from scipy.special import stdtrit

    if values.size < 2:
        return None
    return float(stdtrit(values.size - 1, 0.975) * values.std(ddof=1) / np.sqrt(values.size))


def _chart(values: dict[tuple[str, str, str, int, str], list[float]], measure: str) -> str:
    """The measure against the number of pages, for the first dataset, logging ranker and kind of users."""
    first = next(iter(values))[:3]
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for key, found in values.items():
        if key[:3] == first:
            line = lines.setdefault(key[4], ([], []))
            line[0].append(float(key[3]))
            line[1].append(float(np.mean(found)))
    title = f"{first[0]}: {first[1]} logging ranker, {first[2]} users"
    return line_chart(lines, title=title, x_label="pages", y_label=measure, log_x=True)


def _logging_scores(train: RankingDataset, logging: str, rng: np.random.Generator) -> np.ndarray:
    if logging == "random":
        return rng.normal(size=train.n_rows)
    n = max(2, round(LOGGING[logging] * train.n_queries))
    few = train.select(np.sort(rng.permutation(train.n_queries)[:n]))
    scores = GradientRanker(loss="Square", model="linear", random_state=0, n_jobs=1).fit(few).predict(train)
    return scores / max(float(scores.std()), 1e-12)


def _quality(ranker: Any, test: RankingDataset, measure: str) -> float:
    return float(evaluate(test, ranker.predict(test), [measure]).mean[measure])
