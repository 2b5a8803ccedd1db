"""The file of judgements: nothing that was acknowledged is lost, and undoing is exact."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import numpy as np
import pytest

import plackett as pk
from plackett.workbench.store import Store
from plackett.workbench.store_file import default_store


def test_undo_goes_back_step_by_step():
    store = Store()
    rng = np.random.default_rng(0)
    states = [store.labels("ann")]
    for _ in range(40):  # the states are recorded beside the store
        grade = None if rng.random() < 0.2 else float(rng.integers(5))
        store.judge("ann", f"q{rng.integers(3)}", f"d{rng.integers(4)}", grade)
        states.append(store.labels("ann"))
        store.judge("bob", "q0", "d0", float(rng.integers(5)))  # somebody else's changes are not undone
    bob = store.labels("bob")
    for before in reversed(states[:-1]):
        assert store.undo("ann") is not None
        assert store.labels("ann") == before
    assert store.undo("ann") is None
    assert store.labels("bob") == bob


def test_label_of_several_raters_is_the_lower_median():
    store = Store()
    for rater, grade in (("a", 0), ("b", 3), ("c", 2)):
        store.judge(rater, "q", "d", grade)
    assert store.labels() == {"q": {"d": 2.0}}
    store.judge("d", "q", "d", 3)
    assert store.labels() == {"q": {"d": 2.0}}
    store.judge("a", "q", "d", None)
    assert store.labels() == {"q": {"d": 3.0}}


def test_note_stays_when_the_grade_changes():
    store = Store()
    store.judge("a", "q", "d", 1, "old edition")
    store.judge("a", "q", "d", 2)
    assert [(one.grade, one.note) for one in store.judgements()] == [(2.0, "old edition")]


def test_what_was_written_is_there_after_opening_again(tmp_path):
    path = tmp_path / "store.sqlite"
    store = Store(path)
    store.judge("ann", "q", "d", 2, "note")
    store.add_queries("mine", {"1": "blue", "2": "sky"})
    store.add_snapshot("s", "BM25", "mine", 10, {"1": {"d": 0.1 + 0.2}})
    store.close()
    again = Store(path)
    assert again.labels() == {"q": {"d": 2.0}}
    assert again.sets() == {"mine": {"1": "blue", "2": "sky"}}
    assert again.snapshot_run("s") == {"1": {"d": 0.1 + 0.2}}
    assert again.remove_set("mine") and not again.remove_set("mine")
    assert again.sets() == {} and again.labels() == {"q": {"d": 2.0}}


def test_snapshot_names_are_unique():
    store = Store()
    store.add_snapshot("s", "BM25", "mine", 10, {})
    with pytest.raises(pk.DataError, match="already"):
        store.add_snapshot("s", "BM25", "mine", 10, {})
    assert store.remove_snapshot("s") and store.snapshots() == []


def test_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"this is no database, but a text that is long enough to look at" * 20)
    with pytest.raises(pk.DataError, match=r"x\.sqlite: not a file of the workbench"):
        Store(path)
    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version=99")
    with pytest.raises(pk.DataError, match="format 99"):
        Store(newer)


def test_damaged_file_is_refused_at_the_start(tmp_path):
    path = tmp_path / "x.sqlite"
    with closing(Store(path)) as store:
        store.judge_all((("ann", "q", f"d{i}", 1.0, "x" * 100) for i in range(2_000)), "ann")
        store.add_snapshot("s", "BM25", "mine", 10, {})
    sound = path.read_bytes()
    for damaged in (sound[: 4096 * 4] + b"\xff" * 4096 + sound[4096 * 5 :], sound[:-8192]):
        path.write_bytes(damaged)
        with pytest.raises(pk.DataError, match=r"x\.sqlite: damaged \(.*restore the file from a copy"):
            Store(path)
    path.write_bytes(sound)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE snapshots SET run = x'00'")
    with pytest.raises(pk.DataError, match=r"damaged \(snapshot 's'"):
        Store(path).snapshot_run("s")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(pk.DataError, match="is a pipe"):
        Store(tmp_path / "pipe")


def test_acknowledged_judgement_survives_kill(tmp_path):
    path = tmp_path / "store.sqlite"
    program = (
        "import sys, time\n"
        "from plackett.workbench.store import Store\n"
        "store = Store(sys.argv[1])\n"
        "for i in range(10**9):\n"
        "    store.judge('ann', 'q', f'd{i}', i % 5)\n"
        "    print(i, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:  # what was printed was acknowledged
        if int(line) == 50:
            break
    process.send_signal(signal.SIGKILL)
    last = max([50, *(int(line) for line in process.stdout.read().split() if line.isdigit())])
    process.wait()
    result = Store(path).labels()["q"]
    assert {f"d{i}": float(i % 5) for i in range(last)}.items() <= result.items()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_raters_in_threads_lose_nothing(tmp_path):
    store = Store(tmp_path / "store.sqlite")

    def work(rater):
        for i in range(50):
            store.judge(rater, f"q{i % 5}", f"d{i}", i % 4)

    threads = [threading.Thread(target=work, args=(f"r{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.raters() == {f"r{n}": 50 for n in range(8)}
    assert len({one.number for one in store.judgements()}) == 400


def test_two_processes_number_queries_apart(tmp_path):
    first, second = Store(tmp_path / "store.sqlite"), Store(tmp_path / "store.sqlite")
    assert second.sets() == {}
    first.add_queries("typed", dict(zip(first.number(["blue"], "t", {}, []), ["blue"], strict=True)))
    assert second.sets() == {"typed": {"t1": "blue"}}
    assert second.number(["red", "blue", "red"], "t", {}, ["t2"]) == ["t3", "t1", "t3"]


@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_acknowledged_when_the_file_is_gone(tmp_path, replaced):
    path = tmp_path / "store.sqlite"
    store = Store(path)
    store.judge("ann", "q", "d", 1)
    path.rename(tmp_path / "elsewhere.sqlite")
    if replaced:
        path.write_bytes(b"")
    with pytest.raises(pk.DataError, match="moved, removed or replaced"):
        store.judge("ann", "q", "d", 2)
    (tmp_path / "elsewhere.sqlite").replace(path)
    store.judge("ann", "q", "d", 3)
    store.close()
    assert Store(path).labels() == {"q": {"d": 3.0}}


def test_change_that_cannot_be_written_says_why(tmp_path):
    store = Store(tmp_path / "store.sqlite")
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count={pages}")  # a full disk
    with pytest.raises(pk.DataError, match=r"store.sqlite: .*full; nothing was saved"):
        store.judge_all((("ann", "q", f"d{i}", 1.0, "x" * 1000) for i in range(100)), "ann")
    assert store.labels() == {}
    store._connection.execute("PRAGMA max_page_count=100000")
    store.judge("ann", "q", "d", 2)
    assert store.labels() == {"q": {"d": 2.0}}


def test_import_is_undone_at_once(monkeypatch):
    monkeypatch.setattr("plackett.workbench.store.time.time", lambda: 1e9)  # a coarse clock
    store = Store()
    store.judge("ann", "q", "d1", 4)
    store.judge("ann", "q", "d2", 3)
    store.judge_all((("ann", "q", f"d{i}", 1.0, None) for i in range(50)), "ann")
    store.judge("ann", "q", "d7", 2)
    assert [one.docid for one in store.undo_change("ann")] == ["d7"]
    assert len(store.undo_change("ann")) == 50
    assert store.labels() == {"q": {"d1": 4.0, "d2": 3.0}}
    assert store.undo("ann").docid == "d2"


def test_import_of_several_raters_is_one_change_of_the_one_who_imports():
    store = Store()
    store.judge("ann", "q", "d0", 3.0)
    store.judge_all(
        [("ann", "q", "d0", 1.0, None), ("bob", "q", "d0", 2.0, None), ("bob", "q", "d1", 2.0, None)], "eve"
    )
    store.judge("bob", "q", "d1", 0.0)
    assert store.undo("ann").grade == 3.0  # her own one; the import is none of hers
    assert store.undo_change("ann") == []
    assert {(one.rater, one.docid) for one in store.undo_change("eve")} == {("ann", "d0"), ("bob", "d0"), ("bob", "d1")}
    assert store.labels() == {"q": {"d1": 0.0}}
    assert store.undo_change("eve") == []


def test_each_source_has_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [str(default_store(paths)) for paths in (["a/docs.v1"], ["train.txt"], ["x y.run", "b.run"], ["."], [])]
    assert names == [
        "workbench-docs.sqlite",
        "workbench-train.sqlite",
        "workbench-x-y-b.sqlite",
        f"workbench-{tmp_path.name}.sqlite",
        "workbench-pydocs.sqlite",
    ]
    (tmp_path / "docs.v1").mkdir()
    assert str(default_store(["docs.v1"])) == "workbench-docs.v1.sqlite"
