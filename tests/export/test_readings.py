"""Feature sets of Lucene's engines: right in every version of them, also where fields are missing or negative."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import plackett as pk
from plackett import DataError
from plackett.data.imputer import Imputer
from plackett.export._readings import Reading
from plackett.export.verify import verify_export

TREE = {"num_leaves": 12, "min_child_samples": 2, "n_jobs": 1}
SMALLEST = np.float32(1e-45)
#: What the trees of the plugins do with a feature whose query does not match, by version.
VERSIONS = {
    "opensearch-ltr": {"3.1": "zero", "2.19.5": "zero", "3.2": "right", "3.7": "right", "3.8": "missing"},
    "elasticsearch-ltr": {"1.5.8": "zero", "1.5.9": "missing", "1.5.12": "missing"},
}
WRITE = {"opensearch-ltr": pk.write_opensearch_ltr, "elasticsearch-ltr": pk.write_elasticsearch_ltr}


# ----------------------------------------------------------------- the engines, by their documentation and their source


def score_of(query, document):
    """The score of a query for a document, as a float32; None where it does not match."""
    ((kind, body),) = query.items()
    ((how, what),) = body["query"].items()
    if how == "exists" and what["field"] not in document:
        return None
    assert how in ("exists", "match_all")
    if kind == "function_score":
        assert body["boost_mode"] == "replace"
        factor = body["field_value_factor"]
        value = document[factor["field"]] if factor["field"] in document else factor["missing"]
    else:
        params = body["script"]["params"]
        plain = "Math.max(0, params.side * doc[params.field].value)"
        if params["field"] in document:
            assert body["script"]["source"].endswith(plain)
            value = max(0.0, params["side"] * document[params["field"]])
        else:
            assert body["script"]["source"] == f"doc[params.field].size() == 0 ? params.missing : {plain}"
            value = params["missing"]
    assert value >= 0, "the engine refuses negative scores"
    return np.float32(value)


def plugin_scores(model, features, documents, rule):
    """Scores of the plugins' own rankers; ``rule`` as in VERSIONS."""
    model = model["model"]["model"]
    definition, out = json.loads(model["definition"]), []
    for document in documents:
        values = {each["name"]: score_of(each["template"], document) for each in features["featureset"]["features"]}
        total = np.float32(0)
        if model["type"] == "model/linear":
            for name, weight in definition.items():
                total += np.float32(weight) * (values[name] or np.float32(0))
        else:
            for node in definition:
                while "leaf" not in node:
                    value = values[node["split"]]
                    if value is None and rule != "zero":
                        left = rule == "missing" and node["missing"] == node["yes"]
                    else:
                        left = np.float32(node["split_condition"]) > (value or np.float32(0))
                    node = node["children"][0 if left else 1]
                total += np.float32(node["leaf"])
        out.append(float(total))
    return np.array(out)


def elastic_scores(content, documents):
    """Scores of Elasticsearch's own trees."""
    model, out = content["definition"]["trained_model"]["ensemble"], []
    extractors = content["inference_config"]["learning_to_rank"]["feature_extractors"]
    queries = [each["query_extractor"] for each in extractors]
    assert [each["feature_name"] for each in queries] == model["feature_names"]
    for document in documents:
        values = [score_of(each["query"], document) for each in queries]
        total = 0.0
        for tree in model["trained_models"]:
            nodes = tree["tree"]["tree_structure"]
            node = nodes[0]
            while "leaf_value" not in node:
                value = values[node["split_feature"]]
                left = node["default_left"] if value is None else float(value) <= node["threshold"]
                node = nodes[node["left_child" if left else "right_child"]]
            total += node["leaf_value"]
        out.append(total)
    return np.array(out)


def documents_of(X, names):
    return [{name: float(x) for name, x in zip(names, row, strict=True) if not np.isnan(x)} for row in X]


# -------------------------------------------------------------------------------------------------------------- models


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)).astype(np.float32)
    X[:, 1] = np.abs(X[:, 1])
    X[:, 2] = rng.integers(-1, 12, 400)
    X[::2, 3] = 0.0
    X[:, 4] = np.where(rng.random(400) < 0.03, -np.abs(X[:, 4]), np.abs(X[:, 4]))
    y = np.clip(np.round(X[:, 0] + X[:, 1] + (X[:, 2] % 3 == 1) + (X[:, 3] > 0)), 0, 4)
    qid = np.arange(400) // 8
    holed = X.copy()
    holed[rng.random(X.shape) < 0.3] = np.nan
    holed[y > 2, 1] = np.where(rng.random(int((y > 2).sum())) < 0.7, np.nan, holed[y > 2, 1])
    return X, holed, y, qid


