"""The file that keeps what people enter, when nobody names one: each source has its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path


def default_store(paths: Sequence[str]) -> Path:
    """The file for a source, in the current folder.

    >>> str(default_store(["data/movies"])), str(default_store(["bm25.run", "rm3.run"])), str(default_store([]))
    ('workbench-movies.sqlite', 'workbench-bm25-rm3.sqlite', 'workbench-pydocs.sqlite')
    """
    full = [Path(path).resolve() for path in paths]
    names = [re.sub(r"[^\w.-]+", "-", one.name if one.is_dir() else one.stem).strip(".-") for one in full]
    return Path(f"workbench-{'-'.join(names)[:100] or 'pydocs'}.sqlite")
