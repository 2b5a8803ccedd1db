"""Find the best ranker for some data: search, train, select on validation data, test, compare."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterable, Mapping
from math import inf
from os import PathLike
from typing import Any

import numpy as np

from plackett._base.arguments import number_or_none
from plackett._base.search_space import SearchSpace
from plackett._kernels.cores import n_threads
from plackett.evaluation.giveaways import giveaways, warn_of_giveaways
from plackett.experiments.blending import BestBlended, blended_cells
from plackett.experiments.cells.cell import Cell, Failure
from plackett.experiments.cells.folder import CellFolder
from plackett.experiments.cells.key import cell_key, data_digest, identity, versions
from plackett.experiments.cells.queue import CellQueue
from plackett.experiments.cells.task import CellTask
from plackett.experiments.cells.trials import Protocol
from plackett.experiments.cells.warned import warn_of_trials
from plackett.experiments.contestants import Contestant, contestants
from plackett.experiments.data import Folds, folds_by_dataset
from plackett.experiments.live import Board
from plackett.experiments.result import SHARED, Experiment
from plackett.experiments.search import search_named
from plackett.experiments.search.grid import check_trials
from plackett.measures.base import Measure
from plackett.measures.language import parse, parse_all
from plackett.measures.presets import with_preset
from plackett.rankers.base import Ranker

__all__ = ["experiment"]

_ROLES = ("train", "valid", "test")
_PLACE = ("dataset", "fold", "ranker", "key")


def experiment(
    data: Any,
    rankers: Any,
    measures: str | Measure | Iterable[str | Measure],
    *,
    select: str | Measure | None = None,
    preset: str | None = None,
    folds: Any = 5,
    search: str | None = "random",
    n_trials: int | None = None,
    time_budget: float | None = None,
    spaces: Mapping[str, SearchSpace] | None = None,
    refit: bool = False,
    early_stopping: bool = True,
    blend: int | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    overwrite: bool = True,
    random_state: int = 0,
    n_jobs: int | None = None,
    cluster: Any = None,
    verbose: bool = False,
) -> Experiment:
    """Compare rankers under one protocol: the same folds, the same tuning budget, the same measures.

    In every fold, each ranker is trained on the training part with several settings. The setting with the best mean of
    ``select`` on the validation part (the first one in case of ties) is kept, and its ranker is measured on the test
    part. With LETOR's five folds, ``select="AP"`` and a LETOR preset, this is the protocol of the LETOR baselines.
    Labels of the test part are never used for training or selection.

    Every cell (one ranker in one fold) is written to ``out`` as soon as it finishes. An interrupted or killed run
    resumes from there when called again with the same arguments. A cell is reused only if its data, ranker,
    parameters, search, seed and versions are unchanged; otherwise it is recomputed. For your own rankers and measures,
    only the source of the class or function is checked, not what it calls: if you change a helper or a global that it
    uses, pass ``fresh=True``. Two experiments cannot run in one folder at the same time.

    Parameters
    ----------
    data
        One `RankingDataset`, cut by ``folds``; one split (an object with ``train``, ``valid`` and ``test``, or a tuple
        of the three); a list of splits (`plackett.letor_folds`); the name of a public dataset (`plackett.datasets`)
        with its official folds; or a dict of any of these by name, for several datasets.
    rankers
        Names, optionally with parameters (``"LambdaMART(num_leaves=7)"``), classes, estimators, or functions that build
        an estimator from a setting: a single one, a list, or a dict by name. LightGBM's, XGBoost's and scikit-learn's
        estimators are trained as in `cross_validate`.
    measures
        What to report on the test parts.
    select
        The measure used to select settings, rounds of training and, at the end, the best ranker. None means the first
        of ``measures``.
    preset
        Rules of another tool for all measures, including ``select``: ``"letor3"``, ``"letor4"``, ``"mslr"``, ….
    folds
        For a single dataset: the number of parts for LETOR's rotation, ``"time"`` (`plackett.split_by_time`: trained on
        the earliest queries, tested on the latest), or a splitter.
    search
        ``"random"``, ``"grid"``, ``"bayes"`` (Optuna: ``pip install 'plackett[tune]'``), ``"halving"`` (successive
        halving), or None for the parameters as given. Every search except the grid also tries the parameters as given.
    n_trials
        Trainings per ranker and fold (for ``"halving"``, those of the first round). None means 10; for the grid, three
        steps of each range; with only a time budget, as many as fit. A grid whose lists have more combinations than
        this is rejected before anything is read or trained, because part of a grid is not a grid.
    time_budget
        Seconds of searching per ranker and fold; no trial starts later. How many trials fit depends on the machine and
        its load, so two runs with a time budget may give different tables; with ``n_trials`` alone they do not.
    spaces
        Search spaces by ranker: ``{"ListNet": {"alpha": Real(1e-4, 1, log=True)}}`` or lists of values. By default each
        ranker's own (``LambdaMART.search_space``), without the parameters that you have set yourself. A ranker without
        a search space is trained once.
    refit
        Retrain the chosen setting on the training and validation parts together, for the best number of rounds.
    early_stopping
        Pass the validation part to rankers that monitor it during training (the best round is kept).
    blend
        Add one more row: in each fold, the mean score of this many rankers, those that are best on its validation part
        (`plackett.Blend`). Rankers of other libraries are left out. This needs no further training.
    out
        Folder for the cells, the models and the data. None means a temporary folder, deleted with the result.
    fresh
        Recompute every cell, even those already finished in ``out``.
    overwrite
        Whether ``out`` may hold another experiment (other data, protocol or rankers), which this one replaces; its
        finished cells stay. False raises an error instead. The same experiment, or one with more rankers, resumes.
    random_state
        Seed. The same seed and number of trials give the same result for any ``n_jobs``.
    n_jobs
        Total number of threads over all processes; None means all cores. On a cluster, threads of each cell; None
        means one.
    cluster
        A `distributed.Client`: the cells are computed on the workers of its Dask cluster (extra ``cluster``), which
        must see the folder ``out`` under the same path. The result is the same. A cell whose worker is lost is computed
        again on another one.
    verbose
        Show a table of the progress.

    Returns
    -------
    Experiment
        ``.leaderboard``, ``.per_query``, ``.trials``, ``.best()``, ``.cells``, ``.failures``, …; ``print`` shows the
        leaderboard. A cell that fails is listed in the failures and does not affect the others.

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.

    Examples
    --------
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(30, 8, 5, random_state=0)
    >>> finished = experiment(data, ["ListNet", "LinearRegression"], ["nDCG@5", "AP"], folds=3, n_trials=2, n_jobs=1)
    >>> finished.best() in ("ListNet", "LinearRegression")
    True
    >>> finished.leaderboard.columns[:5]
    ['dataset', 'ranker', 'measure', 'mean_over_folds', 'mean_over_queries']
    >>> finished.trials.height  # 2 rankers, 3 folds, 2 trials
    12
    """
    parsed = parse_all(measures)
    threads = 1 if cluster is not None and n_jobs is None else n_threads(n_jobs)
    protocol = _protocol(
        select=with_preset(parsed[0] if select is None else parse(select), preset),
        search=search,
        n_trials=_trials(search, n_trials, time_budget),
        time_budget=time_budget,
        refit=refit,
        early_stopping=early_stopping,
        random_state=random_state,
    )
    entries = contestants(rankers, spaces, random_state)
    if search == "grid" and protocol.n_trials is not None:
        check_trials({entry.name: entry.space for entry in entries}, protocol.n_trials)
    blended = None if blend is None else BestBlended.checked(blend, _ours(entries))
    splits = _splits(data, folds, validation=search is not None or refit or blended is not None)
    folder, owner = _folder(out, cluster)
    identities = {entry.name: identity(entry, protocol.select, protocol.to_json()) for entry in entries}
    tasks = _tasks(entries, splits, protocol, tuple(parsed), preset, identities, folder)
    manifest = _manifest(tasks, identities)
    options = {"threads": threads, "keep_data": owner is None, "cluster": cluster, "verbose": verbose}
    with folder.locked():
        if not overwrite:
            blends = {} if blended is None else {blended.name: blended.described}
            folder.refuse_another(manifest | {"rankers": manifest["rankers"] | blends})
        if fresh:
            folder.forget(task.key for task in tasks)
        cells, failures = _run(tasks, splits, folder, manifest, blended, fresh=fresh, **options)
    return Experiment(
        cells=tuple(cells),
        failures=tuple(failures),
        folds=splits,
        measures={str(measure): with_preset(measure, preset) for measure in parsed},
        folder=folder.path,
        _owner=owner,
        **{name: manifest[name] for name in SHARED},
    )


def _run(
    tasks: list[CellTask],
    splits: Folds,
    folder: CellFolder,
    manifest: dict[str, Any],
    blended: BestBlended | None,
    *,
    fresh: bool,
    threads: int,
    keep_data: bool,
    cluster: Any,
    verbose: bool,
) -> tuple[list[Cell], list[Failure]]:
    """Compute the cells that are not in the folder, and those of the blend; write the manifest before and after."""
    folder.write_manifest(manifest)
    first = tasks[0]
    queue = CellQueue(tasks, splits, folder, threads, keep_data=keep_data, cluster=cluster)
    with Board([task.names for task in tasks], str(first.protocol.select), verbose=verbose) as board:
        queue.run(board)
    cells = [queue.cell(task) for task in tasks if task.key in queue.cells]
    if blended is not None:
        ours = _ours([task.contestant for task in tasks])
        own = [cell for cell in cells if cell.ranker in ours]
        added = blended_cells(
            own, splits, folder, first.protocol, list(first.measures), first.preset, blended, fresh=fresh
        )
        cells += added
        manifest["rankers"][blended.name] = blended.described
        manifest["cells"] += [{name: getattr(cell, name) for name in _PLACE} for cell in added]
    warn_of_trials(cells)
    folder.write_manifest(manifest | {"failures": [vars(failure) for failure in queue.failures]})
    return cells, queue.failures


def _ours(entries: list[Contestant]) -> list[str]:
    """Names of plackett's own rankers."""
    return [entry.name for entry in entries if isinstance(entry.ranker, Ranker)]


