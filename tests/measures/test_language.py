from __future__ import annotations

import pytest

import plackett as pk
from plackett.measures import AP, ERR, RR, F, IPrec, NumRelRet, P, R, Rprec, Success, nDCG, parse


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        # ir-measures
        ("nDCG@10", nDCG @ 10), ("AP(rel=2)@100", AP(rel=2) @ 100), ("IPrec@0.1", IPrec @ 0.1), ("SetF", F),
        # trec_eval
        ("ndcg_cut_10", nDCG @ 10), ("map", AP), ("map_cut_5", AP @ 5), ("P_5", P @ 5), ("recall_100", R @ 100),
        ("recip_rank", RR), ("Rprec", Rprec), ("success_1", Success @ 1), ("iprec_at_recall_0.10", IPrec @ 0.1),
        ("set_F", F), ("num_rel_ret", NumRelRet), ("11pt_avg", parse("IPrec11")),
        # ranx
        ("hit_rate@3", Success @ 3), ("r-precision", Rprec), ("mrr", RR), ("precision@5", P @ 5), ("f1@5", F @ 5),
        # LightGBM, XGBoost
        ("ndcg@3", nDCG @ 3), ("map@3", AP @ 3), ("pre@3", P @ 3),
        # RankLib
        ("NDCG@10", nDCG @ 10), ("ERR@10", ERR @ 10), ("MAP", AP),
    ],
)  # fmt: skip
def test_spellings(text, measure):
    assert parse(text) == measure


def test_canonical_names():
    assert str(IPrec @ 0.1) == "IPrec@0.1"
    assert str(AP(rel=2, ties="stable") @ 5) == 'AP(ties="stable", rel=2)@5'
    assert str(IPrec @ 1) == "IPrec@1" and parse("IPrec@1") == IPrec @ 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", "nDCG"),
        ("nDCG@ten", "cut-off"),
        ("nDCG@0.5", "whole number"),
        ("Rprec@5", "no cut-off"),
        ("AP(level=2)", "no parameter 'level'"),
        ("AP(rel)", "name=value"),
        ("nDCG@5@6", "not a measure"),
    ],
)
def test_refusals(text, message):
    with pytest.raises(pk.MeasureError, match=message):
        parse(text)
