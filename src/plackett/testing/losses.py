"""The rules that every loss must follow, including user-defined ones.

They hold for any loss: gradient and curvature against differences, weights, shifts, far scores, the order of rows and
queries, threads, long lists. Where a definition is known, values are compared with it too.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.losses.base import Loss
from plackett.losses.pairwise.base import PairLoss
from plackett.measures import parse
from plackett.testing._check import Check, seeded_checks
from plackett.testing._expect import close, equal, refuses, require
from plackett.testing.definitions.losses import GRADIENTS, VALUES
from plackett.testing.definitions.pairwise import PHI

LABELS = (-2, -1, 0, 0, 1, 2, 2, 3)
SIZES = (7, 1, 5, 12, 2, 3)
#: What an evaluation returns.
PARTS = ("value", "gradient", "curvature")


#: Value of a query from the loss, its scores, labels and weights; or its gradient and curvature.
Definition = Callable[[Any, np.ndarray, np.ndarray, np.ndarray], Any]


def check_loss(
    loss: Loss | type[Loss], *, definition: Definition | None = None, random_state: int = 0, skip: Sequence[str] = ()
) -> None:
    """Check that a loss follows every rule that losses have in common.

    Parameters
    ----------
    loss
        A loss, your own or one of the package; a class means its default parameters.
    definition
        An independent implementation: a plain function of the loss and of scores, labels and sample weights of one
        query. It returns the value or, for a loss without one, gradient and curvature. Losses of the package
        have theirs.
        Without one, gradients are still compared with differences of the value.
    random_state
        Seed of the data.
    skip
        Names of rules to leave out.

    Raises
    ------
    CheckFailed
        If a rule is broken; the message has the first such rule and what was found.

    Examples
    --------
    >>> from plackett.losses import Square
    >>> check_loss(Square(target="exp2"))
    """
    for check in loss_checks(loss, definition=definition, random_state=random_state):
        if check.name not in skip:
            check()


def loss_checks(
    loss: Loss | type[Loss], *, definition: Definition | None = None, random_state: int = 0
) -> Iterator[Check]:
    """The checks of a loss, one by one; parameters as for `check_loss`."""
    subject = loss() if isinstance(loss, type) else loss
    return seeded_checks(subject, CHECKS, AGAINST_DEFINITION, definition, random_state)


def variants(cls: type[Loss]) -> Iterator[Loss]:
    """The loss with its default parameters, and with those that the class names for its tests."""
    yield cls()
    for parameters in vars(cls).get("_test_variants", ()):  # those of a parent may not fit
        yield cls(**parameters)


def lists(
    rng: np.random.Generator,
    sizes: Sequence[int] = SIZES,
    *,
    labels: Sequence[float] = LABELS,
    weighted: bool = True,
    **columns: Any,
) -> RankingDataset:
    """Dataset of lists of the given sizes with weights of documents and queries."""
    n = sum(sizes)
    if weighted:
        columns = {
            "sample_weight": rng.choice([0.0, 0.5, 1.0, 2.5], n, p=[0.1, 0.3, 0.3, 0.3]),
            "query_weight": rng.choice([0.5, 1.0, 3.0], len(sizes)),
        } | columns
    return RankingDataset.from_arrays(
        None, rng.choice(labels, n).astype(float), np.repeat(np.arange(len(sizes)), sizes), **columns
    )


def random_scores(
    loss: Loss, data: RankingDataset, rng: np.random.Generator, spread: float = 2.0, levels: int | None = None
) -> np.ndarray:
    """Scores of the right shape, without ties or, with ``levels``, with many."""
    n_outputs = loss.bind(data).n_outputs
    shape = (data.n_rows,) if n_outputs == 1 else (data.n_rows, n_outputs)
    return rng.normal(0, spread, shape) if levels is None else rng.integers(0, levels, shape).astype(float)


def evaluate(
    loss: Loss, data: RankingDataset, scores: np.ndarray, **options: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value per query, gradient and curvature per score."""
    bound = loss.bind(data, **options)
    return bound.evaluate(bound.check(scores))


