"""What people enter, in one SQLite file: judgements, notes, query sets, snapshots.

Judgements are a log to which lines are only added. The current grade of a rater for a document is that of the last
line that was not undone, so that undoing is exact and it stays known who said what. A change is committed before the
function that makes it returns: what was acknowledged survives the death of the process at any moment.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median_low
from typing import Any, NamedTuple

from plackett._base.errors import DataError
from plackett._files.checks import check_regular

__all__ = ["Store"]

_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS sets (name TEXT PRIMARY KEY, created REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS queries (
    set_name TEXT NOT NULL REFERENCES sets (name) ON DELETE CASCADE, qid TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (set_name, qid)) STRICT;
CREATE TABLE IF NOT EXISTS judgements (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, rater TEXT NOT NULL, qid TEXT NOT NULL,
    docid TEXT NOT NULL, grade REAL, note TEXT NOT NULL DEFAULT '', undone INTEGER NOT NULL DEFAULT 0,
    author TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX IF NOT EXISTS judgements_by_pair ON judgements (qid, docid, rater, number);
CREATE INDEX IF NOT EXISTS judgements_by_rater ON judgements (rater, number);
CREATE INDEX IF NOT EXISTS judgements_by_author ON judgements (author, number);
CREATE INDEX IF NOT EXISTS judgements_by_time ON judgements (time);
CREATE TABLE IF NOT EXISTS numbered (qid TEXT PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE IF NOT EXISTS snapshots (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, time REAL NOT NULL, ranker TEXT NOT NULL,
    set_name TEXT NOT NULL, depth INTEGER NOT NULL, run BLOB NOT NULL) STRICT;
"""
#: The last line of each rater for each pair that was not undone.
_CURRENT = """
SELECT number, time, rater, qid, docid, grade, note FROM judgements WHERE number IN (
    SELECT max(number) FROM judgements WHERE undone = 0 {where} GROUP BY qid, docid, rater)
"""


class Judgement(NamedTuple):
    """What a rater said of a document for a query; without a grade it was taken back, or there is only a note."""

    number: int
    time: float
    rater: str
    qid: str
    docid: str
    grade: float | None
    note: str


class Snapshot(NamedTuple):
    """The results of a ranker on a query set, as they were."""

    number: int
    name: str
    time: float
    ranker: str
    set_name: str
    depth: int