def _protocol(**settings: Any) -> Protocol:
    """The protocol, checked before anything is trained."""
    if isinstance(settings["random_state"], bool) or not isinstance(settings["random_state"], (int, np.integer)):
        raise ValueError(
            f"random_state={settings['random_state']!r}; give a whole number, so that runs can be repeated"
        )
    search_named(settings["search"])
    if settings["search"] == "bayes":
        from plackett.experiments.search.bayes import load_optuna

        load_optuna()
    return Protocol(**settings)


def _splits(data: Any, folds: Any, *, validation: bool) -> Folds:
    """The folds of each dataset; features that give the labels away are a warning."""
    splits = folds_by_dataset(data, folds, validation=validation)
    for name, named in splits.items():
        warn_of_giveaways(giveaways(next(iter(named.values())).train), name)
    return splits


def _folder(out: str | PathLike[str] | None, cluster: Any) -> tuple[CellFolder, Any]:
    """The folder of the cells, and what deletes it if it is a temporary one."""
    owner = tempfile.TemporaryDirectory(prefix="plackett-", ignore_cleanup_errors=True) if out is None else None
    folder = CellFolder(owner.name if owner is not None else out or "")
    folder.prepare()
    # workers of a cluster have another working directory
    return folder if cluster is None else CellFolder(folder.path.resolve()), owner


