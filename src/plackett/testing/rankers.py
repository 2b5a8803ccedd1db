"""The rules that every ranker must follow, including user-defined ones.

They hold for any algorithm: it learns an easy task, does not depend on the order of rows or on threads, accepts weights
and validation data, rejects bad input by name, and can be copied, saved and loaded.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from plackett._base.errors import DataError, LossError, PlackettWarning
from plackett._files import storage as _storage
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.evaluation.evaluate import evaluate
from plackett.rankers import storage
from plackett.rankers.base import Ranker
from plackett.solvers.monitor import Monitor
from plackett.testing._check import Check, rule_of
from plackett.testing._expect import close, equal, refuses, require, warns

#: Makes a ranker; keyword arguments are parameters.
Make = Callable[..., Any]

#: Small settings, for whichever of these a ranker has: a battery takes about a second.
SMALL = {
    "n_estimators": 8,
    "num_leaves": 5,
    "min_child_samples": 1,
    "max_iter": 25,
    "max_epochs": 10,
    "n_steps": 20_000,
    "population_size": 40,
    "generations": 8,
    "n_runs": 1,
    "hidden": (8,),
    "device": "cpu",
    "n_jobs": 1,
}


def check_ranker(ranker: Any, *, skip: Sequence[str] = ()) -> None:
    """Check that a ranker follows every rule that rankers have in common.

    Parameters
    ----------
    ranker
        A ranker class, a ranker, or a `functools.partial` of a class with parameters. A class is checked with small
        settings (few rounds, small trees), so that it takes seconds; everything else is checked unchanged.
    skip
        Names of rules to leave out, in addition to those in the class's ``_test_skips``.

    Raises
    ------
    CheckFailed
        If a rule is broken; the message has the first such rule and what was found.

    Examples
    --------
    >>> from plackett import LinearRegression
    >>> check_ranker(LinearRegression)  # doctest: +SKIP
    """
    for check in ranker_checks(ranker):
        if check.name not in skip:
            check()


def ranker_checks(ranker: Any) -> Iterator[Check]:
    """The checks of a ranker, one by one; the parameter is that of `check_ranker`."""
    make = _maker(ranker)
    cls: Any = make.func
    usual = {name: one.default for name, one in inspect.signature(cls).parameters.items()} | small(cls).keywords
    changed = [f"{name}={value!r}" for name, value in make.keywords.items() if repr(value) != repr(usual.get(name))]
    subject = cls.__name__ + (f"({', '.join(changed)})" if changed and not isinstance(ranker, type) else "")
    for function in CHECKS:
        name, rule = rule_of(function)
        if name not in cls._test_skips:
            yield Check(subject, name, rule, partial(_run, function, make))


def _maker(ranker: Any) -> partial[Any]:
    """What makes the rankers to check."""
    if isinstance(ranker, type) and issubclass(ranker, Ranker):
        return small(ranker)
    if isinstance(ranker, Ranker):
        return partial(type(ranker), **ranker.get_params(deep=False))
    if isinstance(ranker, partial) and isinstance(ranker.func, type) and issubclass(ranker.func, Ranker):
        return ranker
    raise TypeError(f"{ranker!r} is neither a ranker nor a class of rankers: derive it from plackett.rankers.Ranker")


def _run(function: Callable[..., None], make: Make) -> None:
    if "folder" in inspect.signature(function).parameters:
        with tempfile.TemporaryDirectory() as folder:
            function(make, Path(folder))
    else:
        function(make)


def variants(cls: type[Ranker]) -> Iterator[partial[Any]]:
    """Makers of small rankers of a class: with its defaults, and with the parameters that the class names for tests."""
    yield small(cls)
    for parameters in vars(cls).get("_test_variants", ()):  # those of a parent may not fit
        yield small(cls, **parameters)


def small(cls: Any, **parameters: Any) -> partial[Any]:
    """Makes small rankers of a class; keyword arguments win."""
    known = cls().get_params()
    chosen = {k: v for k, v in SMALL.items() if k in known}
    if "max_epochs" in known:  # a network, which must learn in few steps
        chosen |= {"learning_rate": 0.05, "batch_size": 4}
    if {"C", "tol"} <= set(known):  # a solver with a proved gap, which warns where it cannot close it
        chosen.pop("max_iter", None)
    return partial(cls, **(chosen | getattr(cls, "_test_settings", {}) | parameters))


def easy_task(seed: int = 0, n_queries: int = 24, n_features: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists whose labels follow the first two features, up to a level that differs between queries."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(4, 12, n_queries))
    X = rng.normal(size=(qid.size, n_features)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.3, 0.8]).astype(float)
    return X, y, qid


def ndcg(scores: np.ndarray, y: np.ndarray, qid: np.ndarray, measure: str = "nDCG") -> float:
    """Mean of a measure over the queries, nDCG unless another is named."""
    data = RankingDataset.from_arrays(None, y, qid)
    return evaluate(data, data.from_input_order(scores), [measure]).mean[measure]


# ---------------------------------------------------------------------------------------------------------- learning


def check_learns(make: Make) -> None:
    """It learns an easy task: on new queries it gains most of what equal scores miss; `score` agrees with `predict`."""
    X, y, qid = easy_task()
    ranker = make().fit(X, y, qid=qid)
    new_X, new_y, new_qid = easy_task(seed=1)
    scores = ranker.predict(new_X, qid=new_qid)
    right = scores.shape == new_y.shape and scores.dtype == np.float64
    require(right, f"predict gives {scores.dtype} of shape {scores.shape}, not float64 of shape {new_y.shape}")
    chance, value = ndcg(np.zeros(new_y.size), new_y, new_qid), ndcg(scores, new_y, new_qid)
    require(value > 0.25 * chance + 0.75, f"nDCG {value:.4f} on new queries; equal scores have {chance:.4f}")
    at_10 = ndcg(scores, new_y, new_qid, "nDCG@10")
    close(ranker.score(new_X, new_y, qid=new_qid), at_10, "`score` is not the nDCG@10 of `predict`", rtol=1e-12)


def check_rank(make: Make) -> None:
    """`rank` gives the positions 1…n of each query, in the order of the scores."""
    X, y, qid = easy_task(n_queries=8)
    rows = np.random.default_rng(0).permutation(y.size)
    X, y, qid = X[rows], y[rows], qid[rows]
    ranker = make().fit(X, y, qid=qid)
    scores, positions = ranker.predict(X, qid=qid), ranker.rank(X, qid=qid)
    for q in range(8):
        mine = np.flatnonzero(qid == q)
        complete = sorted(positions[mine]) == list(range(1, mine.size + 1))
        require(complete, f"the positions of a query of {mine.size} documents are {positions[mine].tolist()}")
        falling = (np.diff(scores[mine][np.argsort(positions[mine])]) <= 0).all()
        require(falling, f"positions {positions[mine].tolist()} do not follow the scores {scores[mine].tolist()}")


def check_order_of_input(make: Make) -> None:
    """The same ranker whatever the order of rows and the spelling of ids; attributes are in the order of the input."""
    X, y, qid = easy_task()
    weight = np.random.default_rng(1).uniform(0.5, 2, y.size)
    usual = make().fit(X, y, qid=qid, sample_weight=weight)
    expected, entries = usual.predict(X, qid=qid), _entries(usual, qid, np.arange(y.size))
    rng = np.random.default_rng(2)
    names = np.array([f"query {n}" for n in rng.permutation(qid.max() + 1)])
    for rows, ids in (
        (rng.permutation(y.size), names[qid].astype(object)),
        (np.argsort(-qid, kind="stable"), names[qid]),
    ):
        ranker = make().fit(X[rows], y[rows], qid=ids[rows], sample_weight=weight[rows])
        equal(ranker.predict(X, qid=qid), expected, "different scores after the same rows in another order")
        for name, values in _entries(ranker, qid[rows], rows).items():
            equal(values, entries[name], f"{name} does not follow the order of the queries or rows of the input")


def _entries(ranker: Any, qid: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Fitted attributes with an entry for each query or row, sorted by query id or row number."""
    first = np.sort(np.unique(qid, return_index=True)[1])
    order = {first.size: np.argsort(qid[first]), rows.size: np.argsort(rows)}
    return {
        name: np.asarray(values)[order[len(values)]]
        for name, values in vars(ranker).items()
        if name.endswith("_") and isinstance(values, (np.ndarray, list, tuple)) and len(values) in order
    }


