"""Labels and preferences out of clicks."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett.clicks.labels.dataset import labelled_dataset, page_dataset
from plackett.clicks.labels.discount import discount_clicks, good_turing
from plackett.clicks.labels.from_model import model_labels, model_preferences
from plackett.clicks.labels.interaction import InteractionModel, interaction_features
from plackett.clicks.labels.preferences import RULES, click_preferences, dataset_preferences
from plackett.clicks.labels.query_clusters import (
    click_bicliques,
    query_clusters,
    query_similarity,
    similarity_over_time,
)
from plackett.clicks.labels.random_walk import click_matrix, query_walk, smooth_clicks
from plackett.clicks.log import ClickLog
from plackett.clicks.models.bbm import BBM
from plackett.clicks.models.pbm import PBM
from plackett.clicks.simulate import simulate_log


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(n_queries=30, docs_per_query=8, n_features=6, random_state=0)


@pytest.fixture(scope="module")
def log(data):
    return simulate_log(data, n_pages=6000, k=6, random_state=0)


# -------------------------------------------------------------------------------------------------- from a model


def test_labels_of_a_model(log):
    model = PBM().fit(log)
    raw = model_labels(model)
    graded = model_labels(model, grades=4)
    assert graded["label"].value_counts()["count"].to_list() == [60] * 4
    both = raw.with_columns(grade=graded["label"]).sort("label")
    assert both["grade"].is_sorted()
    cut = model_labels(model, thresholds=[0.2, 0.5])
    expected = (raw["label"] >= 0.2).cast(int) + (raw["label"] >= 0.5).cast(int)
    assert cut["label"].to_list() == expected.to_list()
    assert model_labels(model, min_shown=1e9).height == 0
    with pytest.raises(pk.DataError, match="rise"):
        model_labels(model, thresholds=[0.5, 0.2])


def test_preferences_of_a_model_are_sure_and_one_way(log):
    model = PBM().fit(log)
    pairs = model_preferences(model, confidence=0.95)
    assert pairs["weight"].min() >= 0.95
    names = {(q, a, b) for q, a, b, _ in pairs.rows()}
    assert not any((q, b, a) in names for q, a, b in names)
    few = model_preferences(model, confidence=0.95, most_per_query=2)
    assert few.group_by("query").len()["len"].max() <= 2
    exact = BBM().fit(log)
    close = model_preferences(exact, confidence=0.7).head(40)
    for query, winner, loser, weight in close.rows():
        assert exact.preference(query, winner, loser) == pytest.approx(weight, abs=0.06)


# ------------------------------------------------------------------------------------------------------ Joachims


def by_definition(documents, clicks, order, rule):
    clicked = [i for i, c in enumerate(clicks) if c]
    if rule == "skip-above":
        pairs = [(i, j) for i in clicked for j in range(i) if not clicks[j]]
    elif rule == "last-click-skip-above":
        last = max(clicked, key=lambda i: order[i], default=None)
        pairs = [] if last is None else [(last, j) for j in range(last) if not clicks[j]]
    elif rule == "earlier-click":
        pairs = [(i, j) for i in clicked for j in clicked if order[i] > order[j]]
    elif rule == "skip-previous":
        pairs = [(i, i - 1) for i in clicked if i > 0 and not clicks[i - 1]]
    else:
        pairs = [(i, i + 1) for i in clicked if i + 1 < len(clicks) and not clicks[i + 1]]
    return {(documents[i], documents[j]) for i, j in pairs}


@pytest.mark.parametrize("rule", RULES)
def test_rules_on_every_page_of_four(rule):
    rng = np.random.default_rng(0)
    for clicks in itertools.product([0, 1], repeat=4):
        order = np.zeros(4, int)
        hit = np.flatnonzero(clicks)
        order[hit] = rng.permutation(hit.size) + 1
        log = ClickLog.from_arrays(["q"], [list("abcd")], [clicks], click_order=[order])
        result = {(winner, loser) for _, winner, loser, _ in click_preferences(log, rule).rows()}
        assert result == by_definition("abcd", clicks, order, rule)


def test_preferences_are_counted_and_joined(data, log):
    pairs = click_preferences(log, min_pages=3)
    assert pairs["weight"].min() >= 3
    joined, lost = dataset_preferences(pairs, data)
    assert lost == 0
    assert len(joined.preferences) == pairs.height
    chosen = joined.preferences
    assert (data.query_of_row[chosen.winner] == data.query_of_row[chosen.loser]).all()
    ranker = pk.RankSVM().fit(joined.replace(y=None))
    assert np.isfinite(ranker.predict(data)).all()
    with pytest.raises(pk.DataError, match="order of the clicks"):
        click_preferences(log, "earlier-click")
    with pytest.raises(pk.DataError, match="did you mean"):
        click_preferences(log, "skip_abov")


# --------------------------------------------------------------------------------------------------- random walk


def small_log(seed=0, n_queries=12, n_documents=15):
    rng = np.random.default_rng(seed)
    return ClickLog.from_arrays(
        [f"q{i}" for i in rng.integers(0, n_queries, 80)],
        np.argsort(rng.random((80, n_documents)), axis=1)[:, :5],
        rng.random((80, 5)) < 0.3,
    )


def test_the_walk_is_a_matrix_product():
    clicks = click_matrix(small_log())
    dense = clicks.toarray()
    A = dense / np.maximum(dense.sum(axis=1, keepdims=True), 1e-300)
    B = dense.T / np.maximum(dense.T.sum(axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(query_walk(clicks).toarray(), A @ B)
    np.testing.assert_allclose(query_walk(clicks, steps=3).toarray(), np.linalg.matrix_power(A @ B, 3))
    walk = query_walk(clicks).toarray()
    clicked = dense.sum(axis=1)
    np.testing.assert_allclose(walk[clicked > 0].sum(axis=1), 1.0)
    np.testing.assert_allclose(clicked[:, None] * walk, (clicked[:, None] * walk).T, atol=1e-12)  # detailed balance
    top = query_walk(clicks, top_k=3)
    assert np.diff(top.indptr).max() <= 3
    np.testing.assert_allclose(top.sum(axis=1)[clicked > 0], 1.0)
    kept = query_walk(clicks, max_degree=2)
    narrow = dense[:, (dense > 0).sum(axis=0) <= 2]
    C = narrow / np.maximum(narrow.sum(axis=1, keepdims=True), 1e-300)
    D = narrow.T / np.maximum(narrow.T.sum(axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(kept.toarray(), C @ D)


def test_smoothed_clicks():
    log = ClickLog.from_arrays(
        ["a", "a", "b", "c", "d"], [[1, 2], [1, 2], [1, 3], [8, 9], [1, 2]], [[1, 0], [1, 1], [1, 1], [1, 0], [0, 0]]
    )
    same = smooth_clicks(log, own=1.0)
    assert sorted(same.select("query", "document", "label").rows()) == [
        ("a", 1, 2.0),
        ("a", 2, 1.0),
        ("b", 1, 1.0),
        ("b", 3, 1.0),
        ("c", 8, 1.0),
    ]
    mixed = smooth_clicks(log, own=0.5)
    of_a = dict(mixed.filter(pl.col("query") == "a").select("document", "label").rows())
    assert of_a[3] > 0  # from the similar query b
    assert mixed.filter(pl.col("query") == "c")["document"].to_list() == [8]  # another block of the graph
    assert mixed.filter(pl.col("query") == "d").height == 0  # no clicks, no 0/0
    assert np.isfinite(mixed["label"].to_numpy()).all()


# ----------------------------------------------------------------------------------------------------- discounts


def test_good_turing():
    counts = np.repeat([0, 1, 2, 3, 6], [1000, 40, 15, 6, 1])
    raw = good_turing(counts, smooth=False)
    assert raw[counts == 0][0] == 40 / 1000
    assert raw[counts == 1][0] == 2 * 15 / 40
    assert raw[counts == 2][0] == 3 * 6 / 15
    assert raw[counts == 3][0] == 3  # nobody has four
    smooth = good_turing(counts)
    assert smooth.sum() == pytest.approx(counts.sum())
    by_count = [smooth[counts == r][0] for r in (0, 1, 2, 3, 6)]
    assert by_count == sorted(by_count)
    assert (np.diff(by_count) > 0).all()
    nothing = np.zeros(5)
    assert good_turing(nothing).tolist() == nothing.tolist()


def test_discounted_clicks_keep_their_sum(log):
    frame = discount_clicks(log)
    assert frame["label"].sum() == pytest.approx(log.clicked.sum())
    assert frame.height == log.n_pairs


# ------------------------------------------------------------------------------------------------------ clusters


def test_query_similarity_and_clusters():
    log = ClickLog.from_arrays(
        ["red shoe", "shoe red", "blue sock", "sock", "cat"],
        [["a", "b"], ["a", "b"], ["c", "d"], ["c", "d"], ["z", "y"]],
        [[1, 1], [1, 1], [1, 0], [1, 1], [1, 0]],
        times=[0.0, 1.0, 2.0, 3.0, 4.0],
    )
    by_clicks = query_similarity(log, words=0, clicks=1).toarray()
    assert by_clicks[0, 1] == 1.0
    assert by_clicks[0, 4] == 0.0
    assert by_clicks[2, 3] == 0.5
    np.testing.assert_allclose(by_clicks, by_clicks.T)
    both = query_similarity(log).toarray()
    assert both[2, 3] == 0.5 * 0.5 + 0.5 * 0.5
    assert query_clusters(log, threshold=0.5)["cluster"].to_list() == [0, 0, 1, 1, -1]
    one = similarity_over_time(log, "blue sock", "sock", n_slices=1)
    assert one["similarity"].to_list() == [0.5]
    several = similarity_over_time(log, "red shoe", "shoe red", n_slices=2, words=0, clicks=1)
    assert several["similarity"].to_list() == [1.0, 0.0]


# --------------------------------------------------------------------------------------------- interaction model


def test_deviations_vanish_without_relevance():
    rng = np.random.default_rng(0)
    lists = np.argsort(rng.random((20_000, 6)), axis=1)
    clicks = rng.random(lists.shape) < 0.5 / np.arange(1, 7)
    log = ClickLog.from_arrays(np.zeros(20_000, int), lists, clicks)
    features, names = interaction_features(log)
    assert np.abs(features[:, names.index("click")]).max() < 0.01
    weight = np.bincount(log.pair)
    assert (weight * features[:, names.index("skip")]).sum() == pytest.approx(0, abs=1e-6)


def graded(data):
    """Query, document and grade of each row."""
    return list(zip(data.qids[data.query_of_row].tolist(), range(data.n_rows), data.y.tolist(), strict=True))


def test_interaction_beats_the_click_rate(data):
    order = np.random.default_rng(0).normal(size=data.n_rows)  # lists that are not sorted by relevance
    log = simulate_log(data, order, n_pages=10_000, k=6, temperature=0.7, random_state=0)
    judged = [(q, d, y) for q, d, y in graded(data) if q < 15]
    frame = InteractionModel().fit(log, judged).labels(log)
    grades = {(q, d): y for q, d, y in graded(data)}
    rate = log.pair_frame()
    label = {"model": frame["label"].to_numpy(), "rate": (rate["clicked"] / rate["shown"]).to_numpy()}
    right = dict.fromkeys(label, 0.0)
    rows = frame.select("query", "document").rows()
    for (i, a), (j, b) in itertools.combinations(enumerate(rows), 2):
        if a[0] == b[0] and a[0] >= 15 and grades[a] != grades[b]:
            sign = np.sign(grades[a] - grades[b])
            for name, values in label.items():
                right[name] += np.sign(values[i] - values[j]) * sign
    assert right["model"] > right["rate"]
    with pytest.raises(pk.DataError, match="ids agree"):
        InteractionModel().fit(log, [("x", "y", 1)])


def test_text_overlap_is_a_feature():
    log = ClickLog.from_arrays(["red shoe"], [[1, 2]], [[1, 0]])
    features, names = interaction_features(log, document_text={1: "a red thing", 2: "cat"})
    assert features[:, names.index("text_overlap")].tolist() == [0.5, 0.0]


# --------------------------------------------------------------------------------------------------------- joins


def test_labels_become_a_dataset(data, log):
    join = labelled_dataset(model_labels(PBM().fit(log)), data, weighted=True)
    assert join.without_features == 0
    assert join.data.n_rows + join.without_clicks == data.n_rows
    assert join.data.sample_weight.sum() == log.n_rows
    kept = labelled_dataset(model_labels(PBM().fit(log)), data, keep_all=True)
    assert kept.data.n_rows == data.n_rows
    other = pl.DataFrame({"query": [1000], "document": [0], "label": [1.0], "weight": [1.0]})
    with pytest.raises(pk.DataError, match="ids agree"):
        labelled_dataset(other, data)


def test_pages_become_a_dataset(data, log):
    small = log.select(np.arange(50))
    join = page_dataset(small, data)
    assert join.data.n_queries == 50
    assert join.data.positions.max() == 6
    assert join.data.y.sum() == small.clicked.sum()
    np.testing.assert_allclose(join.data.X[:6], data.X[small.documents[small.document[:6]]])
    fewer = page_dataset(small, data.select(np.arange(10)))
    assert fewer.data.n_queries < 50
    assert fewer.lost_weight > 0


def test_bicliques_by_enumeration():
    log = small_log(seed=3)
    clicked = {}
    for pair in np.flatnonzero(np.bincount(log.pair, log.clicked) > 0):
        clicked.setdefault(int(log.pair_query[pair]), set()).add(int(log.pair_document[pair]))
    expected = set()
    for a, b in itertools.combinations(clicked, 2):
        shared = clicked[a] & clicked[b]
        if len(shared) >= 2:
            members = frozenset(q for q in clicked if shared <= clicked[q])
            expected.add((members, frozenset(shared)))
    assert len(expected) > 3
    result = click_bicliques(log)
    code_of_query = {q: i for i, q in enumerate(log.queries.tolist())}
    code_of_document = {d: i for i, d in enumerate(log.documents.tolist())}
    sets = {
        (frozenset(code_of_query[q] for q in queries), frozenset(code_of_document[d] for d in documents))
        for queries, documents in result.select("queries", "documents").rows()
    }
    assert sets == expected
    assert len(sets) == result.height
    sizes = [len(queries) * len(documents) for queries, documents in result.select("queries", "documents").rows()]
    assert sizes == sorted(sizes, reverse=True)
    assert click_bicliques(log, min_queries=50).height == 0
    assert click_bicliques(log, min_clicks=1e9).height == 0
    with pytest.raises(pk.DataError, match="min_queries=1"):
        click_bicliques(log, min_queries=1)
