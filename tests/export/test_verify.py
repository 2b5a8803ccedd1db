"""Exports are scored by the engine itself, or by its rule, and give the scores of the ranker; faults are found."""

from __future__ import annotations

import json
import shutil
from functools import lru_cache

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett._names.catalogue import formats
from plackett.export import json_trees
from plackett.export.tools import MissingToolError
from plackett.export.verify import format_named, verify_export

FORMATS = {known.name: known for known in formats() if known.writes}
TREES = (
    "elasticsearch-ltr",
    "opensearch-ltr",
    "elasticsearch",
    "solr",
    "vespa",
    "onnx",
    "treelite",
    "lightgbm",
    "xgboost",
    "c",
    "javascript",
)
LINES = ("elasticsearch-ltr", "solr", "vespa", "onnx", "xgboost", "ranklib", "svm_rank", "c", "javascript")
NETWORKS = ("vespa", "onnx", "c", "javascript")
EXACT = {"elasticsearch", "vespa", "treelite", "lightgbm", "pmml", "c", "javascript", "java", "go", "rust"}
TOOLS = {"c": "gcc", "javascript": "node", "java": "javac", "go": "go", "rust": "rustc"}
LIBRARIES = {"onnx": "onnxruntime", "treelite": "treelite", "xgboost": "xgboost", "pmml": "jpmml_evaluator"}


def table(missing=True):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 4)).astype(np.float32)
    X[::2, 3], X[:, 2] = 0.0, rng.integers(0, 5, 240)
    y = np.clip(np.round(X[:, 0] + X[:, 2] / 2 + (X[:, 3] > 0)), 0, 4)
    if missing:
        X[::5, 0], X[::7, 2] = np.nan, np.nan
    return X, y, np.arange(240) // 8


TREE = {"num_leaves": 6, "min_child_samples": 2, "n_jobs": 1}
MAKERS = {
    "trees": lambda: pk.LambdaMART(n_estimators=6, **TREE),
    "steps": lambda: pk.RankBoost(n_estimators=8),
    "gbrank": lambda: pk.rankers.GBRank(n_estimators=3, update="average", **TREE),
    "blend of trees": lambda: pk.Blend(
        members=(pk.MART(n_estimators=3, **TREE), pk.LambdaMART(n_estimators=3, **TREE))
    ),
    "clean trees": lambda: pk.LambdaMART(n_estimators=6, **TREE),
    "line": lambda: pk.LinearRegression(),
    "ordinal": lambda: pk.rankers.PRank(),
    "mlp": lambda: pk.RankNet(architecture="mlp", hidden=(6, 6), activation="gelu", max_epochs=1, n_jobs=1),
    "silu": lambda: pk.RankNet(architecture="mlp", hidden=(5,), activation="silu", max_epochs=1, n_jobs=1),
    "sigmoid": lambda: pk.RankNet(architecture="sigmoid", hidden=(5,), max_epochs=1, n_jobs=1),
    "blend": lambda: pk.Blend(
        members=(
            pk.LinearRegression(),
            pk.LambdaMART(n_estimators=3, **TREE),
            pk.RankNet(architecture="mlp", hidden=(4, 4), activation="tanh", max_epochs=1, n_jobs=1),
        )
    ),
}
WITH_MISSING = ("trees", "steps", "blend of trees")


@pytest.fixture(scope="module")
def rankers():
    result = {}

    def ranker(kind):
        if kind not in result:
            X, y, qid = table(kind in WITH_MISSING)
            result[kind] = MAKERS[kind]().fit(X, y, qid=qid), X
        return result[kind]

    return ranker


def needs(to):
    if to in TOOLS and shutil.which(TOOLS[to]) is None:
        pytest.skip(f"{TOOLS[to]} is not installed")
    if to in LIBRARIES:
        pytest.importorskip(LIBRARIES[to])


def proved(ranker, X, to, folder):
    needs(to)
    target = format_named(to)
    path = folder / f"model{target.suffix}"
    target.write(ranker, path)
    proof = verify_export(ranker, path, X, to=to)
    assert proof.holds, str(proof)
    return proof


