"""The rules that every measure must follow, including user-defined ones.

They hold for any formula: bounds, ties, the order of the rows, queries with nothing to measure, threads, swaps. Where a
definition is known, the values are compared with it too.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.measures import parse
from plackett.measures.base import TIE_SAMPLES, Measure
from plackett.measures.ranking import TIES, Scored
from plackett.testing._check import Check, seeded_checks
from plackett.testing._expect import CheckFailed, close, equal, require
from plackett.testing.definitions.measures import DEFINITIONS, MEANS, Definition, RankedList

CLOSE = {"rtol": 1e-10, "atol": 1e-12}
N_SUBTOPICS = 3

#: Values other than the default for the parameters that measures have, each tried alone.
PARAMETERS: dict[str, list[Any]] = {
    "k": [1, 3, 7],
    "rel": [2.0],
    "gain": ["linear", "binary", {0: 0.5, 1: 3, 2: 1}],
    "discount": ["letor", "reciprocal", (1.0, 0.5)],
    "short": ["zero", "list"],
    "over": ["all"],
    "divisor": ["reachable"],
    "relative": [True],
    "beta": [2.0],
    "mult": [0.4, 2.0],
    "p": [0.5],
    "max_label": [5.0],
    "reach": ["nearest"],
    "recall": [0.0, 0.3, 1.0],
    "levels": [(0.25, 0.5)],
    "a": [2.0],
    "c": [-1.0],
}


def check_measure(
    measure: Measure | str, *, definition: Definition | None = None, random_state: int = 0, skip: Sequence[str] = ()
) -> None:
    """Check that a measure follows every rule that measures have in common.

    Parameters
    ----------
    measure
        A measure, your own or one of the package, or its name.
    definition
        An independent implementation: a plain function of the measure and a
        `plackett.testing.definitions.measures.RankedList`. It returns the value of one list in one order, NaN where
        there is nothing to measure. Measures of the package have theirs. Without one, a wrong formula goes unnoticed.
    random_state
        Seed of the lists.
    skip
        Names of rules to leave out.

    Raises
    ------
    CheckFailed
        If a rule is broken; the message has the first such rule and what was found.

    Examples
    --------
    >>> from plackett.measures.custom import measure
    >>> @measure(name="TopGrade", bounds=(0, 10), compiled=False)
    ... def top_grade(labels):
    ...     return max(labels[0], 0.0) if labels.size else np.nan
    >>> check_measure(top_grade, definition=lambda m, q: max(q.labels[0], 0.0) if q.depth else math.nan)
    """
    for check in measure_checks(measure, definition=definition, random_state=random_state):
        if check.name not in skip:
            check()


def measure_checks(
    measure: Measure | str, *, definition: Definition | None = None, random_state: int = 0
) -> Iterator[Check]:
    """The checks of a measure, one by one; parameters as for `check_measure`."""
    subject = parse(measure)
    return seeded_checks(subject, CHECKS, (check_definition,), definition, random_state)


def variants(measure: Measure) -> Iterator[Measure]:
    """The measure itself and, one by one, with other values for its parameters."""
    yield measure
    for field in dataclasses.fields(measure):
        for value in PARAMETERS.get(field.name, []):
            try:
                yield measure(**{field.name: value})
            except ValueError:
                continue  # the parameter of the same name takes other values there


def random_lists(
    rng: np.random.Generator,
    sizes: Sequence[int] | np.ndarray,
    *,
    levels: int = 4,
    labels: Sequence[float] = (-2, -1, 0, 0, 1, 2, 3),
) -> tuple[RankingDataset, np.ndarray]:
    """Dataset of lists of the given sizes and scores with many ties; every third label list has nothing relevant."""
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.choice(labels, qid.size).astype(float)
    y[qid % 3 == 2] = np.minimum(y[qid % 3 == 2], 0)
    data = RankingDataset.from_arrays(
        None,
        y,
        qid,
        docids=_docids(qid.size),
        subtopics=(rng.random((qid.size, N_SUBTOPICS)) < 0.4) * np.maximum(y, 0)[:, None],
    )
    return data, rng.integers(0, levels, qid.size).astype(float)


@lru_cache(maxsize=64)
def _docids(n: int) -> np.ndarray:
    return np.array([f"d{i:05d}" for i in range(n)], np.dtypes.StringDType())


def rows_of(data: RankingDataset, rows: np.ndarray, qid: np.ndarray) -> RankingDataset:
    """Dataset of some rows, in the given order, under the given query ids."""
    y, docids, subtopics = (np.asarray(column)[rows] for column in (data.y, data.docids, data.subtopics))
    return RankingDataset.from_arrays(None, y, qid, docids=docids, subtopics=subtopics)


def per_query(
    measure: Measure, data: RankingDataset, scores: Any, retrieved: np.ndarray | None = None, **options: Any
) -> np.ndarray:
    """Values of a measure, one per query."""
    return measure.per_query(Scored(data, scores, retrieved, **options))


# --------------------------------------------------------------------------------------------------------- definitions


def check_definition(measure: Measure, rng: np.random.Generator, definition: Definition | None = None) -> None:
    """Values are those of the formula, written as plain loops: every tie rule, cut-off, kind of label and list."""
    definition = definition or DEFINITIONS.get(measure.name)
    if definition is None:
        return
    measure = measure(empty="skip")
    for case in _hard_cases(int(rng.integers(2**31))):
        for ties in TIES:
            values = measure(ties=ties).per_query(case.scored)
            for value, orders in zip(values, case.orders[ties], strict=True):
                _against_definition(measure, definition, float(value), ties, orders)
        values = measure.per_query(case.scored)
        kept = [float(value) for value in values if not math.isnan(value)]
        mean = MEANS.get(measure.name, lambda numbers: sum(numbers) / len(numbers))
        close(measure.mean(values), mean(kept) if kept else math.nan, "the mean over queries differs", **CLOSE)


def _against_definition(
    measure: Measure, definition: Definition, value: float, ties: str, orders: list[RankedList]
) -> None:
    values = np.array([definition(measure, order) for order in orders])
    first = orders[0]
    text = (
        f"{measure(ties=ties)} of the labels {first.labels}, ties numbered {first.tie}, "
        f"the first {first.depth} documents retrieved, "
    )
    if ties == "random":
        right = np.isnan(values).all() if math.isnan(value) else (np.abs(values - value) < 1e-9).any()
        require(right, f"{text}is {value}, which no order of the tied documents has")
    elif ties == "expected" and not measure.exact_ties:
        error = 5 * values.std() / math.sqrt(TIE_SAMPLES)
        close(value, values.mean(), f"{text}differs from the mean of the definition", rtol=0, atol=error + 1e-9)
    else:
        close(value, values.mean(), f"{text}differs from the definition", rtol=1e-9, atol=1e-11)


class _Case(NamedTuple):
    """A dataset with scores; for each tie rule and query the orders that the rule allows."""

    scored: Scored
    orders: dict[str, list[list[RankedList]]]


@lru_cache(maxsize=4)
def _hard_cases(seed: int) -> list[_Case]:
    """Short lists with ties, a long one without, empty ones; grades or fractions, weights, missing subtopics."""
    rng = np.random.default_rng(seed)
    cases = []
    for trial in range(6):
        sizes = [6, 0, 1, 5, 6, 4, 30, 2, 0, 5]
        n, ends = sum(sizes), np.cumsum(sizes)
        y = rng.choice((-2, -1, 0, 0, 1, 2, 3) if trial % 3 < 2 else (-1, 0, 0.5, 1, 1.5, 2.5, 3), n).astype(float)
        y[ends[2] : ends[3]] = rng.choice((-1.0, 0.0), sizes[3])  # nothing relevant
        subtopics = (rng.random((n, N_SUBTOPICS)) < 0.4) * rng.integers(1, 4, (n, N_SUBTOPICS)).astype(float)
        subtopics[: sizes[0], -1] = np.nan  # a subtopic that the first query does not have
        if trial % 2:  # nothing relevant among the first ten of the long list, whose scores fall
            y[ends[5] : ends[5] + 10] = np.minimum(y[ends[5] : ends[5] + 10], 0.0)
            subtopics[ends[5] : ends[5] + 10] = 0.0
        tied = [(0, 0, 0, 1, 1, 2), (0, 0, 1, 1, 2, 2), (0, 0, 0, 0, 1, 2)][trial % 3]
        scores = np.concatenate([rng.permutation(tied)[:size] if size <= 6 else -np.arange(size) for size in sizes])
        retrieved = np.ones(n, bool) if trial % 2 else rng.random(n) < 0.8
        data = RankingDataset.from_arrays(
            None,
            y,
            group=sizes,
            docids=[f"d{i}" for i in rng.permutation(n)],
            sample_weight=rng.uniform(0.5, 2.0, n),
            subtopics=subtopics,
            subtopic_weight=rng.dirichlet(np.ones(N_SUBTOPICS), len(sizes)) if trial % 2 else None,
        )
        scored = Scored(data, scores, retrieved, n_jobs=1)
        orders = {ties: [_orders(scored, q, ties) for q in range(data.n_queries)] for ties in TIES}
        cases.append(_Case(scored, orders))
    return cases


def _orders(scored: Scored, q: int, ties: str) -> list[RankedList]:
    """The orders of the documents of a query that a tie rule allows."""
    data, scores = scored.data, scored.scores
    rows = range(data.offsets[q], data.offsets[q + 1])
    ranked, behind = [i for i in rows if scored.retrieved[i]], [i for i in rows if not scored.retrieved[i]]
    if ties == "pessimistic":
        ranked.sort(key=lambda i: data.labels[i])
    elif ties == "optimistic":
        ranked.sort(key=lambda i: -data.labels[i])
    elif ties == "trec":
        ranked.sort(key=lambda i: str(data.docids[i]), reverse=True)  # type: ignore[index]
    ranked.sort(key=lambda i: -scores[i])  # keeps the order among equals
    blocks = [list(block) for _, block in itertools.groupby(ranked, key=lambda i: scores[i])]
    # the other rules leave ties only among documents that were not retrieved
    ties_left = blocks if ties == "expected" else [[i] for i in ranked]
    tie_of = {i: number for number, block in enumerate([*ties_left, behind]) for i in block}
    orders: Any = [ranked]
    if ties in ("expected", "random"):
        orders = (list(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, blocks)))
    subtopics, weights = np.asarray(data.subtopics), np.asarray(data.sample_weight)
    if data.subtopic_weight is None:
        has = [any(not math.isnan(subtopics[i, t]) for i in rows) for t in range(N_SUBTOPICS)]
        chances = [flag / max(sum(has), 1) for flag in has]
    else:
        chances = np.asarray(data.subtopic_weight)[q].tolist()
    return [
        RankedList(
            labels=[float(data.labels[i]) for i in [*order, *behind]],
            depth=len(ranked),
            tie=[tie_of[i] for i in [*order, *behind]],
            docids=[str(data.docids[i]) for i in [*order, *behind]],  # type: ignore[index]
            weights=[float(weights[i]) for i in [*order, *behind]],
            subtopics=[subtopics[i].tolist() for i in [*order, *behind]],
            subtopic_weight=chances,
            largest_label=float(data.labels.max()),
            largest_grade=float(np.nanmax(subtopics)),
        )
        for order in orders
    ]


# -------------------------------------------------------------------------------------------------------- common rules


def check_string(measure: Measure, rng: np.random.Generator) -> None:
    """`parse` reads back what `str` writes, whatever the parameters; equal measures have equal hashes."""
    for written in (measure, *(measure(ties=ties, empty="skip") for ties in TIES)):
        try:
            read = parse(str(written))
        except ValueError as error:
            raise CheckFailed(f"parse({str(written)!r}) fails: {error}") from error
        require(read == written, f"parse({str(written)!r}) is {read!r} of {type(read)}, not equal to the measure")
        require(hash(read) == hash(written), f"parse({str(written)!r}) has a different hash")


def check_bounds(measure: Measure, rng: np.random.Generator) -> None:
    """One float64 per query, between the bounds that the class declares."""
    data, scores = random_lists(rng, rng.integers(1, 30, 60))
    low, high = measure.bounds
    for ties in TIES:
        values = per_query(measure(ties=ties, empty="skip"), data, scores)
        require(values.shape == (data.n_queries,), f"shape {values.shape} for {data.n_queries} queries")
        require(values.dtype == np.float64, f"the values are {values.dtype}, not float64")
        values = values[~np.isnan(values)]
        require(values.size, "no query has a value: all are NaN")
        within = (values >= low - 1e-12).all() and (values <= high + 1e-12).all()
        require(within, f"values from {values.min()} to {values.max()} under ties={ties!r}, bounds ({low}, {high})")


def check_ties_expected(measure: Measure, rng: np.random.Generator) -> None:
    """Mean over the orders of tied documents: by enumeration where exact, within the error of 64 draws otherwise."""
    for trial in range(12):
        data, scores = random_lists(rng, [int(rng.integers(2, 7))], levels=3)
        retrieved = np.ones(data.n_rows, bool) if trial % 2 else rng.random(data.n_rows) < 0.7
        value = per_query(measure(empty="skip"), data, scores, retrieved)[0]
        values = _every_order(measure(empty="skip", ties="stable"), data, scores, retrieved)
        if measure.exact_ties:
            close(value, values.mean(), _mean_of(data, scores), **CLOSE)
        else:
            error = values.std() / np.sqrt(TIE_SAMPLES)
            close(value, values.mean(), _mean_of(data, scores), rtol=0, atol=5 * error + 1e-9)


def _mean_of(data: RankingDataset, scores: np.ndarray) -> str:
    labels = data.labels.tolist()
    return f"ties='expected' differs from the mean over all orders, labels {labels}, scores {scores.tolist()}"


def _every_order(measure: Measure, data: RankingDataset, scores: np.ndarray, retrieved: np.ndarray) -> np.ndarray:
    """Values of the measure for each order of the documents that the scores allow, one query each."""
    blocks = [np.flatnonzero(retrieved & (scores == level)) for level in sorted(set(scores), reverse=True)]
    behind = np.flatnonzero(~retrieved)
    orders = [
        np.concatenate([*map(list, parts), behind]).astype(int)
        for parts in itertools.product(*(itertools.permutations(block) for block in blocks))
    ]
    n = data.n_rows
    every = rows_of(data, np.concatenate(orders), np.repeat(np.arange(len(orders)), n))
    ranked = np.tile(np.arange(n) < retrieved.sum(), len(orders))
    return per_query(measure, every, np.tile(-np.arange(n, dtype=float), len(orders)), ranked)


def check_tie_rules_order(measure: Measure, rng: np.random.Generator) -> None:
    """A mean over orders lies between the smallest and the largest value of any order."""
    for _ in range(5):
        data, scores = random_lists(rng, [6], levels=3)
        retrieved = np.ones(6, bool)
        values = _every_order(measure(empty="skip", ties="stable"), data, scores, retrieved)
        for ties in TIES:
            value = per_query(measure(empty="skip", ties=ties), data, scores)[0]
            both = np.isnan(value) == np.isnan(values).any()
            require(both, f"ties={ties!r} gives {value}, but the orders have {values.tolist()}")
            if not np.isnan(value):
                between = values.min() - 1e-12 <= value <= values.max() + 1e-12
                require(between, f"ties={ties!r} gives {value}; the orders have {values.min()} to {values.max()}")
                if ties in ("pessimistic", "optimistic") and _grows_with_labels(measure):
                    best = (ties == "optimistic") == measure.ascending
                    extreme = values.max() if best else values.min()
                    close(
                        value, extreme, f"ties={ties!r} differs from the {'best' if best else 'worst'} order", **CLOSE
                    )


def _grows_with_labels(measure: Measure) -> bool:
    """Whether moving larger labels up never makes it worse: true if it has swap deltas and an increasing gain."""
    return measure.swaps and isinstance(getattr(measure, "gain", ""), str)


def check_row_order(measure: Measure, rng: np.random.Generator) -> None:
    """Equal to the last bit whatever the order of the rows and of the queries."""
    data, scores = random_lists(rng, rng.integers(1, 40, 30))
    rows = rng.permutation(data.n_rows)
    shuffled = rows_of(data, rows, data.qid[rows])
    back = np.argsort(shuffled.qids)
    for ties in ("expected", "pessimistic", "optimistic", "trec"):
        if ties in ("pessimistic", "optimistic") and measure.reads_subtopics:
            continue
        values = per_query(measure(ties=ties, empty="skip"), data, scores)
        again = per_query(measure(ties=ties, empty="skip"), shuffled, shuffled.from_input_order(scores[rows]))
        what = f"ties={ties!r}: different values for the same rows in another order"
        if not measure.reads_subtopics:
            equal(again[back], values, what)
        elif measure.exact_ties or ties == "trec":  # documents of one label differ, and are added in another order
            close(again[back], values, what, **CLOSE)


def check_empty(measure: Measure, rng: np.random.Generator) -> None:
    """A query with nothing to measure has the value asked for, and is never dropped from the per-query values."""
    data, scores = random_lists(rng, rng.integers(1, 8, 20))
    skipped = per_query(measure(empty="skip"), data, scores)
    filled = per_query(measure(empty=0.25), data, scores)
    equal(filled, np.where(np.isnan(skipped), 0.25, skipped), "empty=0.25 changes more than the NaN of empty='skip'")


def check_unjudged(measure: Measure, rng: np.random.Generator) -> None:
    """A list without judgements has a finite value or none, not an error."""
    data = RankingDataset.from_arrays(
        None, [-1.0, -1.0, -2.0], docids=["a", "b", "c"], subtopics=np.zeros((3, N_SUBTOPICS))
    )
    value = per_query(measure(empty="skip"), data, [3.0, 2.0, 1.0])
    require(np.isnan(value[0]) or np.isfinite(value[0]), f"a list without judgements has the value {value[0]}")


def check_single_document(measure: Measure, rng: np.random.Generator) -> None:
    """A list of one document has a finite value, whatever its label."""
    for label in (-1.0, 0.0, 1.0, 2.0):
        data = RankingDataset.from_arrays(
            None, [label], docids=["a"], subtopics=np.full((1, N_SUBTOPICS), max(label, 0))
        )
        value = per_query(measure(empty=0.0), data, [0.5])[0]
        require(np.isfinite(value), f"one document of label {label} has the value {value}")


def check_empty_query(measure: Measure, rng: np.random.Generator) -> None:
    """Queries without documents have the value of nothing to measure and leave the others as they are."""
    data, scores = random_lists(rng, [5, 3])
    gaps = RankingDataset.from_arrays(None, data.y, group=[0, 5, 0, 3, 0], docids=data.docids, subtopics=data.subtopics)
    values = per_query(measure(empty="skip"), gaps, scores)
    equal(values[[1, 3]], per_query(measure(empty="skip"), data, scores), "queries without documents change the others")
    counts = type(measure).mean is not Measure.mean and not np.isnan(values[0])  # a count has one there too
    nothing = np.isnan(values[[0, 2, 4]]).all() or (values[[0, 2, 4]] == 0).all()
    require(counts or nothing, f"queries without documents have the values {values[[0, 2, 4]].tolist()}, not NaN or 0")


def check_long_list(measure: Measure, rng: np.random.Generator) -> None:
    """A list of 10,000 documents keeps the bounds, all tied and not tied at all."""
    data, scores = random_lists(rng, [10_000], levels=10)
    low, high = measure.bounds
    for s in (np.zeros(data.n_rows), rng.permutation(data.n_rows).astype(float), scores):
        value = per_query(measure(empty=max(low, 0.0)), data, s)[0]
        require(low - 1e-9 <= value <= high + 1e-9, f"a list of 10,000 documents has {value}, bounds ({low}, {high})")


def check_threads(measure: Measure, rng: np.random.Generator) -> None:
    """Equal to the last bit for any number of threads."""
    data, scores = random_lists(rng, rng.integers(1, 100, 450), levels=20)  # enough rows for a second thread
    one, two = (per_query(measure(empty="skip"), data, scores, n_jobs=n_jobs) for n_jobs in (1, 2))
    equal(two, one, "two threads give different values than one")


def check_fractional_labels(measure: Measure, rng: np.random.Generator) -> None:
    """A fractional label in another query changes nothing."""
    data, scores = random_lists(rng, [8, 5])
    extra = RankingDataset.from_arrays(
        None,
        np.append(data.labels, [2.5, 0.0]),
        np.append(data.qid, [9, 9]),
        docids=[f"d{i:05d}" for i in range(data.n_rows + 2)],
        subtopics=np.vstack([np.asarray(data.subtopics), np.zeros((2, N_SUBTOPICS))]),
    )
    data = rows_of(extra, np.arange(data.n_rows), data.qid)
    measure = measure(empty="skip")
    if hasattr(measure, "max_label"):
        measure = measure(max_label=4)
    whole = per_query(measure, data, scores)
    changed = per_query(measure, extra, np.append(scores, [1.0, 0.0]))[:2]
    close(changed, whole, "a label of 2.5 in another query changes the values", **CLOSE)


def check_evaluate(measure: Measure, rng: np.random.Generator) -> None:
    """The same through `evaluate`, whose mean is the measure's own."""
    data, scores = random_lists(rng, rng.integers(1, 8, 12))
    result = evaluate(data, scores, [measure])
    values = per_query(measure, data, scores)
    equal(result.values[str(measure)], values, "`evaluate` gives different values than `per_query`")
    table = result.per_query
    right = table.columns == ["qid", str(measure)] and table.height == data.n_queries
    require(right, f"the table per query has the columns {table.columns} and {table.height} rows")
    equal(result.mean[str(measure)], measure.mean(values), "`evaluate` gives a different mean than the measure")


