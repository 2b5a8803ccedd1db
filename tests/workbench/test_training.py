"""Experiments from the page."""

from __future__ import annotations

import time

import pytest

import plackett as pk
from plackett.workbench.application import application
from workbench.conftest import Client


def wait(client, number, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = client.get(f"/api/train/job?number={number}").json["job"]
        if job["state"] not in ("preparing", "running"):
            return job
        time.sleep(0.1)
    raise AssertionError("the experiment did not end")


def test_experiment_without_judgements_fails_with_advice(index):
    from workbench.conftest import index_bench

    bench = index_bench(index, labels={})
    client = Client(application(bench))
    number = client.post("/api/train", {"set": "given", "rankers": ["ListNet"]}).json["job"]["number"]
    job = wait(client, number, 20)
    assert job["state"] == "failed" and "judge some documents" in job["error"]
    assert client.post("/api/train/add", {"number": number}).status == 422


def test_experiment_can_be_stopped(bench):
    client = Client(application(bench))
    number = client.post("/api/train", {"set": "given", "rankers": ["LambdaMART"], "trials": 50}).json["job"]["number"]
    assert client.post("/api/train", {"set": "given", "rankers": ["ListNet"]}).status == 422  # one at a time
    assert client.post("/api/train/stop", {"number": number}).json["job"]["state"] == "stopped"
    process = bench.jobs.job(number).process
    if process is not None:
        process.wait(20)
    assert client.get(f"/api/train/job?number={number}").json["job"]["state"] == "stopped"


@pytest.mark.full
@pytest.mark.parametrize("kind", ["bench", "runs_bench", "dataset_bench"])
def test_winner_becomes_a_column(request, kind):
    bench = request.getfixturevalue(kind)
    client = Client(application(bench))
    features = [one["name"] for one in client.get("/api/train/choice").json["features"]]
    body = {
        "set": "given",
        "rankers": ["ListNet", "LinearRegression"],
        "features": features[:2],
        "folds": 3,
        "trials": 2,
    }
    number = client.post("/api/train", body).json["job"]["number"]
    assert client.get("/api/search?qid=" + next(iter(bench.source.queries))).status == 200  # meanwhile
    job = wait(client, number)
    assert job["state"] == "done", job
    assert job["done"] == 6 and job["result"]["best"] in body["rankers"] and job["report"]
    report = client.get(f"/reports/{number}")
    assert report.status == 200 and b"sandbox" in report.headers[b"content-security-policy"]
    column = client.post("/api/train/add", {"number": number}).json["column"]
    assert client.post("/api/train/add", {"number": number}).json["column"] == column  # once
    measured = client.get("/api/evaluate", **{}).status  # set is missing
    assert measured == 422
    result = client.get(f"/api/evaluate?set=given&columns={column.replace(' ', '+').replace('#', '%23')}").json
    assert result["means"][column]["nDCG@10"] > 0 and "trained on" in result["warnings"][0]
    bench.jobs.close()


def test_feature_names_are_checked(bench):
    with pytest.raises(pk.DataError, match="unknown feature 'x'"):
        bench.source.training_data(bench.source.queries, bench.labels(), ["x"])
