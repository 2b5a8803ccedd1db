"""Log experiments to MLflow (optional extra ``mlflow``)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from plackett._names.optional import optional
from plackett.experiments.result import Experiment

__all__ = ["log_to_mlflow"]

#: MLflow's own limits.
_NAME_LENGTH = 250
_VALUE_LENGTH = 500
_PARAMETERS_AT_ONCE = 100
_METRICS_AT_ONCE = 1000


def load_mlflow() -> Any:
    """The module `mlflow`."""
    return optional("mlflow", "logging to MLflow needs")


def log_to_mlflow(
    experiment: Experiment,
    name: str = "plackett",
    *,
    tracking_uri: str | None = None,
    tags: dict[str, str] | None = None,
) -> list[str]:
    """Log an experiment to MLflow: one run per dataset and ranker.

    A run contains the ranker's parameters, the setting chosen in each fold, the means of the measures (over folds, over
    queries, on validation data), the value of each fold as a step, the learning curves and the times. Names are
    changed to what MLflow's server accepts: ``nDCG@10`` becomes ``nDCG_at_10``.

    Parameters
    ----------
    name
        MLflow's experiment, created if necessary.
    tracking_uri
        Where to log; MLflow's own setting by default.
    tags
        Additional tags for every run.

    Returns
    -------
    The ids of the runs.
    """
    mlflow = load_mlflow()
    client = mlflow.MlflowClient(tracking_uri=tracking_uri)
    known = client.get_experiment_by_name(name)
    experiment_id = client.create_experiment(name) if known is None else known.experiment_id
    ids = []
    for dataset in experiment.datasets:
        for ranker in experiment.complete(dataset):
            all_tags = {"mlflow.runName": f"{dataset}/{ranker}", "dataset": dataset, "ranker": ranker} | (tags or {})
            run = client.create_run(experiment_id, tags=all_tags)
            _log_run(mlflow, client, run.info.run_id, experiment, dataset, ranker)
            client.set_terminated(run.info.run_id)
            ids.append(run.info.run_id)
    return ids


def _log_run(mlflow: Any, client: Any, run_id: str, experiment: Experiment, dataset: str, ranker: str) -> None:
    import time

    settings: dict[str, Any] = {"class": experiment.rankers[ranker].get("class", ""), "select": experiment.select}
    settings |= {"preset": experiment.preset} | experiment.protocol | experiment.rankers[ranker].get("parameters", {})
    for cell in experiment.of(dataset, ranker):
        settings |= {f"fold {cell.fold} {key}": value for key, value in cell.setting.items()}
    names = accepted_names(settings)
    parameters = [mlflow.entities.Param(names[key], str(value)[:_VALUE_LENGTH]) for key, value in settings.items()]
    for start in range(0, len(parameters), _PARAMETERS_AT_ONCE):
        client.log_batch(run_id, params=parameters[start : start + _PARAMETERS_AT_ONCE])
    values = _metrics(experiment, dataset, ranker)
    names = accepted_names(dict.fromkeys(key for key, _, _ in values))
    now = int(time.time() * 1000)
    metrics = [mlflow.entities.Metric(names[key], value, now, step) for key, value, step in values]
    for start in range(0, len(metrics), _METRICS_AT_ONCE):
        client.log_batch(run_id, metrics=metrics[start : start + _METRICS_AT_ONCE])


def _metrics(experiment: Experiment, dataset: str, ranker: str) -> list[tuple[str, float, int]]:
    """Name, value and step of everything that is a number."""
    values: list[tuple[str, float, int]] = []
    for row in experiment.leaderboard.iter_rows(named=True):
        if (row["dataset"], row["ranker"]) == (dataset, ranker):
            kinds = ("mean_over_folds", "mean_over_queries", "low", "high")
            values += [(f"{row['measure']} {kind}", row[kind], 0) for kind in kinds if row[kind] is not None]
    validation = experiment.validation(dataset, ranker)
    if validation is not None:
        values.append((f"validation {experiment.select}", validation, 0))
    for number, cell in enumerate(experiment.of(dataset, ranker), 1):
        values += [(f"{name} of folds", value, number) for name, value in cell.evaluation.mean.items()]
        values += [(f"{name} seconds", value, number) for name, value in cell.seconds.items()]
        values += [(f"fold {cell.fold} curve", float(value), i) for i, value in enumerate(cell.history, 1)]
    return values


def accepted_names(names: Iterable[str]) -> dict[str, str]:
    """Names that MLflow's server accepts: letters, digits, ``_ - . /`` and spaces, and no two alike.

    >>> accepted_names(["nDCG@10", 'AP(ties="stable")', "AP[ties='stable']"])
    {'nDCG@10': 'nDCG_at_10', 'AP(ties="stable")': 'AP_ties_stable', "AP[ties='stable']": 'AP_ties_stable_2'}
    """
    accepted: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_\-./ ]+", "_", name.replace("@", "_at_"))
        plain = re.sub(r"_+", "_", plain).strip("_ ./")[: _NAME_LENGTH - 10] or "_"
        taken, candidate, number = set(accepted.values()), plain, 1
        while candidate in taken:
            number += 1
            candidate = f"{plain}_{number}"
        accepted[name] = candidate
    return accepted