def part(data: RankingDataset, q: int) -> slice:
    """Rows of a query."""
    return slice(data.offsets[q], data.offsets[q + 1])


def _total(loss: Loss, data: RankingDataset, scores: np.ndarray) -> float:
    return float(evaluate(loss, data, scores)[0].sum())


def columns_of(data: RankingDataset, rows: np.ndarray) -> dict[str, Any]:
    """Sample weights of some rows as keyword for `from_arrays`."""
    return {} if data.sample_weight is None else {"sample_weight": data.sample_weight[rows]}


# --------------------------------------------------------------------------------------------------------- definitions


def _against_definition(
    loss: Loss, data: RankingDataset, scores: np.ndarray, definition: Definition | None, **tolerance: float
) -> None:
    """The value as the definition has it, or for a loss without one gradient and curvature."""
    definition = definition or (VALUES if loss.has_value else GRADIENTS).get(loss.name)
    if definition is None:
        return
    value, gradient, curvature = evaluate(loss, data, scores)
    loss = loss.settle(data)
    weights = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
    query_weight = np.ones(data.n_queries) if data.query_weight is None else data.query_weight
    for q in range(data.n_queries):
        r = part(data, q)
        defined = definition(loss, scores[r], data.labels[r], weights[r])
        what = f"of labels {data.labels[r].tolist()} and scores {scores[r].tolist()} is not that of the definition"
        if loss.has_value:
            close(
                value[q], query_weight[q] * defined, f"the value {what}", **({"rtol": 1e-9, "atol": 1e-11} | tolerance)
            )
        else:
            wide = {"rtol": 1e-4, "atol": 1e-5 * max(1.0, np.abs(defined[0]).max(initial=0.0))} | tolerance
            close(gradient[r], query_weight[q] * defined[0], f"the gradient {what}", **wide)
            close(curvature[r], query_weight[q] * defined[1], f"the curvature {what}", **wide)


# ----------------------------------------------------------------------------------------------------------- the checks


def check_definition(loss: Loss, rng: np.random.Generator, definition: Definition | None = None) -> None:
    """Values are those of the formula, written as plain loops: ties, weights, unjudged documents, any list length."""
    for weighted in (True, False):
        data = lists(rng, weighted=weighted)
        _against_definition(loss, data, random_scores(loss, data, rng), definition)
        _against_definition(loss, data, random_scores(loss, data, rng, levels=3), definition)
        _against_definition(loss, data, random_scores(loss, data, rng, levels=1), definition)
    data = lists(rng, [60], weighted=False)
    _against_definition(loss, data, random_scores(loss, data, rng, spread=0.1), definition)


def check_gradient(loss: Loss, rng: np.random.Generator) -> None:
    """The gradient is that of the value (central differences), at ties too where the loss is smooth."""
    if not loss.has_value:
        return
    data = lists(rng, labels=(*LABELS, 1.5)) if not hasattr(loss, "n_classes") else lists(rng)
    for levels in (None, 3) if loss.smooth else (None,):
        scores = random_scores(loss, data, rng, levels=levels)
        if levels is not None:
            scores *= 0.37  # ties, but no difference at the kink of a squared hinge
        gradient = evaluate(loss, data, scores)[1]
        numeric = differences(lambda s: evaluate(loss, data, s)[0].sum(), scores)
        atol = 1e-6 * max(1.0, np.abs(gradient).max())
        close(gradient, numeric, "the gradient differs from central differences of the value", rtol=1e-5, atol=atol)