CASES = [
    *((to, kind) for to in TREES for kind in ("trees", "steps", "blend of trees")),
    *((to, kind) for to in LINES for kind in ("line", "ordinal")),
    *((to, kind) for to in NETWORKS for kind in ("mlp", "silu", "sigmoid", "blend")),
    ("solr", "sigmoid"),
    ("ranklib", "clean trees"),
    ("ranklib", "steps"),
    ("ranklib", "sigmoid"),
    *((to, "gbrank") for to in ("elasticsearch", "lightgbm", "vespa")),
    *(("pmml", kind) for kind in ("trees", "steps", "blend of trees", "line", "sigmoid")),
    *((to, "trees") for to in ("java", "rust", "go")),
]


@pytest.mark.parametrize(("to", "kind"), CASES, ids=lambda word: word.replace(" ", "-"))
def test_exports_score_as_the_ranker(rankers, tmp_path, to, kind):
    ranker, X = rankers(kind)
    proof = proved(ranker, X, to, tmp_path)
    named = {row.rows for row in proof.rows}
    assert "documents" in named
    if kind in ("trees", "steps"):
        assert {"on thresholds", "next to thresholds", "missing values", "largest numbers"} <= named or to == "ranklib"
        assert proof.tolerance == (0.0 if to in EXACT else 1e-5)
    if kind in ("mlp", "silu", "sigmoid") or to not in EXACT:
        assert proof.tolerance == 1e-5


