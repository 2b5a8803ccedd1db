"""Pair counts and the measures made of them, against double loops and scikit-learn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import plackett as pk
from plackett import RankingDataset
from plackett._base.errors import DataError, MeasureError
from plackett.data.preferences import Preferences
from plackett.measures.auc import AUC
from plackett.measures.contradicting_pairs import ContradictingPairs
from plackett.measures.misranking import Misranking
from plackett.measures.opa import OPA
from plackett.measures.pair_precision import pair_precision
from plackett.measures.pairs import pair_counts
from plackett.measures.ranking import Scored
from plackett.measures.roc_curve import roc_curve

LISTS = st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 4)), min_size=1, max_size=12)


def of(labels, scores, measure, **parameters):
    return pk.evaluate(labels, scores, measure(empty="skip", **parameters)).per_query[:, 1].to_list()[0]


def naive_counts(labels, scores, weight=None, behind=()):
    """Right, wrong, tied in score only, tied in label only; documents `behind` were not retrieved."""
    counts = np.zeros(4)
    weight = np.ones(len(labels)) if weight is None else weight
    scores = np.array(scores, float)
    scores[list(behind)] = -np.inf
    for u, v in itertools.combinations(range(len(labels)), 2):
        if min(labels[u], labels[v]) < 0:
            continue
        if labels[u] == labels[v]:
            counts[3] += weight[u] * weight[v] * (scores[u] != scores[v])
        elif scores[u] == scores[v]:
            counts[2] += weight[u] * weight[v]
        else:
            counts[int((labels[u] > labels[v]) != (scores[u] > scores[v]))] += weight[u] * weight[v]
    return counts


@given(st.lists(LISTS, min_size=1, max_size=4), st.randoms())
@settings(max_examples=60, deadline=None)
def test_counts_equal_double_loop(lists, random):
    labels = np.array([label for rows in lists for label, _ in rows], float)
    scores = np.array([score for rows in lists for _, score in rows], float)
    qid = np.repeat(np.arange(len(lists)), [len(rows) for rows in lists])
    weight = np.array([random.choice([0.5, 1.0, 2.0, 3.0]) for _ in labels])
    retrieved = np.array([random.random() < 0.8 for _ in labels])
    data = RankingDataset.from_arrays(None, labels, qid)
    ranking = Scored(data, scores, retrieved).ranking("expected")
    counted, weighted = pair_counts(ranking), pair_counts(ranking, weight)
    for q in range(len(lists)):
        rows = np.flatnonzero(qid == q)
        behind = np.flatnonzero(~retrieved[rows])
        assert counted[q].tolist() == naive_counts(labels[rows], scores[rows], None, behind).tolist()
        np.testing.assert_allclose(weighted[q], naive_counts(labels[rows], scores[rows], weight[rows], behind))


def test_counts_of_a_long_list_with_real_labels():
    rng = np.random.default_rng(0)
    labels, scores = rng.random(600), rng.integers(0, 200, 600).astype(float)
    data = RankingDataset.from_arrays(None, labels)
    counts = pair_counts(Scored(data, scores).ranking("expected"))[0]
    assert counts.tolist() == naive_counts(labels, scores).tolist()


@given(LISTS)
@settings(max_examples=60, deadline=None)
def test_share_and_number_of_pairs(rows):
    labels, scores = map(list, zip(*rows, strict=True))
    right, wrong, tied, _ = naive_counts(labels, scores)
    n = right + wrong + tied
    for ties, worth in {"expected": 0.5, "optimistic": 1.0, "pessimistic": 0.0}.items():
        share, number = of(labels, scores, OPA, ties=ties), of(labels, scores, ContradictingPairs, ties=ties)
        if n == 0:
            assert share is None and number is None
        else:
            assert share == pytest.approx((right + worth * tied) / n)
            assert number == pytest.approx(wrong + (1 - worth) * tied)


def test_auc_of_the_textbook():
    # positives .9 .5 .5, negatives .5 .1: of six pairs four are right and two tied
    labels, scores = [1, 1, 1, 0, 0], [0.9, 0.5, 0.5, 0.5, 0.1]
    for ties, value in {"pessimistic": 4 / 6, "optimistic": 1.0, "expected": 5 / 6}.items():
        assert of(labels, scores, AUC, ties=ties) == pytest.approx(value)
        assert of(labels, scores, Misranking, ties=ties) == pytest.approx(1 - value)


@pytest.mark.filterwarnings("ignore:.*the same value for every order")
@given(LISTS, st.sampled_from([1.0, 2.0]))
@settings(max_examples=60, deadline=None)
def test_auc_is_scikit_learns_and_the_rank_sum(rows, rel):
    labels, scores = map(np.array, zip(*rows, strict=True))
    judged = labels >= 0
    relevant = labels[judged] >= rel
    value = of(labels, scores, AUC, rel=rel)
    if relevant.all() or not relevant.any():
        assert value is None
        return
    assert value == pytest.approx(roc_auc_score(relevant, scores[judged]))
    assert of(labels, np.exp(scores / 3.0), AUC, rel=rel) == pytest.approx(value)  # monotone transforms change nothing
    strict = np.mean([p < n for p in scores[judged][relevant] for n in scores[judged][~relevant]])
    assert of(labels, scores, Misranking, rel=rel, ties="optimistic") == pytest.approx(strict)


def test_auc_when_documents_are_missing_from_the_run():
    data = RankingDataset.from_arrays(None, [1, 0, 1, 0])
    ranking = Scored(data, [0.0, 1.0, 5.0, 5.0], np.array([True, True, False, False])).ranking("expected")
    # order: 0 (row 1), 1 (row 0), then {1, 0} tied behind. Pairs: wrong, right (0 behind), wrong, half
    assert AUC.values(ranking)[0] == pytest.approx(1.5 / 4)


@given(LISTS)
@settings(max_examples=40, deadline=None)
def test_roc_curve(rows):
    from sklearn.metrics import roc_curve as reference

    labels, scores = map(np.array, zip(*rows, strict=True))
    judged = labels >= 0
    relevant = labels[judged] >= 1
    data = RankingDataset.from_arrays(None, labels, np.arange(labels.size) % 2)
    scored = data.from_input_order(scores)
    if relevant.all() or not relevant.any():
        with pytest.raises(MeasureError, match="relevant and other"):
            roc_curve(data, scored)
        return
    curve = roc_curve(data, scored)
    fpr, tpr, thresholds = reference(relevant, scores[judged], drop_intermediate=False)
    np.testing.assert_allclose(curve.fpr, fpr)
    np.testing.assert_allclose(curve.tpr, tpr)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    assert curve.area == pytest.approx(roc_auc_score(relevant, scores[judged]))  # all queries pooled, ties one half


def naive_precision(data, scores, percent):
    pairs = Preferences.from_labels(data)
    difference = scores[pairs.winner] - scores[pairs.loser]
    matched = np.where(difference == 0, 0.5, difference > 0)
    size = percent / 100 * len(pairs)
    total, taken = 0.0, 0.0
    for d in np.unique(np.abs(difference))[::-1]:
        group = matched[np.abs(difference) == d]
        part = min(group.size, size - taken)
        total, taken = total + part * group.mean(), taken + part
        if taken >= size:
            break
    return total / size


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_pair_precision_equals_sorting_all_pairs(seed, tied):
    rng = np.random.default_rng(seed)
    n = 60
    data = RankingDataset.from_arrays(None, rng.integers(-1, 4, n), rng.integers(0, 4, n))
    scores = rng.integers(0, 6, n).astype(float) if tied else rng.normal(size=n)
    percent = [0.5, 20, 33.3, 60, 99.9, 100]
    expected = [naive_precision(data, scores, k) for k in percent]
    np.testing.assert_allclose(pair_precision(data, scores, percent), expected, atol=1e-12)
    right, wrong, tied_pairs, _ = pair_counts(Scored(data, scores).ranking("expected")).sum(axis=0)
    assert pair_precision(data, scores, 100)[0] == (right + tied_pairs / 2) / (right + wrong + tied_pairs)


def test_pair_precision_of_a_sensible_scorer_falls():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 5, 2000)
    data = RankingDataset.from_arrays(None, labels, rng.integers(0, 40, 2000))
    scores = data.labels + rng.normal(0, 1.5, 2000)
    values = pair_precision(data, scores)
    assert (np.diff(values) < 0).all()


def test_pair_precision_refuses():
    data = RankingDataset.from_arrays(None, [1, 1])
    with pytest.raises(MeasureError, match="no pair"):
        pair_precision(data, [1, 2])
    with pytest.raises(MeasureError, match="percent=0"):
        pair_precision(data, [1, 2], 0)
    with pytest.raises(DataError, match="finite"):
        pair_precision(data, [1, np.inf])


def test_preferences_stand_in_for_labels():
    pairs = Preferences.from_pairs([(0, 1), (1, 2), (2, 0), (3, 4)], weight=[1.0, 2.0, 4.0, 1.0])
    data = RankingDataset.from_arrays(None, None, qid=[1, 1, 1, 2, 2], preferences=pairs)
    scores = [3.0, 2.0, 1.0, 5.0, 5.0]
    assert pk.evaluate(data, scores, OPA).per_query["OPA"].to_list() == pytest.approx([3 / 7, 1 / 2])
    assert pk.evaluate(data, scores, ContradictingPairs).per_query[:, 1].to_list() == [4.0, 0.5]
    for ties, value in {"optimistic": 1.0, "pessimistic": 0.0, "stable": 1.0}.items():
        assert OPA(ties=ties).per_query(Scored(data, np.array(scores)))[1] == value
    with pytest.raises(DataError, match="no labels"):
        pk.evaluate(data.replace(preferences=None), scores, OPA)


def test_dcg_with_free_gains_per_grade():
    from plackett.measures.dcg import DCG

    gains = {0: 0.0, 1: 1.0, 2: 3.0, 3: 7.0, 4: 10.0}  # need not be 2^l - 1
    labels, scores = [3, 0, 4, 1, 2, 4], [9, 8, 7, 6, 5, 4]
    expected = sum(gains[label] / np.log2(i + 2) for i, label in enumerate(labels[:5]))
    measure = DCG(gain=gains) @ 5
    assert pk.evaluate(labels, scores, measure).mean[str(measure)] == pytest.approx(expected)
