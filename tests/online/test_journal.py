"""Journals survive kills, repeats and rivals."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from plackett._base.errors import DataError, PlackettWarning
from plackett.online import _known
from plackett.online._known import KnownIds
from plackett.online.journal import Journal, _entries, restore
from plackett.online.learners.base import Page
from plackett.online.learners.dbgd import DBGD
from plackett.online.learners.pdgd import PDGD
from plackett.online.learners.perceptron import ClickPerceptron


class Sums:
    """A learner that can be checked at a glance."""

    def __init__(self):
        self.total, self.n = 0, 0

    def check(self, event):
        if isinstance(event, bool) or not isinstance(event, int | float):
            raise DataError(f"{event!r} is not a number")

    def apply(self, event):
        self.total, self.n = self.total + event, self.n + 1

    def state(self):
        return {"total": self.total, "n": self.n}

    def set_state(self, state):
        self.total, self.n = state["total"], state["n"]


WRITER = """
import sys
from plackett.online.journal import Journal
class Sums:
    total = n = 0
    def check(self, event): pass
    def apply(self, event): self.total += event; self.n += 1
    def state(self): return {"total": self.total, "n": self.n}
    def set_state(self, state): self.total, self.n = state["total"], state["n"]
journal = Journal(sys.argv[1], Sums(), snapshot_every=7)
print("open", len(journal), flush=True)
i = len(journal)
while True:
    journal.record(i, i)
    print(i, flush=True)
    i += 1
