"""A bad value of a parameter gives one line: the parameter, what was given, what is allowed."""

from __future__ import annotations

import dataclasses
import pickle
import re
import sys
import warnings

import numpy as np
import pytest

import plackett as pk
from plackett import cli
from plackett._base.errors import DataError, LossError, MeasureError, MissingExtraError, PlackettWarning
from plackett._base.parameters import _kinds, _range_problem, check_parameters, parameter_problem

NAN, INF = float("nan"), float("inf")
#: What nobody means, whatever the parameter is.
NONSENSE = (None, "", -1, NAN, INF, [1, "a"], 10**12, 0)
RANKERS = pk.rankers()


def parameters(cls):
    return [field for field in dataclasses.fields(cls) if field.init]


def task():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(48, 4)).astype(np.float32), np.repeat(np.arange(6), 8)
    return X, np.clip(np.round(X[:, 0] + 1 + 0.3 * rng.normal(size=48)), 0, 3), qid


@pytest.mark.parametrize("cls", RANKERS.values(), ids=RANKERS)
def test_types_of_all_parameters(cls):
    """What every ranker declares is kept by its own settings, and checked."""
    for setting in ({}, cls._test_settings, *cls._test_variants):
        check_parameters(cls(**setting))
    for field in parameters(cls):
        for value in NONSENSE:
            if not _kinds(field.type) or parameter_problem(field.name, value, field.type) is None:
                continue
            with pytest.raises(DataError, match=rf"^{cls.__name__}: {field.name}={re.escape(repr(value))}; give "):
                check_parameters(cls(**{field.name: value}))


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        ("int", (3, np.int64(3), -1), (None, "3", 3.0, NAN, True, [3])),
        ("float", (3, 0.5, np.float32(2), INF, 10**12), (None, "3", NAN, False, [0.5], {})),
        ("bool", (True, np.True_, 0, 1, np.int64(1)), (None, 2, -1, "True", 0.0)),
        ("str", ("x", pk.measures.nDCG), (None, 1, True, ["x"])),
        ("int | None", (None, 3), ("3", 2.5)),
        ("float | str", ("auto", 0.5), (None, [1])),
        ("tuple[int, ...]", ((1, 2), [1, 2], np.array([1, 2])), (None, 1, ("a",), (1.5,))),
        ("tuple[int | str, ...] | None", (None, (1, "a")), (1, (1.5,))),
        ("Sequence[Sequence[int]] | None", ([[1], [2, 3]], None), ([1], "a")),
        ("Sequence[Any] | None", (["a", pk.ListNet()], None, "a"), (1, 0.5)),
        ("dict[str, Any] | None", ({"a": 1}, None), (1, "a", [1])),
        ("Any", (None, 1, "a", [1]), ()),
        ("Relation | None", (None, 1, "a"), ()),
    ],
)
def test_types(annotation, good, bad):
    for value in good:
        assert parameter_problem("x", value, annotation) is None, value
    for value in bad:
        problem = parameter_problem("x", value, annotation)
        assert problem is not None and problem.startswith(f"x={value!r}; give "), value


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("max_iter", (1, None), (0, -1)),
        ("learning_rate", (0.1, 1), (0, -1.0, INF)),
        ("subsample", (0.5, 1), (0, -1, 1.5, INF)),
        ("max_bin", (2, 255), (1, 0)),
        ("max_grad_norm", (0.5, INF, None), (0, -1.0)),
        ("tol", (0, 1e-6, INF), (-1e-9,)),
        ("noise", (True, 0.1), (INF,)),
        ("n_estimators", (2**31 - 1,), (10**12,)),
        ("random_state", (10**12, None), ()),
        ("min_child_samples", (0, "auto"), (-1,)),
    ],
)
def test_ranges(name, good, bad):
    assert all(_range_problem(name, value, "int") is None for value in good)
    for value in bad:
        assert (_range_problem(name, value, "int") or "").startswith(f"{name}={value!r}; give ")


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class Own(pk.ListNet):
    """A user's ranker: names in a meaning of its own, defaults that their types do not admit."""

    n_parts: int = None
    shift: float = NAN
    scale: float = -1.0
    since: int = 1_700_000_000_000
    alpha: float = 0.1


def test_own_fields_of_a_users_ranker():
    for ranker in (Own(), Own(scale=-2.0, since=10**13, n_parts=3), Own(verbose=1), pickle.loads(pickle.dumps(Own()))):
        check_parameters(ranker)
    for name, value in (("n_parts", "x"), ("shift", None), ("max_iter", 0), ("max_iter", 10**12)):
        with pytest.raises(DataError, match=f"^Own: {name}={value!r}; give "):
            check_parameters(Own(**{name: value}))


def test_whole_numbers_where_fractions_are_declared():
    """Only counts have a largest value."""
    check_parameters(pk.RankSVM(C=10**10))
    with pytest.raises(DataError, match=r"^RankSVM: C=10+; give a number"):
        check_parameters(pk.RankSVM(C=10**400))
    with pytest.raises(DataError, match="max_iter=10000000000; give at most 2147483647"):
        check_parameters(pk.RankSVM(max_iter=10**10))


