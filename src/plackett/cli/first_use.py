"""The first use on a machine: a second process compiles what a command needs after it has read its data.

Kernels are compiled one at a time in a process. While this one compiles those that read files, a second one goes
through the rest of the command on a few made-up documents; its compiled kernels are then loaded from the cache.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from plackett._base.process import is_own_process, own_process
from plackett._kernels.cores import n_threads
from plackett._kernels.folder import cache_root, nothing_compiled, on_first_compilation
from plackett.cli.lean import lightgbm_alone

#: Seconds that the command waits for the second process after it has read its data.
_PATIENCE = 30
#: Parameters that decide how long a training takes, and how much of it a rehearsal does.
_ROUNDS = {"n_estimators": 3, "max_iter": 3, "max_epochs": 1, "generations": 1, "n_steps": 100}


def rehearse_training(ranker: Any, *, validate: bool) -> contextlib.AbstractContextManager[None]:
    """A context to read data in: while kernels are compiled for that, so are those of the training, in parallel."""
    return _in_parallel(_train, ranker, validate)


def rehearse_evaluation(measures: Sequence[str], preset: str | None) -> contextlib.AbstractContextManager[None]:
    """The same for the evaluation of scores; the last of several measures is left to this process, which ends first."""
    if len(measures) < 3:
        return _in_parallel(_evaluate, list(measures), preset)
    *rest, last = measures
    return _in_parallel(_evaluate, rest, preset, meanwhile=partial(_evaluate, [last], preset))


def rehearse_experiment(
    rankers: Iterable[Any], measures: Sequence[str], preset: str | None = None
) -> contextlib.AbstractContextManager[None]:
    """The same for several rankers that are trained and measured; those of other libraries are left out."""
    from plackett.rankers.base import Ranker

    ours = [ranker for ranker in rankers if isinstance(ranker, Ranker)]
    return _in_parallel(_experiment, ours, list(measures), preset)


@contextlib.contextmanager
def _in_parallel(task: Callable[..., None], *args: Any, meanwhile: Callable[[], None] | None = None) -> Iterator[None]:
    if not is_own_process() or n_threads() < 2 or cache_root() is None:
        yield
        return
    started: list[Any] = []

    def start(method: str) -> None:
        if not started:
            with contextlib.suppress(OSError):  # no further process is allowed: the command takes longer
                started.append(_start(method, task, *args))

    try:
        if nothing_compiled():  # no need to wait until the first kernel is missed
            start("fork" if sys.platform == "linux" else "spawn")
        with on_first_compilation(partial(start, "spawn")):  # perhaps from a thread: a copy might wait for its locks
            yield
        if started and meanwhile is not None:  # what the second process would come to last
            # a measure may not fit the made-up documents; whatever is wrong is said when it meets the real ones
            with contextlib.suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                meanwhile()
        for process in started:
            process.join(_PATIENCE)
    finally:
        for process in started:
            process.kill()
            process.join()


def _start(method: str, task: Callable[..., None], *args: Any) -> Any:
    """The second process: a copy of this one (fork), which has Numba loaded already, or a new one (spawn)."""
    if method == "fork":
        _load_compiler()
    context: Any = multiprocessing.get_context(method)
    process = context.Process(target=_work, args=(task, *args), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python counts threads of OpenBLAS, which only wait
        process.start()
    return process


def _load_compiler() -> None:
    """Let Numba load what it compiles with, as it does for its first function: it takes a second of processor time."""
    from numba import njit

    njit(lambda number: number)(0)


def _work(task: Callable[..., None], *args: Any) -> None:
    """What the second process does."""
    gc.disable()  # it ends soon
    own_process()
    os.environ["OMP_NUM_THREADS"] = "1"
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # whatever is wrong is said when it meets the real data
        os.dup2(nowhere, stream)
    task(*args)


def _train(ranker: Any, validate: bool) -> None:
    from plackett.data.estimators import fit

    if hasattr(ranker, "lightgbm_params"):
        lightgbm_alone()
    known = ranker.get_params(deep=False)
    ranker.set_params(**{name: rounds for name, rounds in _ROUNDS.items() if name in known})
    ranker.verbose = False
    fit(ranker, _data(), _data() if validate else None)


def _experiment(rankers: list[Any], measures: list[str], preset: str | None) -> None:
    _evaluate(measures, preset)
    for ranker in rankers:
        _train(ranker, validate=True)
        ranker.score_rows(_data())


def _evaluate(measures: list[str], preset: str | None) -> None:
    from plackett.evaluation.evaluate import evaluate

    data = _data()
    evaluate(data, np.asarray(data.X)[:, 0], measures, preset=preset)


def _data() -> Any:
    from plackett.data.dataset import RankingDataset

    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 5)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1], [0.0, 1.0]).astype(float)
    return RankingDataset.from_arrays(X, y, qid=np.repeat(np.arange(12), 20))