"""


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_a_killed_writer_loses_and_repeats_nothing(tmp_path):
    acknowledged = -1
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout.readline().startswith("open")
            with pytest.raises(DataError, match="another process writes"):
                Journal(tmp_path, Sums())
            time.sleep(random.Random(acknowledged).random() * 0.1)
            writer.send_signal(signal.SIGKILL)
            lines = writer.stdout.read().split("\n")
        acknowledged = max([acknowledged, *map(int, filter(None, lines[:-1]))])
        with Journal(tmp_path, Sums()) as journal:
            n = len(journal)
            assert n in (acknowledged + 1, acknowledged + 2)  # one may be stored but not yet acknowledged
            assert journal.learner.n == n and journal.learner.total == n * (n - 1) // 2
            assert not any(journal.record_all([(i, 0, None) for i in range(n)]))  # none is counted twice
        acknowledged = n - 1  # the next writer begins here


def test_a_journal_cut_anywhere_keeps_a_prefix(tmp_path):
    with Journal(tmp_path, Sums(), snapshot_every=100) as journal:
        journal.record_all([(i, i, None) for i in range(6)])
    whole = (tmp_path / "events.jsonl").read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for cut in range(0, len(whole) + 1, 7):
        (tmp_path / "events.jsonl").write_bytes(whole[:cut])
        with Journal(tmp_path, Sums()) as journal:
            n = sum(end <= cut for end in ends)
            assert len(journal) == n == journal.learner.n
            assert journal.record("again", 1) and journal.learner.n == n + 1
        with Journal(tmp_path, Sums()) as journal:
            assert len(journal) == n + 1


def test_damage_in_the_middle_is_refused_and_a_damaged_snapshot_is_not_needed(tmp_path):
    with Journal(tmp_path, Sums(), snapshot_every=2) as journal:
        for i in range(5):
            journal.record(f"id {i}", i)
    newest = max(tmp_path.glob("snapshot-*.json"))
    newest.write_bytes(newest.read_bytes()[:-4])
    with Journal(tmp_path, Sums()) as journal:
        assert journal.learner.total == 10
    path = tmp_path / "events.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"\n") + 1])
    with pytest.raises(DataError, match="some of them are missing"):
        Journal(tmp_path, Sums())
    for each in tmp_path.glob("snapshot-*.json"):
        each.unlink()
    path.write_bytes(whole.replace(b"id 1", b"id 7"))
    with pytest.raises(DataError, match="line 2: damaged"):
        Journal(tmp_path, Sums())


def test_repeats_late_events_and_nonsense(tmp_path):
    with Journal(tmp_path, Sums(), max_age=3600) as journal:
        now = time.time()
        assert journal.record_all([("a", 1, now), ("a", 1, now), ("b", 2, now - 7200), ("c", 4, None)]) == [
            True,
            False,
            False,
            True,
        ]
        deep = []
        for _ in range(100_000):
            deep = [deep]
        for nonsense in ({1, 2}, float("nan"), deep, 10**5000):
            with pytest.raises(DataError, match="plain values"):
                journal.record("d", nonsense)
        for id in (None, 1.5, True, ("a", 1), [1], 10**5000):
            with pytest.raises(DataError, match="id"):
                journal.record(id, 1)
        for when in (float("nan"), float("inf"), "yesterday"):
            with pytest.raises(DataError, match="time"):
                journal.record("d", 1, time=when)
        with pytest.raises(DataError, match="not a number"):  # all or none
            journal.record_all([("e", 1, None), ("f", "x", None)])
        assert journal.learner.total == 5 and len(journal) == 2
    with pytest.raises(DataError, match="closed"):
        journal.record("e", 1)
    with Journal(tmp_path, Sums()) as journal:
        assert journal.learner.total == 5 and not journal.record("a", 1)


def test_the_model_of_yesterday(tmp_path):
    times = []
    with Journal(tmp_path, Sums(), snapshot_every=3) as journal:
        for i in range(10):
            journal.record(i, i)
            times.append(time.time())
            time.sleep(0.002)
        for i in (0, 4, 9):
            past = Sums()
            assert restore(tmp_path, past, before=times[i]) == i + 1 == past.n
            assert past.total == sum(range(i + 1))


def test_a_resumed_learner_equals_one_that_went_on(tmp_path):
    rng = np.random.default_rng(0)
    straight = DBGD(3, k=3, n_candidates=2, null_space=2, learning_rate=0.1)
    for i in range(12):
        X = rng.normal(size=(5, 3))
        page = straight.show(X)
        clicks = rng.random(3) < 0.5
        with Journal(
            tmp_path, DBGD(3, k=3, n_candidates=2, null_space=2, learning_rate=0.1), snapshot_every=5
        ) as journal:
            journal.record(i, straight.event(X, page, clicks))
            straight.learn(X, Page(page.order, page.detail), clicks)
            assert np.array_equal(journal.learner.weights, straight.weights)
    assert straight.weights.any()


def test_other_settings_are_refused_by_name(tmp_path):
    with Journal(tmp_path, PDGD(2, learning_rate=0.2, k=3)) as journal:
        weights = journal.learner.weights
    other = {"learning_rate": 0.5, "k": 5}
    said = r"stored with learning_rate=0\.2, k=3, and this one has learning_rate=0\.5, k=5"
    with pytest.raises(DataError, match=said):
        Journal(tmp_path, PDGD(2, **other))
    with pytest.raises(DataError, match=said):
        restore(tmp_path, PDGD(2, **other), before=time.time())
    with pytest.raises(DataError, match="stored with learner='PDGD', and this one has learner='ClickPerceptron'"):
        Journal(tmp_path, ClickPerceptron(2, learning_rate=0.2, k=3))
    with pytest.raises(DataError, match="stored with n_features=2"):
        Journal(tmp_path, PDGD(3, learning_rate=0.2, k=3))
    with Journal(tmp_path, PDGD(2, learning_rate=0.2, k=3)) as journal:  # a refusal leaves it as it was
        assert journal.learner.weights.tolist() == weights.tolist()
    with Journal(tmp_path / "new", PDGD(2, **other).set_state(journal.learner.state())) as journal:
        assert journal.learner.weights.tolist() == weights.tolist()


def test_ids_are_any_text_or_whole_number(tmp_path):
    rng = random.Random(0)
    ids = ["", "1", 1, -1, 2**80, "\x00", "\ud800", "a\nb", "\u2028", "ä", "a\u0308", "x" * 100_000]
    ids += ["".join(chr(rng.randrange(1, 0x11000)) for _ in range(rng.randrange(1, 9))) for _ in range(50)]
    ids = list(dict.fromkeys(ids))
    with Journal(tmp_path, Sums(), snapshot_every=5) as journal:
        assert all(journal.record(id, 1) for id in ids)
    with Journal(tmp_path, Sums(), snapshot_every=5) as journal:
        assert not any(journal.record(id, 1) for id in ids)
        assert len(journal) == len(ids) == journal.learner.n


def test_ids_are_kept_on_disk_and_can_be_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(_known, "_MOST_RECENT", 64)
    n = 0
    for _ in range(6):
        with Journal(tmp_path, Sums(), snapshot_every=50) as journal:
            for _ in range(37):
                journal.record_all([(f"{n + i}", 1, None) for i in range(5)])
                n += 5
                assert len(journal._known.recent) < 64
            assert not any(journal.record_all([(f"{i}", 1, None) for i in range(n)]))
    files = sorted(tmp_path.glob("ids-*.u64"))
    assert 1 <= len(files) <= 6 and sum(path.stat().st_size for path in files) <= 8 * n
    for damage in (
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"x" * 80),
    ):
        damage(max(tmp_path.glob("ids-*.u64")))
        with Journal(tmp_path, Sums(), snapshot_every=50) as journal:
            assert len(journal) == n == journal.learner.n
            assert not any(journal.record_all([(f"{i}", 1, None) for i in range(n)]))
            assert journal.record(f"{n}", 1)
            n += 1
            journal.snapshot()
    known = KnownIds(tmp_path / "none")
    assert 5 not in known


def test_garbled_journals_are_refused_or_keep_what_was_acknowledged(tmp_path):
    """Bytes changed, lines repeated, swapped, removed: an error that names the file, or events that were recorded."""
    with Journal(tmp_path, Sums(), snapshot_every=100) as journal:
        journal.record_all([(i, 2**i, None) for i in range(8)])
    path = tmp_path / "events.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    rng, refused, kept = random.Random(0), 0, 120
    for trial in range(120):
        garbled = bytearray(whole)
        if trial % 2:
            garbled[rng.randrange(len(whole))] = rng.randrange(256)
        else:
            start = rng.randrange(len(whole))
            garbled[start : start + rng.randrange(40)] = rng.randbytes(rng.randrange(40))
        path.write_bytes(garbled)
        try:
            with Journal(tmp_path, Sums()) as journal:
                total, n = int(journal.learner.total), len(journal)
            assert total == 2**n - 1  # the events of an undamaged beginning
        except DataError as error:
            refused += "damaged" in str(error) and "line" in str(error)
            kept -= 1
    assert refused == 120 - kept and 50 < refused < 120
    # whole lines that are out of order or repeated carry good checksums; each id still counts once
    path.write_bytes(b"".join([*reversed(lines), *lines[:3]]))
    with Journal(tmp_path, Sums()) as journal:
        assert journal.learner.total == 2**8 - 1


@pytest.mark.skipif(os.name != "posix", reason="needs limits on the size of files")
def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path):
    script = """