@pytest.mark.parametrize("to", TREES)
def test_trees_of_one_leaf(tmp_path, to):
    from sklearn.ensemble import GradientBoostingRegressor

    X, y, _ = table(False)
    for n in (1, 3):  # the start of boosting is a tree without splits, and so is a tree on constant labels
        ranker = pk.from_sklearn(GradientBoostingRegressor(n_estimators=n).fit(X, y if n > 1 else np.ones(len(X))))
        proved(ranker, X, to, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("to", ["java", "go", "rust"])
@pytest.mark.parametrize("kind", ["blend", "mlp", "silu", "sigmoid"])
def test_compiled_networks_and_blends(rankers, tmp_path, to, kind):
    proved(*rankers(kind), to, tmp_path)


def test_every_format_is_proved_here():
    tried = {to for to, _ in CASES}
    assert tried == set(FORMATS)
    assert all(hasattr(known.load(), "score") for known in FORMATS.values())


# -------------------------------------------------------------------------------------------- proofs that must fail


def moved(value):
    """A JSON value with every threshold replaced by a naive one: the nearest number of six digits."""
    if isinstance(value, dict):
        names = ("split_condition", "threshold")
        return {k: float(f"{float(v):.6g}") if k in names else moved(v) for k, v in value.items()}
    return [moved(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("to", ["elasticsearch", "elasticsearch-ltr", "solr"])
def test_rounded_thresholds_are_found_out(rankers, tmp_path, to):
    ranker, X = rankers("trees")
    path = tmp_path / "model.json"
    format_named(to).write(ranker, path)
    content = json.loads(path.read_text())
    if to == "elasticsearch-ltr":
        model = content["model"]["model"]
        model["definition"] = json.dumps(moved(json.loads(model["definition"])))
    path.write_text(json.dumps(moved(content)))
    proof = verify_export(ranker, path, X, to=to)
    assert not proof.holds and proof.difference > 1e-3 and "DIFFERS" in str(proof)


def test_a_swapped_side_for_missing_values_is_found_out(rankers, tmp_path):
    ranker, X = rankers("trees")
    path = tmp_path / "model.json"
    pk.write_elasticsearch(ranker, path)
    path.write_text(path.read_text().replace('"default_left": true', '"default_left": false'))
    proof = verify_export(ranker, path, X, to="elasticsearch")
    wrong = {row.rows for row in proof.rows if row.difference > 0}
    assert not proof.holds and "missing values" in wrong


def test_the_naive_vespa_export_is_found_out(rankers, tmp_path):
    """``<=`` turned into ``<`` with the threshold as it is."""
    ranker, X = rankers("trees")
    path = tmp_path / "model.profile"
    real = pk.export.vespa.above_double
    try:
        pk.export.vespa.above_double = lambda t: np.asarray(t, np.float64)
        pk.write_vespa(ranker, path)
    finally:
        pk.export.vespa.above_double = real
    proof = verify_export(ranker, path, X, to="vespa")
    assert {row.rows for row in proof.rows if row.difference > 0} >= {"on thresholds"} and not proof.holds


# --------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("to", "kind", "match"),
    [
        ("elasticsearch", "line", "reads only trees"),
        ("elasticsearch-ltr", "mlp", "write_ranklib"),
        ("solr", "mlp", "logarithms"),
        ("solr", "blend", "sum of several kinds"),
        ("pmml", "mlp", "logarithms"),
        ("treelite", "blend", "reads only trees"),
        ("lightgbm", "line", "reads only trees"),
        ("xgboost", "sigmoid", "a network"),
    ],
)
def test_what_a_target_cannot_express_is_refused(rankers, tmp_path, to, kind, match):
    with pytest.raises(DataError, match=match):
        format_named(to).write(rankers(kind)[0], tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("write", [pk.write_vespa, pk.write_onnx, pk.write_ranklib])
def test_a_blend_of_scores_within_lists_says_what_to_do(tmp_path, write):
    X, y, qid = table(missing=False)
    blend = pk.Blend(members=(pk.LinearRegression(),), scale="query").fit(X, y, qid=qid)
    with pytest.raises(DataError, match=r"scale='spread', export one of its members_, or serve it"):
        write(blend, tmp_path / "never")
    write(blend.members_[0], tmp_path / "model")


def test_rankers_without_a_form_are_refused(tmp_path):
    X, y, qid = table(False)
    for ranker, match in (
        (pk.rankers.PolynomialRegression().fit(X, y, qid=qid), "expands its features"),
        (pk.rankers.McRank(n_estimators=2, n_jobs=1).fit(X, y, qid=qid), "outputs"),
        (pk.rankers.KernelRankSVM().fit(X[:40], y[:40], qid=qid[:40]), "kernel"),
        (pk.RankNet(architecture="attention", hidden=(4,), max_epochs=1, n_jobs=1).fit(X, y, qid=qid), "whole lists"),
    ):
        with pytest.raises(DataError, match=match):
            pk.write_c(ranker, tmp_path / "model.c")

    with pytest.raises(DataError, match="give a fitted ranker"):
        pk.write_c(object(), tmp_path / "model.c")


def pipeline(method, ranker, missing):
    import sklearn
    from sklearn.pipeline import make_pipeline

    X, y, qid = table(missing)
    with sklearn.config_context(enable_metadata_routing=True):
        return make_pipeline(pk.QueryNormalizer(method), ranker).fit(X, y, qid=qid), X


@pytest.mark.parametrize(
    "to", ["c", "javascript", *(pytest.param(to, marks=pytest.mark.full) for to in ("java", "go", "rust"))]
)
@pytest.mark.parametrize("method", ["minmax", "zscore", "sum"])
def test_source_code_normalises_the_documents_of_a_query(tmp_path, to, method):
    """Constant features, missing values and a column of nothing but missing values included."""
    model, X = pipeline(method, pk.LambdaMART(n_estimators=4, **TREE), True)
    rows = X[:24].copy()
    rows[:, 3], rows[:, 0] = 2.5, np.nan
    for part in (X[:30], rows):
        assert proved(model, part, to, tmp_path).difference == 0.0


def test_pipelines_that_cannot_be_exported(tmp_path):
    model, _ = pipeline("minmax", pk.LinearRegression(), False)
    for to in ("vespa", "onnx", "solr", "ranklib", "lightgbm"):
        with pytest.raises(DataError, match="needs all documents of a query|cannot be written"):
            format_named(to).write(model, tmp_path / "model")
    model, _ = pipeline("rank", pk.LinearRegression(), False)
    with pytest.raises(DataError, match="normalisation by 'rank'"):
        pk.write_c(model, tmp_path / "model.c")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    with pytest.raises(DataError, match="StandardScaler cannot be exported"):
        pk.write_c(make_pipeline(StandardScaler(), model[-1]), tmp_path / "model.c")


def test_names_of_features_and_files(rankers, tmp_path):
    ranker, X = rankers("trees")
    with pytest.raises(DataError, match="2 feature names for a model of 4"):
        pk.write_solr(ranker, tmp_path / "model.json", feature_names=["a", "b"])
    with pytest.raises(DataError, match="'a' occurs twice"):
        pk.write_solr(ranker, tmp_path / "model.json", feature_names=list("abca"))
    with pytest.raises(DataError, match="letters, digits"):
        pk.write_c(ranker, tmp_path / "my-model.c")
    for language, name in (("java", "class"), ("java", "String"), ("javascript", "default"), ("javascript", "Math"),
                           ("go", "func"), ("go", "main")):  # fmt: skip
        with pytest.raises(DataError, match=f"'{name}' has a meaning there; use another one"):
            getattr(pk, f"write_{language}")(ranker, tmp_path / f"{name}.source")
    for name in ("Model", "model_test"):
        with pytest.raises(DataError, match="small letters, digits"):
            pk.write_go(ranker, tmp_path / f"{name}.go")
    for name in ("\ud800", "\ufffe"):
        with pytest.raises(DataError, match="cannot be the name of a feature"):
            pk.write_pmml(ranker, tmp_path / "model.pmml", feature_names=["a", "b", "c", name])
    assert not list(tmp_path.iterdir())
    with pytest.raises(DataError, match="rank feature"):
        pk.write_vespa(ranker, tmp_path / "model.profile", feature_names=["a", "b", "c", "d{"])
    with pytest.raises(DataError, match="output field"):
        pk.write_pmml(ranker, tmp_path / "model.pmml", feature_names=["a", "b", "c", "score"])
    with pytest.raises(DataError, match="XGBoost does not allow"):
        pk.write_xgboost(ranker, tmp_path / "model.json", feature_names=["a", "b", "c", "d[0]"])
    names = ["bm25(title)", "fieldMatch(title).proximity", "age", 'odd "name" */ &>']
    for to in ("solr", "elasticsearch", "elasticsearch-ltr", "c", "javascript", "lightgbm", "xgboost"):
        if to in TOOLS and shutil.which(TOOLS[to]) is None:
            continue
        path = tmp_path / f"model{format_named(to).suffix}"
        format_named(to).write(ranker, path, feature_names=names)
        assert verify_export(ranker, path, X, to=to, feature_names=names).holds
    pk.write_vespa(ranker, tmp_path / "model.profile", feature_names=[*names[:3], "attribute(x)"])
    proof = verify_export(ranker, tmp_path / "model.profile", X, to="vespa", feature_names=[*names[:3], "attribute(x)"])
    assert proof.holds
    text = (tmp_path / "model.profile").read_text()
    assert "function age() {\n        expression: attribute(age)" in text and "function bm25" not in text


def test_feature_sets_for_engines(rankers, tmp_path):
    ranker, _ = rankers("trees")
    names = ["a", "b", "c", "d"]
    pk.write_opensearch_ltr(ranker, tmp_path / "shop.json", feature_names=names)
    features = json.loads((tmp_path / "shop.features.json").read_text())["featureset"]
    assert features["name"] == "shop" and {f["name"].split("_")[0] for f in features["features"]} == {*names}
    pk.write_solr(ranker, tmp_path / "shop.json", feature_names=names)
    features = json.loads((tmp_path / "shop.features.json").read_text())
    model = json.loads((tmp_path / "shop.json").read_text())
    assert {f["store"] for f in features} == {model["store"]} and [f["name"] for f in features] == names
    assert [f["name"] for f in model["features"]] == names
    pk.write_elasticsearch(ranker, tmp_path / "shop.json", feature_names=names)
    config = json.loads((tmp_path / "shop.json").read_text())["inference_config"]["learning_to_rank"]
    read = {e["query_extractor"]["feature_name"].split("_")[0] for e in config["feature_extractors"]}
    assert read == {*names}


def test_one_split_by_hand(tmp_path):
    """x <= 0.5 becomes x < the next float32 for the plugins, and 0.5 - 1e-6 for Solr, which adds it again."""
    ranker = pk.from_sklearn(stump())
    pk.write_elasticsearch_ltr(ranker, tmp_path / "m.json", feature_names=["x"])
    (tree,) = json.loads(json.loads((tmp_path / "m.json").read_text())["model"]["model"]["definition"])
    assert tree["split"] == "x" and tree["split_condition"] == 0.5 + 2.0**-24
    assert [child["leaf"] for child in tree["children"]] == [0.0, 3.0] and tree["missing"] in (tree["yes"], tree["no"])
    pk.write_solr(ranker, tmp_path / "m.json", feature_names=["x"])
    root = json.loads((tmp_path / "m.json").read_text())["params"]["trees"][0]["root"]
    assert np.float32(root["threshold"]) + np.float32(1e-6) == np.float32(0.5) != np.float32(root["threshold"])


def stump():
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0]], [0.0, 3.0])


