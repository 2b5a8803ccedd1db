"""Journals survive kills, repeats and rivals."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from plackett._errors import DataError
from plackett.online.journal import Journal, restore
from plackett.online.learners.base import Page
from plackett.online.learners.dbgd import DBGD

pytestmark = pytest.mark.spec("online.stability")


class Sums:
    """A learner that can be checked at a glance."""

    def __init__(self):
        self.total, self.n = 0, 0

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
    for _ in range(3):
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
            assert not journal.record(acknowledged, 0) if acknowledged >= 0 else True


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
    path.write_bytes(whole.replace(b"id 1", b"id 7"))
    with pytest.raises(DataError, match="line 2: damaged"):
        Journal(tmp_path, Sums())
    path.write_bytes(whole[: whole.index(b"\n") + 1])
    with pytest.raises(DataError, match="events were lost"):
        Journal(tmp_path, Sums())


def test_repeats_late_events_and_nonsense(tmp_path):
    with Journal(tmp_path, Sums(), max_age=3600) as journal:
        now = time.time()
        assert journal.record_all([("a", 1, now), ("a", 1, now), ("b", 2, now - 7200), ("c", 4, None)]) == [
            True, False, False, True,
        ]  # fmt: skip
        with pytest.raises(DataError, match="plain values"):
            journal.record("d", {1, 2})
        with pytest.raises(DataError, match="plain values"):
            journal.record("d", float("nan"))
        assert journal.learner.total == 5
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
