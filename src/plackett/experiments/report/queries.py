"""Differences between two rankers, query by query, and the rankings of the queries that gained and lost most."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.evaluation.compare_evaluations import compare_evaluations
from plackett.evaluation.evaluate import Evaluation
from plackett.evaluation.significance.effects import win_tie_loss
from plackett.evaluation.tables import Table
from plackett.experiments.cells.cell import Cell
from plackett.experiments.report.blocks import Block, Browser, Section, Text
from plackett.experiments.report.numbers import fixed, signed, tidy
from plackett.experiments.report.view import View
from plackett.measures.base import Measure

#: Queries with a bar, per dataset, and measures to choose from.
_QUERIES = 1500
_MEASURES = 4
#: Queries shown as lists on either side, and documents per list.
_EXTREMES = 3
_DOCUMENTS = 10


def queries(view: View) -> Section | None:
    """Per-query differences; None if no dataset has two rankers."""
    shown = [dataset for dataset in view.datasets if len(view.drawn(dataset)) > 1]
    if not shown:
        return None
    label = "Difference between the two chosen rankers for each query, sorted: A is better on queries above zero."
    text = "How much better is one ranker than another on each test query?"
    blocks: list[Block] = [Text(text + "".join(dict.fromkeys(view.left_out(name) for name in shown)))]
    data = {"datasets": [_dataset(view, dataset) for dataset in shown]}
    blocks.append(Browser(data, label, _table(view, shown[0])))
    return Section("queries", "Query by query", tuple(blocks))


def _pair(view: View, dataset: str) -> tuple[str, str]:
    """The two rankers shown initially: the chosen one and the best of the others."""
    drawn = view.drawn(dataset)
    first = view.chosen(dataset) or drawn[0]
    return first, next(ranker for ranker in drawn if ranker != first)


def _dataset(view: View, dataset: str) -> dict[str, Any]:
    experiment, rankers = view.experiment, view.drawn(dataset)
    names = list(experiment.measures)[:_MEASURES]
    cells = {ranker: experiment.of(dataset, ranker) for ranker in rankers}
    one = cells[rankers[0]]
    qids = [str(qid) for cell in one for qid in cell.qids.tolist()]
    folds = [str(cell.fold) for cell in one for _ in range(cell.qids.size)]
    values = np.array([[np.concatenate([c.values[name] for c in cells[r]]) for r in rankers] for name in names])
    signs = [1 if experiment.measures[name].ascending else -1 for name in names]
    extremes = _extremes(values, signs)
    kept = _sample(len(qids), extremes, view.seed)
    index_of = {int(query): i for i, query in enumerate(kept)}
    a, b = _pair(view, dataset)
    return {
        "name": dataset,
        "rankers": rankers,
        "short": [view.names[ranker] for ranker in rankers],
        "measures": [{"name": n, "sign": s} for n, s in zip(names, signs, strict=True)],
        "start": [rankers.index(a), rankers.index(b)],
        "n_queries": len(qids),
        "qids": [qids[i] for i in kept],
        "folds": [folds[i] for i in kept] if len(one) > 1 else None,
        "values": [[tidy(values[m, r, kept]) for r in range(len(rankers))] for m in range(len(names))],
        "pairs": _statistics(view, dataset, rankers, names, values),
        "lists": {index_of[q]: _lists(view, dataset, cells, q) for q in extremes},
    }


def _extremes(values: np.ndarray, signs: list[int]) -> list[int]:
    """The queries with the largest differences, up and down, for each measure and pair of rankers."""
    kept: set[int] = set()
    for m, sign in enumerate(signs):
        for i, j in itertools.combinations(range(values.shape[1]), 2):
            difference = sign * (values[m, i] - values[m, j])
            order = np.argsort(np.nan_to_num(difference), kind="stable")
            kept.update(order[:_EXTREMES].tolist(), order[-_EXTREMES:].tolist())
    return sorted(kept)


def _sample(n: int, extremes: list[int], seed: int) -> np.ndarray:
    """The queries shown as bars: all, or the extreme ones and a sample of the others."""
    if n <= _QUERIES:
        return np.arange(n)
    others = np.setdiff1d(np.arange(n), extremes)
    more = max(_QUERIES - len(extremes), 0)
    return np.sort(np.concatenate([extremes, np.random.default_rng(seed).choice(others, more, replace=False)]))


def _statistics(
    view: View, dataset: str, rankers: list[str], names: list[str], values: np.ndarray
) -> dict[str, list[dict[str, Any]]]:
    """For each pair, by measure: the mean difference over all queries, wins, ties and losses, and the p-value."""
    plain = [
        name
        for m, name in enumerate(names)
        if type(view.experiment.measures[name]).mean is Measure.mean and not np.isnan(values[m]).any(axis=0).all()
    ]
    if not plain:
        return {}
    every = np.arange(values.shape[2])
    measures = {name: view.experiment.measures[name] for name in plain}
    systems = {
        ranker: Evaluation(measures, every, {name: values[names.index(name), r] for name in plain})
        for r, ranker in enumerate(rankers)
    }
    pairs = compare_evaluations(systems, random_state=view.seed, interval="t").pairs
    board = view.experiment.leaderboard.filter(dataset=dataset)
    tested = {(row["measure"], row["ranker"]): row for row in board.iter_rows(named=True)}
    out: dict[str, list[dict[str, Any]]] = {}
    for row in pairs.iter_rows(named=True):
        i, j = rankers.index(row["a"]), rankers.index(row["b"])
        entry = {name: row[name] for name in ("measure", "wins", "ties", "losses", "difference")}
        out.setdefault(f"{i}-{j}", []).append(entry | _test(row, tested, board["ranker"].n_unique(), len(rankers)))
    return out


def _test(row: dict[str, Any], tested: dict[tuple[str, str], dict[str, Any]], n_tested: int, n: int) -> dict[str, Any]:
    """The test of a pair: that of the leaderboard if one of the two is the best ranker there, which it tested already.

    This way two rankers have the same p-value and the same verdict throughout the report.
    """
    ends = [tested.get((row["measure"], row[end]), {}) for end in ("a", "b")]
    for best, other in (ends, ends[::-1]):
        if best.get("p") is None and best.get("best") and other.get("p") is not None:
            test = {"p": other["p"], "p_corrected": other["p_corrected"]}
            family = f"the {n_tested - 1} comparisons with the best ranker" if n_tested > 2 else ""
            return test | {"significant": bool(other["significantly_worse"]), "family": family}
    test = {name: row[name] for name in ("p", "p_corrected", "significant")}
    return test | {"family": f"all {n * (n - 1) // 2} pairs" if n > 2 else ""}


def _lists(view: View, dataset: str, cells: dict[str, list[Cell]], query: int) -> dict[str, Any]:
    """The first documents of a query as each ranker orders them; ``query`` counts over all folds."""
    one = next(iter(cells.values()))
    ends = np.cumsum([cell.qids.size for cell in one])
    number = int(np.searchsorted(ends, query, side="right"))
    query -= int(ends[number - 1]) if number else 0
    test: RankingDataset = view.experiment.folds[dataset][one[number].fold].test
    a, b = test.offsets[query], test.offsets[query + 1]
    rows = test.select([query]).docids if test.docids is not None else None
    names = [str(i + 1) for i in range(b - a)] if rows is None else [str(name) for name in rows.tolist()]
    number_of: dict[int, int] = {}
    orders = []
    for ranked in cells.values():
        scores = ranked[number].scores[a:b]
        order = np.argsort(-scores, kind="stable")[:_DOCUMENTS].tolist()
        orders.append([[number_of.setdefault(i, len(number_of)), tidy(scores[[i]], 4)[0]] for i in order])
    labels = test.labels[a:b].tolist()
    best = sorted(labels, reverse=True)[:_DOCUMENTS]
    return {"docs": [[names[i], labels[i]] for i in number_of], "orders": orders, "n": int(b - a), "ideal": best}


def _table(view: View, dataset: str) -> Table:
    """The largest gains and losses between the first two rankers, for formats without a choice."""
    a, b = _pair(view, dataset)
    name = view.first
    ours, theirs = (view.experiment.evaluation(dataset, ranker) for ranker in (a, b))
    difference = np.nan_to_num(view.experiment.measures[name].worth(ours.values[name] - theirs.values[name]))
    order = np.argsort(-difference, kind="stable")
    picked = dict.fromkeys([*order[:5].tolist(), *order[-5:].tolist()])
    qids = ours.qids.tolist()
    rows = tuple(
        (
            str(qids[i]),
            fixed(float(ours.values[name][i])),
            fixed(float(theirs.values[name][i])),
            signed(float(difference[i])),
        )
        for i in picked
    )
    wins, ties, losses = win_tie_loss(difference, np.zeros(difference.size))
    note = f"{a} is better on {wins} queries, worse on {losses} and equal on {ties}."
    caption = f"Queries of {dataset} that {a} wins and loses by most against {b}, by {name}"
    return Table.of(("query", view.names[a], view.names[b], "difference"), rows, caption=caption, notes=(note,))
