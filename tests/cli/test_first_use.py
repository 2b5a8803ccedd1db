"""The second process that compiles beside the first command."""

from __future__ import annotations

import subprocess
import sys
from multiprocessing import get_all_start_methods

import pytest

import plackett as pk
from plackett import cli
from plackett._kernels import folder
from plackett.cli import app, first_use


@pytest.fixture
def started(monkeypatch):
    """The tasks of second processes that would have been started, on a machine with two cores."""
    tasks = []

    class Process:
        def join(self, seconds=None):
            tasks.append("waited")

        def kill(self):
            tasks.append("killed")

    def start(method, task, *args):
        tasks.append((task.__name__, *args))
        return Process()

    monkeypatch.setattr(first_use, "_start", start)
    monkeypatch.setattr(first_use, "is_own_process", lambda: True)
    monkeypatch.setattr(first_use, "n_threads", lambda: 2)
    monkeypatch.setattr(first_use, "nothing_compiled", lambda: False)
    return tasks


def _compile_something():
    folder._announce.__wrapped__()


def test_a_rehearsal_starts_only_if_something_must_be_compiled(started):
    with first_use.rehearse_evaluation(["AP"], None):
        pass
    assert started == []
    with first_use.rehearse_evaluation(["AP"], None):
        _compile_something()
    assert started == [("_evaluate", ["AP"], None), "waited", "killed", "waited"]
    _compile_something()  # afterwards: no concern of ours
    assert len(started) == 4


def test_a_rehearsal_starts_at_once_and_only_once_on_a_new_machine(started, monkeypatch):
    monkeypatch.setattr(first_use, "nothing_compiled", lambda: True)
    with first_use.rehearse_evaluation(["AP"], None):
        assert started == [("_evaluate", ["AP"], None)]
        _compile_something()
        assert len(started) == 1


def test_the_command_goes_on_where_no_process_can_be_started(started, monkeypatch):
    def start(method, task, *args):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(first_use, "_start", start)
    monkeypatch.setattr(first_use, "nothing_compiled", lambda: True)
    with first_use.rehearse_evaluation(["AP"], None):
        started.append("read")
    assert started == ["read"]


def test_interrupted_while_modules_are_imported(monkeypatch, capsys):
    class Interrupted:
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "plackett.cli.app", Interrupted())
    with pytest.raises(SystemExit) as ended:
        cli.run()
    assert ended.value.code == 130 and capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("arguments", [["info", "data.txt"], ["--help"]])
def test_interrupted_while_a_command_is_imported(monkeypatch, capsys, arguments):
    def build(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(app._BUILT, "_known", {})
    monkeypatch.setattr(app, "_build", build)
    monkeypatch.setattr(sys, "argv", ["plackett", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.run()
    assert ended.value.code == 130 and capsys.readouterr().err == "interrupted\n"


def test_a_folder_with_compiled_kernels_is_not_a_new_machine(monkeypatch, tmp_path):
    monkeypatch.setattr(folder, "cache_root", lambda: tmp_path)
    assert folder.nothing_compiled()
    (tmp_path / "plackett.measures.ap-1").mkdir()
    assert not folder.nothing_compiled()
    monkeypatch.setattr(folder, "cache_root", lambda: None)
    assert not folder.nothing_compiled()


def test_no_wait_for_the_rehearsal_if_the_data_cannot_be_read(started):
    def read():
        with first_use.rehearse_evaluation(["AP"], None):
            _compile_something()
            raise pk.DataError("unreadable")

    with pytest.raises(pk.DataError, match="unreadable"):
        read()
    assert started[1:] == ["killed", "waited"]


@pytest.mark.parametrize(("name", "value"), [("is_own_process", False), ("n_threads", 1), ("cache_root", None)])
def test_no_rehearsal_in_the_users_process_on_one_core_or_without_a_cache(started, monkeypatch, name, value):
    monkeypatch.setattr(first_use, name, lambda: value)
    with first_use.rehearse_evaluation(["AP"], None):
        _compile_something()
    assert started == []


@pytest.mark.parametrize("ranker", [pk.LambdaMART(), pk.ListNet(), pk.RankBoost()])
@pytest.mark.parametrize("validate", [True, False])
def test_training_is_rehearsed_with_few_rounds(ranker, validate):
    first_use._train(ranker, validate)
    assert len(ranker.history_) == (0 if not validate else 3)


@pytest.mark.parametrize("method", [each for each in ("fork", "spawn") if each in get_all_start_methods()])
def test_the_second_process_ends_without_an_error(method):
    for measures, code in ((["nDCG@10", "AP"], 0), (["no such measure"], 1)):
        process = first_use._start(method, first_use._evaluate, measures, "letor3")
        process.join(120)
        assert process.exitcode == code


def test_an_experiment_rehearses_the_measures_and_our_rankers(started):
    from sklearn.linear_model import LinearRegression

    ours = pk.LinearRegression()
    with first_use.rehearse_experiment([LinearRegression(), ours], ["AP"]):
        _compile_something()
    assert started[0] == ("_experiment", [ours], ["AP"], None)
    first_use._experiment([ours], ["AP"], None)
    assert ours.max_iter == 3  # trained, but only a little
    assert ours.history_


@pytest.mark.parametrize("last", ["RR", "alpha_nDCG@5"])  # made-up documents have no subtopics
def test_the_last_of_several_measures_is_compiled_by_the_command_itself(started, monkeypatch, last):
    rehearsed = []
    evaluate = first_use._evaluate
    monkeypatch.setattr(first_use, "_evaluate", lambda *args: (rehearsed.append(args), evaluate(*args)))
    with first_use.rehearse_evaluation(["nDCG@10", "AP", last], None):
        _compile_something()
    assert started[0][1:] == (["nDCG@10", "AP"], None)
    assert rehearsed == [([last], None)]
    assert started[1:] == ["waited", "killed", "waited"]


@pytest.mark.parametrize("given", [None, "20"])
def test_waiting_threads_of_blas_sleep(given, monkeypatch):
    """The setting is made before NumPy is imported, which reads it, unless the user made it."""
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    if given:
        monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", given)
    code = """
import os, sys
from plackett.cli import main
sys.argv = ["plackett", "--version"]
try:
    main()
except SystemExit:
    print("numpy" in sys.modules, os.environ["OPENBLAS_THREAD_TIMEOUT"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-2:] == ["False", given or "10"]
