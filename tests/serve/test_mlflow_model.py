"""MLflow models: logged, loaded, and scored by MLflow's own pyfunc."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk

mlflow = pytest.importorskip("mlflow")
pd = pytest.importorskip("pandas")
pytest.importorskip("mlflow.pyfunc")


@pytest.fixture(autouse=True)
def tracking(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"file:{tmp_path}/runs")
    yield
    mlflow.set_tracking_uri(before)


def test_saved_models_come_back(tmp_path, trees, data):
    pk.serve.save_model(trees, tmp_path / "m")
    assert np.array_equal(pk.serve.load_model(str(tmp_path / "m")).predict(data), trees.predict(data))
    with pytest.raises(pk.DataError, match="already"):
        pk.serve.save_model(trees, tmp_path / "m")


def test_pyfunc_gives_the_same_scores(tmp_path, trees, data):
    pk.serve.save_model(trees, tmp_path / "m", metadata={"team": "search"})
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    frame = pd.DataFrame(data.X.astype(np.float64), columns=list(data.feature_names))
    assert np.array_equal(loaded.predict(frame[["price", "clicks", "age", "bm25"]]), trees.predict(data))
    assert loaded.metadata.metadata == {"team": "search"}
    with pytest.raises(mlflow.exceptions.MlflowException, match="price"):
        loaded.predict(frame.drop(columns="price"))


def test_models_without_names(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    ranker = pk.ListNet().fit(X, X[:, 0] > 0, qid=np.arange(40) // 10)
    pk.serve.save_model(ranker, tmp_path / "m")
    assert np.array_equal(mlflow.pyfunc.load_model(str(tmp_path / "m")).predict(X), ranker.predict(X))


def test_logged_models_come_back(trees, data):
    with mlflow.start_run():
        info = pk.serve.log_model(trees, "ranker")
    assert np.array_equal(pk.serve.load_model(info.model_uri).predict(data), trees.predict(data))


def test_models_of_others_are_refused(tmp_path):
    from mlflow.models import Model

    (tmp_path / "other").mkdir()
    described = Model()
    described.add_flavor("onnx", data="x")
    described.save(str(tmp_path / "other" / "MLmodel"))
    with pytest.raises(pk.DataError, match="not a plackett model; its flavours are onnx"):
        pk.serve.load_model(str(tmp_path / "other"))