def _trials(search: str | None, n_trials: int | None, time_budget: float | None) -> int | None:
    """Number of trials, or None if there is no limit."""
    from plackett.experiments.search import DEFAULT_TRIALS

    if n_trials is not None and (
        isinstance(n_trials, bool) or not isinstance(n_trials, (int, np.integer)) or n_trials < 1
    ):
        raise ValueError(f"n_trials={n_trials!r}; give a whole number of 1 or more")
    number_or_none("time_budget", time_budget, above=0, most=inf, error=ValueError)
    if n_trials is None and time_budget is None and search != "grid":
        return DEFAULT_TRIALS
    return None if n_trials is None else int(n_trials)


def _tasks(
    entries: list[Contestant],
    splits: Folds,
    protocol: Protocol,
    measures: tuple[Measure, ...],
    preset: str | None,
    identities: dict[str, dict[str, Any]],
    folder: CellFolder,
) -> list[CellTask]:
    """All cells, fold by fold."""
    digest = functools.cache(data_digest)  # folds share parts
    tasks = []
    for dataset, named in splits.items():
        for fold, split in named.items():
            given = {role: getattr(split, role, None) for role in _ROLES}
            parts = {role: None if part is None else digest(part) for role, part in given.items()}
            for entry in entries:
                key = cell_key(identities[entry.name], parts)
                tasks.append(CellTask(dataset, fold, entry, protocol, measures, preset, key, parts, folder.path))
    return tasks


def _manifest(tasks: list[CellTask], identities: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the folder says about the experiment."""
    first = tasks[0]
    return {
        "versions": versions(),
        "measures": [str(measure) for measure in first.measures],
        "preset": first.preset,
        "select": str(first.protocol.select),
        "protocol": first.protocol.to_json(),
        "rankers": {name: known["ranker"] for name, known in identities.items()},
        "folds": [
            {"dataset": dataset, "fold": fold, **parts}
            for (dataset, fold), parts in {(task.dataset, task.fold): task.parts for task in tasks}.items()
        ],
        "cells": [{"dataset": t.dataset, "fold": t.fold, "ranker": t.contestant.name, "key": t.key} for t in tasks],
        "failures": [],
    }
