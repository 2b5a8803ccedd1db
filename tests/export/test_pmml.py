"""PMML by the rules of its standard, without what only some engines can read."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import plackett as pk

TREE = {"num_leaves": 8, "min_child_samples": 2, "n_jobs": 1, "n_estimators": 8}
COMPARISONS = {"lessOrEqual": np.less_equal, "greaterThan": np.greater}


def holds(node, row):
    """What the predicate of a node says: True, False, or None where it is unknown."""
    predicate = next(child for child in node if child.tag.endswith(("Predicate", "True", "False")))
    if not predicate.tag.endswith("SimplePredicate"):
        return predicate.tag.endswith("True")
    value, operator = row[predicate.get("field")], predicate.get("operator")
    if operator in ("isMissing", "isNotMissing"):
        return bool(np.isnan(value)) == (operator == "isMissing")
    threshold = float(predicate.get("value"))
    assert np.isfinite(threshold)
    return None if np.isnan(value) else bool(COMPARISONS[operator](value, threshold))


def walked(node, row):
    """The score of a tree whose missingValueStrategy is defaultChild."""
    while children := node.findall("{*}Node"):
        for child in children:
            answer = holds(child, row)
            if answer is None:
                child = next(c for c in children if c.get("id") == node.get("defaultChild"))
            if answer is not False:
                break
        else:
            raise AssertionError("no child's predicate holds")
        node = child
    return float(node.get("score"))


def model(fill):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 4)).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = np.nan
    y, qid = np.clip(np.round(np.nan_to_num(X[:, 0]) + np.isnan(X[:, 1])), 0, 4), np.arange(240) // 8
    X[:, 3] = np.where(np.isnan(X[:, 1]), np.nan, 1.0)  # the only thing to learn is whether it is missing
    if fill is None:
        return pk.LambdaMART(**TREE).fit(X, y, qid=qid), X
    imputer = pk.Imputer("constant", fill_value=fill, add_indicator=True)
    return make_pipeline(imputer, pk.LambdaMART(**TREE)).fit(X, y, lambdamart__qid=qid), X


@pytest.mark.parametrize("fill", [None, -2.0, 3.0])
def test_whether_a_value_is_missing_is_asked_in_the_words_of_the_standard(tmp_path, fill):
    ranker, X = model(fill)
    pk.write_pmml(ranker, tmp_path / "m.pmml", feature_names=list("abcd"))
    text = (tmp_path / "m.pmml").read_text()
    assert "INF" not in text and 'operator="isMissing"' in text and 'operator="isNotMissing"' in text
    trees = [model.find("{*}Node") for model in ElementTree.fromstring(text).iter() if model.tag.endswith("TreeModel")]
    rows = np.concatenate([X, -X, np.full((1, 4), np.nan), np.zeros((1, 4))]).astype(np.float32)
    documents = [dict(zip("abcd", row, strict=True)) for row in rows.tolist()]
    scores = [sum(walked(tree, document) for tree in trees) for document in documents]
    np.testing.assert_array_equal(scores, ranker.predict(rows))
