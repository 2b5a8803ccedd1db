"""How much of full judgements can clicks replace, and which correction of position bias helps?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.clicks.features import FeatureAttraction
from plackett.clicks.labels.dataset import labelled_dataset, page_dataset
from plackett.clicks.labels.from_model import model_labels
from plackett.clicks.log import ClickLog
from plackett.clicks.models.ctr import IndependentClickModel
from plackett.clicks.models.dbn import DBN
from plackett.clicks.models.pbm import PBM
from plackett.clicks.models.ubm import UBM
from plackett.clicks.simulate import CascadeUsers, PositionUsers, SimulatedUsers, TrustUsers, simulate_log
from plackett.clicks.unbiased.dual_learning import DualLearning
from plackett.clicks.unbiased.propensities import harvest_propensities
from plackett.clicks.unbiased.weights import ips_labels
from plackett.data.dataset import RankingDataset
from plackett.datasets.generate import make_ranking
from plackett.evaluation.evaluate import evaluate
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


def _by_labels(labels: Callable[[ClickLog, RankingDataset], Any]) -> Callable[[ClickLog, RankingDataset, str], Any]:
    def learn(log: ClickLog, data: RankingDataset, model: str) -> Any:
        join = labelled_dataset(labels(log, data), data, weighted=True)
        return GradientRanker(loss="Square", model=model, random_state=0, n_jobs=1).fit(join.data)

    return learn


def _harvested(log: ClickLog, data: RankingDataset) -> Any:
    found = harvest_propensities(log).examination
    return ips_labels(log, np.where(np.isnan(found), np.nanmin(found), found))


class _Attraction:
    """A `FeatureAttraction` as a ranker."""

    def __init__(self, fitted: FeatureAttraction) -> None:
        self.fitted = fitted

    def predict(self, data: RankingDataset) -> np.ndarray:
        return self.fitted.attraction(data)


#: Name to a function that learns from a log and features.
METHODS: dict[str, Callable[[ClickLog, RankingDataset, str], Any]] = {
    "naive": _by_labels(lambda log, _: model_labels(IndependentClickModel().fit(log))),
    "PBM labels": _by_labels(lambda log, _: model_labels(PBM().fit(log))),
    "UBM labels": _by_labels(lambda log, _: model_labels(UBM().fit(log))),
    "DBN labels": _by_labels(lambda log, _: model_labels(DBN().fit(log))),
    "harvested propensities": _by_labels(_harvested),
    "PBM of features": lambda log, data, _: _Attraction(FeatureAttraction(PBM(), n_rounds=30).fit(log, data)),
    "dual learning": lambda log, data, _: DualLearning(n_epochs=10, random_state=0).fit(
        log.select(np.arange(min(log.n_pages, 20_000))), data
    ),
    "PositionBiasLambdaMART": lambda log, data, _: PositionBiasLambdaMART(n_estimators=50, num_leaves=7, n_jobs=1).fit(
        page_dataset(log.select(np.arange(min(log.n_pages, 5_000))), data).data
    ),
}


@fulfils()
def learning_from_clicks(
    data: Any = None,
    *,
    users: Sequence[str] = ("position 1", "trust", "cascade"),
    pages: Sequence[int] = (1_000, 10_000),
    methods: Sequence[str] | None = None,
    logging: str = "weak",
    temperature: float = 0.5,
    model: str = "linear",
    measure: str = "nDCG@10",
    seeds: int = 3,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Study:
    """How much of full judgements can clicks replace, and which correction of position bias helps?

    A logging ranker shows lists of judged documents, simulated users click, each method learns from the log alone, and
    is measured by the true grades of other queries (a third of them). ``closed`` is the share of the gap between naive
    learning and learning from all grades that a method closes.

    Parameters
    ----------
    data
        Dataset with grades; None generates one.
    users
        Kinds of users: ``position .5``, ``position 1``, ``position 2``, ``trust``, ``cascade``.
    pages
        Sizes of the log.
    methods
        Some of the methods; all by default.
    logging
        ``weak`` (trained on 2 % of the queries), ``strong`` (on 50 %) or ``random``.
    temperature
        How much lists vary, in standard deviations of the logging ranker's scores.
    model
        Model of the methods that make labels: ``linear`` or ``trees``.
    """
    import polars as pl

    whole = make_ranking(300, (10, 20), 20, random_state=random_state) if data is None else data
    if not isinstance(whole, RankingDataset):
        raise DataError("this study takes one dataset")
    chosen = list(METHODS) if methods is None else list(methods)
    unknown = {*chosen} - {*METHODS} | ({*users} - {*USERS})
    if unknown:
        raise DataError(f"{sorted(unknown)[0]!r}: methods are {', '.join(METHODS)}; users are {', '.join(USERS)}")
    cells: dict[tuple[str, int, str], list[float]] = {}
    for seed in range(seeds):
        rng = np.random.default_rng((random_state, seed))
        order = rng.permutation(whole.n_queries)
        cut = whole.n_queries * 2 // 3
        train, test = whole.select(np.sort(order[:cut])), whole.select(np.sort(order[cut:]))
        train = train.replace(docids=np.arange(train.n_rows))
        shown = _logging_scores(train, logging, rng)
        full = GradientRanker(loss="Square", model=model, random_state=0, n_jobs=1).fit(train)
        best = _quality(full, test, measure)
        for kind in users:
            for size in pages:
                log = simulate_log(
                    train, shown, n_pages=size, users=USERS[kind], temperature=temperature, random_state=seed
                )
                cells.setdefault((kind, size, "all grades"), []).append(best)
                for name in chosen:
                    value = _quality(METHODS[name](log, train, model), test, measure)
                    cells.setdefault((kind, size, name), []).append(value)
    rows = []
    for (kind, size, name), values in cells.items():
        mean = float(np.mean(values))
        spread = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
        row = {"users": kind, "pages": size, "method": name, measure: mean, "error": spread}
        if ("naive" in chosen) and name not in ("naive",):
            naive, top = np.mean(cells[kind, size, "naive"]), np.mean(cells[kind, size, "all grades"])
            row["closed"] = float((mean - naive) / (top - naive)) if top > naive else None
        rows.append(row)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    notes = (
        f"{seeds} seeds, logging ranker {logging}, temperature {temperature}, {model} models; error: standard error",
        "PositionBiasLambdaMART sees at most 5,000 pages, dual learning at most 20,000",
    )
    return Study(frame, "How much of full judgements can clicks replace?", notes)


def _logging_scores(train: RankingDataset, logging: str, rng: np.random.Generator) -> np.ndarray:
    shares = {"weak": 0.02, "strong": 0.5}
    if logging == "random":
        return rng.normal(size=train.n_rows)
    if logging not in shares:
        raise DataError(f"logging={logging!r}; give weak, strong or random")
    few = train.select(np.sort(rng.permutation(train.n_queries)[: max(2, round(shares[logging] * train.n_queries))]))
    scores = GradientRanker(loss="Square", model="linear", random_state=0, n_jobs=1).fit(few).predict(train)
    return scores / max(float(scores.std()), 1e-12)


def _quality(ranker: Any, test: RankingDataset, measure: str) -> float:
    return float(evaluate(test, ranker.predict(test), [measure]).mean[measure])