def check_deterministic(make: Make) -> None:
    """The same for a seed, for any number of threads, and wherever arrays happen to be in memory."""
    X, y, qid = easy_task(n_queries=40)
    rng = np.random.default_rng(0)
    memory, scores = [], []
    for n_jobs in (1, 2, 2):
        scores.append(make(n_jobs=n_jobs, random_state=3).fit(X, y, qid=qid).predict(X, qid=qid))
        memory += [np.empty(size) for size in rng.integers(1, 200, 50)]
        del memory[::3]
    for again in scores[1:]:
        equal(again, scores[0], "different scores from the same data, seed and parameters, except n_jobs")


def check_refit(make: Make) -> None:
    """An earlier fit leaves no trace, and a failed one changes nothing."""
    X, y, qid = easy_task()
    expected = make().fit(X, y, qid=qid).predict(X, qid=qid)
    ranker = make().fit(X[:, :2], -y + 2, qid=qid)
    equal(ranker.fit(X, y, qid=qid).predict(X, qid=qid), expected, "a second fit differs from a fresh one")
    with refuses(ValueError, "measure", "eval_measure='no such measure'"):
        ranker.set_params(eval_measure="no such measure").fit(X[:, :1], y, qid=qid)
    equal(ranker.predict(X, qid=qid), expected, "a fit that failed changed the ranker")


