"""Cross-validation by query: train, select on the validation part, test."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._base.progress import progress
from plackett._kernels.cores import n_threads
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import build, fit, predict
from plackett.evaluation.evaluate import measure_scored
from plackett.experiments.cross_validation import CrossValidation, Trial
from plackett.experiments.folds import named_folds
from plackett.experiments.settings import expand_settings
from plackett.measures.base import Measure
from plackett.measures.language import parse, parse_all
from plackett.measures.presets import with_preset
from plackett.measures.ranking import Scored
from plackett.rankers.named import ranker_named

__all__ = ["cross_validate"]


def cross_validate(
    data: RankingDataset | Iterable[Any] | Mapping[str, Any],
    ranker: Any,
    measures: str | Measure | Iterable[str | Measure],
    *,
    folds: Any = 5,
    settings: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | None = None,
    select: str | Measure | None = None,
    preset: str | None = None,
    early_stopping: bool = False,
    fit_params: Mapping[str, Any] | None = None,
    keep_rankers: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> CrossValidation:
    """Train and test a ranker over folds, selecting among settings on the validation part of each fold.

    In each fold, the ranker is trained on the training part once per setting. The setting with the best mean of
    ``select`` on the validation part (the first one in case of ties) is selected, and its ranker is measured on the
    test part without further training. This is the protocol of the LETOR baselines, which use ``select="AP"``
    whichever measures they report. Rankers see labels of the validation part only with ``early_stopping``, and labels
    of the test part never.

    Parameters
    ----------
    data
        The folds: objects with ``train``, ``valid`` and ``test`` (`plackett.letor_folds`, or read one by one from
        LETOR's files), or a dict of them by name; or one `RankingDataset`, to be cut by ``folds``.
    ranker
        An estimator (cloned for each training), a class or function that builds one from the values of a setting, or
        the name of one of our rankers, such as ``"LambdaMART"``.
        Our rankers, LightGBM's, XGBoost's and CatBoost's, and plain regressors are trained as the signature of their
        ``fit`` requires: with the dataset, with ``qid``, ``group`` or ``group_id``, or with features and labels only.
        For a pipeline, its last step decides.
    measures
        What to report on the test parts.
    folds
        For a single dataset: the number of parts for LETOR's rotation (one validates, one tests, the others train;
        queries in order of appearance), or a splitter such as `plackett.QueryKFold` (no validation part).
    settings
        Parameters to choose from: a dict of lists (all combinations) or a list of dicts.
    select
        The measure used for selection; None means the first of ``measures``.
    preset
        Rules of another tool for all measures; ``"letor3"``, ``"letor4"`` or ``"mslr"`` for published figures.
    early_stopping
        Pass the validation part to ``fit`` as ``eval_set`` (with ``eval_qid`` or ``eval_group``). The validation value
        is then no longer independent of the training; the test value still is.
    fit_params
        Further arguments of ``fit``, such as LightGBM's ``callbacks``.
    keep_rankers
        Keep each fold's selected ranker in ``.rankers``.
    random_state
        Seed for estimators that have the parameter and leave it None, and for the tie rule ``random``.
    n_jobs
        Number of parallel trainings, in threads. None means one: most rankers use all cores themselves.
    verbose
        Show a progress bar if it takes longer than two seconds.

    Returns
    -------
    CrossValidation
        ``.mean`` (over folds, LETOR's figure), ``.mean_over_queries``, ``.folds``, ``.trials``, ``.per_query``,
        ``.best_settings``.

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((60, 2))
    >>> data = RankingDataset.from_arrays(X, (X[:, 0] > 0.5).astype(int), qid=np.repeat(np.arange(15), 4))
    >>> validated = cross_validate(data, Ridge(), ["nDCG@3"], settings={"alpha": [0.1, 1e4]}, select="nDCG")
    >>> validated.folds.columns
    ['fold', 'setting', 'validation', 'nDCG@3', 'seconds']
    >>> len(validated.best_settings), validated.per_query.height
    (5, 15)
    """
    if isinstance(ranker, str):
        ranker, _ = ranker_named(ranker)
    if not hasattr(ranker, "fit") and not callable(ranker):
        raise DataError(
            f"ranker is of type {type(ranker).__name__}; give an estimator, a class, a function or a name: "
            "cross_validate(data, ranker, measures)"
        )
    parsed = parse_all(measures)
    selecting = parsed[0] if select is None else parse(select)
    choice = with_preset(selecting, preset)
    candidates = expand_settings(settings)
    named, n_folds = named_folds(data, folds, validation=early_stopping or len(candidates) > 1)
    tasks = (
        (name, fold, ranker, setting, choice, early_stopping, fit_params, random_state)
        for name, fold in named
        for setting in candidates
    )
    runs = _in_order(tasks, 1 if n_jobs is None else n_threads(n_jobs))
    total = None if n_folds is None else n_folds * len(candidates)
    runs = progress(runs, "trainings", total, verbose=verbose)
    evaluations, chosen, rankers = [], [], []
    tried: list[Trial] = []
    while (first := next(runs, None)) is not None:
        best = _best(first, itertools.islice(runs, len(candidates) - 1), choice, tried)
        evaluations.append(measure_scored(Scored(best.test, best.scores, random_state=random_state), parsed, preset))
        chosen.append(best.trial)
        if keep_rankers:
            rankers.append(best.ranker)
    if not chosen:
        raise DataError("there are no folds")
    return CrossValidation(evaluations, chosen, tried, str(selecting), rankers if keep_rankers else None)


# ----------------------------------------------------------------------------------------------------------- trials


class _Run(NamedTuple):
    trial: Trial
    ranker: Any
    test: RankingDataset
    scores: np.ndarray


def _trial(
    name: Any,
    fold: Any,
    ranker: Any,
    setting: dict[str, Any],
    select: Measure,
    early_stopping: bool,
    fit_params: Mapping[str, Any] | None,
    random_state: int,
) -> _Run:
    """Train with one setting in one fold; score the validation and the test part."""
    try:
        fresh = build(ranker, setting, random_state)
        start = time.perf_counter()
        fit(fresh, fold.train, fold.valid if early_stopping else None, fit_params)
        seconds = time.perf_counter() - start
        value = None
        if getattr(fold, "valid", None) is not None:
            scored = Scored(fold.valid, predict(fresh, fold.valid), random_state=random_state)
            value = select.mean(select.per_query(scored))
        return _Run(Trial(name, setting, value, seconds), fresh, fold.test, predict(fresh, fold.test))
    except Exception as error:
        error.add_note(f"in fold {name} with the setting {setting}")
        raise


def _in_order(tasks: Iterator[tuple], threads: int) -> Iterator[_Run]:
    """Run a few trials at a time and yield their results in order."""
    if threads == 1:
        yield from itertools.starmap(_trial, tasks)
        return
    waiting: deque[Future[_Run]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="plackett-trial") as pool:
        try:
            for task in tasks:
                waiting.append(pool.submit(_trial, *task))
                if len(waiting) > threads:  # no fold is read long before it is needed
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _best(best: _Run, others: Iterable[_Run], select: Measure, tried: list[Trial]) -> _Run:
    """The run of a fold with the best validation value, the first one if tied; the others are dropped."""

    def worth(run: _Run) -> float:
        value = run.trial.validation
        return -np.inf if value is None or np.isnan(value) else select.worth(value)

    before = len(tried)
    tried.append(best.trial)
    for run in others:
        tried.append(run.trial)
        if worth(run) > worth(best):
            best = run
    if len(tried) > before + 1 and worth(best) == -np.inf:
        raise DataError(
            f"fold {best.trial.fold}: {select} has no value on the validation part; select by another measure"
        )
    return best