def differences(function: Callable[[np.ndarray], float], scores: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a function of the scores for each of them."""
    out = np.empty(scores.shape)
    for i in np.ndindex(scores.shape):
        up, down = scores.copy(), scores.copy()
        up[i] += step
        down[i] -= step
        out[i] = (function(up) - function(down)) / (2 * step)
    return out


def check_curvature(loss: Loss, rng: np.random.Generator) -> None:
    """The diagonal of the Hessian where it is exact, and of the right sign where it is a substitute."""
    kinds = ("exact", "surrogate", "none")
    require(loss.curvature in kinds, f"curvature is {loss.curvature!r}; it must be one of {kinds}")
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    _, gradient, curvature = evaluate(loss, data, scores)
    require(curvature.shape == gradient.shape, f"curvature has shape {curvature.shape}, gradient {gradient.shape}")
    if loss.curvature == "none":
        equal(curvature, np.zeros_like(curvature), "curvature='none', but not all of it is 0")
        return
    require((curvature >= -1e-12).all(), f"the curvature is negative somewhere: {curvature.min()}")
    if loss.curvature == "surrogate":
        # a score with a gradient has a curvature, or a Newton step would have no length
        stuck = int(((np.abs(gradient) > 1e-9) & ~(curvature > 0)).sum())
        require(stuck == 0, f"{stuck} scores have a gradient but no curvature")
        return
    numeric = np.empty(scores.shape)
    for i in np.ndindex(scores.shape):
        up, down = scores.copy(), scores.copy()
        up[i] += 1e-5
        down[i] -= 1e-5
        numeric[i] = (evaluate(loss, data, up)[1][i] - evaluate(loss, data, down)[1][i]) / 2e-5
    atol = 1e-6 * max(1.0, np.abs(curvature).max())
    close(curvature, numeric, "the curvature differs from differences of the gradient", rtol=1e-5, atol=atol)


def check_nothing_to_learn(loss: Loss, rng: np.random.Generator) -> None:
    """Loss and gradient 0 for a query without documents or judgements and, but for pointwise losses, of one label."""
    pointwise = not loss.shift_invariant
    for labels in ([], [-1.0, -1.0], *([] if pointwise else [[2.0], [0.0], [-1.0, 1.0], [0.0] * 5, [3.0, 3.0]])):
        if loss.learns_from == "relevant documents" and max(labels, default=0) > 0 and len(labels) > 1:
            continue
        if loss.learns_from == "documents" and sum(label >= 0 for label in labels) > 1:
            continue
        sizes = [5, len(labels), 3]
        data = RankingDataset.from_arrays(None, [1.0, 0.0, 0.0, 0.0, 0.0, *labels, 1.0, 0.0, 0.0], group=sizes)
        scores = random_scores(loss, data, rng)
        scores[data.labels == 1.0] -= 3.0  # something is wrong in the other queries
        value, gradient, curvature = evaluate(loss, data, scores)
        require(value[1] == 0.0, f"a query of labels {labels} has the value {value[1]}, not 0")
        for name, array in (("gradient", gradient), ("curvature", curvature)):
            require((array[part(data, 1)] == 0).all(), f"a query of labels {labels} has {name} {array[part(data, 1)]}")
        if loss.drawn:
            continue
        taught = value[0] > 0 or np.abs(gradient[part(data, 0)]).max() > 0  # a ramp does not pull from afar
        require(taught, "a query with a wrong order has neither loss nor gradient")


def check_one_relevant_document_alone(loss: Loss, rng: np.random.Generator) -> None:
    """Loss and gradient 0 for one document alone: it stands at rank 1 whatever its score."""
    if loss.shift_invariant:
        data = RankingDataset.from_arrays(None, [2.0])
        value, gradient, _ = evaluate(loss, data, np.array([0.3]))
        close(value, np.zeros(1), "one document alone has a loss", atol=1e-12)
        equal(gradient, np.zeros(1), "one document alone has a gradient")


def check_far_scores(loss: Loss, rng: np.random.Generator, definition: Definition | None = None) -> None:
    """Right, and not just finite, for scores of up to ±10,000; the exponential loss is clipped there."""
    for spread in (250.0, 450.0, 1e4):
        data = lists(rng, (8, 2, 30, 5))
        scores = random_scores(loss, data, rng, levels=2)
        for s in (rng.uniform(-spread, spread, scores.shape), spread * (2 * scores - 1)):
            for array in evaluate(loss, data, s):
                require(np.isfinite(array).all(), f"not finite for scores of ±{spread:g}: {array}")
            if loss.has_value and not loss.clipped:
                _against_definition(loss, data, s, definition, atol=1e-15 * spread**2)


def check_huge_scores(loss: Loss, rng: np.random.Generator) -> None:
    """Finite for scores as far apart as numbers allow: they count as ±1e100, whose squares are finite."""
    data = lists(rng, (8, 2, 30, 5))
    signs = 2 * random_scores(loss, data, rng, levels=2) - 1
    for scores in (1e300 * signs, 1e100 * random_scores(loss, data, rng), 1e45 * random_scores(loss, data, rng)):
        for array in evaluate(loss, data, scores):
            require(np.isfinite(array).all(), f"not finite for scores of up to {np.abs(scores).max():g}")
    for huge, far in zip(evaluate(loss, data, 1e300 * signs), evaluate(loss, data, 1e100 * signs), strict=True):
        equal(huge, far, "scores of ±1e300 do not count as ±1e100")


def check_row_order(loss: Loss, rng: np.random.Generator) -> None:
    """Rows of a query in another order: the same loss, and gradients that go with their documents."""
    # longer lists may use orders that are drawn once, and belong to positions
    data = lists(rng, [min(n, getattr(loss, "max_exact", n)) for n in SIZES])
    scores = random_scores(loss, data, rng)
    rows = np.concatenate([rng.permutation(np.arange(*data.offsets[q : q + 2])) for q in range(data.n_queries)])
    other = RankingDataset.from_arrays(
        None, data.labels[rows], data.qid[rows], query_weight=data.query_weight, **columns_of(data, rows)
    )
    value, gradient, curvature = evaluate(loss, data, scores)
    again = evaluate(loss, other, scores[rows])
    near = {"rtol": 1e-9, "atol": 1e-11} if loss.has_value else {"rtol": 1e-4, "atol": 1e-6}
    for name, first, second in zip(PARTS, (value, gradient[rows], curvature[rows]), again, strict=True):
        close(second, first, f"the {name} changes with the order of the rows", **near)


def check_query_order(loss: Loss, rng: np.random.Generator) -> None:
    """Queries in another order: the same to the last bit."""
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    queries = rng.permutation(data.n_queries)
    rows = np.concatenate([np.arange(*data.offsets[q : q + 2]) for q in queries])
    value, gradient, curvature = evaluate(loss, data, scores)
    settled = loss.settle(data)
    again = evaluate(settled, data.select(queries), scores[rows])
    for name, first, second in zip(PARTS, (value[queries], gradient[rows], curvature[rows]), again, strict=True):
        equal(second, first, f"the {name} changes with the order of the queries")


def check_alone(loss: Loss, rng: np.random.Generator) -> None:
    """A query alone has the same loss and gradient to the last bit as among others, longer ones too, each time."""
    data = lists(rng, (*SIZES, 200))
    scores = random_scores(loss, data, rng)
    value, gradient, curvature = evaluate(loss, data, scores)
    settled = loss.settle(data)
    kept = []  # so that memory comes from a different address each time
    for q in [*range(data.n_queries)] * 5:
        alone = evaluate(settled, data.select(np.array([q])), scores[part(data, q)])
        kept.append(np.empty(rng.integers(1, 50)))
        together = value[[q]], gradient[part(data, q)], curvature[part(data, q)]
        for name, first, second in zip(PARTS, together, alone, strict=True):
            equal(second, first, f"the {name} of a query alone is not the one it has among others")


def check_shift(loss: Loss, rng: np.random.Generator) -> None:
    """A constant per query changes nothing, where the loss says so."""
    if not loss.shift_invariant:
        return
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    moved = scores + rng.normal(0, 50, data.n_queries)[data.query_of_row]
    near = {"rtol": 1e-8, "atol": 1e-10} if loss.has_value else {"rtol": 1e-3, "atol": 1e-5}
    for name, first, second in zip(PARTS, evaluate(loss, data, scores), evaluate(loss, data, moved), strict=True):
        close(second, first, f"shift_invariant is set, but a constant per query changes the {name}", **near)


def check_query_weight(loss: Loss, rng: np.random.Generator) -> None:
    """A query's weight multiplies its loss, gradient and curvature."""
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    ones = dataclasses.replace(data, query_weight=None)
    value, gradient, curvature = evaluate(loss, ones, scores)
    weight = np.asarray(data.query_weight)
    rows = weight[data.query_of_row].reshape((-1,) + (1,) * (gradient.ndim - 1))
    weighted = evaluate(loss, data, scores)
    expected = weight * value, rows * gradient, rows * curvature
    for name, first, second in zip(PARTS, expected, weighted, strict=True):
        close(second, first, f"the {name} is not multiplied by the weight of its query", rtol=1e-12)


def check_sample_weight(loss: Loss, rng: np.random.Generator) -> None:
    """Weights of 1 change nothing; a pair weighs the product of its two weights, a pointwise term its own."""
    data = lists(rng, weighted=False)
    scores = random_scores(loss, data, rng)
    ones = dataclasses.replace(data, sample_weight=np.ones(data.n_rows))
    for name, first, second in zip(PARTS, evaluate(loss, data, scores), evaluate(loss, ones, scores), strict=True):
        equal(second, first, f"sample weights of 1 change the {name}")
    if isinstance(loss, PairLoss) and not loss.normalize:
        heavy = dataclasses.replace(data, sample_weight=np.full(data.n_rows, 3.0))
        heavier, plain = evaluate(loss, heavy, scores)[1], evaluate(loss, data, scores)[1]
        close(heavier, 9.0 * plain, "with sample weights of 3 a pair must weigh 9 times as much")
        # a document of weight 0 might as well be absent
        weights = rng.choice([0.0, 1.0], data.n_rows)
        light = dataclasses.replace(data, sample_weight=weights)
        gone = dataclasses.replace(data, y=np.where(weights > 0, data.labels, -1.0))
        for name, first, second in zip(PARTS, evaluate(loss, light, scores), evaluate(loss, gone, scores), strict=True):
            close(second, first, f"documents of weight 0 change the {name}", rtol=1e-9, atol=1e-11)


def check_without_value(loss: Loss, rng: np.random.Generator) -> None:
    """The same gradient whether or not the value is asked for; `gradient` and a call give the same numbers."""
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    bound = loss.bind(data)
    value, gradient, curvature = bound.evaluate(scores)
    _, again, curved = bound.evaluate(scores, value=False)
    equal(again, gradient, "evaluate(…, value=False) has a different gradient")
    equal(curved, curvature, "evaluate(…, value=False) has a different curvature")
    for name, alone, expected in zip(PARTS[1:], loss.gradient(scores, data), (gradient, curvature), strict=True):
        equal(alone, expected, f"loss.gradient(scores, data) has a different {name} than evaluate")
    if loss.has_value:
        total = loss(scores, data)
        require(total == value.sum(), f"loss(scores, data) is {total}, but the queries sum to {value.sum()}")
    else:
        with refuses(LossError, "without a value", "has_value is False; a call"):
            loss(scores, data)


def check_results_are_the_callers(loss: Loss, rng: np.random.Generator) -> None:
    """What comes back may be overwritten, and what went in is left alone."""
    data = lists(rng)
    scores = random_scores(loss, data, rng)
    kept = scores.copy()
    bound = loss.bind(data)
    first = [array.copy() for array in bound.evaluate(scores)]
    for array in bound.evaluate(scores):
        array[...] = np.nan
    equal(scores, kept, "evaluate changes the scores that it was given")
    for name, array, again in zip(PARTS, first, bound.evaluate(scores), strict=True):
        equal(again, array, f"writing into the returned {name} changes the next evaluation")


def check_threads(loss: Loss, rng: np.random.Generator) -> None:
    """The same to the last bit for any number of threads."""
    data = lists(rng, [1, 2, 3, 130, *rng.integers(10, 40, 900)])  # enough rows for a second thread
    scores = random_scores(loss, data, rng)
    one, two = (evaluate(loss, data, scores, n_jobs=n_jobs) for n_jobs in (1, 2))
    for name, first, second in zip(PARTS, one, two, strict=True):
        equal(second, first, f"two threads give a different {name} than one")


def check_long_list(loss: Loss, rng: np.random.Generator) -> None:
    """4,000 documents: no table of 4,000 × 4,000, and no more than a pass over all pairs."""
    seconds = {}
    for size in (400, 4_000):
        data = lists(rng, [size])
        scores = random_scores(loss, data, rng)
        bound = loss.bind(data)
        if size == 400:
            bound.evaluate(scores)  # compiled now
        before = peak_memory()
        start = time.process_time()
        for name, array in zip(PARTS, bound.evaluate(scores), strict=True):
            require(np.isfinite(array).all(), f"the {name} of a list of {size:,} documents is not finite")
        seconds[size] = time.process_time() - start
    # processor time, which other programs hardly change: 100 times as much for all pairs, 1000 for triples
    ratio = seconds[4_000] / max(seconds[400], 1e-3)
    require(ratio < 400, f"4,000 documents take {ratio:.0f} times as long as 400: more than a pass over all pairs")
    memory = peak_memory() - before
    require(memory < 60e6, f"4,000 documents take {memory / 1e6:.0f} MB: a table of all pairs?")


def peak_memory() -> int:
    """Largest resident memory of the process so far, in bytes; 0 where the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def check_any_labels(loss: Loss, rng: np.random.Generator, definition: Definition | None = None) -> None:
    """Labels are numbers, not grades: fractions, close together, large."""
    large = () if _has_largest_label(loss) else (3.25, 40, 400)
    data = lists(rng, labels=(-1, 0, 1e-9, 0.5, 0.5 + 1e-9, 3.0, *large))
    if hasattr(loss, "n_classes"):  # labels are classes
        with refuses(LossError, "whole-number", "labels that are fractions, for a loss of classes"):
            loss.bind(data)
        return
    scores = random_scores(loss, data, rng)
    _against_definition(loss, data, scores, definition)
    for name, array in zip(PARTS, evaluate(loss, data, scores), strict=True):
        require(
            np.isfinite(array).all(), f"the {name} is not finite for the labels {sorted(set(data.labels.tolist()))}"
        )


def _has_largest_label(loss: Loss) -> bool:
    """Whether it, or the measure that it is for, must be told the largest grade of the scale."""
    measure = vars(loss).get("measure")
    return hasattr(loss, "max_label") or (measure is not None and hasattr(parse(measure), "max_label"))


def check_convex(loss: Loss, rng: np.random.Generator) -> None:
    """The value at the middle of a line is at most the mean of the values at its ends."""
    if not loss.convex:
        return
    data = lists(rng)
    for spread in (0.1, 1.0, 10.0):
        a, b = (random_scores(loss, data, rng, spread=spread) for _ in range(2))
        ends = 0.5 * (evaluate(loss, data, a)[0] + evaluate(loss, data, b)[0])
        above = evaluate(loss, data, 0.5 * (a + b))[0] - ends
        below = (above <= ends * 1e-12 + 1e-12).all()
        require(
            below, f"convex is set, but the value at the middle of a line is {above.max():g} above the mean of its ends"
        )


def check_smooth(loss: Loss, rng: np.random.Generator) -> None:
    """A small step changes the gradient little, also away from ties and at the margin."""
    if not loss.smooth:
        return
    data = lists(rng)
    scores = random_scores(loss, data, rng, levels=3)
    gradient = evaluate(loss, data, scores)[1]
    near = evaluate(loss, data, scores + 1e-7 * rng.normal(size=scores.shape))[1]
    jump = np.abs(near - gradient).max()
    require(
        jump < 1e-4 * max(1.0, np.abs(gradient).max()),
        f"smooth is set, but a step of 1e-7 moves the gradient by {jump:g}",
    )


def check_preferences(loss: Loss, rng: np.random.Generator) -> None:
    """Pair losses: the pairs of unequal labels, given one by one, are the same; others have margins and weights."""
    if not isinstance(loss, PairLoss):
        return
    data = lists(rng)
    pairs = Preferences.from_labels(data, margin=False)
    if getattr(loss, "graded", False):
        pairs = dataclasses.replace(pairs, weight=data.labels[pairs.winner] - data.labels[pairs.loser])
    listed = dataclasses.replace(data, preferences=pairs)
    for scores in (random_scores(loss, data, rng), random_scores(loss, data, rng, levels=3)):
        for name, first, second in zip(
            PARTS, evaluate(loss, data, scores), evaluate(loss, listed, scores), strict=True
        ):
            close(second, first, f"the {name} of listed pairs is not that of the labels", rtol=1e-9, atol=1e-11)

    # a cycle, a pair twice, a pair in both directions; labels play no part
    cyclic = [(0, 1), (1, 2), (2, 0), (0, 1), (5, 3), (3, 5)]
    margin, weight = np.array([0.0, 1.5, 0.2, 0.3, 0.0, 4.0]), np.array([1.0, 2.0, 0.5, 0.0, 3.0, 1.0])
    sample_weight, query_weight = rng.uniform(0.5, 2, 6), np.array([2.0, 0.5])
    scores = rng.normal(size=6)
    for given in (None, margin):
        for weights in (None, weight):
            data = RankingDataset.from_arrays(
                None,
                None,
                [1, 1, 1, 2, 2, 2],
                sample_weight=sample_weight,
                query_weight=query_weight,
                preferences=Preferences.from_pairs(cyclic, margin=given, weight=weights),
            )
            expected, mass = np.zeros(2), np.zeros(2)
            for i, (u, v) in enumerate(cyclic):
                w = sample_weight[u] * sample_weight[v] * (1.0 if weights is None else weights[i])
                gap = scores[u] - scores[v] - (loss.margin if given is None else given[i])
                expected[u // 3] += w * PHI[loss.name](loss, gap) if loss.name in PHI else 0.0
                mass[u // 3] += w
            expected *= query_weight / (mass if loss.normalize else 1.0)
            value, gradient, _ = evaluate(loss, data, scores)
            if loss.name in PHI:
                close(value, expected, "the value of listed pairs is not the sum over them", rtol=1e-12)
            numeric = differences(partial(_total, loss, data), scores)
            close(gradient, numeric, "the gradient of listed pairs differs from differences", rtol=1e-5, atol=1e-7)
            sums = np.add.reduceat(gradient, [0, 3])
            close(sums, np.zeros(2), "the gradients of a query do not sum to 0", atol=1e-12)


def check_shape(loss: Loss, rng: np.random.Generator) -> None:
    """Scores of another shape are refused with what was expected."""
    data = lists(rng)
    for wrong in (np.zeros(data.n_rows + 1), np.zeros((data.n_rows, 17))):
        with refuses(LossError, re.escape(str(wrong.shape)), f"scores of shape {wrong.shape} for {data.n_rows} rows"):
            loss.gradient(wrong, data)


def check_copies(loss: Loss, rng: np.random.Generator) -> None:
    """A frozen value: equal to its copy, usable as a key."""
    copy = loss.replace()
    require(copy == loss and hash(copy) == hash(loss), "replace() without parameters gives a different loss")
    require(str(loss).startswith(f"{loss.name}("), f"str(loss) is {str(loss)!r}; it must start with {loss.name!r}")


#: The checks that take the definition of the caller.
AGAINST_DEFINITION = (check_definition, check_far_scores, check_any_labels)

CHECKS: list[Callable[..., None]] = [
    check_definition,
    check_gradient,
    check_curvature,
    check_nothing_to_learn,
    check_one_relevant_document_alone,
    check_far_scores,
    check_huge_scores,
    check_row_order,
    check_query_order,
    check_alone,
    check_shift,
    check_query_weight,
    check_sample_weight,
    check_without_value,
    check_results_are_the_callers,
    check_threads,
    check_long_list,
    check_any_labels,
    check_convex,
    check_smooth,
    check_preferences,
    check_shape,
    check_copies,
]
