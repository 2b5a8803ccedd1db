from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.evaluation.evaluate_run import evaluate_run
from plackett.measures.presets import with_preset

QRELS = {"a": {"d1": 1, "d2": 0, "d9": 1}, "b": {"d1": 2}, "c": {"d1": 0}}
RUN = {"a": {"d1": 0.1, "d2": 0.9, "d3": 0.5}, "c": {"d1": 1.0}, "z": {"d1": 1.0}}


def test_missing_queries_count_and_unretrieved_documents_too():
    result = evaluate_run(QRELS, RUN, ["AP", "R", "NumRet"])
    assert result.qids.tolist() == ["a", "b", "c"]
    assert result.values["AP"].tolist() == [pytest.approx(1 / 3 / 2), 0, 0]  # d9 is relevant and not retrieved
    assert result.values["NumRet"].tolist() == [3, 0, 1]
    assert result.mean["R"] == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert result.missing.tolist() == ["b"] and result.unjudged.tolist() == ["z"]


def test_trec_rule_leaves_missing_queries_out():
    assert evaluate_run(QRELS, RUN, ["R"], preset="trec").qids.tolist() == ["a", "c"]
    assert evaluate_run(QRELS, RUN, ["R"], preset="trec", complete=True).qids.tolist() == ["a", "b", "c"]
    assert evaluate_run(QRELS, RUN, ["R"], complete=False).qids.tolist() == ["a", "c"]


def test_against_pytrec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(3)
    qrels, run = {}, {}
    for q in range(40):
        docs = [f"d{i}" for i in rng.permutation(60)[: rng.integers(5, 60)]]
        qrels[f"q{q}"] = {d: int(rng.integers(0, 4)) for d in docs if rng.random() < 0.6} | {"x": 0}
        run[f"q{q}"] = {d: float(rng.integers(0, 12)) for d in docs if rng.random() < 0.8} | {"y": 0.5}
    names = ["ndcg", "ndcg_cut_5", "map", "map_cut_10", "P_5", "recall_10", "recip_rank", "Rprec", "bpref", "infAP",
             "set_F", "success_5", "iprec_at_recall_0.30"]  # fmt: skip
    bases = {name.rstrip("0123456789.").rstrip("_") if name[-1].isdigit() else name for name in names}
    wanted = pytrec_eval.RelevanceEvaluator(qrels, bases).evaluate(run)
    ours_of = {name: with_preset(pk.measures.parse(name), "trec") for name in names}
    ours_of["iprec_at_recall_0.30"] = pk.measures.parse('IPrec(ties="trec")@0.3')  # it rounds as trec_eval 9 did
    result = evaluate_run(qrels, run, list(ours_of.values()))
    for name in names:
        ours = dict(zip(result.qids.tolist(), result.values[str(ours_of[name])], strict=True))
        for qid, values in wanted.items():
            assert ours[qid] == pytest.approx(values[name], abs=1e-9), (name, qid)


def test_unknown_preset_is_refused_before_reading():
    with pytest.raises(pk.MeasureError, match="preset"):
        evaluate_run("no such file", "no such file", ["AP"], preset="terrier")


@pytest.mark.parametrize("preset", [None, "trec"])
def test_ids_that_never_meet_are_a_warning(preset):
    """All figures are 0 then: rarely what the ranker deserves, mostly ids of two kinds."""
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    with pytest.warns(pk.PlackettWarning, match="no query of the run is judged: its first is '1', that of the judgem"):
        evaluate_run(qrels, {"1": {"d1": 2.0}}, "AP", preset=preset)
    with pytest.warns(
        pk.PlackettWarning, match="no document of the run is judged for its query: .* is 'doc1', the fir"
    ):
        evaluate_run(qrels, {"q1": {"doc1": 2.0}}, "AP", preset=preset)
    evaluate_run(qrels, {"q2": {"doc1": 2.0, "d1": 1.0}, "q3": {"d": 1.0}}, "AP", preset=preset)
