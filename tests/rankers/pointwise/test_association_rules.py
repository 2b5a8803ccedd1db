"""Association rules: counts by hand, the score formula, weights, thresholds, limits."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError, RankingDataset
from plackett.rankers import storage
from plackett.rankers.pointwise.association_rules import AssociationRules
from plackett.testing.rankers import easy_task

#: Six documents of one query: two features of two values each, and grades 0, 1, 2.
X = np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], np.float32)
Y = np.array([0, 0, 1, 1, 2, 0], float)
BY_HAND = {
    ("x1 ≤ 0.5", 0): (2, 3),  # documents with range and grade, documents with the range
    ("x1 ≤ 0.5", 1): (1, 3),
    ("x1 > 0.5", 0): (1, 3),
    ("x1 > 0.5", 1): (1, 3),
    ("x1 > 0.5", 2): (1, 3),
    ("x2 ≤ 0.5", 0): (2, 3),
    ("x2 ≤ 0.5", 1): (1, 3),
    ("x2 > 0.5", 0): (1, 3),
    ("x2 > 0.5", 1): (1, 3),
    ("x2 > 0.5", 2): (1, 3),
}
PAIRS_BY_HAND = {
    ("x1 ≤ 0.5 and x2 ≤ 0.5", 0): (2, 2),
    ("x1 ≤ 0.5 and x2 > 0.5", 1): (1, 1),
    ("x1 > 0.5 and x2 ≤ 0.5", 1): (1, 1),
    ("x1 > 0.5 and x2 > 0.5", 0): (1, 2),
    ("x1 > 0.5 and x2 > 0.5", 2): (1, 2),
}


def fitted(**parameters):
    parameters = {
        "discretization": "quantile",
        "n_bins": 2,
        "min_support": 0.0,
        "max_items": 1,
        "n_jobs": 1,
    } | parameters
    return AssociationRules(**parameters).fit(X, Y, qid=np.zeros(6, int))


def table(ranker):
    return {(c, g): (s, conf, n) for c, g, s, conf, n in ranker.rules_.rows()}


@pytest.mark.parametrize(("max_items", "expected"), [(1, BY_HAND), (2, BY_HAND | PAIRS_BY_HAND)])
def test_counts_by_hand(max_items, expected):
    """Thresholds of 0 keep every rule that holds for some document."""
    result = table(fitted(max_items=max_items))
    assert result.keys() == expected.keys()
    for key, (right, inside) in expected.items():
        assert result[key] == pytest.approx((right / 6, right / inside, right))


def test_score_by_hand():
    single = fitted().predict(X, qid=np.zeros(6, int))
    # first document: grade 0 by two rules of 2/3, grade 1 by two of 1/3
    assert single[0] == pytest.approx((1 / 3) / (2 / 3 + 1 / 3))
    # last: x1 > 0.5 and x2 > 0.5, each 1/3 for every grade
    assert single[5] == pytest.approx((0 + 1 + 2) / 3)
    # third: x1 ≤ 0.5 (2/3, 1/3, -) and x2 > 0.5 (1/3, 1/3, 1/3): means 1/2, 1/3, 1/3
    assert single[2] == pytest.approx((1 / 3 + 2 / 3) / (1 / 2 + 1 / 3 + 1 / 3))
    pairs = fitted(max_items=2).predict(X, qid=np.zeros(6, int))
    # first: grade 0 by 2/3, 2/3 and 1, grade 1 by 1/3 and 1/3
    zero, one = (2 / 3 + 2 / 3 + 1) / 3, 1 / 3
    assert pairs[0] == pytest.approx(one / (zero + one))


@pytest.mark.filterwarnings("ignore:.*learned nothing")
def test_documents_without_a_rule_get_the_mean_grade():
    ranker = fitted(min_confidence=0.6)  # leaves x1 ≤ 0.5 → 0 and x2 ≤ 0.5 → 0
    assert ranker.rules_.height == 2
    assert ranker.predict([[1.0, 1.0], [0.0, 1.0]], qid=[0, 0]) == pytest.approx([Y.mean(), 0.0])
    nothing = fitted(min_support=0.9)
    assert nothing.rules_.height == 0
    assert nothing.predict(X, qid=np.zeros(6, int)) == pytest.approx(np.full(6, Y.mean()))


@pytest.mark.parametrize("discretization", ["entropy", "quantile"])
@pytest.mark.parametrize("max_items", [1, 3])
def test_scores_against_the_frame_of_rules(discretization, max_items):
    """Every rule of the frame read back from its words, document by document; scores between the grades."""
    X, y, qid = easy_task(n_queries=10)
    names = ["a", "b", "c", "d"]
    data = RankingDataset.from_arrays(X, y, qid).replace(feature_names=tuple(names))
    ranker = AssociationRules(
        discretization=discretization, n_bins=3, min_support=0.02, min_confidence=0.2, max_items=max_items, n_jobs=1
    ).fit(data)
    frame = ranker.rules_
    assert frame.height > 0
    assert (frame["support"] >= 0.02).all() and (frame["confidence"] >= 0.2).all()
    cuts, first = ranker.scorer_.cuts, ranker.scorer_.first

    def holds(condition, row):
        tokens = condition.split()
        name = next(word for word in tokens if word in names)
        value, edges = row[names.index(name)], cuts[first[names.index(name)] : first[names.index(name) + 1]]
        shown = {f"{edge:g}": edge for edge in edges}
        low = shown[tokens[0]] if len(tokens) == 5 else shown[tokens[2]] if tokens[1] == ">" else -np.inf
        high = np.inf if tokens[1] == ">" else shown[tokens[-1]]
        return low < value <= high

    scores = ranker.predict(data)
    for i in range(0, data.n_rows, 7):
        confidences = {}
        for conditions, grade, _, confidence, _ in frame.rows():
            if all(holds(condition, data.X[i]) for condition in conditions.split(" and ")):
                confidences.setdefault(grade, []).append(confidence)
        means = {grade: np.mean(values) for grade, values in confidences.items()}
        expected = sum(g * m for g, m in means.items()) / sum(means.values()) if means else y.mean()
        assert scores[i] == pytest.approx(expected)
    assert y.min() <= scores.min() and scores.max() <= y.max()


def test_raising_a_threshold_never_adds_rules():
    X, y, qid = easy_task(n_queries=12)
    for name, values in (("min_support", (0.0, 0.02, 0.1, 0.3)), ("min_confidence", (0.0, 0.2, 0.5, 0.9))):
        before, sizes = None, []
        for value in values:
            parameters = {"min_support": 0.0, name: value}
            rules = AssociationRules(n_jobs=1, **parameters).fit(X, y, qid=qid).rules_
            keys = set(rules.select("conditions", "grade").iter_rows())
            assert before is None or keys <= before
            before = keys
            sizes.append(len(keys))
        assert 0 < sizes[-1] < sizes[0]


def test_weights_are_copies_and_unjudged_documents_are_left_out():
    qid = np.zeros(6, int)
    weight = np.array([1, 2, 1, 0, 3, 1])
    settings = {"discretization": "quantile", "n_bins": 2, "min_support": 0.0, "n_jobs": 1}
    weighted = AssociationRules(**settings).fit(X, Y, qid=qid, sample_weight=weight)
    copied = AssociationRules(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight), qid=np.zeros(8, int))
    columns = "conditions", "grade", "support", "confidence"
    for a, b in zip(weighted.rules_.select(columns).rows(), copied.rules_.select(columns).rows(), strict=True):
        assert a == pytest.approx(b)
    assert weighted.rules_["count"].max() <= 2  # documents, not weights
    judged = AssociationRules(**settings).fit(X, np.where(weight == 0, -1, Y), qid=qid)
    left_out = AssociationRules(**settings).fit(X[weight > 0], Y[weight > 0], qid=qid[weight > 0])
    assert judged.rules_.rows() == left_out.rules_.rows()


def test_missing_values_are_a_range_and_names_survive_storage(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2)).astype(np.float32)
    x[::4, 0] = np.nan
    data = RankingDataset.from_arrays(x, np.isnan(x[:, 0]).astype(float), np.repeat(np.arange(20), 10))
    ranker = AssociationRules(max_items=1, min_support=0.05, discretization="quantile", n_bins=2, n_jobs=1)
    ranker.fit(data.replace(feature_names=("in-links", "length")))
    assert ranker.rules_.row(0)[:4] == ("in-links is missing", 1.0, 0.25, 1.0)
    ranker.save(tmp_path / "m")
    again = storage.load(tmp_path / "m")
    assert again.rules_.equals(ranker.rules_)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"n_bins": 1}, "n_bins=1"),
        ({"n_bins": 256}, "n_bins=256"),
        ({"discretization": "width"}, "discretization='width'"),
        ({"min_support": 1.5}, "min_support=1.5"),
        ({"min_confidence": -0.1}, "min_confidence"),
        ({"max_items": 0}, "max_items=0"),
        ({"max_rules": 3, "max_items": 2}, "max_rules=3"),
    ],
)
def test_wrong_parameters_are_named(parameters, match):
    with pytest.raises(DataError, match=match):
        fitted(**parameters)


def test_labels_that_are_no_grades_are_refused():
    with pytest.raises(DataError, match="labels have 100 different values"):
        AssociationRules().fit(np.zeros((100, 1)), np.arange(100.0), qid=np.zeros(100, int))
