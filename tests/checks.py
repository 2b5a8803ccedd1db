"""The battery that every measure passes, whoever wrote it.

`check_measure` takes a measure and knows nothing about its formula: it holds the measure to the rules that all have in
common. ``tests/measures/test_all.py`` runs it on everything in the catalogue.
"""

from __future__ import annotations

import itertools

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.measures import parse
from plackett.measures.base import Measure
from plackett.measures.ranking import TIES, Scored

CLOSE = {"rtol": 1e-10, "atol": 1e-12, "equal_nan": True}
N_SUBTOPICS = 3


def random_lists(rng, sizes, *, levels=4, labels=(-2, -1, 0, 0, 1, 2, 3)):
    """Dataset of lists of the given sizes and scores with many ties; every third label list has nothing relevant."""
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.choice(labels, qid.size).astype(float)
    y[qid % 3 == 2] = np.minimum(y[qid % 3 == 2], 0)
    data = RankingDataset.from_arrays(
        None,
        y,
        qid,
        docids=[f"d{i:05d}" for i in range(qid.size)],
        subtopics=(rng.random((qid.size, N_SUBTOPICS)) < 0.4) * np.maximum(y, 0)[:, None],
    )
    return data, rng.integers(0, levels, qid.size).astype(float)


def rows_of(data, rows, qid):
    """Dataset of some rows, in the given order, under the given query ids."""
    return RankingDataset.from_arrays(None, data.y[rows], qid, docids=data.docids[rows], subtopics=data.subtopics[rows])


def per_query(measure, data, scores, retrieved=None, **options):
    return measure.per_query(Scored(data, scores, retrieved, **options))


def check_measure(measure: Measure, seed: int = 0) -> None:
    """Every rule that measures have in common."""
    for check in CHECKS:
        check(measure, np.random.default_rng(seed))


def check_string(measure, rng):
    assert parse(str(measure)) == measure
    assert hash(parse(str(measure))) == hash(measure)
    for ties in TIES:
        changed = measure(ties=ties, empty="skip")
        assert parse(str(changed)) == changed


def check_bounds(measure, rng):
    data, scores = random_lists(rng, rng.integers(1, 30, 60))
    low, high = measure.bounds
    for ties in TIES:
        values = per_query(measure(ties=ties, empty="skip"), data, scores)
        assert values.shape == (data.n_queries,) and values.dtype == np.float64
        values = values[~np.isnan(values)]
        assert values.size, "no query has a value"
        assert (values >= low - 1e-12).all() and (values <= high + 1e-12).all()


def check_ties_expected(measure, rng):
    """Mean over the orders of tied documents: by enumeration where exact, within the error of 64 draws otherwise."""
    for trial in range(12):
        data, scores = random_lists(rng, [int(rng.integers(2, 7))], levels=3)
        retrieved = np.ones(data.n_rows, bool) if trial % 2 else rng.random(data.n_rows) < 0.7
        found = per_query(measure(empty="skip"), data, scores, retrieved)[0]
        values = _every_order(measure(empty="skip", ties="stable"), data, scores, retrieved)
        if measure.exact_ties:
            np.testing.assert_allclose(found, values.mean(), **CLOSE)
        else:
            error = values.std() / np.sqrt(64)
            np.testing.assert_allclose(found, values.mean(), rtol=0, atol=5 * error + 1e-9)


def _every_order(measure, data, scores, retrieved):
    """Values of the measure for each order of the documents that the scores allow, one query each."""
    blocks = [np.flatnonzero(retrieved & (scores == level)) for level in sorted(set(scores), reverse=True)]
    behind = np.flatnonzero(~retrieved)
    orders = [
        np.concatenate([*map(list, parts), behind]).astype(int)
        for parts in itertools.product(*(itertools.permutations(block) for block in blocks))
    ]
    n = data.n_rows
    every = rows_of(data, np.concatenate(orders), np.repeat(np.arange(len(orders)), n))
    ranked = np.tile(np.arange(n) < retrieved.sum(), len(orders))
    return per_query(measure, every, np.tile(-np.arange(n, dtype=float), len(orders)), ranked)


