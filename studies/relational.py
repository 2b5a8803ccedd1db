"""When do the relations between documents help, and when not?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.datasets.related import clustered_lists, site_lists
from plackett.evaluation.significance.fisher import fisher
from plackett.rankers.pairwise.rank_svm import RankSVM
from plackett.rankers.relational.continuous_crf import ContinuousCRF
from plackett.rankers.relational.hypergraph_ranker import HypergraphRanker
from plackett.rankers.relational.relational_feedback import RelationalFeedback
from plackett.rankers.relational.relational_rank_svm import RelationalRankSVM
from plackett.rankers.relational.score_propagation import ScorePropagation
from plackett.rankers.relational.topic_distillation import TopicDistillation
from studies.base import Study, per_query

MEASURE = "nDCG@10"


def _contestants(n_jobs: int | None) -> dict[str, dict[str, Any]]:
    common: dict[str, Any] = {"n_jobs": n_jobs}
    return {
        "similarity": {
            "the ranker alone": RelationalFeedback(beta=0.0, **common),
            "RelationalFeedback, trained alone": RelationalFeedback(through=False, **common),
            "RelationalFeedback": RelationalFeedback(**common),
            "RelationalFeedback(LambdaMART)": RelationalFeedback(base="LambdaMART(n_estimators=30)", **common),
            "RelationalRankSVM": RelationalRankSVM(base=RankSVM(C=1e-3), **common),
            "ContinuousCRF": ContinuousCRF(**common),
            "HypergraphRanker": HypergraphRanker(**common),
        },
        "parent": {
            "the ranker alone": TopicDistillation(beta=0.0, **common),
            "ScorePropagation": ScorePropagation(**common),
            "TopicDistillation": TopicDistillation(**common),
            "TopicDistillation, exact": TopicDistillation(exact=True, **common),
            "RelationalRankSVM": RelationalRankSVM(
                base=RankSVM(C=1e-3), task="distillation", relation="parent", **common
            ),
            "ContinuousCRF": ContinuousCRF(similar=(), parents=("parent",), **common),
        },
    }


def relational(*, n_queries: int = 60, random_state: int = 0, n_jobs: int | None = None) -> Study:
    """When do the relations between documents help, and when not?

    Rankers are trained on one draw and measured on another: lists whose related documents are equally relevant, lists
    of sites whose entry pages are wanted, and the same lists with relations drawn at random.

    Parameters
    ----------
    n_queries
        Queries to train on, and as many to test on.

    References
    ----------
    Qin, Liu, Zhang, Wang, Xiong, Li: Learning to rank relational objects and its application to web search. WWW 2008.
    """
    import polars as pl

    cases: dict[str, tuple[str, Callable[..., RankingDataset], bool]] = {
        "similar documents": ("similarity", clustered_lists, True),
        "similarity at random": ("similarity", clustered_lists, False),
        "entry pages": ("parent", site_lists, True),
        "parents at random": ("parent", site_lists, False),
    }
    rows = []
    for name, (kind, make, informative) in cases.items():
        train, test = (make(n_queries, informative=informative, seed=2 * random_state + draw) for draw in (0, 1))
        alone = None
        for method, ranker in _contestants(n_jobs)[kind].items():
            fitted = ranker.fit(train)
            values = per_query(test, fitted.predict(test), MEASURE)
            alone = values if alone is None else alone
            row = {"relations": name, "ranker": method, MEASURE: float(values.mean())}
            row["gain"] = float((values - alone).mean())
            row["p"] = None if values is alone else fisher(values, alone).pvalue
            row["strength"] = float(fitted.beta_) if np.ndim(getattr(fitted, "beta_", [])) == 0 else None
            rows.append(row)
    notes = (
        "gain over the linear ranker alone on the same test queries; p of a two-sided paired randomisation test; "
        "strength: β, chosen by cross-validation on the training queries.",
    )
    return Study(pl.DataFrame(rows, infer_schema_length=None), f"{MEASURE} with relations between documents", notes)