def check_warm_start(make: Make) -> None:
    """With warm_start more of the same improves, or leaves, what was learned."""
    if "warm_start" not in make().get_params():
        return
    X, y, qid = easy_task()
    ranker = make(warm_start=True).fit(X, y, qid=qid)
    first = ndcg(ranker.predict(X, qid=qid), y, qid)
    then = ndcg(ranker.fit(X, y, qid=qid).predict(X, qid=qid), y, qid)
    require(then >= first - 0.01, f"nDCG fell from {first:.4f} to {then:.4f} in a second fit with warm_start")
    with refuses(ValueError, "features", "warm_start with another number of features"):
        ranker.fit(X[:, :2], y, qid=qid)


# --------------------------------------------------------------------------------------------------- hard data


def check_odd_lists(make: Make) -> None:
    """It learns among queries of one document, of one label, without judgements, and constant features."""
    X, y, qid = easy_task()
    X[:, 3] = 7.0
    y[qid == 1] = 2.0
    y[qid == 2] = 0.0
    y[qid == 3] = -1.0
    y[::9] = -1.0
    X, y, qid = np.vstack([X, X[:2]]), np.append(y, [0.0, 2.0]), np.append(qid, [100, 101])
    ranker = make().fit(X, y, qid=qid)
    scores = ranker.predict(X, qid=qid)
    require(np.isfinite(scores).all(), "scores that are not finite")
    judged = y >= 0
    reached = ndcg(scores[judged], y[judged], qid[judged])
    require(reached > 0.85, f"nDCG {reached:.4f} on the training data, expected more than 0.85")


def check_nothing_to_learn(make: Make) -> None:
    """Constant features, one label, one document: finite scores, equal for equal documents."""
    y, qid = np.zeros(6), np.repeat([0, 1], 3)
    grades = np.array([0, 1, 2, 0, 1, 2.0])
    for X in (np.ones((6, 2)), np.zeros((6, 2)), csr_matrix((6, 2))):
        for labels in (y, grades, y - 1):
            # learning nothing from labels that differ deserves a warning
            word = warns(PlackettWarning, "learned nothing", "constant features and labels that differ")
            with word if labels is grades else nullcontext():
                ranker = make().fit(X, labels, qid=qid)
            scores = ranker.predict(X, qid=qid)
            same = np.isfinite(scores).all() and np.ptp(scores) < 1e-6
            require(same, f"equal documents have the scores {scores.tolist()}")
    scores = make().fit([[1.0]], [1.0], qid=["a"]).predict([[1.0]], qid=["b"])
    require(np.isfinite(scores).all(), f"trained on one document, it scores {scores}")


def check_real_labels(make: Make) -> None:
    """Labels that are not grades, and huge ones: learned from, or refused with a message that names the labels."""
    X, y, qid = easy_task()
    for labels in (y / 3 + 0.1, np.where(y == 2, 100.0, y), np.where(y == 2, 2e12, y)):
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "labels up to .* too large for the gain", PlackettWarning)
                ranker = make().fit(X, labels, qid=qid)
        except ValueError as error:
            require("label" in str(error), f"labels up to {labels.max():g} are refused, but not by name: {error}")
            continue
        scores = ranker.predict(X, qid=qid)
        require(np.isfinite(scores).all(), f"scores that are not finite for labels up to {labels.max():g}")
        reached = ndcg(scores, y, qid)
        require(reached > 0.8, f"nDCG {reached:.4f} for labels up to {labels.max():g}, expected more than 0.8")


def check_nan_features(make: Make) -> None:
    """NaN features are missing values where ``allow_nan`` says so, and refused by name otherwise."""
    X, y, qid = easy_task()
    X[::5, 3] = np.nan
    if make().allow_nan:
        scores = make().fit(X, y, qid=qid).predict(X, qid=qid)
        require(np.isfinite(scores).all(), "allow_nan is set, but documents with NaN have scores that are not finite")
        return
    with refuses(ValueError, r"X has missing values \(NaN\)", "fit with NaN features"):
        make().fit(X, y, qid=qid)
    ranker = make().fit(np.nan_to_num(X), y, qid=qid)
    with refuses(ValueError, "NaN", "predict with NaN features"):
        ranker.predict(X, qid=qid)
    with refuses(ValueError, "eval_set has missing values", "NaN features in eval_set"):
        make().fit(np.nan_to_num(X), y, qid=qid, eval_set=(X, y), eval_qid=qid)