def test_a_missing_tool_is_named(rankers, tmp_path, monkeypatch):
    ranker, X = rankers("line")
    pk.write_c(ranker, tmp_path / "model.c")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingToolError, match="gcc is not installed"):
        verify_export(ranker, tmp_path / "model.c", X, to="c")


def test_trees_too_deep_for_json_are_refused(tmp_path, monkeypatch):
    def too_deep(*_, **__):
        raise RecursionError

    monkeypatch.setattr(json_trees.json, "dumps", too_deep)
    with pytest.raises(DataError, match="too deep"):
        json_trees.write_json(tmp_path / "x.json", {})


def test_unknown_formats_and_wrong_data(rankers, tmp_path):
    ranker, X = rankers("trees")
    with pytest.raises(DataError, match="did you mean"):
        format_named("onxx")
    pk.write_elasticsearch(ranker, tmp_path / "m.json")
    with pytest.raises(DataError, match="3 features, and the ranker 4"):
        verify_export(ranker, tmp_path / "m.json", X[:, :3], to="elasticsearch")
    with pytest.raises(DataError, match="no rows"):
        verify_export(ranker, tmp_path / "m.json", X[:0], to="elasticsearch")


# ------------------------------------------------------------------------------------------ missing values in engines


def imputed(ranker, **settings):
    """A pipeline whose imputer fills in numbers away from 0, and the table that it was trained on."""
    from sklearn.pipeline import make_pipeline

    X, y, qid = table()
    X = X - 1.5
    return make_pipeline(pk.Imputer(**settings), ranker).fit(X, y, **{f"{type(ranker).__name__.lower()}__qid": qid}), X