class Store:
    """The file with judgements, query sets and snapshots.

    Parameters
    ----------
    path
        The file, created if it does not exist; ``":memory:"`` keeps nothing.

    Examples
    --------
    >>> store = Store(":memory:")
    >>> _ = store.judge("ann", "q1", "d1", 2)
    >>> _ = store.judge("ann", "q1", "d1", 3)
    >>> store.labels(), store.undo("ann").grade, store.labels()
    ({'q1': {'d1': 3.0}}, 3.0, {'q1': {'d1': 2.0}})
    """

    def __init__(self, path: str | os.PathLike[str] = ":memory:") -> None:
        self.path = str(path)
        self._lock = threading.RLock()
        #: The query sets, read once; they are asked for with every search.
        self._sets: dict[str, dict[str, str]] | None = None
        self._version = -1
        self._last = 0.0
        #: Which file it is, once it is open.
        self._identity: tuple[int, int] | None = None
        if self.path != ":memory:":
            check_regular(self.path)
        try:
            self._connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=30)
            (state,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise self._damaged(state)
            self._connection.execute("PRAGMA journal_mode=WAL")
            # every commit reaches the disk before it is acknowledged
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("PRAGMA foreign_keys=ON")
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version > _VERSION:
                raise DataError(f"{path}: format {version}; this plackett reads {_VERSION}")
            with self._commit():
                for statement in _TABLES.split(";"):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version={_VERSION}")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorname.startswith("SQLITE_CORRUPT"):
                raise self._damaged(str(error)) from None
            raise DataError(f"{path}: not a file of the workbench, or not writable ({error})") from None
        self._identity = _file_identity(self.path) if self.path != ":memory:" else None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _commit(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._explained("; nothing was saved"):
            self._check_identity()
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    @contextmanager
    def _explained(self, consequence: str = "") -> Iterator[None]:
        """Turn what SQLite says about the file into an error of ours; what it says about a statement is passed on."""
        try:
            yield
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise
        except sqlite3.OperationalError as error:  # the disk is full, the file is locked or read-only
            raise DataError(f"{self.path}: {error}{consequence}") from None
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error), consequence) from None

    def _damaged(self, reason: str, consequence: str = "") -> DataError:
        return DataError(
            f"{self.path}: damaged ({' '.join(reason.split())}){consequence}. Stop the workbench and restore the file "
            f"from a copy, or save what can be read: sqlite3 {self.path} .recover | sqlite3 recovered.sqlite"
        )

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _check_identity(self) -> None:
        """SQLite keeps writing to a file that was removed, and everything would be lost with the process."""
        if self._identity is not None and self._identity != _file_identity(self.path):
            raise DataError(
                f"{self.path}: the file was moved, removed or replaced; nothing was saved. Put it back, or start the "
                "workbench again"
            )

    def _rows(self, statement: str, values: Iterable[Any] = ()) -> list[Any]:
        with self._lock, self._explained():
            return self._connection.execute(statement, tuple(values)).fetchall()

    # ---------------------------------------------------------------------------------------------------- judgements

    def judge(self, rater: str, qid: str, docid: str, grade: float | None, note: str | None = None) -> Judgement:
        """Record a grade, or with None take it back; without a note the one that the rater wrote before is kept."""
        with self._commit() as connection:
            return self._judge(connection, rater, qid, docid, grade, note, self._now(), rater)

    def note(self, rater: str, qid: str, docid: str, note: str) -> Judgement:
        """Record a note; the rater's grade stays what it is."""
        with self._commit() as connection:
            return self._note(connection, rater, qid, docid, note, self._now(), rater)

    def judge_all(self, entries: Iterable[tuple[str, str, str, float | None, str | None]], author: str) -> int:
        """Record rater, query, document, grade and note of many in one step; return how many.

        Without a grade it is a note, and the grade stays. Only the author, who imports them, can undo the step.
        """
        count = 0
        with self._commit() as connection:
            now = self._now()
            for rater, qid, docid, grade, note in entries:
                if grade is None:
                    self._note(connection, rater, qid, docid, note or "", now, author)
                else:
                    self._judge(connection, rater, qid, docid, grade, note, now, author)
                count += 1
        return count

    def _now(self) -> float:
        """The time of a change. No two changes have the same, so it tells which lines were written together."""
        self._last = max(time.time(), math.nextafter(self._last, math.inf))
        return self._last

    def _note(
        self, connection: sqlite3.Connection, rater: str, qid: str, docid: str, note: str, now: float, author: str
    ) -> Judgement:
        before = connection.execute(
            "SELECT grade FROM judgements WHERE qid=? AND docid=? AND rater=? AND undone=0 "
            "ORDER BY number DESC LIMIT 1",
            (qid, docid, rater),
        ).fetchone()
        return self._judge(connection, rater, qid, docid, before[0] if before else None, note, now, author)

    def _judge(
        self,
        connection: sqlite3.Connection,
        rater: str,
        qid: str,
        docid: str,
        grade: float | None,
        note: str | None,
        now: float,
        author: str,
    ) -> Judgement:
        if note is None:
            before = connection.execute(
                "SELECT note FROM judgements WHERE qid=? AND docid=? AND rater=? AND undone=0 "
                "ORDER BY number DESC LIMIT 1",
                (qid, docid, rater),
            ).fetchone()
            note = before[0] if before else ""
        cursor = connection.execute(
            "INSERT INTO judgements (time, rater, qid, docid, grade, note, author) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (now, rater, qid, docid, None if grade is None else float(grade), note, author),
        )
        return Judgement(int(cursor.lastrowid or 0), now, rater, qid, docid, grade, note)

    def undo(self, rater: str) -> Judgement | None:
        """Undo the last change of a rater; return what was undone, or None if there is nothing."""
        return next(iter(self.undo_change(rater)), None)

    def undo_change(self, rater: str) -> list[Judgement]:
        """Undo the last change that a rater made; return what was undone, the last line first.

        An import is one change of the person who imports, whoever the raters of its lines are.
        """
        with self._commit() as connection:
            rows = connection.execute(
                "SELECT number, time, rater, qid, docid, grade, note FROM judgements WHERE author=?1 AND undone=0 AND "
                "time=(SELECT time FROM judgements WHERE author=?1 AND undone=0 ORDER BY number DESC LIMIT 1) "
                "ORDER BY number DESC",
                (rater,),
            ).fetchall()
            connection.executemany("UPDATE judgements SET undone=1 WHERE number=?", [row[:1] for row in rows])
        return [Judgement(*row) for row in rows]

    def judgements(self, qid: str | None = None, rater: str | None = None) -> list[Judgement]:
        """The current judgements, in the order in which they were made."""
        where, values = "", []
        for column, value in (("qid", qid), ("rater", rater)):
            if value is not None:
                where += f" AND {column} = ?"
                values.append(value)
        return [Judgement(*row) for row in self._rows(_CURRENT.format(where=where) + " ORDER BY number", values)]

    def labels(self, rater: str | None = None, qid: str | None = None) -> dict[str, dict[str, float]]:
        """Grades by query and document: of one rater, or of all, the median (the lower one of two)."""
        grades: dict[tuple[str, str], list[float]] = {}
        for judgement in self.judgements(qid, rater):
            if judgement.grade is not None:
                grades.setdefault((judgement.qid, judgement.docid), []).append(judgement.grade)
        labels: dict[str, dict[str, float]] = {}
        for (query, docid), given in grades.items():
            labels.setdefault(query, {})[docid] = median_low(given)
        return labels

    def raters(self) -> dict[str, int]:
        """How many documents each rater has graded."""
        counts: dict[str, int] = {}
        for judgement in self.judgements():
            counts[judgement.rater] = counts.get(judgement.rater, 0) + (judgement.grade is not None)
        return counts

    # -------------------------------------------------------------------------------------------------------- queries

    def number(self, texts: Iterable[str], prefix: str, known: Mapping[str, str], taken: Iterable[str]) -> list[str]:
        """Ids for queries that have none.

        Judgements belong to ids and stay when a query set is removed. So a text keeps the id that it once got, and no
        other text ever gets it.

        Parameters
        ----------
        prefix
            What new ids begin with; a number follows.
        known
            Ids of texts that have one.
        taken
            Ids that are used elsewhere.
        """
        with self._commit() as connection:
            ids = {text: qid for qid, text in connection.execute("SELECT qid, text FROM numbered")} | dict(known)
            used = {*ids.values(), *taken}
            for statement in ("SELECT DISTINCT qid FROM judgements", "SELECT qid FROM queries"):
                used.update(qid for (qid,) in connection.execute(statement))
            free = (qid for n in itertools.count(1) if (qid := f"{prefix}{n}") not in used)
            texts = list(texts)
            for text in texts:
                if text not in ids:
                    ids[text] = next(free)
                    connection.execute("INSERT INTO numbered VALUES (?, ?)", (ids[text], text))
            return [ids[text] for text in texts]

    def add_queries(self, name: str, queries: Mapping[str, str]) -> None:
        """Add queries to a set, which is made if it does not exist; a query with a known id is replaced."""
        with self._commit() as connection:
            connection.execute("INSERT OR IGNORE INTO sets VALUES (?, ?)", (name, time.time()))
            connection.executemany(
                "INSERT INTO queries VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET text = excluded.text",
                [(name, qid, text) for qid, text in queries.items()],
            )
            self._sets = None

    def remove_set(self, name: str) -> bool:
        """Remove a set of queries; judgements stay. Return whether there was one."""
        with self._commit() as connection:
            self._sets = None
            return connection.execute("DELETE FROM sets WHERE name=?", (name,)).rowcount > 0

    def sets(self) -> dict[str, dict[str, str]]:
        """All sets: texts by id, in the order in which they were added."""
        with self._lock:
            ((version,),) = self._rows("PRAGMA data_version")
            if self._sets is None or version != self._version:  # another process may have changed them
                names = self._rows("SELECT name FROM sets ORDER BY created")
                sets: dict[str, dict[str, str]] = {name: {} for (name,) in names}
                for name, qid, text in self._rows("SELECT set_name, qid, text FROM queries ORDER BY rowid"):
                    sets[name][qid] = text
                self._sets, self._version = sets, version
            return self._sets

    # ------------------------------------------------------------------------------------------------------ snapshots

    def add_snapshot(
        self, name: str, ranker: str, set_name: str, depth: int, run: Mapping[str, Mapping[str, float]]
    ) -> Snapshot:
        """Keep the results of a ranker: scores by query and document."""
        packed = zlib.compress(json.dumps({q: dict(own) for q, own in run.items()}, allow_nan=False).encode())
        now = time.time()
        try:
            with self._commit() as connection:
                cursor = connection.execute(
                    "INSERT INTO snapshots (name, time, ranker, set_name, depth, run) VALUES (?, ?, ?, ?, ?, ?)",
                    (name, now, ranker, set_name, depth, packed),
                )
        except sqlite3.IntegrityError:
            raise DataError(f"there is a snapshot {name!r} already; choose another name") from None
        return Snapshot(int(cursor.lastrowid or 0), name, now, ranker, set_name, depth)

    def snapshots(self) -> list[Snapshot]:
        """All snapshots, the oldest first."""
        rows = self._rows("SELECT number, name, time, ranker, set_name, depth FROM snapshots ORDER BY number")
        return [Snapshot(*row) for row in rows]

    def snapshot_run(self, name: str) -> dict[str, dict[str, float]]:
        """The results that a snapshot keeps."""
        rows = self._rows("SELECT run FROM snapshots WHERE name=?", (name,))
        if not rows:
            raise DataError(f"there is no snapshot {name!r}")
        try:
            run: dict[str, dict[str, float]] = json.loads(zlib.decompress(rows[0][0]))
        except (zlib.error, ValueError) as error:
            raise self._damaged(f"snapshot {name!r}: {error}") from None
        return run

    def remove_snapshot(self, name: str) -> bool:
        """Remove a snapshot; return whether there was one."""
        with self._commit() as connection:
            return connection.execute("DELETE FROM snapshots WHERE name=?", (name,)).rowcount > 0


def _file_identity(path: str) -> tuple[int, int] | None:
    """The device and the number of a file; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