# ------------------------------------------------------------------------------------------------------------ errors


def check_refusals(make: Make) -> None:
    """Bad input is refused, and each message names the field."""
    X, y, qid = easy_task(n_queries=5)
    with refuses(NotFittedError, "", "predict before fit"):
        make().predict(X)
    bad = y.copy()
    bad[3] = np.nan
    ranker = make().fit(X, y, qid=qid)
    for match, call in (
        (r"y\[3\]", lambda: make().fit(X, bad, qid=qid)),
        ("qid has", lambda: make().fit(X, y, qid=qid[1:])),
        ("y has", lambda: make().fit(X, y[1:], qid=qid)),
        ("requires y", lambda: make().fit(X, qid=qid)),
        ("sample_weight has", lambda: make().fit(X, y, qid=qid, sample_weight=[1.0])),
        (r"sample_weight\[0\]", lambda: make().fit(X, y, qid=qid, sample_weight=-np.ones(y.size))),
        (r"sample_weight\[2\] is inf", lambda: make().fit(X, y, qid=qid, sample_weight=_infinite(y.size))),
        (r"query_weight\[2\] is inf", lambda: make().fit(X, y, qid=qid, query_weight=_infinite(5))),
        ("query_weight has", lambda: make().fit(X, y, qid=qid, query_weight=[1.0])),
        ("query_weight is zero", lambda: make().fit(X, y, qid=qid, query_weight=np.zeros(5))),
        ("sample_weight is zero", lambda: make().fit(X, y, qid=qid, sample_weight=np.zeros(y.size))),
        ("group", lambda: make().fit(X, y, group=[1, 2])),
        (r"X\[0, 0\] is infinite", lambda: make().fit(np.where(X[0, 0] == X, np.inf, X), y, qid=qid)),
        (r"0 sample\(s\)", lambda: make().fit(np.empty((0, 2)), [], qid=[])),
        ("X has 2 features", lambda: ranker.predict(X[:, :2], qid=qid)),
        ("eval_set has 2 features", lambda: make().fit(X, y, qid=qid, eval_set=(X[:, :2], y), eval_qid=qid)),
        ("eval_set", lambda: make().fit(X, y, qid=qid, eval_set=X)),
        ("early_stopping_rounds", lambda: make(early_stopping_rounds=3).fit(X, y, qid=qid)),
        ("validation_fraction", lambda: make(validation_fraction=1.5).fit(X, y, qid=qid)),
        ("no_such_thing", lambda: make().set_params(no_such_thing=1)),
    ):
        with refuses(ValueError, match, f"bad input that concerns {match!r}"):
            call()
    with refuses(TypeError, "no_such_thing", "a parameter that does not exist"):
        make(no_such_thing=1)


def _infinite(n: int) -> np.ndarray:
    return np.where(np.arange(n) == 2, np.inf, 1.0)


# -------------------------------------------------------------------------------------------------- forms of input


def check_forms_of_input(make: Make) -> None:
    """Arrays, lists, CSR, frames with a column qid, datasets and group sizes mean the same."""
    import polars as pl

    X, y, qid = easy_task(n_queries=12)
    X[np.abs(X) < 0.3] = 0.0
    expected = make().fit(X, y, qid=qid).predict(X, qid=qid)
    columns = {f"f{j}": X[:, j] for j in range(X.shape[1])}
    names = np.array([f"q{n}" for n in qid])
    frame = pl.DataFrame({**columns, "qid": names})
    tables = find_spec("pandas") and find_spec("pyarrow")
    for given in (frame.to_pandas()[["qid", *columns]], frame) if tables else (frame,):
        ranker = make().fit(given, y)
        equal(ranker.predict(given), expected, f"a {type(given).__module__} frame gives different scores than arrays")
        names_in = ranker.feature_names_in_.tolist()
        require(names_in == list(columns), f"feature_names_in_ is {names_in}, the columns are {list(columns)}")
    if tables:
        equal(ranker.predict(frame.to_arrow()), expected, "an Arrow table gives different scores than arrays")
    turned = frame.select("f3", "qid", "f2", "f1", "f0")
    equal(ranker.predict(turned), expected, "columns in another order give different scores")
    require(ranker.score(turned, y) == ranker.score(frame, y), "columns in another order give a different `score`")
    with refuses(ValueError, "X lacks the column 'f2' and has the column 'f9'", "a column of another name"):
        ranker.predict(frame.rename({"f2": "f9"}))
    with refuses(ValueError, "column 'f1'", "a column of text"):
        make().fit(frame.with_columns(f1=pl.lit("text")), y)
    data = RankingDataset.from_arrays(X, y, qid)
    equal(make().fit(data).predict(data), expected, "a dataset gives different scores than arrays")
    grouped = make().fit(X.tolist(), y.tolist(), group=np.bincount(qid))
    equal(grouped.predict(X, qid=qid), expected, "lists and group sizes give different scores than arrays and qid")
    sparse = make().fit(csr_matrix(X), y, qid=qid).predict(csr_matrix(X), qid=qid)
    close(sparse, expected, "a sparse matrix gives different scores than a dense one", rtol=1e-3, atol=1e-3)
    with warns(PlackettWarning, "without qid", "fit without query ids"):
        make().fit(X, y)


