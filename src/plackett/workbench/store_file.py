"""The file that keeps what people enter, when nobody names one: each source has its own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from plackett.workbench.sources.base import WorkbenchSource
from plackett.workbench.store import Store

#: What the file of all sources was called.
OLD = "workbench.sqlite"


def default_store(paths: Sequence[str]) -> Path:
    """The file for a source, in the current folder.

    >>> str(default_store(["data/movies"])), str(default_store(["bm25.run", "rm3.run"])), str(default_store([]))
    ('workbench-movies.sqlite', 'workbench-bm25-rm3.sqlite', 'workbench-pydocs.sqlite')
    """
    full = [Path(path).resolve() for path in paths]
    names = [re.sub(r"[^\w.-]+", "-", one.name if one.is_dir() else one.stem).strip(".-") for one in full]
    return Path(f"workbench-{'-'.join(names)[:100] or 'pydocs'}.sqlite")


def adopt(path: Path, old: Path, source: WorkbenchSource) -> bool:
    """Copy the file of all sources to that of a source, if this one is new and the old one has judgements of it."""
    if path.exists() or not old.is_file():
        return False
    with closing(Store(old)) as store:
        judged = list(dict.fromkeys(one.docid for one in store.judgements()))
    if not source.knows(judged):
        return False
    with closing(sqlite3.connect(old)) as one, closing(sqlite3.connect(path)) as other:
        one.backup(other)
    return True
