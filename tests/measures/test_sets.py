"""Precision, recall and what is made of the two, against counting and the peers."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.data.dataset import RankingDataset
from plackett.measures import IPrec, IPrec11, Judged, P, R, Rprec, SetAP, Utility
from plackett.measures.ranking import Scored


def ranked(labels, measure):
    return pk.evaluate(labels, -np.arange(len(labels)), [measure]).mean[str(measure)]


def test_precision():
    assert [ranked([1, 0, 1], P @ k) for k in (1, 2, 3, 4)] == pytest.approx([1, 1 / 2, 2 / 3, 2 / 4])
    assert ranked([1, 0, 1], P(short="list") @ 4) == pytest.approx(2 / 3)
    assert ranked([1, 0, 1], P(short="zero") @ 4) == 0
    assert ranked([1, 0, 1], P(relative=True) @ 1) == 1


def test_recall_and_precision_at_recall():
    assert [ranked([1, 0, 1], R @ k) for k in (1, 2, 3)] == pytest.approx([1 / 2, 1 / 2, 1])
    assert ranked([0, 1, 1, 0, 1], IPrec @ 0.3) == pytest.approx(2 / 3)  # the best of 1/2, 2/3, 3/5
    assert ranked([0, 1, 1, 0, 1], IPrec @ 1.0) == pytest.approx(3 / 5)
    assert ranked([1, 0, 1], IPrec11) == pytest.approx((6 * 1 + 5 * 2 / 3) / 11)


def test_documents_that_were_not_retrieved():
    data = RankingDataset.from_arrays(None, [1, 0, 1, -1])
    scored = Scored(data, [4, 3, 2, 1], np.array([True, True, False, True]))
    result = {str(m): m.per_query(scored)[0] for m in (P, R, Rprec, SetAP, Judged, Utility(c=-1))}
    assert result == pytest.approx(
        {"P": 1 / 3, "R": 1 / 2, "Rprec": 1 / 2, "SetAP": 1 / 6, "Judged": 2 / 3, "Utility(c=-1)": 1 - 2 - 1}
    )


def test_f_is_the_harmonic_mean():
    rng = np.random.default_rng(0)
    labels, scores, qid = rng.integers(0, 2, 200), rng.normal(size=200), np.repeat(np.arange(20), 10)
    result = pk.evaluate(labels, scores, ["P@4", "R@4", "F@4", "F(beta=2)@4"], qid=qid).values
    p, r = result["P@4"], result["R@4"]
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(result["F@4"], np.nan_to_num(2 * p * r / (p + r)))
        np.testing.assert_allclose(result["F(beta=2)@4"], np.nan_to_num(5 * p * r / (4 * p + r)))


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(5)
    qrels = {f"q{q:02d}": {f"d{i}": int(v) for i, v in enumerate(rng.integers(0, 3, 20))} for q in range(15)}
    run = {q: {d: float(s) for d, s in zip(docs, rng.permutation(20), strict=True)} for q, docs in qrels.items()}
    return qrels, run


@pytest.mark.full  # ranx compiles for ten seconds
def test_against_ranx(runs):
    ranx = pytest.importorskip("ranx")
    from plackett.evaluation.evaluate_run import evaluate_run

    qrels, run = runs
    ours = ["P@5", "R@5", "F@5", "AP", "RR", "Rprec", "Success@1", "nDCG@5", "NumRelRet@5"]
    theirs = ["precision@5", "recall@5", "f1@5", "map", "mrr", "r-precision", "hit_rate@1", "ndcg_burges@5", "hits@5"]
    wanted = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), theirs, return_mean=False)
    result = evaluate_run(qrels, run, ours)
    for name, peer in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(result.values[name], wanted[peer], err_msg=name)


def test_judged_against_ir_measures(runs):
    ir_measures = pytest.importorskip("ir_measures")
    from plackett.evaluation.evaluate_run import evaluate_run

    qrels, run = runs
    qrels = {q: {d: v for d, v in docs.items() if int(d[1:]) % 3} for q, docs in qrels.items()}
    wanted = ir_measures.calc_aggregate([ir_measures.Judged @ 10], qrels, run)
    assert evaluate_run(qrels, run, ["Judged@10"]).mean["Judged@10"] == pytest.approx(*wanted.values())


def test_counts_add_up():
    result = pk.evaluate([1, 0, 2, 0], [4, 3, 2, 1], ["NumQ", "NumRet", "NumRel", "NumRelRet@1"], qid=[1, 1, 2, 2])
    assert result.mean == {"NumQ": 2, "NumRet": 4, "NumRel": 2, "NumRelRet@1": 2}


def test_refusals():
    for text in ("F(beta=0)", "Rprec(mult=-1)", "IPrec@2", "IPrec(reach='down')", "IPrec11(levels=(2,))", "RBP(p=1)",
                 "P(short='x')", "Utility(a='x')", "ERR(max_label=0)"):  # fmt: skip
        with pytest.raises(pk.MeasureError):
            pk.measures.parse(text)