def check_swaps(measure: Measure, rng: np.random.Generator) -> None:
    """`swap` gives the |change| from exchanging two documents, as measuring again does; linear where it says so."""
    if not measure.swaps:
        return
    for _ in range(4):
        n = int(rng.integers(1, 9))
        data, _ = random_lists(rng, [n], labels=(-1, 0, 0, 1, 2, 3))
        depth = int(rng.integers(1, n + 1))
        scored = Scored(data, -np.arange(n), np.arange(n) < depth)
        state = measure.swap_state(scored.ranking("stable"))
        if measure.linear_swaps:
            linear = (state[:, 1] == 1).all() and (state[:, 2] == -state[:, 3]).all()
            require(linear, f"linear_swaps is set, but the swap state is not of that form:\n{state}")
        before = _fixed(measure, data, depth)
        for i, j in itertools.combinations(range(n), 2):
            order = np.arange(n)
            order[[i, j]] = j, i
            after = _fixed(measure, rows_of(data, order, data.qid), depth)
            what = f"exchanging ranks {i + 1} and {j + 1} of labels {data.labels.tolist()}, {depth} retrieved"
            close(measure.swap(state, i, j), abs(after - before), what, rtol=1e-9, atol=1e-12)


def _fixed(measure: Measure, data: RankingDataset, depth: int) -> float:
    """Value of the list as it stands, of which ``depth`` documents were retrieved."""
    n = data.n_rows
    return float(per_query(measure(ties="stable", empty=0.0), data, -np.arange(n), np.arange(n) < depth)[0])


CHECKS: list[Callable[..., None]] = [
    check_definition,
    check_string,
    check_bounds,
    check_ties_expected,
    check_tie_rules_order,
    check_row_order,
    check_empty,
    check_unjudged,
    check_single_document,
    check_empty_query,
    check_long_list,
    check_threads,
    check_fractional_labels,
    check_evaluate,
    check_swaps,
]