def test_a_model_that_is_no_dataclass():
    class Plain:
        allow_nan = False

        def train(self, loss, data, monitor, start):
            return pk.Linear(max_iter=2).train(loss, data, monitor, start)

    X, y, qid = task()
    assert pk.GradientRanker(model=Plain()).fit(X, y, qid=qid).predict(X).std() > 0


def test_training_for_no_iteration_is_refused():
    """It would give all documents the same score."""
    X, y, qid = task()
    for ranker in (pk.ListNet(max_iter=0), pk.GradientRanker(model=pk.Linear(max_iter=0))):
        with pytest.raises(DataError, match="max_iter=0; give a number of 1 or more"):
            ranker.fit(X, y, qid=qid)


@pytest.mark.parametrize(
    ("ranker", "said"),
    [
        (pk.LambdaMART(feature_costs=3), "feature_costs=3; give one number per feature"),
        (pk.GradientRanker(model=None), "model=None; give a model"),
        (pk.NestedRanker(model=3), "model=3; give a model"),
        (pk.GradientRanker(loss=["a"]), r"loss=\['a'\]; give the name of a loss"),
        (pk.MeasureSearch(solver=None), "solver=None; the solvers are"),
        (pk.GenerativeRanker(gain="x"), "gain='x'; the gains are"),
        (pk.ListNet(target=[1, "a"]), r"target=\[1, 'a'\]; give one of"),
        (pk.ListMLE(discount=[1, "a"]), r"discount=\[1, 'a'\]; give a name or a list"),
        (pk.OWPC(weights=None), "weights=None; give"),
        (pk.IRSVM(level_weights="x"), "level_weights='x'; give a square table"),
        (pk.KNNOnline(k=INF), "k=inf; give a number of queries"),
        (pk.PNormPushBoost(p=INF), "p=inf; give a number of 1 or more"),
        (pk.KernelSVM(C=0), "C=0, tol=0.0001; give positive numbers"),
        (pk.PointwiseSVM(tol=0), "tol=0; give positive numbers"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, pk.rankers.Ranker) else "",
)
def test_values_that_ended_in_a_traceback(ranker, said):
    X, y, qid = task()
    with pytest.raises((DataError, LossError, MeasureError), match=said):
        ranker.fit(X, y, qid=qid)


@pytest.mark.parametrize(
    ("algorithm", "assignment", "said"),
    [
        ("ClassRankers", "rho=None", "rho=None; give a number"),
        ("ListNet", "max_iter=None", "max_iter=None; give a whole number such as 300"),
        ("ListNet", "max_iter=0", "max_iter=0; give a number of 1 or more"),
        ("ListNet", "tol=", "tol=''; give a number such as 1e-06"),
        ("OWPC", "margin=-1", "margin=-1; give a number of 0 or more"),
        ("XDART", "n_bags=0", "n_bags=0; give a number of 1 or more"),
        ("ListNet", "standardize=2", "standardize=2; give True or False"),
        ("RankNet", "hidden=(4, 'a')", "each entry a whole number"),
        ("LambdaMART", "n_estimators=1000000000000", "give at most 2147483647"),
        ("ListNet(tol=None)", "alpha=0.1", "ListNet: tol=None; give a number"),
    ],
)
def test_on_the_command_line(algorithm, assignment, said, tmp_path, monkeypatch, capsys):
    arguments = ["train", algorithm, "no such file", "--out", str(tmp_path / "m"), "-p", assignment]
    monkeypatch.setattr(sys, "argv", ["plackett", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.run()
    said_there = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert ended.value.code == 2 and said in said_there and "Traceback" not in said_there


@pytest.mark.full
@pytest.mark.parametrize("cls", RANKERS.values(), ids=RANKERS)
def test_no_value_ends_in_a_traceback(cls):
    """Every parameter of every ranker with values that nobody means: trained, or refused by an error of ours."""
    X, y, qid = task()
    own = {field.name for field in parameters(cls)} - {field.name for field in parameters(pk.rankers.Ranker)}
    for name in sorted(own):
        for value in (None, "", -1, NAN, INF, [1, "a"]):
            ranker = cls(**(cls._test_settings | {"n_jobs": 1, name: value}))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PlackettWarning)
                warnings.simplefilter("ignore", RuntimeWarning)
                try:
                    ranker.fit(X, y, qid=qid)
                except (DataError, LossError, MeasureError, MissingExtraError):
                    continue


@pytest.mark.parametrize("ranker", [pk.LambdaMART(n_estimators=2), pk.ListNet(max_iter=2)])
def test_a_query_for_every_document_is_a_warning(ranker):
    data = pk.datasets.make_ranking(10, 5, 3, random_state=0)
    with pytest.warns(pk.PlackettWarning, match="each of the 50 queries has a single document, so there is no order"):
        ranker.fit(data.X, data.y, qid=np.arange(50))