import resource, sys
from plackett.online.journal import Journal
from tests.online.test_journal import Sums
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
journal = Journal(sys.argv[1], Sums(), snapshot_every=10**6)
try:
    for i in range(1000):
        journal.record(i, i)
        done = i
except OSError as error:
    print(done, type(error).__name__)
try:
    journal.record("after", 1)
except Exception as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    last, kind, *rest = result.stdout.split()
    assert kind == "OSError" and "closed" in rest
    with Journal(tmp_path, Sums()) as journal:
        assert len(journal) == int(last) + 1 > 10
        assert journal.learner.total == sum(range(int(last) + 1))
        assert journal.record(int(last) + 1, 1)


def test_a_snapshot_that_fails_does_not_fail_the_event(tmp_path, monkeypatch):
    with Journal(tmp_path, Sums(), snapshot_every=2) as journal:
        journal.record("a", 1)
        monkeypatch.setattr(
            journal.learner, "state", lambda: (_ for _ in ()).throw(OSError(28, "no space")), raising=False
        )
        with pytest.warns(PlackettWarning, match="no snapshot"):
            assert journal.record("b", 2)
    with Journal(tmp_path, Sums()) as journal:
        assert journal.learner.total == 3


def test_threads_take_turns(tmp_path):
    with Journal(tmp_path, Sums(), snapshot_every=7) as journal, ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda i: journal.record(i % 40, 1), range(80)))
        assert sum(taken) == 40 == journal.learner.n
    with Journal(tmp_path, Sums()) as journal:
        assert len(journal) == 40 == journal.learner.n


