"""Logging to a real MLflow store in a file."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plackett.datasets import make_ranking
from plackett.experiments.experiment import experiment
from plackett.experiments.tracking import accepted_names, log_to_mlflow


@given(st.lists(st.text(min_size=1), unique=True))
def test_names_are_accepted_and_differ(names):
    result = accepted_names(names)
    assert list(result) == names and len(set(result.values())) == len(names)
    for name in result.values():
        assert 0 < len(name) <= 250 and name.isascii() and all(c.isalnum() or c in "_-./ " for c in name)


def test_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ImportError, match=r"plackett\[mlflow\]"):
        log_to_mlflow(None)


def test_runs_hold_the_figures(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # newer versions want a database, which is a further extra
    mlflow = pytest.importorskip("mlflow", reason="needs the extra mlflow")
    data = make_ranking(18, 6, 4, random_state=0)
    rankers = ["ListNet", "LambdaMART(n_estimators=4, min_child_samples=2)"]
    result = experiment(data, rankers, ["nDCG@5", "AP"], folds=3, n_trials=2, n_jobs=1)
    uri = (tmp_path / "runs").as_uri()
    ids = log_to_mlflow(result, "trial", tracking_uri=uri)
    assert len(ids) == 2 and len(log_to_mlflow(result, "trial", tracking_uri=uri)) == 2  # the same experiment again
    client = mlflow.MlflowClient(tracking_uri=uri)
    run = client.get_run(ids[1])
    assert run.data.tags["ranker"] == rankers[1] and run.data.params["n_estimators"] == "4"
    assert run.data.params["select"] == "AP" and run.info.status == "FINISHED"
    row = result.leaderboard.filter(ranker=rankers[1], measure="nDCG@5")
    assert run.data.metrics["nDCG_at_5 mean_over_folds"] == pytest.approx(row["mean_over_folds"].item())
    curve = client.get_metric_history(ids[1], "fold 2 curve")
    assert [point.value for point in curve] == pytest.approx(result.cell(rankers[1], 2).history.tolist())
