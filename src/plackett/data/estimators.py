"""Training and scoring with any ranker: ours, LightGBM's, XGBoost's, CatBoost's, or a plain regressor."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.categories import refuse_categories
from plackett.data.dataset import RankingDataset
from plackett.data.required import check_dataset
from plackett.data.validation import unmasked

#: Argument names for the queries of the rows; the first one in the ranker's signature is used. Queries are passed as
#: numbers: XGBoost accepts no strings and needs them sorted.
QUERY_ARGUMENTS: dict[str, Callable[[RankingDataset], np.ndarray]] = {
    "qid": lambda data: data.query_of_row,
    "group": lambda data: data.group,
    "group_id": lambda data: data.query_of_row,
}
#: The same for validation data.
VALIDATION_ARGUMENTS: dict[str, Callable[[RankingDataset], np.ndarray]] = {
    "eval_qid": lambda data: data.query_of_row,
    "eval_group": lambda data: data.group,
}


def build(ranker: Any, setting: Mapping[str, Any], random_state: int | None = None) -> Any:
    """Make a fresh ranker with some parameters: clone an estimator, or call a class or function.

    ``random_state`` is passed to estimators that have this parameter and leave it None.
    """
    if isinstance(ranker, type) or not hasattr(ranker, "fit"):
        return ranker(**setting)
    if not hasattr(ranker, "get_params"):
        if setting:
            raise TypeError(f"{type(ranker).__name__} has no set_params; give a function of the settings instead")
        return copy.deepcopy(ranker)
    from plackett._base.estimator import clone

    fresh = clone(ranker)
    if fresh.get_params(deep=False).get("random_state", 0) is None:
        fresh.set_params(random_state=random_state)
    return fresh.set_params(**setting)


def fit(
    ranker: Any, data: RankingDataset, valid: RankingDataset | None = None, parameters: Mapping[str, Any] | None = None
) -> Any:
    """Train a ranker on a dataset, in the form that the signature of its ``fit`` requires.

    A ``fit`` with query ids and optional labels receives the dataset itself. Otherwise it receives features and labels,
    with ``qid``, ``group`` or ``group_id`` if the ranker has one of them, and ``sample_weight`` if the data have
    weights. For a pipeline, the last step decides; one of plackett's own steps receives the dataset. ``valid`` is
    passed as ``eval_set`` for early stopping.
    """
    if of_own_steps(ranker):
        return _fit_steps(ranker, data, valid, parameters)
    target, prefix = _last_step(ranker)
    known = fit_parameters(target)
    arguments: dict[str, Any] = {}
    if valid is not None:
        if "eval_set" not in known or prefix:
            raise TypeError(
                f"{type(ranker).__name__}.fit has no eval_set for the validation part (early_stopping=True)"
            )
        if "eval_X" in known:  # LightGBM 4.7 has these instead and warns about eval_set
            arguments |= {"eval_X": (valid.X,), "eval_y": (valid.labels,)}
        else:
            arguments["eval_set"] = [(valid.X, valid.labels)]
        arguments.update([(name, [make(valid)]) for name, make in VALIDATION_ARGUMENTS.items() if name in known][:1])
    if target is ranker and takes_dataset(ranker):
        arguments = {} if valid is None else {"eval_set": valid}
        return ranker.fit(data, **arguments, **(parameters or {}))
    refuse_categories(data.categories, type(ranker).__name__)
    arguments.update([(name, make(data)) for name, make in QUERY_ARGUMENTS.items() if name in known][:1])
    if data.sample_weight is not None and "sample_weight" in known:
        arguments["sample_weight"] = data.sample_weight
    arguments = {prefix + name: value for name, value in arguments.items()}
    return ranker.fit(data.X, data.labels, **arguments, **(parameters or {}))


def predict(ranker: Any, data: RankingDataset) -> np.ndarray:
    """Scores of a dataset's rows in its grouped order. The ranker does not see labels or preferences."""
    target, _ = _last_step(ranker)
    if (target is ranker and takes_dataset(ranker)) or of_own_steps(ranker):
        scores = ranker.predict(data.replace(y=None, preferences=None))
    elif _is_booster(target):
        scores = getattr(target, "inplace_predict", target.predict)(data.X)  # XGBoost's first
    elif "qid" in inspect.signature(target.predict).parameters:
        scores = ranker.predict(data.X, qid=data.query_of_row)
    else:
        scores = ranker.predict(data.X)
    scores = np.asarray(scores)
    if scores.size != data.n_rows:
        raise DataError(f"{type(ranker).__name__}.predict returned shape {scores.shape} for {data.n_rows} rows")
    return scores.reshape(-1)