@pytest.mark.parametrize("to", TREES)
def test_imputers_become_branches_of_trees(tmp_path, to):
    for settings in ({}, {"strategy": "constant", "fill_value": 3.0, "add_indicator": True}):
        pipeline, X = imputed(pk.LambdaMART(n_estimators=6, **TREE), **settings)
        if settings:
            used = set(pipeline[-1].scorer_.trees.feature.tolist())
            assert used & {4, 5}  # the indicators matter, or the test shows nothing
        proof = proved(pipeline, X, to, tmp_path)
        assert not next(row for row in proof.rows if row.rows == "missing values").exception
        assert proof.tolerance == (0.0 if to in EXACT else 1e-5)


@pytest.mark.parametrize("to", ["elasticsearch-ltr", "opensearch-ltr", "solr"])
def test_imputers_before_linear_models_become_defaults_of_the_features(tmp_path, to):
    pipeline, X = imputed(pk.LinearRegression())
    proof = proved(pipeline, X, to, tmp_path)
    assert "missing values" in {row.rows for row in proof.rows}


#: A change that makes the code fill in other numbers.
BREAKS = {
    "c": ("= FILL[j]", "= 2 * FILL[j]"),
    "javascript": ("= FILL[j]", "= 2 * FILL[j]"),
    "vespa": ("f1 == f1, f1, ", "f1 == f1, f1, 1 + "),
}