def check_dataset_order(make: Make) -> None:
    """For a dataset, scores are in its grouped order; for arrays in the caller's."""
    X, y, qid = easy_task(n_queries=6)
    rows = np.random.default_rng(0).permutation(y.size)
    data = RankingDataset.from_arrays(X[rows], y[rows], qid[rows])
    ranker = make().fit(data)
    for name, call in (("predict", ranker.predict), ("rank", ranker.rank)):
        grouped, expected = data.to_input_order(call(data)), call(X[rows], qid=qid[rows])
        equal(grouped, expected, f"`{name}` of a dataset, turned to the order of the input, is not that of the arrays")


def check_predict_alone(make: Make) -> None:
    """A document's score does not depend on the other queries scored with it."""
    X, y, qid = easy_task()
    ranker = make().fit(X, y, qid=qid)
    together = ranker.predict(X, qid=qid)
    for q in (0, 7):
        alone = ranker.predict(X[qid == q], qid=qid[qid == q])
        equal(alone, together[qid == q], "a query scored alone has different scores than among others")
    shape = ranker.predict(np.empty((0, X.shape[1])), qid=[]).shape
    require(shape == (0,), f"no documents have scores of shape {shape}, not (0,)")


# -------------------------------------------------------------------------------------------------------- weights


def check_query_weight(make: Make) -> None:
    """Weight 0 leaves a query out, exactly; weight 2 is the query given twice, up to rounding."""
    X, y, qid = easy_task()
    kept = qid % 3 != 0
    weight = (np.arange(qid.max() + 1) % 3 != 0).astype(float)
    expected = make().fit(X[kept], y[kept], qid=qid[kept], query_weight=weight[weight > 0]).predict(X, qid=qid)
    weighted = make().fit(X, y, qid=qid, query_weight=weight).predict(X, qid=qid)
    equal(weighted, expected, "queries of weight 0 are not the same as queries left out")
    one_batch = _one_batch(make)
    if one_batch is None:
        return
    make = one_batch
    twice = np.vstack([X, X[kept]]), np.append(y, y[kept]), np.append(qid, qid[kept] + 1000)
    expected = make().fit(twice[0], twice[1], qid=twice[2]).predict(X, qid=qid)
    weighted = make().fit(X, y, qid=qid, query_weight=weight + 1).predict(X, qid=qid)
    # up to rounding, which may turn a split of a tree: far nearer than without the weights
    plain = make().fit(X, y, qid=qid).predict(X, qid=qid)
    off, moved = np.linalg.norm(weighted - expected), np.linalg.norm(weighted - plain)
    require(off <= 0.25 * moved, f"weight 2 is {off:g} away from the query twice, {moved:g} from no weights at all")


def _one_batch(make: Make) -> Make | None:
    """The same without a draw: all queries in a step, bins and leaves that do not count rows; None where impossible."""
    known = make().get_params()
    if getattr(make(), "one_at_a_time", False):  # a query given twice is seen at two different times
        return None
    if known.get("boosting") in ("forest", "bagged"):  # queries are drawn
        return None
    if hasattr(make(), "make_loss") and make().make_loss().drawn:  # by scores, whose last bits differ
        return None
    if "lightgbm_params" in known:
        # few trees: LightGBM estimates the rows of a leaf from rounded curvatures, and may skip a split because of it
        few = {"n_estimators": 4} if "n_estimators" in known else {}
        return partial(make, **few, lightgbm_params={"min_data_in_bin": 1})
    if "max_epochs" in known or getattr(make(), "model", "linear") != "linear":
        return None
    return partial(make, batch_size=1000) if "batch_size" in known else make


def check_weights_of_one(make: Make) -> None:
    """Weights of 1 are exactly the same as no weights."""
    X, y, qid = easy_task(n_queries=8)
    expected = make().fit(X, y, qid=qid).predict(X, qid=qid)
    weighted = make().fit(X, y, qid=qid, sample_weight=np.ones(y.size), query_weight=np.ones(8, int))
    equal(weighted.predict(X, qid=qid), expected, "weights of 1 change the scores")