def check_tie_rules_order(measure, rng):
    """A mean over orders lies between the least and the largest value of any order."""
    for _ in range(5):
        data, scores = random_lists(rng, [6], levels=3)
        retrieved = np.ones(6, bool)
        values = _every_order(measure(empty="skip", ties="stable"), data, scores, retrieved)
        for ties in TIES:
            found = per_query(measure(empty="skip", ties=ties), data, scores)[0]
            assert np.isnan(found) == np.isnan(values).any()
            if not np.isnan(found):
                assert values.min() - 1e-12 <= found <= values.max() + 1e-12, ties
                if ties in ("pessimistic", "optimistic") and _grows_with_labels(measure):
                    best = (ties == "optimistic") == measure.ascending
                    np.testing.assert_allclose(found, values.max() if best else values.min(), **CLOSE, err_msg=ties)


def _grows_with_labels(measure):
    """Whether moving larger labels up never makes it worse: so for all that have swap deltas and a gain that grows."""
    return measure.swaps and isinstance(getattr(measure, "gain", ""), str)


def check_row_order(measure, rng):
    """Equal to the last bit whatever the order of the rows and of the queries."""
    data, scores = random_lists(rng, rng.integers(1, 40, 30))
    rows = rng.permutation(data.n_rows)
    shuffled = rows_of(data, rows, data.qid[rows])
    back = np.argsort(shuffled.qids)
    for ties in ("expected", "pessimistic", "optimistic", "trec"):
        if ties in ("pessimistic", "optimistic") and _reads_more_than_labels(measure):
            continue
        values = per_query(measure(ties=ties, empty="skip"), data, scores)
        again = per_query(measure(ties=ties, empty="skip"), shuffled, shuffled.from_input_order(scores[rows]))
        if not _reads_more_than_labels(measure):
            np.testing.assert_array_equal(again[back], values, err_msg=ties)
        elif measure.exact_ties or ties == "trec":  # documents of one label differ, and are added in another order
            np.testing.assert_allclose(again[back], values, **CLOSE, err_msg=ties)


def _reads_more_than_labels(measure):
    return "subtopic" in str(type(measure).__doc__)


def check_empty(measure, rng):
    """A query with nothing to measure has the value asked for, and is never dropped from the per-query values."""
    data, scores = random_lists(rng, rng.integers(1, 8, 20))
    skipped = per_query(measure(empty="skip"), data, scores)
    filled = per_query(measure(empty=0.25), data, scores)
    np.testing.assert_array_equal(filled, np.where(np.isnan(skipped), 0.25, skipped))


def check_unjudged(measure, rng):
    """A list without judgements has a finite value or none, not an error."""
    data = RankingDataset.from_arrays(
        None, [-1.0, -1.0, -2.0], docids=["a", "b", "c"], subtopics=np.zeros((3, N_SUBTOPICS))
    )
    value = per_query(measure(empty="skip"), data, [3.0, 2.0, 1.0])
    assert np.isnan(value[0]) or np.isfinite(value[0])


def check_single_document(measure, rng):
    for label in (-1.0, 0.0, 1.0, 2.0):
        data = RankingDataset.from_arrays(
            None, [label], docids=["a"], subtopics=np.full((1, N_SUBTOPICS), max(label, 0))
        )
        assert np.isfinite(per_query(measure(empty=0.0), data, [0.5])[0])


def check_empty_query(measure, rng):
    """Queries without documents have the value of nothing to measure and leave the others as they are."""
    data, scores = random_lists(rng, [5, 3])
    gaps = RankingDataset.from_arrays(None, data.y, group=[0, 5, 0, 3, 0], docids=data.docids, subtopics=data.subtopics)
    values = per_query(measure(empty="skip"), gaps, scores)
    np.testing.assert_array_equal(values[[1, 3]], per_query(measure(empty="skip"), data, scores))
    counts = type(measure).mean is not Measure.mean and not np.isnan(values[0])  # a count has one there too
    assert counts or np.isnan(values[[0, 2, 4]]).all() or (values[[0, 2, 4]] == 0).all()