def by_category():
    import lightgbm as lgb

    _, holed, y, _ = table()
    holed[:, 2] = np.maximum(holed[:, 2], 0)
    params = {"num_leaves": 8, "min_data_in_leaf": 2, "min_data_per_group": 2, "cat_smooth": 0.1, "verbose": -1}
    data = lgb.Dataset(holed, y, categorical_feature=[2], params=params)
    return lgb.train(params | {"num_threads": 1}, data, 15)


def fitted(kind, tmp_path):
    X, holed, y, qid = table()
    if kind == "categories":
        by_category().save_model(tmp_path / "lgb.txt")
        return pk.read_lightgbm(tmp_path / "lgb.txt")
    if kind == "clean":
        return pk.LambdaMART(n_estimators=10, **TREE).fit(X, y, qid=qid)
    if kind == "missing":
        return pk.LambdaMART(n_estimators=10, **TREE).fit(holed, y, qid=qid)
    if kind == "forest":
        return pk.RandomForest(n_estimators=5, n_jobs=1).fit(holed, y, qid=qid)
    imputer = Imputer("constant", fill_value=-2.5, add_indicator=True) if kind == "indicator" else Imputer()
    if kind == "line":
        return make_pipeline(imputer, pk.LinearRegression()).fit(holed - 3, y, linearregression__qid=qid)
    return make_pipeline(imputer, pk.LambdaMART(n_estimators=10, **TREE)).fit(holed, y, lambdamart__qid=qid)


def hard(ranker):
    """Rows with missing values, on thresholds, next to them, and next to zero."""
    from plackett.export._form import form_of

    X, holed, _, _ = table()
    form = form_of(ranker, fills=True)
    rng = np.random.default_rng(1)
    base = np.concatenate([holed, X])
    rows = [base[rng.permutation(len(base))[:150]]]
    for _, part in form.parts:
        if hasattr(part, "threshold"):
            some = rng.permutation(part.feature.size)[:60]
            for shift in (0, np.inf, -np.inf):
                made = base[rng.integers(len(base), size=some.size)].copy()
                made[np.arange(some.size), part.feature[some]] = np.nextafter(part.threshold[some], np.float32(shift))
                rows.append(made)
    for value in (0.0, -0.0, SMALLEST, -SMALLEST, 1e-36, -1e-36, -1.0, 3e38, -3e38, np.nan):
        made = base[rng.integers(len(base), size=5)].copy()
        made[np.arange(5), np.arange(5)] = value
        rows += [made, np.full((1, 5), value, np.float32)]
    rows = np.concatenate(rows)
    return rows[~np.isinf(rows).any(axis=1)]


KINDS = ("clean", "missing", "forest", "imputer", "indicator", "categories")


@pytest.mark.parametrize("kind", [*KINDS, "line"])
@pytest.mark.parametrize("to", list(VERSIONS))
def test_feature_sets_are_right_in_every_version(tmp_path, to, kind):
    ranker, names = fitted(kind, tmp_path), list("abcde")
    X = hard(ranker)
    if kind == "line":
        X = (X - 3)[(np.abs(X) < 100).any(axis=1)]
    WRITE[to](ranker, tmp_path / "m.json", feature_names=names)
    model, features = (json.loads((tmp_path / name).read_text()) for name in ("m.json", "m.features.json"))
    expected = ranker.predict(X)
    if kind == "line":
        expected = expected - ranker[-1].scorer_.intercept[0]
    assert np.isnan(X).any() and (X < 0).any()
    for rule in {*VERSIONS[to].values()}:
        scores = plugin_scores(model, features, documents_of(X, names), rule)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=2e-6 * np.abs(expected).max())
    proof = verify_export(ranker, tmp_path / "m.json", X, to=to, feature_names=names)
    assert proof.holds and not any(row.exception for row in proof.rows if "missing" in row.rows), str(proof)


@pytest.mark.parametrize("kind", KINDS)
def test_elasticsearch_itself_reads_negative_features(tmp_path, kind):
    ranker, names = fitted(kind, tmp_path), list("abcde")
    X = hard(ranker)
    pk.write_elasticsearch(ranker, tmp_path / "m.json", feature_names=names)
    scores = elastic_scores(json.loads((tmp_path / "m.json").read_text()), documents_of(X, names))
    np.testing.assert_array_equal(scores, ranker.predict(X))


