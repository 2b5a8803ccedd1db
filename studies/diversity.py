"""What do learned and fixed re-rankers gain in diversity?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.diversity.mmr import MMR
from plackett.diversity.repulsion import Repulsion
from plackett.evaluation.significance.fisher import fisher
from plackett.rankers.diverse.sequential_diversity import SequentialDiversity
from plackett.rankers.listwise.listmle import ListMLE
from plackett.rankers.subsets.svm_div import SVMDiv
from studies._web_years import web_track_years as web_track_years
from studies.base import Study, per_query

MEASURES = ("alpha_nDCG@20", "ERR_IA@20")
TRADE_OFFS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


def ambiguous_lists(
    n_queries: int = 50, *, n_docs: int = 40, meanings: int = 4, preference: float = 0.8, seed: int = 0
) -> RankingDataset:
    """Lists for queries with several meanings; the features prefer the first one.

    Features: a noisy sign of relevance, raised for the first meaning, and word counts: one word for each meaning, rare
    words, and one that all documents have. The relation ``similarity`` is the cosine of the words.
    """
    rng = np.random.default_rng(seed)
    n = n_queries * n_docs
    share = np.array([0.55, *np.full(meanings - 1, 0.45 / (meanings - 1))])
    meaning, relevant = rng.choice(meanings, n, p=share), rng.random(n) < 0.5
    word_counts = np.zeros((n, meanings + 31))
    word_counts[np.arange(n), meaning] = rng.integers(1, 4, n)
    word_counts[:, meanings] = 1
    rare = rng.random((n, 30)) < 0.05
    word_counts[:, meanings + 1 :] = rare * rng.integers(1, 4, (n, 30))
    sign = relevant + preference * (meaning == 0) + 0.6 * rng.normal(size=n)
    qid = np.repeat(np.arange(n_queries), n_docs)
    data = RankingDataset.from_arrays(
        np.column_stack([sign, word_counts]), relevant, qid, subtopics=np.eye(meanings)[meaning] * relevant[:, None]
    )
    return data.replace(relations={"similarity": _word_similarity(data)})


def _word_similarity(data: RankingDataset) -> Relation:
    from plackett.data.relation_builders.neighbours import Neighbours

    return Neighbours(k=None, scale="none")(data, np.asarray(data.X)[:, 1:])


def diversity(*, n_queries: int = 50, random_state: int = 0, n_jobs: int | None = None) -> Study:
    """What do learned and fixed re-rankers gain in diversity?

    Planted lists: queries with four meanings whose features prefer one. Rankers and trade-offs are learned on one draw
    and measured on another. `studies.diversity.web_track` does the same with the TREC Web runs of 2012, and
    `studies.diversity.web_track_years` re-ranks each of these runs by judgements of earlier years.

    Parameters
    ----------
    n_queries
        Queries to train on, and as many to test on.

    References
    ----------
    Zhu, Lan, Guo, Cheng, Niu: Learning for search result diversification. SIGIR 2014.
    Yue, Joachims: Predicting diverse subsets using structural SVMs. ICML 2008.
    """
    train, test = (ambiguous_lists(n_queries, seed=2 * random_state + draw) for draw in (0, 1))
    return _compared(
        train, test, n_jobs, word_columns=slice(1, None), question="Diversity of lists with planted meanings"
    )


def web_track(
    folder: str | os.PathLike[str], *, depth: int = 100, n_folds: int = 5, n_jobs: int | None = None
) -> Study:
    """The runs of the TREC Web track 2012, fused and diversified by what the runs themselves show.

    The text of the collection is not available. A document is described by its rank in each of the eight runs; two
    documents are alike if their ranks are (cosine of the reciprocal ranks), or if they come from the same file of the
    crawl. The methods are trained and their trade-offs chosen on the other topics, in folds.

    Parameters
    ----------
    folder
        Folder with ``runs-2012/*.txt`` and ``2012/qrels-for-ndeval.txt``.
    depth
        Documents taken from the top of each run.
    """
    import polars as pl

    from plackett.data.trec import read_run
    from plackett.data.trec_diversity import read_diversity_qrels
    from plackett.evaluation.evaluate_run import evaluate_run

    root = Path(folder)
    qrels = read_diversity_qrels(root / "2012" / "qrels-for-ndeval.txt")
    runs = {path.stem: read_run(path) for path in sorted((root / "runs-2012").glob("*.txt"))}
    data = _pooled(runs, qrels, depth)
    values: dict[str, dict[str, np.ndarray]] = {}
    frames = dict(runs)
    order = np.random.default_rng(0).permutation(data.n_queries)
    scores: dict[str, np.ndarray] = {}
    for fold in range(n_folds):
        held_out = np.sort(order[fold::n_folds])
        train, test = data.select(np.setdiff1d(order, held_out)), data.select(held_out)
        rows = np.flatnonzero(np.isin(data.query_of_row, held_out))
        for name, (_, method_scores) in _methods(train, test, n_jobs, None).items():
            scores.setdefault(name, np.empty(data.n_rows))[rows] = method_scores
    for name, method_scores in scores.items():
        columns = {"qid": data.qid.tolist(), "docid": np.asarray(data.docids).tolist(), "score": method_scores}
        frames[name] = pl.DataFrame(columns)
    for name, run in frames.items():
        evaluated = evaluate_run(qrels, run, list(MEASURES), subtopics=True)
        values[name] = dict(zip(MEASURES, (np.asarray(v) for v in evaluated.values.values()), strict=True))
    return _table(values, "ListMLE", "Diversity of the TREC Web runs of 2012, alone, fused and diversified")


def _pooled(runs: dict[str, Any], qrels: Any, depth: int) -> RankingDataset:
    """The top of all runs as one dataset: features are reciprocal ranks, labels and subtopics are judged."""
    import polars as pl

    parts = []
    for number, run in enumerate(runs.values()):
        ranked = run.with_columns(pl.col("score").rank("ordinal", descending=True).over("qid").alias("rank"))
        top = ranked.filter(pl.col("rank") <= depth)
        parts.append(top.select("qid", "docid", (1.0 / (10.0 + pl.col("rank"))).alias("value"), number=pl.lit(number)))
    table = pl.concat(parts).pivot(on="number", index=["qid", "docid"], values="value").fill_null(0.0)
    table = table.sort("qid", "docid")
    judged = qrels.with_columns(pl.col("qid", "docid", "subtopic").cast(pl.String))
    known = judged.filter(pl.col("label") > 0).select("qid", "subtopic").unique().sort("qid", "subtopic")
    known = known.with_columns(pl.int_range(pl.len()).over("qid").alias("column"))
    width = int(known["column"].max() or 0) + 1  # type: ignore[arg-type]
    qid, docid = table["qid"].to_list(), table["docid"].to_list()
    row = {pair: i for i, pair in enumerate(zip(qid, docid, strict=True))}
    subtopics = np.zeros((table.height, width))
    column = {(q, s): c for q, s, c in known.iter_rows()}
    for q, s, d, label in judged.select("qid", "subtopic", "docid", "label").iter_rows():
        if label > 0 and (q, d) in row:
            subtopics[row[q, d], column[q, s]] = 1.0
    X = table.drop("qid", "docid").to_numpy()
    data = RankingDataset.from_arrays(X, subtopics.any(axis=1), qid, docids=docid, subtopics=subtopics)
    from plackett.data.relation_builders.neighbours import Neighbours

    near = Neighbours(k=None, minimum=0.5, scale="none")(data)
    file = np.array([str(name).rpartition("-")[0] for name in np.asarray(data.docids)])
    same = near.weights * 0.5 + 0.5 * (file[near.row] == file[near.other])
    return data.replace(relations={"similarity": Relation(near.row, near.other, same)})


def _methods(
    train: RankingDataset, test: RankingDataset, n_jobs: int | None, word_columns: slice | None
) -> dict[str, tuple[Any, np.ndarray]]:
    """Name of each method, the parameter it chose, and its scores on the test lists."""
    ranker = ListMLE(n_jobs=n_jobs).fit(train)
    f, g = ranker.predict(train), ranker.predict(test)
    by_method: dict[str, tuple[Any, np.ndarray]] = {"ListMLE": (None, g)}

    def chosen(make: Any, values: Any) -> tuple[Any, Any]:
        best = max(values, key=lambda value: per_query(train, make(value).rerank(train, f), MEASURES[0]).mean())
        return best, make(best)

    for name, make, values in (
        ("MMR", lambda value: MMR(trade_off=value), TRADE_OFFS),
        ("Repulsion", lambda value: Repulsion(strength=value), (0.0, 0.3, 0.6, 0.9)),
    ):
        value, method = chosen(make, values)
        by_method[name] = value, method.rerank(test, g, n_jobs=n_jobs)
    sequential = SequentialDiversity(n_jobs=n_jobs).fit(train)
    by_method["SequentialDiversity"] = float(sequential.novelty_[0]), sequential.predict(test)
    if word_columns is not None:
        counts, new = (
            part.replace(X=np.asarray(part.X)[:, word_columns] * (s > np.median(s))[:, None], feature_names=None)
            for part, s in ((train, f), (test, g))
        )
        learner = SVMDiv(k=10, levels=(1.0,), shares=(0.02, 0.05, 0.1, 0.3, 0.6), n_jobs=n_jobs).fit(counts)
        by_method["SVMDiv on the better half"] = None, learner.rerank(new)
    return by_method


def _compared(
    train: RankingDataset, test: RankingDataset, n_jobs: int | None, *, word_columns: slice | None, question: str
) -> Study:
    values, parameters = {}, {}
    for name, (parameter, scores) in _methods(train, test, n_jobs, word_columns).items():
        values[name] = {measure: per_query(test, scores, measure) for measure in MEASURES}
        parameters[name] = parameter
    return _table(values, "ListMLE", question, parameters)


def _table(
    values: dict[str, dict[str, np.ndarray]], reference: str, question: str, parameters: dict[str, Any] | None = None
) -> Study:
    import polars as pl

    rows = []
    for name, by_measure in values.items():
        row: dict[str, Any] = {"method": name}
        for measure in MEASURES:
            row[measure] = float(by_measure[measure].mean())
        change = by_measure[MEASURES[0]] - values[reference][MEASURES[0]]
        row["change"] = float(change.mean())
        row["p"] = None if name == reference else fisher(by_measure[MEASURES[0]], values[reference][MEASURES[0]]).pvalue
        if parameters is not None:
            row["learned"] = parameters[name]
        rows.append(row)
    notes = [f"change of {MEASURES[0]} from {reference}, which looks at relevance alone; p of a two-sided paired "
             "randomisation test."]  # fmt: skip
    if parameters is not None:
        notes.append("learned: the trade-off or strength chosen on the training queries; for SequentialDiversity the "
                     "weight of the largest similarity.")  # fmt: skip
    return Study(pl.DataFrame(rows, infer_schema_length=None), question, tuple(notes))