def check_sample_weight(make: Make) -> None:
    """Nothing is learned from documents of weight 0: with it, labels that contradict the rest do no harm."""
    X, y, qid = easy_task()
    wrong = np.arange(y.size) % 3 == 0
    y_wrong = np.where(wrong, 2 - y, y)
    weighted = make().fit(X, y_wrong, qid=qid, sample_weight=1.0 - wrong).predict(X, qid=qid)
    plain = make().fit(X, y_wrong, qid=qid).predict(X, qid=qid)
    reached = ndcg(weighted, y, qid)
    require(reached > 0.9, f"wrong labels of weight 0 leave nDCG {reached:.4f}, expected more than 0.9")
    require(not np.array_equal(weighted, plain), "sample weights of 0 and 1 change nothing")


def check_preferences(make: Make) -> None:
    """The explicit preferences of a dataset count if the class says so, and only then; it may refuse them."""
    X, y, qid = easy_task(n_queries=10)
    data = RankingDataset.from_arrays(X, y, qid)
    pairs = Preferences.from_labels(data, margin=False)
    contrary = data.replace(preferences=Preferences.from_pairs(np.stack([pairs.loser, pairs.winner], axis=1)))
    expected, takes = make().fit(data).predict(data), make().takes_preferences
    try:
        found = make().fit(contrary).predict(data)
    except (DataError, LossError) as error:
        require(not takes, f"takes_preferences is True, but it refuses them: {error}")
        return
    counted = not np.array_equal(found, expected)
    require(counted == takes, f"takes_preferences is {takes}, but preferences {'do' if counted else 'do not'} count")


# ---------------------------------------------------------------------------------------------------- validation data


def check_eval_set(make: Make) -> None:
    """The best round on the validation data is kept."""
    X, y, qid = easy_task()
    rng = np.random.default_rng(0)
    valid_X, valid_y, valid_qid = easy_task(seed=5, n_queries=10)
    valid_y = np.where(rng.random(valid_y.size) < 0.4, rng.integers(0, 3, valid_y.size), valid_y).astype(float)
    ranker = make().fit(X, y, qid=qid, eval_set=[(valid_X, valid_y)], eval_qid=[valid_qid])
    require(len(ranker.history_) >= 1, "history_ is empty although there was validation data")
    kept, best = ranker.score(valid_X, valid_y, qid=valid_qid), max(ranker.history_)
    close(kept, best, "the ranker that was kept is not the best of history_ on the validation data", rtol=1e-9)
    noted = ranker.card_["validation"]["value"]
    require(noted == best, f"the card has the value {noted}, the best of history_ is {best}")
    again = make().fit(X, y, qid=qid, eval_set=RankingDataset.from_arrays(valid_X, valid_y, valid_qid))
    require(again.history_ == ranker.history_, "an eval_set given as a dataset has a different history_")


def check_parameters_count(make: Make) -> None:
    """The parameters that every ranker has are used, or refused: measure, validation share, calibration."""
    X, y, qid = easy_task()
    valid_X, valid_y, valid_qid = easy_task(seed=5, n_queries=10)
    valid = {"eval_set": (valid_X, valid_y), "eval_group": np.bincount(valid_qid)}
    for measure, sign, calibration in (("AP", 1, None), ("ARP", -1, "logistic")):
        ranker = make(eval_measure=measure, calibration=calibration).fit(X, y, qid=qid, **valid)
        best = ranker.card_["validation"]["value"]
        right = ranker.best_score_ == {"valid_0": {measure: best}}
        require(right, f"best_score_ is {ranker.best_score_}, the card has {best} for {measure}")
        if ranker.best_iteration_:  # 0 is the model that training began with
            at_best = ranker.evals_result_["valid_0"][measure][ranker.best_iteration_ - 1]
            require(at_best == best, f"evals_result_ has {at_best} at best_iteration_, the best value is {best}")
        measured = sign * ranker.score(valid_X, valid_y, qid=valid_qid)
        close(best, measured, f"eval_measure={measure!r}: the noted value is not that of `score`", rtol=1e-9)
    p, relevant = ranker.predict_relevance(valid_X, qid=valid_qid), valid_y >= 1
    # Platt's likelihood is stationary in the intercept: the mean is that of his smoothed targets
    up, n = relevant.sum(), relevant.size
    target = (up * (up + 1) / (up + 2) + (n - up) / (n - up + 2)) / n
    close(p.mean(), target, "calibrated probabilities do not have the mean of Platt's targets", atol=2e-3)
    whole = ranker.set_params(calibration=None).fit(X, y, qid=qid)
    nothing = whole.best_iteration_ is None and whole.best_score_ == whole.evals_result_ == {}
    require(nothing, "best_iteration_, best_score_ or evals_result_ is left from an earlier fit, with validation data")
    require(not hasattr(whole, "calibration_"), "calibration_ is left from an earlier fit")
    part = make(validation_fraction=0.5).fit(X, y, qid=qid)
    queries = whole.card_["data"]["queries"], part.card_["data"]["queries"]
    require(queries == (24, 12), f"trained on {queries} of 24 queries with validation_fraction None and 0.5")
    require(part.best_iteration_ is not None, "best_iteration_ is None with validation data")
    with refuses(ValueError, "calibration needs validation data", "calibration without validation data"):
        make(calibration="logistic").fit(X, y, qid=qid)