def check_long_list(measure, rng):
    """10,000 documents, all tied and not tied at all."""
    data, scores = random_lists(rng, [10_000], levels=10)
    low, high = measure.bounds
    for s in (np.zeros(data.n_rows), rng.permutation(data.n_rows).astype(float), scores):
        value = per_query(measure(empty=max(low, 0.0)), data, s)[0]
        assert low - 1e-9 <= value <= high + 1e-9


def check_threads(measure, rng):
    data, scores = random_lists(rng, rng.integers(1, 100, 1000), levels=20)
    one, two = (per_query(measure(empty="skip"), data, scores, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def check_fractional_labels(measure, rng):
    """Labels that are no whole numbers take another path through the gains; equal to the whole ones where they meet."""
    data, scores = random_lists(rng, [8, 5])
    extra = RankingDataset.from_arrays(
        None,
        np.append(data.y, [2.5, 0.0]),
        np.append(data.qid, [9, 9]),
        docids=[f"d{i:05d}" for i in range(data.n_rows + 2)],
        subtopics=np.vstack([data.subtopics, np.zeros((2, N_SUBTOPICS))]),
    )
    data = rows_of(extra, np.arange(data.n_rows), data.qid)
    measure = measure(empty="skip")
    if hasattr(measure, "max_label"):
        measure = measure(max_label=4)
    whole = per_query(measure, data, scores)
    np.testing.assert_allclose(per_query(measure, extra, np.append(scores, [1.0, 0.0]))[:2], whole, **CLOSE)


def check_evaluate(measure, rng):
    """The same through `evaluate`, whose mean is the measure's own."""
    data, scores = random_lists(rng, rng.integers(1, 8, 12))
    result = evaluate(data, scores, [measure])
    values = per_query(measure, data, scores)
    np.testing.assert_array_equal(result.values[str(measure)], values)
    assert result.per_query.columns == ["qid", str(measure)] and result.per_query.height == data.n_queries
    np.testing.assert_equal(result.mean[str(measure)], measure.mean(values))


def check_swaps(measure, rng):
    """|Change| from exchanging two documents, against measuring again."""
    if not measure.swaps:
        return
    for _ in range(4):
        n = int(rng.integers(1, 9))
        data, _ = random_lists(rng, [n], labels=(-1, 0, 0, 1, 2, 3))
        depth = int(rng.integers(1, n + 1))
        scored = Scored(data, -np.arange(n), np.arange(n) < depth)
        state = measure.swap_state(scored.ranking("stable"))
        if measure.linear_swaps:
            assert (state[:, 1] == 1).all() and (state[:, 2] == -state[:, 3]).all()
        before = _fixed(measure, data, depth)
        for i, j in itertools.combinations(range(n), 2):
            order = np.arange(n)
            order[[i, j]] = j, i
            after = _fixed(measure, rows_of(data, order, data.qid), depth)
            np.testing.assert_allclose(measure.swap(state, i, j), abs(after - before), rtol=1e-9, atol=1e-12)


def _fixed(measure, data, depth):
    """Value of the list as it stands, of which ``depth`` documents were retrieved."""
    n = data.n_rows
    return per_query(measure(ties="stable", empty=0.0), data, -np.arange(n), np.arange(n) < depth)[0]


CHECKS = [
    check_string,
    check_bounds,
    check_ties_expected,
    check_tie_rules_order,
    check_row_order,
    check_empty,
    check_unjudged,
    check_single_document,
    check_empty_query,
    check_long_list,
    check_threads,
    check_fractional_labels,
    check_evaluate,
    check_swaps,
]