def scores_of(data: RankingDataset, given: Any) -> np.ndarray:
    """The scores of a system in the grouped order of the dataset: one number per row, or a fitted ranker's.

    >>> data = RankingDataset.from_arrays(None, [1, 0], qid=[7, 7])
    >>> scores_of(data, [2, 1]).tolist()
    [2.0, 1.0]
    >>> scores_of(data, [2])
    Traceback (most recent call last):
        ...
    plackett._base.errors.DataError: scores have shape (1,), but the dataset has 2 rows
    """
    check_dataset(data)
    if isinstance(given, Mapping):
        raise DataError(
            f"one ranker or its scores were expected, got a dict of {len(given)}; plackett.compare takes several"
        )
    if hasattr(given, "predict"):
        given = predict(given, data)
    try:
        scores = np.ascontiguousarray(unmasked(given), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"scores must be numbers, one for each row, or a fitted ranker: {error}") from None
    if scores.shape != (data.n_rows,):
        raise DataError(f"scores have shape {scores.shape}, but the dataset has {data.n_rows} rows")
    with np.errstate(invalid="ignore"):
        doubtful = np.isnan(scores.sum())  # ∞ − ∞ is NaN too
    if doubtful and (bad := np.flatnonzero(np.isnan(scores))).size:
        query = np.searchsorted(data.offsets, bad[0], side="right") - 1
        raise DataError(f"score {bad[0]} (query {data.qids[query]}) is NaN; {bad.size} of {data.n_rows} are")
    return scores


def takes_dataset(ranker: Any) -> bool:
    """Whether ``fit(data)`` works: query ids and labels are both optional."""
    if not hasattr(ranker, "fit"):
        return not _is_booster(ranker)
    known = fit_parameters(ranker)
    return "qid" in known and "y" in known and known["y"].default is not inspect.Parameter.empty


def _is_booster(ranker: Any) -> bool:
    """Whether this is what ``lightgbm.train`` or ``xgboost.train`` returns, which predicts arrays."""
    kind = type(ranker)
    return kind.__name__ == "Booster" and kind.__module__.partition(".")[0] in ("lightgbm", "xgboost")


def fit_parameters(ranker: Any) -> dict[str, inspect.Parameter]:
    """Parameters of ``fit``; if it passes ``**arguments`` on, also those of the method that it extends."""
    parameters = dict(inspect.signature(ranker.fit).parameters)
    above = [kind.__dict__["fit"] for kind in type(ranker).__mro__ if "fit" in kind.__dict__]
    for method in above[1:]:
        if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
            break
        parameters = {name: one for name, one in parameters.items() if one.kind is not inspect.Parameter.VAR_KEYWORD}
        parameters = dict(inspect.signature(method).parameters) | parameters
    return parameters


def last_step(ranker: Any) -> Any:
    """The estimator at the end of a pipeline; anything else is returned as it is."""
    return _last_step(ranker)[0]


def of_own_steps(ranker: Any) -> bool:
    """Whether this is a pipeline that takes datasets: transformers of ours, and a ranker that takes one."""
    steps = getattr(ranker, "steps", None)
    if not steps:
        return False
    from plackett.data.target_encoding import OrderedTargetEncoder
    from plackett.data.transformer import QueryTransformer

    return all(isinstance(step, (QueryTransformer, OrderedTargetEncoder)) for _, step in steps[:-1]) and takes_dataset(
        steps[-1][1]
    )


def _fit_steps(
    pipeline: Any, data: RankingDataset, valid: RankingDataset | None, parameters: Mapping[str, Any] | None
) -> Any:
    """Train step by step: unlike scikit-learn's ``fit``, this also transforms the validation data."""
    for _, step in pipeline.steps[:-1]:
        data = step.fit_transform(data)
        valid = None if valid is None else step.transform(valid)
    arguments = {} if valid is None else {"eval_set": valid}
    pipeline.steps[-1][1].fit(data, **arguments, **(parameters or {}))
    return pipeline


def _last_step(ranker: Any) -> tuple[Any, str]:
    """The estimator that learns to rank, and the prefix of its arguments in ``fit`` (scikit-learn's pipelines)."""
    steps = getattr(ranker, "steps", None)
    if not steps:
        return ranker, ""
    from sklearn import get_config

    name, step = steps[-1]
    return step, "" if get_config()["enable_metadata_routing"] else f"{name}__"