def check_callbacks(make: Make) -> None:
    """Callbacks are called once per round, with the recorded values; one that returns True ends the training."""
    X, y, qid = easy_task()
    valid = {"eval_set": (X, y), "eval_qid": qid}
    seen: list[Any] = []
    ranker = make().fit(X, y, qid=qid, **valid, callbacks=[seen.append])
    values = [env.evaluation_result_list[0][2] for env in seen if env.evaluation_result_list]
    rounds = [env.iteration for env in seen]
    require(rounds == list(range(len(seen))), f"the callback was called in the rounds {rounds}")
    require(seen[-1].model is ranker, f"the callback's model is {seen[-1].model!r}, not the ranker")
    require(values[-1:] == ranker.history_[-1:], f"the callback saw {values}, history_ is {ranker.history_}")
    if len(ranker.history_) > 1:
        require(values == ranker.history_, f"the callback saw {values}, history_ is {ranker.history_}")
        stopped = make().fit(X, y, qid=qid, **valid, callbacks=[lambda env: True]).history_
        require(len(stopped) < len(values), f"a callback that returns True did not stop: {len(stopped)} rounds")
    with refuses(ValueError, "callbacks=", "callbacks that are not a list"):
        make().fit(X, y, qid=qid, callbacks=print)


def check_contributions(make: Make) -> None:
    """Where a ranker gives them, they sum to its scores; linear ones are weights times values."""
    X, y, qid = easy_task(n_queries=8)
    ranker = make().fit(X, y, qid=qid)
    scores = ranker.predict(X, qid=qid)
    if hasattr(ranker, "coef_") and ranker.coef_.ndim == 1:
        linear = X @ ranker.coef_ + ranker.intercept_
        close(linear, scores, "coef_ and intercept_ do not give the scores", rtol=1e-5, atol=1e-6)
    if ranker.scorer_.contributions(np.asarray(X, np.float32)) is None:
        with refuses(ValueError, r"pred_contrib=True: .* plackett\.explain", "contributions that do not exist"):
            ranker.predict(X, qid=qid, pred_contrib=True)
        return
    parts = ranker.predict(X, qid=qid, pred_contrib=True)
    require(parts.shape == (y.size, X.shape[1] + 1), f"contributions have the shape {parts.shape}")
    close(parts.sum(axis=1), scores, "contributions do not sum to the scores", rtol=1e-6, atol=1e-8)


def check_early_stopping(make: Make) -> None:
    """Training ends `early_stopping_rounds` after the best round; a measure to be minimised is minimised."""
    X, y, qid = easy_task()
    for measure, sign in (("nDCG@3", 1), ("ARP", -1)):
        ranker = make(early_stopping_rounds=1, validation_fraction=0.3, eval_measure=measure).fit(X, y, qid=qid)
        values = sign * np.array(ranker.history_)
        best = int(np.argmax(values))
        ended = len(values) - 1
        require(ended - best <= 1, f"early_stopping_rounds=1: best round {best + 1}, but it ended after {ended + 1}")
        better = (np.diff(values[: best + 1]) > 0).all()
        require(better, f"early_stopping_rounds=1: it continued after a round that was no better: {ranker.history_}")


