"""Names of features in the comments of a RankLib model: RankLib skips them, and knows features by number."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import takewhile

from plackett._base.errors import DataError
from plackett.export._form import check_names

_NAME = re.compile(r'##\s*Feature (\d{1,9}) = (".*")\s*$')


def with_names(body: str, names: Sequence[str]) -> str:
    """The model after its first line, with a comment for each feature below the settings.

    Names are in quotes and in ASCII, as in JSON: one line each, whatever they contain.

    >>> with_names("1:0.5 2:0.25", ["BM25", "length"]).splitlines()
    ['## Feature 1 = "BM25"', '## Feature 2 = "length"', '1:0.5 2:0.25']
    """
    lines = body.splitlines(keepends=True)
    first = next((i for i, line in enumerate(lines) if not line.startswith("##")), len(lines))
    comments = [f"## Feature {j} = {json.dumps(name)}\n" for j, name in enumerate(names, 1)]
    return "".join(lines[:first] + comments + lines[first:])


def read_names(lines: Sequence[str]) -> list[str] | None:
    """The names in the comments at the top; None if they are not those of the features 1, 2, …

    >>> read_names(["## AdaRank", '## Feature 1 = "BM25"', "1:0.5"])
    ['BM25']
    """
    names: list[str] = []
    try:
        for line in takewhile(lambda line: line.startswith("##") or not line.strip(), lines):
            comment = _NAME.match(line)
            if comment is not None:
                names.append(json.loads(comment[2]))
                if int(comment[1]) != len(names):
                    return None
        check_names(names)
    except (ValueError, DataError):  # not as they are written here
        return None
    return names or None
