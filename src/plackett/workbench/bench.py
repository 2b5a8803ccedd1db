"""The state of the workbench: a source, what people enter, and what was computed from both."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError
from plackett._names.nearest import nearest, question
from plackett.workbench.columns.base import Column, Query
from plackett.workbench.columns.run import RunColumn
from plackett.workbench.sources.base import WorkbenchSource
from plackett.workbench.store import Store
from plackett.workbench.training import Job, Jobs

__all__ = ["Workbench"]

#: Name of the set of queries that came with the source, and of that of queries typed into the search box.
GIVEN, TYPED = "given", "typed"
#: What the name of a snapshot begins with where rankers are named.
SNAPSHOT = "snapshot: "
#: Lists that are kept in memory.
_KEPT = 64


class Workbench:
    """A source of rankings and a store of judgements.

    Parameters
    ----------
    source
        Documents and rankers; see `plackett.workbench.sources.opening.open_source`.
    store
        Judgements, query sets, snapshots.
    labels
        Judgements from a file. Those of raters in the store take precedence.
    folder
        Where training keeps its files; by default a temporary folder.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> from plackett.workbench.sources.index import IndexSource
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "a blue sky"})])
    >>> bench = Workbench(IndexSource(index), Store())
    >>> bench.column("BM25").rank(bench.query("whale"), 10).ids
    ['a']
    """

    def __init__(
        self,
        source: WorkbenchSource,
        store: Store,
        *,
        labels: Mapping[str, Mapping[str, float]] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.source, self.store, self.jobs = source, store, Jobs(folder)
        self.given = {qid: dict(own) for qid, own in (source.labels if labels is None else labels).items()}
        for qid in self.given:
            if not source.searchable:
                source.queries.setdefault(qid, qid)
        self._kept: dict[Any, dict[str, dict[str, float]]] = {}
        self._lock = threading.Lock()

    # -------------------------------------------------------------------------------------------------------- queries

    def sets(self) -> dict[str, dict[str, str]]:
        """Sets of queries by name."""
        given = {GIVEN: self.source.queries} if self.source.queries else {}
        return given | self.store.sets()

    def query_set(self, name: str) -> dict[str, str]:
        """The queries of a set."""
        sets = self.sets()
        if name not in sets:
            near = nearest(name, sets, 3)
            raise DataError(f"there is no query set {name!r}; {question(near) if near else 'import one first'}")
        return sets[name]

    def query(self, text: str, qid: str | None = None) -> Query:
        """A query by its id, or by its text: if a query of a set has this text, it is that query."""
        text = " ".join(text.split())
        sets = self.sets()
        if qid:
            for own in sets.values():
                if qid in own:
                    return Query(qid, text if text else own[qid])
            return Query(qid, text)
        for own in sets.values():
            for known, known_text in own.items():
                if known_text == text or (known == text and not self.source.searchable):
                    return Query(known, known_text)
        return Query(None, text)

    def saved_query(self, text: str, qid: str | None) -> Query:
        """The same; a query that is not in any set yet is added to the set of typed ones."""
        query = self.query(text, qid)
        if query.qid is not None:
            return query
        if not query.text:
            raise DataError("a judgement needs a query: its id or its text")
        with self._lock:
            again = self.query(text)  # somebody else may have been faster
            if again.qid is not None:
                return again
            (new_id,) = self.ids_of([query.text], "t")
            self.store.add_queries(TYPED, {new_id: query.text})
            return Query(new_id, query.text)

    def ids_of(self, texts: Sequence[str], prefix: str = "") -> list[str]:
        """Ids for queries that have none: that of a query with the same text, or a new one that is not in use."""
        sets = self.sets()
        known = {text: qid for own in reversed(sets.values()) for qid, text in reversed(own.items())}
        return self.store.number(texts, prefix, known, {*self.given, *(qid for own in sets.values() for qid in own)})

    # ----------------------------------------------------------------------------------------------------- judgements

    def labels(self, rater: str | None = None, qid: str | None = None) -> dict[str, dict[str, float]]:
        """Grades by query and document: those of raters, or else those of the file."""
        own = self.store.labels(rater, qid)
        if rater is not None:
            return own
        given = self.given if qid is None else {q: g for q, g in self.given.items() if q == qid}
        return {q: {**given.get(q, {}), **own.get(q, {})} for q in dict.fromkeys([*given, *own])}

    # -------------------------------------------------------------------------------------------------------- columns

    def column(self, name: str) -> Column:
        """A ranker or a snapshot by its name."""
        if name in self.source.columns:
            return self.source.columns[name]
        if name.startswith(SNAPSHOT):
            return RunColumn(name, self.store.snapshot_run(name.removeprefix(SNAPSHOT)), "snapshot")
        near = nearest(name, self.source.columns, 3)
        raise DataError(f"there is no ranker {name!r}; {question(near) if near else 'choose one of the list'}")

    def run(self, name: str, set_name: str, depth: int) -> dict[str, dict[str, float]]:
        """The best documents of a ranker for every query of a set; kept until the set changes."""
        queries = self.query_set(set_name)
        if name.startswith(SNAPSHOT):
            kept = self.store.snapshot_run(name.removeprefix(SNAPSHOT))
            return {qid: dict(list(kept.get(qid, {}).items())[:depth]) for qid in queries}
        column = self.column(name)
        key = id(column), depth, hash(tuple(queries.items()))
        if key not in self._kept:
            run = column.run(queries, depth)
            with self._lock:
                while len(self._kept) >= _KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[key] = run
        return self._kept[key]

    # ------------------------------------------------------------------------------------------------------- training

    def train(
        self, set_name: str, rankers: Sequence[str], features: Sequence[str], measure: str, folds: int, trials: int
    ) -> Job:
        """Start an experiment on the judged queries of a set."""
        self.query_set(set_name)
        settings = {
            "set": set_name, "rankers": list(rankers), "features": list(features), "measure": measure,
            "folds": folds, "trials": trials,
        }  # fmt: skip
        return self.jobs.start(
            settings, lambda: self.source.training_data(self.query_set(set_name), self.labels(), features)
        )

    def add_winner(self, number: int) -> str:
        """Add the winner of an experiment as a column; return its name."""
        job = self.jobs.job(number)
        if job.column is None:
            ranker = self.jobs.winner(number)
            name = f"{job.result['best']} #{number}"
            column = self.source.add_ranker(name, ranker, job.settings["features"])
            column.trained_on = frozenset(self.query_set(job.settings["set"]))
            job.column = column.name
        return job.column
