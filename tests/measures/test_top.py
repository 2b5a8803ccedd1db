"""Measures of the top of the list and of positions: RBP, Success, WTA, ARP, MeanNDCG, bpref, infAP."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import plackett as pk
from plackett.data.dataset import RankingDataset
from plackett.measures import AP, ARP, RBP, WTA, Bpref, MeanNDCG, Success, infAP, nDCG
from plackett.measures.ranking import Scored


def ranked(labels, measure):
    return pk.evaluate(labels, -np.arange(len(labels)), [measure]).mean[str(measure)]


def test_rbp():
    assert ranked([1, 0, 1], RBP(p=0.5)) == 0.5 * (1 + 1 / 4)
    assert ranked([1] * 20, RBP) == pytest.approx(1 - 0.8**20)
    assert ranked([1, 0, 1], RBP(p=0.5) @ 2) == 0.5


def test_success_is_hypergeometric():
    labels = [1, 1, 0, 0, 0, 0]
    result = pk.evaluate(labels, [0] * 6, [Success @ 3]).mean["Success@3"]
    assert result == pytest.approx(1 - comb(4, 3) / comb(6, 3))


def test_winner_takes_all():
    assert ranked([2, 0, 2], WTA) == 1
    assert ranked([1, 2], WTA) == 0
    assert np.isnan(ranked([0, 0], WTA(empty="skip")))


def test_average_relevance_position():
    assert ranked([0, 1, 3], ARP) == pytest.approx((2 * 1 + 3 * 3) / 4)
    data = RankingDataset.from_arrays(None, [1, 0, 1, 0])
    retrieved = np.array([True, True, False, False])
    # the second relevant document was not retrieved: it stands at rank 3 or 4
    assert ARP.per_query(Scored(data, [4, 3, 2, 1], retrieved))[0] == pytest.approx((1 + 3.5) / 2)
    assert not ARP.ascending


def test_mean_ndcg_is_the_mean_of_all_cutoffs():
    labels = [0, 2, 1, 0, 1]
    assert ranked(labels, MeanNDCG) == pytest.approx(np.mean([ranked(labels, nDCG @ k) for k in range(1, 6)]))


def test_bpref():
    assert ranked([1, 0, 1, -1, 0, 1], Bpref) == pytest.approx((1 + (1 - 1 / 2) + (1 - 2 / 2)) / 3)
    assert ranked([1, -1, 1], Bpref) == 1  # nothing was judged irrelevant


def test_inferred_ap_equals_ap_with_complete_judgements():
    rng = np.random.default_rng(0)
    labels, scores, qid = rng.integers(0, 2, 300), rng.normal(size=300), np.repeat(np.arange(10), 30)
    result = pk.evaluate(labels, scores, [infAP, AP], qid=qid)
    np.testing.assert_allclose(result.values["infAP"], result.values["AP"], atol=1e-4)
