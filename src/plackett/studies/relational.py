"""When do the relations between documents help, and when not?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.relation_builders.hyperedges import hyperedges
from plackett.data.relations import Relation
from plackett.evaluation.significance.fisher import fisher
from plackett.rankers.pairwise.rank_svm import RankSVM
from plackett.rankers.relational.continuous_crf import ContinuousCRF
from plackett.rankers.relational.hypergraph_ranker import HypergraphRanker
from plackett.rankers.relational.relational_feedback import RelationalFeedback
from plackett.rankers.relational.relational_rank_svm import RelationalRankSVM
from plackett.rankers.relational.score_propagation import ScorePropagation
from plackett.rankers.relational.topic_distillation import TopicDistillation
from plackett.studies.base import Study, per_query

__all__ = ["relational"]

MEASURE = "nDCG@10"


def clustered_lists(
    n_queries: int = 60,
    *,
    clusters: int = 5,
    size: int = 4,
    noise: float = 2.0,
    informative: bool = True,
    seed: int = 0,
) -> RankingDataset:
    """Lists in which documents come in clusters of the same label, and the features of a single document say little.

    The relations ``similarity`` (the other documents of the cluster) and ``hyperedge`` (the clusters as groups) follow
    the clusters, or groups of random documents if they should not be informative.
    """
    rng = np.random.default_rng(seed)
    n = n_queries * clusters * size
    label = np.repeat(rng.integers(0, 3, n_queries * clusters), size).astype(float)
    X = np.stack([label + rng.normal(scale=noise, size=n), rng.normal(size=n)], axis=1)
    qid = np.repeat(np.arange(n_queries), clusters * size)
    row = np.arange(n)
    if not informative:
        row = rng.permuted(row.reshape(n_queries, -1), axis=1).ravel()
    position = np.arange(n)
    near = np.concatenate([row[position // size * size + (position + step) % size] for step in range(1, size)])
    data = RankingDataset.from_arrays(X, label, qid)
    group = np.empty(n, np.int64)
    group[row] = position // size
    relations = {"similarity": Relation(np.tile(row, size - 1), near), "hyperedge": hyperedges(data, group.tolist())}
    return data.replace(relations=relations)


def site_lists(
    n_queries: int = 60, *, sites: int = 4, pages: int = 5, noise: float = 1.0, informative: bool = True, seed: int = 0
) -> RankingDataset:
    """Lists of pages from several sites; only the entry page of a good site is wanted.

    The relation ``parent`` has the pairs (page, entry page), or pairs of pages drawn at random.
    """
    rng = np.random.default_rng(seed)
    good = rng.random((n_queries, sites)) < 0.5
    n = good.size * pages
    X = (2.0 * np.repeat(good.ravel(), pages) + rng.normal(scale=noise, size=n))[:, None]
    first = np.arange(n) % pages == 0
    label = np.where(first, 2.0 * np.repeat(good.ravel(), pages), 0.0)
    qid = np.repeat(np.arange(n_queries), sites * pages)
    page = np.arange(n)
    if not informative:
        page = rng.permuted(page.reshape(n_queries, -1), axis=1).ravel()
    child = np.flatnonzero(~first)
    parents = Relation(page[child], page[child // pages * pages])
    return RankingDataset.from_arrays(X, label, qid, relations={"parent": parents})


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
