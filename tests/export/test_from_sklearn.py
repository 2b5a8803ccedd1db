"""Models of scikit-learn as rankers with the same scores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble, linear_model, svm, tree
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, StandardScaler

import plackett as pk
from plackett import DataError, from_sklearn
from plackett.export._form import form_of
from plackett.export.verify import _scores, hard_rows


def table(missing=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    X[::2, 3] = 0.0
    y = X[:, 0] + X[:, 1] + (X[:, 3] > 0)
    if missing:
        X[::5, 1] = np.nan
    return X, y


def original_scores(model, rows):
    if hasattr(model, "decision_function"):
        return model.decision_function(rows)
    return model.predict_proba(rows)[:, 1] if hasattr(model, "predict_proba") else model.predict(rows)


TREES = [
    (tree.DecisionTreeRegressor(max_depth=3), "MART", True),
    (tree.DecisionTreeClassifier(max_depth=3), "MART", True),
    (tree.ExtraTreeRegressor(max_depth=3), "MART", False),
    (ensemble.RandomForestRegressor(3, max_depth=3), "RandomForest", True),
    (ensemble.RandomForestClassifier(3, max_depth=3), "RandomForest", True),
    (ensemble.ExtraTreesClassifier(3, max_depth=3), "RandomForest", False),
    (ensemble.GradientBoostingRegressor(n_estimators=3), "MART", False),
    (ensemble.GradientBoostingRegressor(n_estimators=3, init="zero"), "MART", False),
    (ensemble.GradientBoostingClassifier(n_estimators=3), "MART", False),
    (ensemble.HistGradientBoostingRegressor(max_iter=3), "MART", True),
    (ensemble.HistGradientBoostingClassifier(max_iter=3), "MART", True),
]


@pytest.mark.parametrize(("model", "name", "missing"), TREES, ids=lambda v: type(v).__name__)
def test_trees(model, name, missing):
    X, y = table(missing)
    model.fit(X, (y > 0).astype(int) if "Classifier" in type(model).__name__ else y)
    ranker = from_sklearn(model)
    assert type(ranker).__name__ == name
    for what, rows in hard_rows(form_of(ranker), X).items():
        if what == "infinite values" or (np.isnan(rows).any() and not missing):
            continue  # scikit-learn refuses them
        scale = 0.0 if name == "MART" else 1e-14  # the mean of a forest is divided last there
        np.testing.assert_allclose(
            _scores(ranker, rows), original_scores(model, rows), rtol=0, atol=scale, err_msg=what
        )
    np.testing.assert_allclose(ranker.predict(X, pred_contrib=True).sum(axis=1), ranker.predict(X), atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LinearRegression(),
        linear_model.Lasso(0.01),
        linear_model.LogisticRegression(),
        svm.LinearSVC(),
        make_pipeline(StandardScaler(), linear_model.Ridge()),
        make_pipeline(MinMaxScaler(), MaxAbsScaler(), linear_model.LogisticRegression()),
        make_pipeline(StandardScaler(with_mean=False, with_std=False), linear_model.Ridge(fit_intercept=False)),
    ],
    ids=str,
)
def test_linear_models(model):
    X, y = table()
    classifies = hasattr(model, "decision_function")
    model.fit(X.astype(np.float64), (y > 0).astype(int) if classifies else y)
    ranker = from_sklearn(model)
    np.testing.assert_allclose(ranker.predict(X), original_scores(model, X.astype(np.float64)), rtol=1e-12, atol=1e-12)


def test_names_of_features_are_kept():
    import polars as pl

    X, y = table()
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"], orient="row")
    ranker = from_sklearn(tree.DecisionTreeRegressor(max_depth=2).fit(frame, y))
    assert ranker.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(ranker.predict(frame.select("d", "c", "b", "a")), ranker.predict(X))


def test_what_cannot_be_read():
    X, y = table()
    three = np.digitize(y, [-1, 1])
    for model, match in (
        (tree.DecisionTreeRegressor(), "give a fitted model"),
        (tree.DecisionTreeClassifier().fit(X, three), "3 classes"),
        (tree.DecisionTreeRegressor().fit(X, np.stack([y, y], 1)), "2 outputs"),
        (linear_model.LogisticRegression().fit(X, three), "3 scores per row"),
        (svm.SVR().fit(X[:20], y[:20]), "linear models can"),
        (make_pipeline(PolynomialFeatures(), linear_model.Ridge()).fit(X, y), "PolynomialFeatures"),
        (make_pipeline(StandardScaler(), tree.DecisionTreeRegressor(max_depth=2)).fit(X, y), "linear models only"),
        (
            ensemble.GradientBoostingRegressor(init=linear_model.Ridge(), n_estimators=2).fit(X, y),
            "starts from a Ridge",
        ),
        (
            ensemble.HistGradientBoostingRegressor(max_iter=2, categorical_features=[3]).fit(X.round(), y),
            r"categories of column 3 are \[-",
        ),
        (object(), "give a fitted model"),
    ):
        with pytest.raises(DataError, match=match):
            from_sklearn(model)


def test_an_import_can_be_exported(tmp_path):
    X, y = table(True)
    ranker = from_sklearn(ensemble.HistGradientBoostingRegressor(max_iter=3).fit(X, y))
    pk.write_vespa(ranker, tmp_path / "m.profile")
    assert pk.verify_export(ranker, tmp_path / "m.profile", X, to="vespa").difference == 0.0
    ranker.save(tmp_path / "m.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "m.plackett").predict(X), ranker.predict(X))


@pytest.mark.parametrize("missing", [False, True])
def test_categories_of_histogram_gradient_boosting(missing, tmp_path):
    """Columns of categories come first inside; missing values and unknown categories take the branch of the model."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=500), 3 * rng.integers(0, 12, 500), rng.normal(size=500), rng.integers(0, 3, 500)]
    )
    X = X.astype(np.float32)  # as `predict` sees it
    y = X[:, 0] + 3 * np.isin(X[:, 1], [6, 9, 30]) - X[:, 2] + (X[:, 3] == 1)
    if missing:
        X[::5, 1] = np.nan
    model = ensemble.HistGradientBoostingRegressor(max_iter=6, categorical_features=[1, 3]).fit(X, y)
    result = from_sklearn(model)
    assert result.scorer_.trees.categorical.any()
    rows = np.concatenate([X, X[:80]])
    rows[500:, 1] = np.arange(80)  # most of them were never seen
    rows[560:, 3] = np.nan
    np.testing.assert_allclose(result.predict(rows), model.predict(rows), rtol=1e-6, atol=1e-6)
    result.save(tmp_path / "m.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "m.plackett").predict(rows), result.predict(rows))


def test_columns_of_categories_without_splits_by_category():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.normal(size=300), rng.integers(0, 2, 300)]).astype(np.float32)
    model = ensemble.HistGradientBoostingRegressor(max_iter=3, categorical_features=[2]).fit(X, X[:, 0] - 2 * X[:, 1])
    np.testing.assert_allclose(from_sklearn(model).predict(X), model.predict(X), rtol=1e-6, atol=1e-6)


def test_categories_that_are_text():
    import pandas as pd

    rng = np.random.default_rng(0)
    kinds = np.array(["ant", "bee", "cat", "dog"])[rng.integers(0, 4, 300)]
    x, z = rng.normal(size=(2, 300)).astype(np.float32)
    frame = pd.DataFrame({"x": x, "kind": pd.Categorical(kinds), "z": z})
    y = frame["x"] + 2.0 * np.isin(kinds, ["bee", "dog"]) - frame["z"]
    model = ensemble.HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype").fit(frame, y)
    result = from_sklearn(model)
    assert result.scorer_.trees.categorical.any() and result.categories_ == {"kind": ["ant", "bee", "cat", "dog"]}
    shuffled = frame[["z", "kind", "x"]]
    np.testing.assert_allclose(result.predict(shuffled), model.predict(frame), rtol=1e-6, atol=1e-6)