def check_interrupt(make: Make) -> None:
    """Ctrl-C keeps the best model so far, with a warning; before the first round there is none, so it is raised."""
    X, y, qid = easy_task()
    update = Monitor.update
    for after in (0, 2):
        rounds: list[Any] = []
        raised: list[bool] = []

        def interrupted(self: Any, *args: Any, rounds: Any = rounds, raised: Any = raised, after: int = after) -> Any:
            if len(rounds) == after:
                raised.append(True)
                raise KeyboardInterrupt
            rounds.append(update(self, *args))
            return rounds[-1]

        with patch.object(Monitor, "update", interrupted):
            if after == 0:
                with refuses(KeyboardInterrupt, "", "an interrupt before the first round"):
                    make().fit(X, y, qid=qid)
                continue
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", PlackettWarning)
                ranker = make(validation_fraction=0.3).fit(X, y, qid=qid)
        if not raised:  # there were no more rounds than that
            return
        messages = [str(w.message) for w in caught if "positions" not in str(w.message)]
        require(len(messages) == 1 and "interrupted" in messages[0], f"after an interrupt the warnings are {messages}")
        require(len(ranker.history_) == after, f"interrupted after {after} rounds, history_ is {ranker.history_}")
        reached, chance = ndcg(ranker.predict(X, qid=qid), y, qid), ndcg(np.zeros(y.size), y, qid)
        require(reached > chance, f"interrupted after {after} rounds: nDCG {reached:.4f}, equal scores {chance:.4f}")


def check_verbose(make: Make) -> None:
    """``verbose=True`` changes nothing, not even inside a progress display of the caller."""
    from rich.progress import Progress

    X, y, qid = easy_task(n_queries=6)
    expected = make().fit(X, y, qid=qid).predict(X, qid=qid)
    with Progress():  # a display of the caller must not interfere
        scores = make(verbose=True).fit(X, y, qid=qid).predict(X, qid=qid)
    equal(scores, expected, "verbose=True changes the scores")


# ---------------------------------------------------------------------------------------------------------- copies


def check_copies(make: Make, folder: Path) -> None:
    """clone, pickle, deepcopy, save and load keep scores and parameters."""
    X, y, qid = easy_task(n_queries=8)
    ranker = make(validation_fraction=0.3).fit(X, y, qid=qid)
    expected = ranker.predict(X, qid=qid)
    require(not hasattr(clone(ranker), "scorer_"), "sklearn.base.clone keeps what was learned")
    equal(clone(ranker).fit(X, y, qid=qid).predict(X, qid=qid), expected, "a clone learns something different")
    path = folder / "model.plackett"
    ranker.save(path)
    copies = {
        "pickle": pickle.loads(pickle.dumps(ranker)),
        "copy.deepcopy": copy.deepcopy(ranker),
        "save and load": storage.load(path),
    }
    for way, copied in copies.items():
        equal(copied.predict(X, qid=qid), expected, f"{way}: other scores")
        require(type(copied) is type(ranker), f"{way}: a {type(copied).__name__}, not a {type(ranker).__name__}")
        for name, copy_has, kept in (
            ("parameters", repr(copied.get_params()), repr(ranker.get_params())),
            ("history_", copied.history_, ranker.history_),
            ("card_", copied.card_, ranker.card_),
        ):
            require(copy_has == kept, f"{way}: {name} differ:\n{copy_has}\n{kept}")
        equal(copied.fit(X, y, qid=qid).predict(X, qid=qid), expected, f"{way}: it learns something different")
    with refuses(NotFittedError, "", "save before fit"):
        make().save(path)


def check_atomic_save(make: Make, folder: Path) -> None:
    """A crash while writing leaves the old file."""
    X, y, qid = easy_task(n_queries=5)
    path = folder / "model.plackett"
    ranker = make().fit(X, y, qid=qid)
    ranker.save(path)
    before = path.read_bytes()

    def crash(*_: Any) -> None:
        raise OSError("disk full")

    with patch("os.fsync", crash), refuses(OSError, "disk full", "a crash while writing"):
        ranker.fit(X, 2 - y, qid=qid).save(path)
    require(path.read_bytes() == before, "a crash while writing changed the old file")
    left = sorted(file.name for file in folder.iterdir())
    require(left == [path.name], f"a crash while writing left the files {left}")
    require(_storage.read(path, kind="model")[1]["kind"] == "model", "the old file cannot be read any more")


def check_declared(make: Make) -> None:
    """The class declares what scikit-learn reads, and documents its parameters."""
    ranker = make()
    cls = type(ranker)
    require(cls.__doc__, "the class has no docstring")
    require(isinstance(ranker.allow_nan, bool), f"allow_nan is {ranker.allow_nan!r}; give True or False")
    tagged = ranker.__sklearn_tags__().input_tags.allow_nan
    require(tagged == ranker.allow_nan, f"scikit-learn's tag allow_nan is {tagged}, the class says {ranker.allow_nan}")
    require(cls.__name__ in repr(ranker), f"repr(ranker) is {ranker!r}, without the name of the class")
    documented = "".join(str(base.__doc__) for base in cls.__mro__)
    missing = [name for name in ranker.get_params(deep=False) if name not in documented]
    require(not missing, f"the docstring does not document {', '.join(missing)}")


CHECKS: list[Callable[..., None]] = [
    value for name, value in list(globals().items()) if name.startswith("check_") and name != "check_ranker"
]
