"""Tree ensembles over shards, by LightGBM's distributed learning: a worker has only the bins of its own documents."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import sys
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from plackett._base.errors import ClusterError, LossError
from plackett.cluster.linear import check_separable
from plackett.cluster.noting import note_training
from plackett.cluster.shards import Shards, check_ids
from plackett.data.canonical import row_keys
from plackett.data.categories import refuse_categories
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.models.trees.model import Trees, boosted_gradients, lightgbm_dataset
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import split_trees, trees_only

__all__ = ["fit_trees"]

#: Documents from which the bins are made: as many as `fit` looks at.
BIN_ROWS = 50_000
#: Minutes for which a worker waits for the others.
_PATIENCE = 120


def fit_trees(ranker: Any, shards: Shards) -> Any:
    """Fit a tree ranker to data in shards.

    Each worker bins its documents and computes the gradients of its queries. LightGBM adds up the histograms of all
    workers over sockets (``tree_learner="data"``), so that each grows the same trees. The bins are the same everywhere:
    they are made from up to 50,000 documents, chosen by a hash of their content. So the trees do not depend on how the
    data are cut. If there are no more documents than that, they are those of `fit` with ``gradient_bins=None``, except
    that LightGBM estimates the number of documents in a leaf from its share of the curvature, instead of counting
    them: where curvatures differ, ``min_child_samples`` may allow other splits.

    Parameters
    ----------
    ranker
        A ranker made of a loss and boosted trees: `LambdaMART`, `MART` and others. Trees see all queries, and are grown
        on exact gradients: LightGBM's rounded ones (``gradient_bins``) are not for several machines. Validation data
        are not used. Labels, not features, travel to this process once.
    shards
        The data, with distinct queries in each shard. All workers must run at the same time and reach each other.

    Returns
    -------
    The ranker, fitted.

    Raises
    ------
    ClusterError
        If a worker fails or dies. The others are stopped. A model is never fitted to a part of the data.

    References
    ----------
    Meng, Ke, Wang, Chen, Ye, Ma, Liu: A communication-efficient parallel algorithm for decision tree. NIPS 2016.

    Examples
    --------
    ::

        with pk.cluster.LocalShards(data, 4) as shards:
            ranker = pk.cluster.fit_trees(pk.LambdaMART(n_estimators=200), shards)
    """
    from plackett.rankers.base import GradientTrained

    if not isinstance(ranker, GradientTrained) or not _boosted(ranker.make_model()):
        raise LossError(f"{type(ranker).__name__} is not a loss with boosted trees; fit it on one machine")
    for name in ("early_stopping_rounds", "validation_fraction", "calibration"):
        if getattr(ranker, name) is not None:
            raise LossError(f"{name}={getattr(ranker, name)!r} needs validation data, which fit_trees does not use")
    loss = ranker.make_loss()
    check_separable(loss)
    check_ids(shards)
    about = shards.gather(_about, ranker)
    names = about[0][3]
    if len({(part[2], part[3]) for part in about}) > 1:
        raise LossError("the shards have different features")
    groups, labels = (np.concatenate([part[i] for part in about]) for i in (0, 1))
    whole = RankingDataset.from_arrays(np.empty((labels.size, 0), np.float32), labels, group=groups)
    model: Any = copy(ranker.make_model())
    chosen = model.chosen(whole)
    for name, value in chosen.items():
        setattr(model, name, value)
    model.gradient_bins = None
    common = (ranker, model, loss.settle(whole), _sample(shards))
    shards.settle()
    addresses = shards.gather(_address)
    machines = ",".join(f"{host}:{port}" for host, port in addresses)
    if len(set(addresses)) < len(addresses):
        raise ClusterError(f"two workers were given the same port ({machines}); try again")
    orders = [(*common, machines if len(addresses) > 1 else "", port) for _, port in addresses]
    grown = shards.together(_grow, orders)
    text = _agreed(grown, labels.size)
    ranker.scorer_ = ranker.finished(TreeScorer(text))
    sizes = {"queries": int(groups.size), "rows": int(labels.size), "features": about[0][2], "shards": len(about)}
    note_training(ranker, shards, sizes, names, **({"chosen": chosen} if chosen else {}))
    return ranker


def _boosted(model: Any) -> bool:
    if not isinstance(model, Trees) or type(model).train is not Trees.train:
        return False
    for name, value in (("boosting", "gbdt"), ("subsample", 1.0), ("warm_start", False), ("refit", False)):
        if getattr(model, name) != value:
            raise LossError(f"{name}={getattr(model, name)!r} is for one machine; over shards it is {value!r}")
    if model.bags > 1:
        raise LossError(f"n_bags={model.n_bags} is for one machine")
    return True


def _agreed(grown: list[tuple[int, str, str]], rows: int) -> str:
    """The text of the trees, which all workers have grown from all rows."""
    if len({digest for _, digest, _ in grown}) > 1:
        raise ClusterError("the workers have grown different trees; do they have the same versions of all packages?")
    seen = sum(n for n, _, _ in grown)
    text = grown[0][2]
    counts = {int(tree["internal_count"].split()[0]) for tree in split_trees(text)[1] if int(tree["num_leaves"]) > 1}
    if seen != rows or not counts <= {rows}:
        raise ClusterError(f"the trees were grown on {sorted(counts | {seen})} documents instead of {rows}")
    return text


# ----------------------------------------------------------------------------------------------------------- on a shard


def _about(shard: RankingDataset, ranker: Any) -> tuple[np.ndarray, np.ndarray, int, Any]:
    data = _prepared(shard, ranker)
    return data.group, np.asarray(data.labels), data.n_features, data.feature_names


def _prepared(shard: RankingDataset, ranker: Any) -> RankingDataset:
    """The shard as `fit` would see it, made once in each worker."""
    if "prepared" not in shard.memo:
        refuse_categories(shard.categories, "training over shards")
        shard.memo["prepared"] = ranker.prepared(shard)
    return shard.memo["prepared"]


def _address(shard: RankingDataset, _: Any) -> tuple[str, int]:
    """The address at which others reach this worker, with a port that is free."""
    host = _host()
    with socket.socket() as probe:
        probe.bind((host, 0))
        return host, probe.getsockname()[1]


def _host() -> str:
    """The address of a worker of a Dask cluster; elsewhere that of this machine for itself."""
    try:
        from distributed import get_worker

        return get_worker().address.split("://")[-1].rsplit(":", 1)[0].strip("[]")
    except (ImportError, ValueError):
        return "127.0.0.1"


def _sample(shards: Shards) -> np.ndarray:
    """Rows of the documents with the smallest hashes, in their order: the same however the data are cut."""
    keys = np.sort(np.concatenate(shards.gather(_least_keys, BIN_ROWS)))[:BIN_ROWS]
    parts = shards.gather(_rows_up_to, keys[-1])
    keys, rows = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return rows[np.lexsort((*rows.T[:2], keys))]


def _keys(shard: RankingDataset) -> np.ndarray:
    if "row keys" not in shard.memo:
        shard.memo["row keys"] = row_keys(shard.X, shard.offsets, np.zeros((shard.n_rows, 2)))
    return shard.memo["row keys"]


def _least_keys(shard: RankingDataset, n: int) -> np.ndarray:
    keys = _keys(shard)
    return np.sort(keys if keys.size <= n else np.partition(keys, n)[:n])


def _rows_up_to(shard: RankingDataset, largest: np.uint64) -> tuple[np.ndarray, np.ndarray]:
    rows = np.flatnonzero(_keys(shard) <= largest)
    return _keys(shard)[rows], dense(shard.X[rows])


def _grow(shard: RankingDataset, order: Any) -> tuple[int, str, str]:
    """Train with the others; number of rows, hash of the trees, and the trees."""
    import lightgbm as lgb

    ranker, model, loss, sample, machines, port = order
    data = _prepared(shard, ranker)
    bound = loss.bind(data, n_jobs=model.n_jobs)
    parameters = model.lightgbm_parameters(bound, data) | {"pre_partition": True}
    example = RankingDataset.from_arrays(
        sample, None, np.zeros(len(sample), np.int64), feature_names=data.feature_names
    )
    reference = lightgbm_dataset(lgb, example, parameters, model.categorical_numbers(data))
    train_set = lightgbm_dataset(lgb, data, parameters, reference=reference).construct()
    gradients = boosted_gradients(model, loss, bound)
    parameters["objective"] = lambda scores, dataset: gradients(scores, dataset)
    if machines:
        parameters |= {
            "machines": machines,
            "num_machines": machines.count(",") + 1,
            "local_listen_port": port,
            "tree_learner": "data",
            "time_out": _PATIENCE,
        }
    try:
        with _without_stdout():
            booster = lgb.train(parameters, train_set, num_boost_round=model.n_estimators)
    except lgb.basic.LightGBMError as error:
        if "_count) > (0)" not in str(error):
            raise
        raise LossError(
            f"LightGBM estimated a leaf to be empty (min_child_samples={model.min_child_samples}): over several shards "
            "it knows the number of documents in a leaf only by their curvature; give min_child_samples=1 or more"
        ) from None
    text = trees_only(booster.model_to_string(num_iteration=-1))
    booster.free_network()
    return data.n_rows, hashlib.sha256(text.encode()).hexdigest(), text


@contextlib.contextmanager
def _without_stdout() -> Iterator[None]:
    """Hide the message that LightGBM listens, which a thread of its own prints; errors are raised in any case."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