#: The rules for queries that do not match under which a model is right.
RIGHT = {"clean": ("zero", "missing"), "missing": ("missing",), "categories": ("missing",)}


@pytest.mark.parametrize("to", list(VERSIONS))
@pytest.mark.parametrize("kind", ["clean", "missing", "categories", "line"])
def test_a_version_is_right_or_refused(tmp_path, to, kind):
    """With a version, queries match only documents that have the field."""
    ranker, names = fitted(kind, tmp_path), list("abcde")
    X = hard(ranker)
    for version, rule in VERSIONS[to].items():
        if rule not in RIGHT.get(kind, ()):
            with pytest.raises(DataError, match=r"a missing value of [a-e].* Leave out the version"):
                WRITE[to](ranker, tmp_path / "m.json", feature_names=names, version=version)
            continue
        WRITE[to](ranker, tmp_path / "m.json", feature_names=names, version=version)
        model, features = (json.loads((tmp_path / name).read_text()) for name in ("m.json", "m.features.json"))
        assert not any("missing" in json.dumps(each["template"]) for each in features["featureset"]["features"])
        scores = plugin_scores(model, features, documents_of(X, names), rule)
        np.testing.assert_allclose(scores, ranker.predict(X), rtol=0, atol=2e-5)
        assert verify_export(ranker, tmp_path / "m.json", X, to=f"{to}@{version}", feature_names=names).holds
        with pytest.raises(DataError, match="name the version of the plugin"):
            verify_export(ranker, tmp_path / "m.json", X, to=to, feature_names=names)
        for other in {*VERSIONS[to].values()} - {rule}:  # the rule matters, or the test shows nothing
            other_scores = plugin_scores(model, features, documents_of(X, names), other)
            wrong_version = next(v for v, r in VERSIONS[to].items() if r == other)
            proof = verify_export(ranker, tmp_path / "m.json", X, to=f"{to}@{wrong_version}", feature_names=names)
            assert proof.holds == np.allclose(other_scores, ranker.predict(X), atol=2e-5)


def test_the_query_of_a_changed_feature_set_is_not_guessed(tmp_path):
    reading = Reading("a", "price", 1, 0.0)
    assert Reading.of("a", reading.query()) == reading
    for query in ({"match": {"title": "x"}}, {"script_score": 1}, reading.query() | {"boost": 2.0}):
        with pytest.raises(DataError, match="the query of feature 'a' was changed"):
            Reading.of("a", query)


def test_linear_models_read_the_parts_of_features_that_are_negative(tmp_path):
    X, _, y, qid = table()
    ranker, names = pk.LinearRegression().fit(X, y, qid=qid), list("abcde")
    pk.write_opensearch_ltr(ranker, tmp_path / "m.json", feature_names=names)
    features = json.loads((tmp_path / "m.features.json").read_text())["featureset"]["features"]
    read = [each["name"] for each in features]
    assert read == ["a", "a_negative", "b", "c", "d", "d_negative", "e"]  # c and e are below 0 in few rows
    with pytest.raises(DataError, match=r"[ce] is below 0 in \d+ rows, and the engine refuses"):
        verify_export(ranker, tmp_path / "m.json", X, to="opensearch-ltr", feature_names=names)
    assert verify_export(ranker, tmp_path / "m.json", np.abs(X), to="opensearch-ltr", feature_names=names).holds
    pk.write_opensearch_ltr(ranker, tmp_path / "m.json", feature_names=names, data=X)
    assert verify_export(ranker, tmp_path / "m.json", X, to="opensearch-ltr", feature_names=names).holds
    imported = pk.from_sklearn(LinearRegression().fit(X, y))
    pk.write_opensearch_ltr(imported, tmp_path / "m.json", feature_names=names)  # nothing is known of its features
    assert verify_export(imported, tmp_path / "m.json", X, to="opensearch-ltr", feature_names=names).holds


def test_a_part_cannot_have_the_name_of_another_feature(tmp_path):
    ranker = fitted("clean", tmp_path)
    with pytest.raises(DataError, match="'a_negative' is a feature, and the name of a part of another one"):
        pk.write_opensearch_ltr(ranker, tmp_path / "m.json", feature_names=["a", "a_negative", "c", "d", "e"])
