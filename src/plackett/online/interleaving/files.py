"""Interleaved lists for engines that read files, and the score of what users did with them."""

from __future__ import annotations

import itertools
import json
import os
import warnings
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._files.atomic import replacing
from plackett._files.checks import check_regular
from plackett.data.trec import as_run
from plackett.online._known import id_number
from plackett.online.interleaving.base import Interleaved, Interleaving
from plackett.online.interleaving.interleave import find_interleaving, interleave
from plackett.online.sequential import mean_sequence, sign_sequence

__all__ = ["score_events", "write_lists"]

#: Ways of interleaving for which the sign of the credit is fair; for the others the mean credit is tested.
_BY_SIGN = ("team-draft", "balanced")
#: Larger credits for one page are refused: their squares would be infinite.
_MOST = 1e100


@dataclass(frozen=True)
class InterleavingScore:
    """Result of `score_events`.

    Attributes
    ----------
    rows
        For each pair of rankers: names, wins, losses, mean preference, lower and upper bound, always-valid p-value.
    n_events, n_clicked, n_repeated
        Pages, pages with clicks, and events whose id was seen before (ignored).
    credit
        Mean credit of each ranker per page.
    holds_from
        Pages from which the test holds, if the rest are like those so far: many if few pages have most of the credit.
    """

    rows: list[tuple[str, str, int, int, float, float, float, float]]
    n_events: int
    n_clicked: int
    n_repeated: int
    credit: dict[str, float]
    alpha: float
    holds_from: int = 0

    @property
    def advice(self) -> str:
        """One sentence on what to do."""
        for name in self.credit:
            tests = [row for row in self.rows if name in row[:2]]
            ahead = [row[4] > 0 if row[0] == name else row[4] < 0 for row in tests]
            if all(ahead) and max(row[-1] for row in tests) <= self.alpha / len(tests):
                return f"{name} is better."
        if self.n_events < self.holds_from:
            return f"Too early: few pages have most of the credit. About {self.holds_from} pages are needed."
        return "No ranker is better than all others yet: continue, or stop if the interval is narrow enough for you."

    def record(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        names = ("first", "second", "wins", "losses", "preference", "lower", "upper", "p")
        return asdict(self) | {"rows": [dict(zip(names, row, strict=True)) for row in self.rows], "advice": self.advice}


def write_lists(
    runs: Mapping[str, Any],
    out: str | os.PathLike[str],
    *,
    method: str = "team-draft",
    k: int = 10,
    copies: int = 1,
    seed: int = 0,
) -> int:
    """Write interleaved lists of runs (any form that `plackett.data.trec.as_run` takes); returns their number.

    Each line of JSON is a list with ``id``, ``qid``, ``rankers``, ``method``, ``documents`` and ``credits``. Queries of
    any run count; a warning says for how many of them a run has no documents. The rankers swap roles over the copies of
    a query, so that the copies together are fair: give an even number of copies for two rankers, a multiple of 2 m for
    m.
    """
    way = find_interleaving(method)
    by_ranker = [_rankings(run) for run in runs.values()]
    queries = dict.fromkeys(qid for each in by_ranker for qid in each)
    names, n = list(runs), 0
    _check_shared(dict(zip(names, by_ranker, strict=True)), list(queries))
    with replacing(out) as file:
        for qid in queries:
            lists = [each.get(qid, []) for each in by_ranker]
            for copy, shown in enumerate(_fair_copies(lists, way, k, copies, f"{seed}/{qid}")):
                line = {"id": f"{qid}/{copy}", "qid": qid, "rankers": names, "method": way.name} | shown.record()
                file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
                n += 1
    return n


def _fair_copies(lists: list[list[str]], way: Interleaving, k: int, copies: int, seed: str) -> list[Interleaved]:
    """Lists that are fair as they are, not only in expectation over their draw: each is shown to many visitors.

    Copies of a group share their draw, in which the rankers swap roles: clicks that depend on the rank alone give each
    ranker of a pair as many wins as the other. Where credit is a number that depends on the documents, the mean over
    all copies is subtracted at each rank.
    """
    orders = _trades(len(lists))
    fair = []
    for copy in range(copies):
        order = orders[copy % len(orders)]
        shown = interleave([lists[i] for i in order], k=k, method=way, seed=f"{seed}/{copy // len(orders)}")
        column_of = np.argsort(order).tolist()
        fair.append(replace(shown, credits=[[row[i] for i in column_of] for row in shown.credits]))
    if copies == 1 or way.name in _BY_SIGN or not fair[0].documents:
        return fair
    mean = np.mean([each.credits for each in fair], axis=0)
    mean -= mean.mean(axis=1, keepdims=True)
    return [replace(each, credits=(np.array(each.credits) - mean).tolist()) for each in fair]


def _trades(m: int) -> list[list[int]]:
    """Orders of m rankers in which every two rankers take every two positions equally often in either order."""
    shifts = [[(i + shift) % m for i in range(m)] for shift in range(m)]
    return shifts if m == 2 else [*shifts, *(each[::-1] for each in shifts)]


def _check_shared(by_ranker: dict[str, dict[str, list[str]]], queries: list[str]) -> None:
    """Warn of queries for which a ranker has no documents: their pages compare nothing."""
    missing = {name: [qid for qid in queries if qid not in each] for name, each in by_ranker.items()}
    alone = len({qid for each in missing.values() for qid in each})
    if not alone:
        return
    shortages = "; ".join(
        f"{name} has no documents for {len(qids)}, such as {qids[0]!r}" for name, qids in missing.items() if qids
    )
    if alone == len(queries):
        raise DataError(f"no query has documents of all rankers. Of {len(queries)} queries, {shortages}")
    warnings.warn(
        f"of {len(queries)} queries, {shortages}: their pages say little or nothing about which ranker is better",
        PlackettWarning,
        stacklevel=3,
    )


def _rankings(run: Any) -> dict[str, list[str]]:
    """Documents of each query by descending score; equal scores in the order of the file."""
    frame = as_run(run)
    rankings: dict[str, list[str]] = {}
    order = np.argsort(-frame["score"].to_numpy(), kind="stable")
    for qid, docid in zip(frame["qid"].gather(order), frame["docid"].gather(order), strict=True):
        rankings.setdefault(qid, []).append(docid)
    return rankings


def score_events(
    events: str | os.PathLike[str], shown: str | os.PathLike[str] | None = None, *, alpha: float = 0.05
) -> InterleavingScore:
    """Score what users did with interleaved lists.

    Parameters
    ----------
    events
        Lines of JSON, one per page: ``id`` of the list, ``clicks`` as documents or ``{document: weight}``; ``event``,
        an id of the page itself, makes repeated lines count once. Pages without clicks belong in the file too. A last
        line that is still being written is left for the next time, with a warning.
    shown
        The file that `write_lists` wrote; without it every event repeats the fields of its list.
    alpha
        Error rate; with several rankers, divide it among the pairs, as `advice` does.
    """
    lists = None if shown is None else _lists(shown)
    names: list[str] | None = None
    by_sign = True
    ids, values = array("Q"), array("d")  # 8 bytes per event, and per ranker
    any_click = array("b")
    n_lines = 0
    for number, event in _lines(events, growing=True):
        n_lines += 1
        where = f"{events}, line {number}"
        ids.append(id_number(_id(event, "event", events, number)) if "event" in event else n_lines)
        record = event
        if lists is not None:
            record = lists.get(_id(event, "id", events, number), {})
            if not record:
                raise DataError(f"{where}: list {event['id']!r} is not in {shown}")
        if lists is None and "rankers" not in record:
            raise DataError(
                f"{where}: no field 'rankers'; give the lists that were shown (--shown), or repeat their fields"
            )
        rankers = _names(record, events, number)
        if names is not None and rankers != names:
            raise DataError(f"{where}: rankers {rankers}, but {names} before; score them separately")
        names = rankers
        method = _field(record, "method", events, number)
        try:
            way = find_interleaving(method)
            by_sign &= way.name in _BY_SIGN
            page, clicks = way.restore(record), _field(event, "clicks", events, number)
            score = [float(each) for each in page.score(clicks)] or [0.0] * len(names)
            any_click.append(bool(clicks) and any(page.weights(clicks).values()))
        except (DataError, TypeError, KeyError, IndexError, ValueError, AttributeError, OverflowError) as error:
            raise DataError(f"{where}: {error}") from None
        if len(score) != len(names) or not all(abs(each) < _MOST for each in score):  # also false for NaN
            raise DataError(
                f"{where}: credit {score} for rankers {names}; one number below {_MOST:g} each was expected"
            )
        values.extend(score)
    if names is None:
        raise DataError(f"{events}: no events")
    first = np.sort(np.unique(np.frombuffer(ids, np.uint64), return_index=True)[1])  # the first event of each id
    credit = np.frombuffer(values, np.float64).reshape(n_lines, len(names))[first]
    n_events, n_repeated = first.size, n_lines - first.size
    rows, holds_from = [], 0
    for i, j in itertools.combinations(range(len(names)), 2):
        gap = credit[:, i] - credit[:, j]
        gap = np.where(np.abs(gap) < 1e-12, 0.0, gap)
        won, lost = int((gap > 0).sum()), int((gap < 0).sum())
        test = (
            sign_sequence(won, lost, alpha=alpha)
            if by_sign
            else mean_sequence(
                gap.mean(), gap.var(ddof=1) if n_events > 1 else 1.0, n_events, kurtosis=_kurtosis(gap), alpha=alpha
            )
        )
        holds_from = max(holds_from, int(test.holds_from))
        numbers = (float(x) for x in (test.estimate, test.lower, test.upper, test.p))
        rows.append((names[i], names[j], won, lost, *numbers))
    clicked = int(np.frombuffer(any_click, np.int8)[first].sum())
    mean = dict(zip(names, credit.mean(axis=0).tolist(), strict=True))
    return InterleavingScore(rows, n_events, clicked, n_repeated, mean, alpha, holds_from)  # type: ignore[arg-type]


def _kurtosis(values: np.ndarray) -> float:
    squares = (values / max(float(np.abs(values).max()), 1e-300)) ** 2
    return float((squares**2).mean() / squares.mean() ** 2) if squares.any() else 0.0


def _lists(shown: str | os.PathLike[str]) -> dict[str | int, dict[str, Any]]:
    """The lists that were shown, by their ids."""
    lists: dict[str | int, dict[str, Any]] = {}
    for number, line in _lines(shown):
        name = _id(line, "id", shown, number)
        if lists.setdefault(name, line) != line:
            raise DataError(
                f"{shown}, line {number}: another list has the id {name!r}; score the lists of each file separately, "
                "or make their ids differ"
            )
    return lists


def _id(record: Mapping[str, Any], name: str, path: Any, number: int) -> Any:
    value = _field(record, name, path, number)
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise DataError(f"{path}, line {number}: {name} is {value!r}; text or a whole number was expected")
    return value


def _names(record: Mapping[str, Any], path: Any, number: int) -> list[str]:
    names = _field(record, "rankers", path, number)
    if not isinstance(names, list) or len(names) < 2 or len({*map(repr, names)}) < len(names):
        raise DataError(f"{path}, line {number}: rankers is {names!r}; two names or more, each once, were expected")
    return [str(each) for each in names]


def _lines(path: str | os.PathLike[str], *, growing: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each line; in a growing file the last line may be incomplete."""
    check_regular(path, pipes=True)
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                if growing and not line.endswith(b"\n"):  # only the last line of a file does not end
                    warnings.warn(
                        f"{path}, line {number} is not complete yet: it is left for the next time",
                        PlackettWarning,
                        stacklevel=3,
                    )
                    return
                raise DataError(f"{path}, line {number}: not a line of JSON: {line[:60]!r}") from None
            if not isinstance(record, dict):
                raise DataError(f"{path}, line {number}: an object {{…}} was expected, found {line[:60]!r}")
            yield number, record


def _field(record: Mapping[str, Any], name: str, path: Any, number: int) -> Any:
    if name not in record:
        raise DataError(f"{path}, line {number}: no field {name!r}; found {', '.join(map(str, record)) or 'nothing'}")
    return record[name]
