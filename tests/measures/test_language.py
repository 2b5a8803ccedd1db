from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import plackett as pk
from plackett.measures import AP, ERR, RR, F, IPrec, NumRelRet, P, R, Rprec, Success, nDCG, parse
from plackett.measures.language import parse_all


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        # ir-measures
        ("nDCG@10", nDCG @ 10), ("AP(rel=2)@100", AP(rel=2) @ 100), ("IPrec@0.1", IPrec @ 0.1), ("SetF", F),
        # trec_eval
        ("ndcg_cut_10", nDCG @ 10), ("map", AP), ("map_cut_5", AP @ 5), ("P_5", P @ 5), ("recall_100", R @ 100),
        ("recip_rank", RR), ("Rprec", Rprec), ("success_1", Success @ 1), ("iprec_at_recall_0.10", IPrec @ 0.1),
        ("set_F", F), ("num_rel_ret", NumRelRet), ("11pt_avg", parse("IPrec11")),
        ("relative_P_10", P(relative=True) @ 10), ("Rprec_mult_0.20", Rprec(mult=0.2)),
        ("set_relative_P", P(relative=True)), ("11pt_avg_.25,.5,.75", parse("IPrec11(levels=(0.25, 0.5, 0.75))")),
        ("utility_2,-1,0,0", parse("Utility(a=2, b=-1)")),
        # ndeval
        ("alpha-nDCG@5", parse("alpha_nDCG@5")), ("alpha-DCG@5", parse('alpha_nDCG(ideal="full")@5')),
        ("nERR-IA@20", parse('alpha_nDCG(discount="reciprocal")@20')), ("nNRBP", parse("NRBP(normalised=True)")),
        ("strec@5", parse("StRecall@5")), ("MAP-IA", parse("AP_IA")), ("P-IA@5", parse("P_IA@5")),
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
        ("AP(rel=" + "-" * 3000 + "1)", "cannot read the parameters"),
        ("AP(" + "(" * 3000, "cannot read the parameters|not a measure"),
        ("AP(rel=" + "[" * 150 + "]" * 150 + ")", "rel="),
        ("AP(**{'rel': 2})", "name=value"),
        ("AP(rel=2)(rel=3)", "name=value"),
        ("AP(rel=1, rel=2)", "name=value"),
        ("AP(rel={[]: 1})", "name=value"),
        ("nDCG(ties=[])", "ties"),
        ("P(relative=1)", "True or False"),
        ("nDCG@" + "9" * 5000, "cut-off"),
        ("utility_1,2,3,4", "must be 0"),
        ("Rprec_mult_1,2", "cannot read"),
    ],
)
def test_refusals(text, message):
    with pytest.raises(pk.MeasureError, match=message):
        parse(text)


def test_measures_of_equal_values_are_equal_and_keep_their_names():
    assert AP(rel=1) == AP and hash(AP(rel=1)) == hash(AP)
    assert str(AP(rel=1)) == "AP(rel=1)" and str(AP) == "AP" and parse("AP(rel=1)").given == {"rel"}
    assert (AP(rel=1) @ 5).given == {"rel", "k"} and AP(rel=1)(ties="stable").given == {"rel", "ties"}
    assert [str(m) for m in parse_all(["AP", "AP(rel=1)", AP, "map"])] == ["AP", "AP(rel=1)"]


VALUES = [
    "1", "0", "-1", "2.5", "1e999", "0.5", "None", "True", "'stable'", "'x'", "(1, 0)", "[]", "{0: 1}", "{}", "1j",
    "b''", "...", "'skip'", "-0.0", "(0.5,)", "((1, 2),)", "((1, 2), 3)", "'log2'", "10**9", "9" * 20, "'a' 'b'",
]  # fmt: skip


def texts(seed, n):
    """Measure texts with pieces exchanged, doubled, cut out, and characters put in."""
    rng = np.random.default_rng(seed)
    measures = pk.measures()
    pieces = [str(m) for m in measures.values()] + [
        'nDCG(gain="linear", ties="stable")@10', "AP(rel=2)@100", "alpha-nDCG@5", "utility_2,-1,0,0", "P_5", "(", ")",
        "IPrec@0.1", "RBP(p=0.8)", "nDCG(gain={0: 0, 1: 1})", "IPrec11(levels=(0.1, 0.2))", "@", "=", ",", '"', "'",
        "-", "rel=", "k=", "ties=", "empty=", "gain=", "discount=", "levels=", "alpha=", "p=", "\0", "\n", "\\", "#",
        "\ud800", "é", "٣", "10" * 9, *VALUES,
    ]  # fmt: skip
    for _ in range(n):
        text = "".join(pieces[i] for i in rng.integers(len(pieces), size=rng.integers(1, 6)))
        if rng.random() < 0.3:
            name, measure = list(measures.items())[rng.integers(len(measures))]
            fields = [field.name for field in dataclasses.fields(measure)]
            yield f"{name}({fields[rng.integers(len(fields))]}={VALUES[rng.integers(len(VALUES))]})"
            continue
        if rng.random() < 0.5:
            head = pieces[rng.integers(60)].split("(")[0].split("@")[0]
            text = f"{head}({text})" if rng.random() < 0.7 else f"{head}({text})@{rng.integers(-1, 20)}"
        for _ in range(rng.integers(0, 3)):
            a, b = sorted(rng.integers(len(text) + 1, size=2))
            text = text[:a] + text[b:] if rng.random() < 0.5 else text[:b] + text[a:]
        yield text


def check_fuzzed(seed, n):
    understood = 0
    for text in texts(seed, n):
        try:
            measure = parse(text)
        except pk.MeasureError:
            continue
        understood += 1
        assert parse(str(measure)) == measure and hash(measure) == hash(parse(str(measure))), text
    return understood


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_fuzzed_texts_are_measures_or_clear_errors():
    assert check_fuzzed(0, 2000) > 100


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_many_fuzzed_texts():
    assert check_fuzzed(1, 100_000) > 5_000


HUGE = (10**30, 2**63, 2**40, 1e300, float("inf"), float("nan"), -1, True, None, (), "x")


@pytest.mark.parametrize("name", sorted(pk.measures()))
def test_odd_parameters_end_in_a_value_or_an_error_of_ours(name):
    """Numbers of any size, in any parameter: no overflow in a kernel, no error of Numba's."""
    measure = pk.measures()[name]
    for field in dataclasses.fields(measure):
        for value in HUGE:
            try:
                changed = measure(**{field.name: value})
                values = pk.evaluate([1, 0, 2, 1], [4, 3, 2, 1], changed, qid=[1, 1, 2, 2]).values[str(changed)]
            except (pk.MeasureError, pk.DataError):
                continue
            assert values.shape == (2,), (field.name, value)
