"""RankLib's score files: query, position in the query and score, separated by tabs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of
from plackett.export._lines import ModelText

__all__ = ["read_ranklib_scores", "write_ranklib_scores"]


def write_ranklib_scores(data: RankingDataset, scores: Any, path: str | os.PathLike[str]) -> None:
    """Write scores as RankLib's ``-score`` does: a line ``qid⇥index⇥score`` per document, queries one after the other.

    Scores are in the order of the dataset, as returned by `predict`; a fitted ranker scores it here.
    """
    scores = scores_of(data, scores)
    positions = np.arange(data.n_rows) - np.repeat(data.offsets[:-1], data.group)
    names = [str(name) for name in data.qids.tolist()]
    rows = zip(data.query_of_row.tolist(), positions.tolist(), scores.tolist(), strict=True)
    with replacing(path) as file:
        file.writelines(f"{names[q]}\t{i}\t{score!r}\n".encode() for q, i, score in rows)


def read_ranklib_scores(path: str | os.PathLike[str], data: RankingDataset) -> np.ndarray:
    r"""Read the scores written by RankLib's ``-score``, in the order of the dataset they belong to.

    Lines are matched by query and position, so queries may be in any order. A line that matches no document, a
    duplicate line, and a document without a score are errors.

    Examples
    --------
    >>> import tempfile
    >>> data = RankingDataset.from_arrays(None, [1, 0, 2], qid=["a", "a", "b"])
    >>> path = tempfile.mkdtemp() + "/scores.txt"
    >>> write_ranklib_scores(data, [0.5, 0.25, 2.0], path)
    >>> open(path).readline(), read_ranklib_scores(path, data).tolist()
    ('a\t0\t0.5\n', [0.5, 0.25, 2.0])
    """
    model = ModelText.read(path)
    query = {str(name): q for q, name in enumerate(data.qids.tolist())}
    scores = np.full(data.n_rows, np.nan)
    for number, line in model.lines():
        fields = line.split("\t")
        if len(fields) != 3:
            model.fail(number, f"expected query, position and score separated by tabs, found {line[:40]!r}")
        q = query.get(fields[0].strip(), -1)
        position = model.whole(fields[1].strip(), number, "the position of a document in its query")
        if q < 0 or position >= data.group[q]:
            model.fail(number, f"the data have no document {position} of query {fields[0][:40]!r}")
        row = data.offsets[q] + position
        if not np.isnan(scores[row]):
            model.fail(number, f"document {position} of query {fields[0][:40]!r} occurs twice")
        scores[row] = model.real(fields[2].strip(), number, "a score")
    if np.isnan(scores).any():
        row = int(np.flatnonzero(np.isnan(scores))[0])
        q = int(data.query_of_row[row])
        raise DataError(f"{path}: no score for document {row - data.offsets[q]} of query {data.qids[q]}")
    return scores