@lru_cache
def filled_in(kind):
    if kind == "blend":
        return imputed(pk.Blend(members=(pk.LinearRegression(), pk.LambdaMART(n_estimators=3, **TREE))))
    return imputed(MAKERS[kind]())


#: Languages that take long to compile are for the full run.
SLOW = tuple(pytest.param(to, marks=pytest.mark.full) for to in ("java", "go", "rust"))


@pytest.mark.parametrize("to", ["onnx", "pmml", "vespa", "c", "javascript", *SLOW])
def test_imputers_fill_in_numbers_before_linear_models_and_networks(tmp_path, to):
    """Also before a blend of a linear function, whose rows are filled in, and trees, which have a branch for it."""
    for pipeline, X in map(filled_in, ("line", "blend", "sigmoid")):
        assert np.abs(pipeline[0].statistics_).min() > 0.1  # or the test shows nothing
        proof = proved(pipeline, X, to, tmp_path)
        assert "missing values" in {row.rows for row in proof.rows}
        path = tmp_path / f"model{format_named(to).suffix}"
        if to in BREAKS:
            path.write_text(path.read_text().replace(*BREAKS[to]))
            assert not verify_export(pipeline, path, X, to=to).holds


def test_pmml_replaces_missing_values_before_linear_models(tmp_path):
    """PMML's rule in a few lines: a missing value becomes missingValueReplacement, then the regression table."""
    from xml.etree import ElementTree

    pipeline, X = filled_in("line")
    pk.write_pmml(pipeline, tmp_path / "m.pmml")
    model = ElementTree.parse(tmp_path / "m.pmml").find("{*}RegressionModel")
    fields = {
        field.get("name"): field.get("missingValueReplacement")
        for field in model.iterfind("{*}MiningSchema/{*}MiningField")
    }
    table = model.find("{*}RegressionTable")
    scores = np.full(len(X), float(table.get("intercept")))
    for j, predictor in enumerate(table.findall("{*}NumericPredictor")):
        column = X[:, j].astype(np.float64)
        column[np.isnan(column)] = float(fields[predictor.get("name")])
        scores += float(predictor.get("coefficient")) * column
    assert np.isnan(X).any()
    np.testing.assert_allclose(scores, pipeline.predict(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("to", ["c", "javascript", *SLOW])
def test_imputers_before_a_normaliser_in_source_code(tmp_path, to):
    import sklearn
    from sklearn.pipeline import make_pipeline

    X, y, qid = table()
    for ranker in (pk.LinearRegression(), pk.LambdaMART(n_estimators=3, **TREE)):
        with sklearn.config_context(enable_metadata_routing=True):
            made = make_pipeline(pk.Imputer(), pk.QueryNormalizer("zscore"), ranker).fit(X, y, qid=qid)
        assert np.isnan(X[:50]).any()
        proved(made, X[:50], to, tmp_path)


def selected(*steps):
    """A pipeline whose selector drops the first feature, and the table that it was trained on."""
    import sklearn
    from sklearn.pipeline import make_pipeline

    X, y, qid = table(False)
    selector = pk.GreedySelector(3, n_jobs=1).fit(X, y, qid=qid)
    selector.selected_ = np.array([3, 1, 2])
    with sklearn.config_context(enable_metadata_routing=True):
        made = make_pipeline(*steps).fit(X[:, 1:], y, qid=qid)
    return make_pipeline(selector, *(step for _, step in made.steps)), X


@pytest.mark.parametrize(
    "to", ["lightgbm", "xgboost", "svm_rank", "elasticsearch-ltr", "solr", "onnx", "pmml", "vespa", "c", "javascript"]
)
def test_selected_features_keep_their_names(tmp_path, to):
    rankers = [] if to == "svm_rank" else [pk.LambdaMART(n_estimators=3, **TREE)]
    if to != "lightgbm":
        rankers.append(pk.LinearRegression())
    for ranker in rankers:
        pipeline, X = selected(ranker)
        proved(pipeline, X, to, tmp_path)
        holes = X.copy()
        holes[::3, 0] = np.nan  # the dropped feature may be missing
        if to in ("onnx", "pmml", "vespa", "c", "javascript"):
            proved(pipeline, holes, to, tmp_path)


def test_selector_normaliser_and_network_in_source_code(tmp_path):
    needs("c")
    network = pk.RankNet(hidden=(3,), max_epochs=2, n_jobs=1)
    pipeline, X = selected(pk.QueryNormalizer("zscore"), pk.Imputer(), network)
    proved(pipeline, X[:60], "c", tmp_path)


def test_imputers_that_cannot_be_exported_are_refused(tmp_path):
    pipeline, _ = imputed(pk.LinearRegression())
    with pytest.raises(DataError, match=r"an Imputer before this LinearRegression .* Fill them in where"):
        pk.write_xgboost(pipeline, tmp_path / "m.json")
    with_indicator, _ = imputed(pk.LinearRegression(), add_indicator=True)
    with pytest.raises(DataError, match="add_indicator=True can be exported with trees only"):
        pk.write_solr(with_indicator, tmp_path / "m.json")
    X, y, qid = table()
    trees = pk.LambdaMART(n_estimators=2, **TREE)
    import sklearn
    from sklearn.pipeline import make_pipeline

    with sklearn.config_context(enable_metadata_routing=True):
        by_query = make_pipeline(pk.Imputer("query-median"), trees).fit(X, y, qid=qid)
        first = make_pipeline(pk.Imputer(add_indicator=True), pk.QueryNormalizer(), trees).fit(X, y, qid=qid)
    with pytest.raises(DataError, match="query-median"):
        pk.write_c(by_query, tmp_path / "m.c")
    with pytest.raises(DataError, match="add_indicator=True cannot be exported before a QueryNormalizer"):
        pk.write_c(first, tmp_path / "m.c")
    assert not list(tmp_path.iterdir())


def test_normaliser_and_imputer_in_source_code(tmp_path):
    needs("c")
    import sklearn
    from sklearn.pipeline import make_pipeline

    X, y, qid = table()
    with sklearn.config_context(enable_metadata_routing=True):
        made = make_pipeline(pk.QueryNormalizer("zscore"), pk.Imputer(), pk.LambdaMART(n_estimators=4, **TREE))
        proved(made.fit(X, y, qid=qid), X, "c", tmp_path)


@pytest.mark.parametrize("to", ["elasticsearch-ltr", "opensearch-ltr", "solr"])
def test_missing_fields_stay_missing_where_the_model_knows_them(rankers, tmp_path, to):
    """The feature set is part of the proof: reading 0 for a missing field would be wrong for these trees."""
    ranker, X = rankers("trees")
    proof = proved(ranker, X, to, tmp_path)
    assert not any(row.exception for row in proof.rows if "missing" in row.rows)
    path = tmp_path / "zero.json"
    with pytest.warns(pk.PlackettWarning, match=r"will read 0 .* missing values of f\d"):
        format_named(to).write(ranker, path, missing="zero")
    result = verify_export(ranker, path, X, to=to)
    apart = next(row for row in result.rows if row.rows == "missing, read as 0")
    assert result.holds and apart.difference > 1e-3 and "reads 0" in apart.exception
    with pytest.raises(DataError, match="missing='drop'"):
        format_named(to).write(ranker, path, missing="drop")


def test_fields_are_read_as_zero_where_it_makes_no_difference(rankers, tmp_path):
    ranker, X = rankers("clean trees")
    pk.write_elasticsearch_ltr(ranker, tmp_path / "m.json", missing="zero")  # no warning
    features = json.loads((tmp_path / "m.features.json").read_text())["featureset"]["features"]
    assert {f["template"]["script_score"]["script"]["params"]["missing"] for f in features} == {0.0}
    pk.write_solr(ranker, tmp_path / "s.json")
    assert all("defaultValue" not in f["params"] for f in json.loads((tmp_path / "s.features.json").read_text()))
    assert verify_export(ranker, tmp_path / "m.json", X, to="elasticsearch-ltr").holds
