"""Measures of diversity: the definitions as loops, every order of ties, worked examples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plackett as pk
from plackett import RankingDataset
from plackett._base.errors import MeasureError
from plackett.measures.alpha_ndcg import alpha_nDCG
from plackett.measures.ap import AP
from plackett.measures.err import ERR
from plackett.measures.err_ia import ERR_IA
from plackett.measures.intent_aware import AP_IA, P_IA, RR_IA, nDCG_IA
from plackett.measures.ndcg import nDCG
from plackett.measures.nrbp import NRBP
from plackett.measures.precision import P
from plackett.measures.ranking import Scored
from plackett.measures.rr import RR
from plackett.measures.stprecision import StPrecision
from plackett.measures.strecall import StRecall

ALL = [alpha_nDCG, alpha_nDCG(alpha=0.2) @ 2, NRBP, StRecall @ 2, StRecall, AP_IA, ERR_IA, nDCG_IA @ 3, P_IA @ 2, RR_IA]
J = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]])


def value(measure, subtopics, scores, labels=None, **more):
    data = RankingDataset.from_arrays(None, labels, qid=np.zeros(len(scores), int), subtopics=subtopics, **more)
    return measure(empty="skip").per_query(Scored(data, scores))[0]


def orders(scores):
    blocks = [np.flatnonzero(scores == s) for s in np.unique(scores)[::-1]]
    for choice in itertools.product(*(itertools.permutations(block) for block in blocks)):
        yield np.array([i for block in choice for i in block])


def naive_alpha_dcg(order, relevant, alpha, discount):
    seen, total = np.zeros(relevant.shape[1]), 0.0
    for rank, d in enumerate(order[: len(discount)]):
        total += discount[rank] * (relevant[d] * (1 - alpha) ** seen).sum()
        seen += relevant[d]
    return total


# ------------------------------------------------------------------------------------------------------ worked numbers


def test_alpha_ndcg_worked_example():
    discount = 1 / np.log2(np.arange(2, 6))
    gains = np.array([2, 0.5, 1, 1]) @ discount
    assert gains == pytest.approx(3.246141, abs=1e-6)
    best = max(naive_alpha_dcg(order, J, 0.5, discount) for order in itertools.permutations(range(4)))
    assert best == pytest.approx(3.411733, abs=1e-6)
    assert value(alpha_nDCG, J, [4, 3, 2, 1]) == pytest.approx(gains / best)
    assert value(alpha_nDCG, J, [4, 3, 2, 1]) == pytest.approx(0.951464, abs=1e-6)


def test_intent_aware_worked_example():
    subtopics, weight = np.array([[1, 0], [0, 1], [1, 0]]), [[0.7, 0.3]]
    scores = [3, 2, 1]
    assert value(nDCG_IA, subtopics, scores, subtopic_weight=weight) == pytest.approx(0.833083, abs=1e-6)
    assert value(AP_IA, subtopics, scores, subtopic_weight=weight) == pytest.approx(0.7 * 5 / 6 + 0.3 / 2)
    best = max(value(nDCG_IA, subtopics, s, subtopic_weight=weight) for s in itertools.permutations(scores))
    # 1 cannot be reached; the relevant ones of the first subtopic at ranks 1 and 2 and the other at rank 3
    assert best == pytest.approx(0.7 + 0.3 / np.log2(4))


# --------------------------------------------------------------------------------------------------------- definitions


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_ties_are_the_mean_over_all_orders(seed):
    rng = np.random.default_rng(seed)
    n, topics = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    subtopics, scores = rng.integers(0, 2, (n, topics)), rng.integers(0, 3, n)
    weight = rng.dirichlet(np.ones(topics))[None]
    for measure in ALL:
        untied = []
        for order in orders(scores):
            places = np.empty(n)
            places[order] = -np.arange(n)
            untied.append(value(measure, subtopics, places, subtopic_weight=weight))
        got = value(measure, subtopics, scores, subtopic_weight=weight)
        np.testing.assert_allclose(got, np.mean(untied), atol=1e-12, err_msg=str(measure))


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.sampled_from([None, 1, 3]))
@settings(max_examples=60, deadline=None)
def test_alpha_ndcg_and_nrbp_equal_the_definition(seed, alpha, k):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    relevant = rng.integers(0, 2, (n, 3))
    scores = rng.permutation(n)
    discount = 1 / np.log2(np.arange(2, (k or n) + 2))
    gains = naive_alpha_dcg(np.argsort(-scores), relevant, alpha, discount)
    best = max(naive_alpha_dcg(order, relevant, alpha, discount) for order in itertools.permutations(range(n)))
    got = value(alpha_nDCG(alpha=alpha, k=k), relevant, scores)
    known = relevant.any(axis=0).sum()
    if known == 0:
        assert np.isnan(got) and np.isnan(value(NRBP, relevant, scores))
        return
    assert gains / best - 1e-12 <= got <= gains / best / (1 - 1 / np.e) + 1e-12  # the greedy order is near the best
    expected = naive_alpha_dcg(np.argsort(-scores), relevant, 0.4, 0.7 ** np.arange(n)) * (1 - 0.6 * 0.7) / known
    assert value(NRBP(alpha=0.4, beta=0.7), relevant, scores) == pytest.approx(expected)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=9), st.sampled_from([None, 2]))
@settings(max_examples=30, deadline=None)
def test_one_subtopic_without_alpha_is_binary_ndcg(labels, k):
    scores = np.arange(len(labels)) % 4
    expected = nDCG(gain="binary", k=k, empty="skip")
    expected = expected.per_query(Scored(RankingDataset.from_arrays(None, labels), scores))[0]
    np.testing.assert_allclose(value(alpha_nDCG(alpha=0, k=k), np.array(labels)[:, None], scores), expected)


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_subtopic_recall_and_precision_equal_the_definition(seed):
    rng = np.random.default_rng(seed)
    n, topics = int(rng.integers(1, 7)), 4
    relevant = rng.random((n, topics)) < 0.4
    scores = rng.permutation(n)
    order = np.argsort(-scores)
    known = relevant.any(axis=0).sum()
    covered = [relevant[order[:k]].any(axis=0).sum() for k in range(1, n + 1)]
    got = [value(StRecall @ k, relevant, scores) for k in range(1, n + 1)]
    if known == 0:
        assert np.isnan(got).all() and np.isnan(value(StPrecision, relevant, scores))
        return
    np.testing.assert_allclose(got, np.array(covered) / known)
    assert (np.diff(got) >= 0).all()
    for recall in (0.5, 1.0):
        needed = 1 + int(np.argmax(np.array(covered) >= recall * known))
        smallest = next(
            size
            for size in range(1, n + 1)
            if any(
                relevant[list(rows)].any(axis=0).sum() >= recall * known
                for rows in itertools.combinations(range(n), size)
            )
        )
        precision = value(StPrecision(recall=recall), relevant, scores)
        # with four subtopics the greedy cover takes at most one document more than the smallest
        assert precision in [pytest.approx(size / needed) for size in (smallest, smallest + 1)]


@pytest.mark.parametrize(
    ("aware", "plain"),
    [(AP_IA @ 3, AP @ 3), (P_IA @ 2, P @ 2), (RR_IA, RR), (ERR_IA @ 2, ERR(max_label=2) @ 2), (nDCG_IA, nDCG)],
)
def test_intent_aware_is_the_mean_of_the_plain_measure(aware, plain):
    rng = np.random.default_rng(2)
    n = 200
    qid = rng.integers(0, 12, n)
    subtopics = rng.integers(0, 3, (n, 3)).astype(float)
    subtopics[qid % 3 == 0, 2] = np.nan  # these queries have two subtopics
    subtopics[qid == 4, 1] = 0  # nothing relevant to this one
    subtopics[qid == 5] = 0
    scores = rng.integers(0, 6, n).astype(float)
    data = RankingDataset.from_arrays(None, rng.integers(0, 2, n), qid, subtopics=subtopics)
    scores = data.from_input_order(scores)
    single = [
        plain(empty="skip").per_query(Scored(data.replace(y=np.nan_to_num(column)), scores))
        for column in data.subtopics.T.astype(float)
    ]
    has = ~np.isnan(data.subtopics[data.offsets[:-1]])
    kept, shared = aware(empty="skip"), aware(empty="skip", missing="renormalise")
    got, got_shared = kept.per_query(Scored(data, scores)), shared.per_query(Scored(data, scores))
    for q in range(data.n_queries):
        values = np.array([v[q] for v in single])[has[q]]
        if np.isnan(values).all():
            assert np.isnan(got[q]) and np.isnan(got_shared[q]) and data.qids[q] == 5
        else:
            assert got[q] == pytest.approx(np.nansum(values) / has[q].sum())
            assert got_shared[q] == pytest.approx(np.nanmean(values))
    one = data.replace(subtopics=np.ascontiguousarray(data.subtopics[:, :1]))
    np.testing.assert_allclose(kept.per_query(Scored(one, scores)), single[0])


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_order_of_rows_and_queries_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    n = 24
    qid, subtopics, scores = rng.integers(0, 3, n), rng.integers(0, 2, (n, 3)), rng.permutation(n)
    shuffle = rng.permutation(n)
    for measure in [*ALL, StPrecision, StPrecision(recall=0.5)]:
        results = []
        for rows in (np.arange(n), shuffle):
            data = RankingDataset.from_arrays(None, np.ones(n), qid[rows], subtopics=subtopics[rows])
            values = measure.per_query(Scored(data, data.from_input_order(scores[rows])))
            results.append(values[np.argsort(data.qids)])
        np.testing.assert_allclose(*results, atol=1e-12, err_msg=str(measure))


# --------------------------------------------------------------------------------------------------------------- rules


def test_documents_that_were_not_retrieved():
    data = RankingDataset.from_arrays(None, [1, 1], subtopics=[[1, 0], [0, 1]])
    scored = Scored(data, [2, 1], np.array([True, False]))
    assert StRecall.per_query(scored)[0] == 0.5
    assert StPrecision.per_query(scored)[0] == 0.0
    assert alpha_nDCG.per_query(scored)[0] == pytest.approx(1 / (1 + 1 / np.log2(3)))


@pytest.mark.parametrize("measure", [*ALL, StPrecision])
def test_a_dataset_without_subtopics_is_refused(measure):
    with pytest.raises(MeasureError, match="no subtopics"):
        pk.evaluate([1, 0], [2, 1], measure)
    with pytest.raises(MeasureError, match="a column per subtopic"):
        value(measure, [1, 0], [2, 1])


@pytest.mark.parametrize(
    ("measure", "parameters"),
    [(alpha_nDCG, {"alpha": 2}), (NRBP, {"beta": 1.0}), (StPrecision, {"recall": 0}), (AP_IA, {"missing": "skip"})],
)
def test_bad_parameters_are_named(measure, parameters):
    name, found = next(iter(parameters.items()))
    with pytest.raises(MeasureError, match=f"{measure.name}: {name}={found!r}"):
        measure(**parameters)


def test_err_ia_of_ndeval():
    """Figures of ndeval for two queries, as the tests of ir-measures quote them: 0.4659 and 0.1803."""
    documents = {
        "0": [("D0", 0.8, 0, 0), ("D1", 0.3, 1, 0), ("D2", 0.7, 1, 1), ("D3", 0.4, 0, 2), ("D4", 0.1, 0, 0)],
        "1": [
            *[("D0", None, 1, 0), ("D1", 0.8, 0, 0), ("D2", 0.4, 0, 0)],
            *[("D3", 0.7, 2, 0), ("D4", 0.3, 0, 0), ("D5", None, 0, 2)],
        ],
    }
    rows = [(qid, *document) for qid, result in documents.items() for document in result]
    subtopics = np.array([row[3:] for row in rows]) > 0  # ndeval knows relevant or not
    data = RankingDataset.from_arrays(None, None, [row[0] for row in rows], subtopics=subtopics)
    retrieved = np.array([row[2] is not None for row in rows])
    scored = Scored(data, [row[2] or 0.0 for row in rows], retrieved)
    np.testing.assert_allclose((ERR_IA(scaled=True) @ 20).per_query(scored), [0.4659, 0.1803], atol=5e-5)
    # a list in which every document has everything
    full = RankingDataset.from_arrays(None, None, [0] * 200, subtopics=np.full((200, 2), 2))
    for k in (None, 1, 7):
        assert ERR_IA(scaled=True, k=k).per_query(Scored(full, np.arange(200)))[0] == pytest.approx(1)