def test_the_weights_to_begin_with_are_kept(tmp_path):
    learner = PDGD(2)
    learner.weights = [1.0, -2.0]
    with Journal(tmp_path, learner):
        pass
    with Journal(tmp_path, PDGD(2)) as journal:
        assert journal.learner.weights.tolist() == [1.0, -2.0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are for POSIX systems")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_does_not_write_the_journal_of_its_parent_and_does_not_keep_it_locked(tmp_path):
    journal = Journal(tmp_path, Sums())
    reader, writer = os.pipe()
    waiting, done = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            journal.record("child", 1)
            answer = b"stored"
        except DataError as error:
            answer = b"refused" if "closed" in str(error) else b"other"
        os.write(writer, answer)
        os.read(waiting, 1)
        os._exit(0)
    try:
        assert os.read(reader, 10) == b"refused"
        with pytest.raises(DataError, match="another process"):
            Journal(tmp_path, Sums())
        assert journal.record("parent", 1)
        journal.close()
        with Journal(tmp_path, Sums()) as again:  # while the child is still there
            assert len(again) == 1
    finally:
        os.write(done, b"x")
        os.waitpid(child, 0)
        for each in (reader, writer, waiting, done):
            os.close(each)


def test_a_closed_journal_takes_no_snapshot(tmp_path):
    with Journal(tmp_path, Sums()) as journal:
        journal.record(1, 1)
    with pytest.raises(DataError, match="closed"):
        journal.snapshot()


def test_a_reader_does_not_judge_what_is_written_after_it_opened_the_file(tmp_path):
    with Journal(tmp_path, Sums()) as journal:
        journal.record(1, 1)
    path = tmp_path / "events.jsonl"
    entries = _entries(path)
    assert next(entries)[0] == 1
    with path.open("ab") as file:
        file.write(b"half a line\nand more\n")
    assert list(entries) == []
    with pytest.raises(DataError, match="line 2: damaged"):
        list(_entries(path))


def test_a_copied_line_counts_once_when_restored_too(tmp_path):
    with Journal(tmp_path, Sums(), snapshot_every=2) as journal:
        for i in range(3):
            journal.record(i, 10**i)
    path = tmp_path / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[0], lines[2]]))
    learner = Sums()
    assert restore(tmp_path, learner, before=time.time()) == 5 and learner.total == 111
    with Journal(tmp_path, Sums()) as journal:
        assert journal.learner.total == 111


def test_an_interruption_between_storing_and_learning_loses_nothing(tmp_path):
    class Interrupted(Sums):
        def apply(self, event):
            if event == 4:
                raise KeyboardInterrupt
            super().apply(event)

    with Journal(tmp_path, Interrupted()) as journal:
        journal.record("a", 1)
        with pytest.raises(KeyboardInterrupt):
            journal.record_all([("b", 2, None), ("c", 4, None), ("d", 8, None)])
        for call in (journal.snapshot, lambda: journal.record("e", 16)):
            with pytest.raises(DataError, match=r"closed .* open it again"):
                call()
    with Journal(tmp_path, Sums()) as journal:
        assert journal.learner.total == 15 and not journal.record("c", 4)
