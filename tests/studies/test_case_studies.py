"""Case studies: the queries are the extreme ones, and the explanation adds up."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett import DataError
from studies.case_studies import case_studies

#: Two linear rankers; the second has one round, and so one feature.
RANKERS = {"ListNet": "ListNet(alpha=0.001)", "one": pk.AdaRank(n_estimators=1)}


def _split(seed=0, docids=False):
    """The first feature decides; in the last test query the second one does."""
    rng = np.random.default_rng(seed)
    parts = []
    for part in range(3):
        X = rng.standard_normal((20, 12, 3))
        y = np.argsort(np.argsort(X[..., 0] + 0.8 * X[..., 2], axis=1), axis=1) >= 9
        if part == 2:
            y[-1] = np.argsort(np.argsort(X[-1, :, 1])) >= 9
        qid = np.repeat(np.arange(20) + 20 * part, 12)
        ids = [f"d{i}" for i in range(qid.size)] if docids else None
        parts.append(pk.RankingDataset.from_arrays(X.reshape(-1, 3), y.ravel().astype(float), qid=qid, docids=ids))
    return tuple(parts)


def test_cases_are_the_largest_differences_and_the_pair_adds_up():
    split = _split(docids=True)
    study = case_studies(split, rankers=RANKERS, n_trials=1, n_jobs=1, random_state=0)
    result = pk.experiment(split, RANKERS, ["AP"], n_trials=1, n_jobs=1)
    values = {r: result.cell(r, 1).values["AP"] for r in RANKERS}
    difference = values["ListNet"] - values["one"]
    assert study.frame["difference"].to_list() == pytest.approx(
        [d for d in (difference.max(), difference.min()) if d != 0]
    )
    assert study.frame["query"][0] == str(split[2].qids[difference.argmax()])
    lists, pair = study.parts[:2]
    query = split[2].select([int(difference.argmax())])
    for ranker in RANKERS:
        scores = result.cell(ranker, 1).model().predict(query)
        order = np.argsort(-scores, kind="stable")[:10]
        assert lists.frame[ranker].to_list() == query.docids[order].tolist()
        assert lists.frame[f"label ({ranker})"].to_list() == [f"{query.y[i]:g}" for i in order]
        # what features add, in standard deviations of the scores, adds up to the difference of the scores
        good, bad = (query.docids.tolist().index(name) for name in pair.frame.columns[1:3])
        gap = (scores[good] - scores[bad]) / scores.std()
        assert pair.frame[ranker][-1] == pytest.approx(gap, rel=1e-4)
        assert pair.frame[ranker][:-1].sum() == pytest.approx(gap, rel=1e-4)
        assert gap > 0 if ranker == "ListNet" else gap < 0  # the winner has the relevant one above
    assert query.y[good] > query.y[bad] and pair.frame[pair.frame.columns[1]][0] is not None


def test_feature_alone_is_what_evaluate_says():
    split = _split()
    study = case_studies(split, rankers=RANKERS, n_trials=1, n_jobs=1)
    pair, query = study.parts[1].frame, int(study.frame["query"][0])
    for row in pair.filter(pl.col("alone, mean").is_not_null()).iter_rows(named=True):
        column = split[0].X[:, int(row["feature"]) - 1]
        up, down = (pk.evaluate(split[0], s * column, ["AP"]).mean["AP"] for s in (1, -1))
        here = pk.evaluate(split[2], (1 if up >= down else -1) * split[2].X[:, int(row["feature"]) - 1], ["AP"])
        assert row["alone, mean"] == pytest.approx(here.mean["AP"])
        assert row["alone, here"] == pytest.approx(here.values["AP"][split[2].qids.tolist().index(query)])


def test_a_feature_that_misleads_is_named():
    """A ranker of the first feature alone fails on the query whose labels follow the second."""
    only = [pk.RankingDataset.from_arrays(p.X, p.y, qid=np.repeat(p.qids, p.group)) for p in _split(3)]
    first = "LinearRegression(alpha=0.0001)"
    spread = pk.AdaRank(n_estimators=1, descending=False)  # one feature, and not the best
    study = case_studies(tuple(only), rankers={"first": first, "spread": spread}, n_trials=1, n_jobs=1, n_cases=2)
    assert any("misleads" in note for part in study.parts for note in part.notes)
    kinds = study.parts[-1].frame
    assert kinds["number"].sum() == 2 * 20 and set(kinds.columns) >= {"first", "spread", "difference"}


def test_all_formats_have_all_tables():
    study = case_studies(_split(), rankers=RANKERS, n_trials=1, n_jobs=1)
    for form in ("markdown", "latex", "html", "terminal"):
        assert "Are the cases typical" in getattr(study, f"to_{form}")()
    assert len(json.loads(study.to_json())["parts"]) == len(study.parts)


def test_no_difference_and_misuse():
    same = case_studies(_split(), rankers={"a": "ListNet", "b": "ListNet"}, n_trials=1, n_jobs=1)
    assert same.frame.height == 0 and len(same.parts) == 1
    with pytest.raises(DataError, match="of two rankers, got 3"):
        case_studies(rankers=["ListNet", "RankSVM", "MART"])
