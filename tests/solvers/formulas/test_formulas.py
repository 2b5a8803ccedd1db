"""Formulas: the stack machine against a tree walked in plain Python, text and back, simplification, breeding."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plackett import DataError
from plackett.scorers.formulas.machine import evaluate
from plackett.scorers.formulas.operations import LIMIT, OPERATIONS
from plackett.scorers.formulas.program import CONSTANT, MAX_SIZE, Program
from plackett.scorers.formulas.scorer import FormulaScorer
from plackett.solvers.formulas.breeding import Breeder
from plackett.solvers.formulas.evolution import Evolution
from plackett.solvers.formulas.simplify import simplify
from plackett.solvers.formulas.text import default_names, from_text, to_text

N_FEATURES = 3
ALL = tuple(operation.name for operation in OPERATIONS)


def programs(n_features=N_FEATURES, max_leaves=12):
    """Random formulas with all operations; constants of all sizes, often 0 and 1."""
    values = st.one_of(st.sampled_from([0.0, 1.0, -1.0, LIMIT, -LIMIT, 1e-300]), st.floats(-1e3, 1e3))
    leaves = st.one_of(st.integers(0, n_features - 1).map(Program.feature), values.map(Program.constant))
    numbers = range(len(OPERATIONS))
    two = st.sampled_from([k for k in numbers if OPERATIONS[k].arity == 2])
    one = st.sampled_from([k for k in numbers if OPERATIONS[k].arity == 1])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.builds(Program.of, two, inner, inner), st.builds(Program.of, one, inner)),
        max_leaves=max_leaves,
    )


def cut(x):
    return x if math.isnan(x) else min(max(x, -LIMIT), LIMIT)


def naive_log(a):
    return 0.0 if a == 0 else cut(math.log(abs(a)) if not math.isinf(a) else math.inf)


def quotient(a, b):
    return 1.0 if b == 0 else cut(a / b)


#: What the documentation says each operation is, in plain Python.
NAIVE = {
    "+": lambda a, b: cut(a + b),
    "-": lambda a, b: cut(a - b),
    "*": lambda a, b: cut(a * b),
    "/": quotient,
    "max": lambda a, b: math.nan if math.isnan(a) else b if math.isnan(b) or b >= a else a,
    "min": lambda a, b: math.nan if math.isnan(a) else b if math.isnan(b) or b <= a else a,
    "log": naive_log,
    "sqrt": lambda a: cut(math.sqrt(abs(a))),
    "exp": lambda a: LIMIT if a >= math.log(LIMIT) else math.exp(a),
    "neg": lambda a: -a,
    "abs": abs,
}


def walk(program, row):
    """Value of a formula by recursion over its tree."""
    code = program.code[0]
    if code >= 0:
        return float(row[code])
    if code == CONSTANT:
        return program.constants[0]
    return NAIVE[OPERATIONS[-2 - code].name](*(walk(argument, row) for argument in program.arguments()))


table = st.lists(
    st.lists(st.floats(width=32, allow_nan=True, allow_infinity=True), min_size=N_FEATURES, max_size=N_FEATURES),
    min_size=1,
    max_size=4,
).map(lambda rows: np.array(rows, np.float32))
finite_table = table.map(lambda X: np.nan_to_num(X))  # infinite values become the largest float32


@given(st.lists(programs(), min_size=1, max_size=4), table)
def test_machine_against_a_walk_over_the_tree(found, X):
    """Every value, NaN and infinite features too."""
    expected = [[walk(program, row) for row in X] for program in found]
    np.testing.assert_allclose(evaluate(found, np.ascontiguousarray(X.T), n_jobs=1), expected, rtol=1e-13, atol=0)


@given(programs(), finite_table)
def test_finite_features_give_finite_values_inside_the_limit(program, X):
    assert (np.abs(evaluate([program], np.ascontiguousarray(X.T))) <= LIMIT).all()


def test_blocks_and_threads_change_nothing():
    """More documents than a block, programs of different lengths."""
    rng = np.random.default_rng(0)
    result = Breeder(5, ALL, 6, 40, 0.3, (-1.0, 1.0)).first(rng, 50)
    X = rng.normal(size=(5, 1000)).astype(np.float32)
    together = evaluate(result, X, n_jobs=3)
    for program, row in zip(result, together, strict=True):
        np.testing.assert_array_equal(evaluate([program], X, n_jobs=1)[0], row)
        for i in (0, 511, 512, 999):
            np.testing.assert_array_equal(evaluate([program], np.ascontiguousarray(X[:, i : i + 1]))[0, 0], row[i])


# ------------------------------------------------------------------------------------------------------------- text


@given(programs(), st.sampled_from([["x1", "x2", "x3"], ["title bm25", "log", "a`b"], ["1", "-", "tf.idf"]]))
def test_text_means_the_same_formula(program, names):
    text = to_text(program, names)
    again = from_text(text, names)
    assert again.code == program.code and again.constants == program.constants
    assert to_text(again, names) == text


def test_text_reads_as_people_write():
    names = ["tf", "df", "length"]
    values = np.array([[3.0], [7.0], [20.0]], np.float32)
    for text, expected in {
        "tf - df - length": 3 - 7 - 20,
        "tf - (df - length)": 3 - (7 - 20),
        "tf / df * length": 3 / 7 * 20,
        "tf + df * length": 3 + 7 * 20,
        "-tf * -2": 6,
        "2e1 - .5": 19.5,
        "max(tf, min(df, length))": 7,
        "log(length) / sqrt(df)": math.log(20) / math.sqrt(7),
        "tf / (df - 7)": 1,
        "log(df - 7)": 0,
    }.items():
        assert evaluate([from_text(text, names)], values)[0, 0] == pytest.approx(expected)
    assert to_text(from_text("((tf)) - ((-0.5))", names), names) == "tf - (-0.5)"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("tf +", "character 5, found the end"),
        ("tf df", "expected the end at character 4"),
        ("(tf", r"expected '\)'"),
        ("idf", "expected a feature"),
        ("log(tf, tf)", r"expected '\)' at character 7"),
        ("max(tf)", "expected ','"),
        ("log", r"expected '\('"),
        ("tf ** 2", "character 5"),
        ("__import__('os')", "expected a feature"),
        ("1e200", "constant 1e"),
        ("", "found the end"),
        ("(" * 500 + "tf" + ")" * 500, "more than 100 nested brackets"),
    ],
)
def test_wrong_texts_name_the_place(text, match):
    with pytest.raises(DataError, match=match):
        from_text(text, ["tf", "df"])


@given(programs(), finite_table)
def test_simplified_formulas_have_the_same_value(program, X):
    short = simplify(program)
    short.check(N_FEATURES)
    assert short.size <= program.size
    assert simplify(short) == short
    columns = np.ascontiguousarray(X.T)
    np.testing.assert_array_equal(evaluate([short], columns), evaluate([program], columns))


def test_simplification():
    names = default_names(2)
    for text, short in {
        "x1 + 0 * x2": "x1",
        "(x1 - x1) / x2": "0 / x2",  # 1 where x2 is 0
        "x1 / x1 * x2": "x2",
        "log(neg(x1))": "log(x1)",
        "max(x1 * x2, x1 * x2)": "x1 * x2",
        "neg(neg(x1))": "x1",
        "x1 + (2 - 1.5) * 3": "x1 + 1.5",
        "x1 / (2 - 2)": "1",
    }.items():
        assert to_text(simplify(from_text(text, names)), names) == short


# ---------------------------------------------------------------------------------------------------------- breeding


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
    st.integers(3, 25),
    st.lists(st.sampled_from(ALL), min_size=1, max_size=6),
)
def test_breeding_stays_inside_the_limits(seed, depth, size, functions):
    rng = np.random.default_rng(seed)
    breeder = Breeder(N_FEATURES, tuple(functions), depth, size, 0.3, (-2.0, 2.0))
    population = breeder.first(rng, 8)
    assert len(population) == 8
    for _ in range(10):
        a, b = (population[int(i)] for i in rng.integers(len(population), size=2))
        population += [breeder.crossover(a, b, rng), breeder.mutated(a, rng)]
    for program in population:
        program.check(N_FEATURES)
        assert program.size <= size and program.depth <= depth
        assert {OPERATIONS[-2 - code].name for code in program.code if code < CONSTANT} <= set(functions)


def test_crossover_puts_a_tree_of_one_into_the_other():
    rng = np.random.default_rng(0)
    names = default_names(4)
    a, b = from_text("x1 + x1 * x1", names), from_text("x2 - x2 / x2", names)
    breeder = Breeder(4, ALL, 10, 50, 0.0, (0.0, 1.0))
    children = {to_text(breeder.crossover(a, b, rng), names) for _ in range(3000)}
    # every tree of a may be replaced by every tree of b (3 of them)
    parts = ["x2 - x2 / x2", "x2 / x2", "x2"]
    expected = set(parts)
    expected |= {to_text(from_text(f"({p}) + x1 * x1", names), names) for p in parts}
    expected |= {to_text(from_text(f"x1 + ({p})", names), names) for p in parts}
    expected |= {to_text(from_text(f"x1 + ({p}) * x1", names), names) for p in parts}
    expected |= {to_text(from_text(f"x1 + x1 * ({p})", names), names) for p in parts}
    assert children == expected


def test_depth_and_size():
    names = default_names(2)
    for text, depth, size in (("x1", 0, 1), ("log(x1)", 1, 2), ("x1 + x2 * log(x1)", 3, 6), ("(x1 + x2) * x1", 2, 5)):
        program = from_text(text, names)
        assert (program.depth, program.size) == (depth, size)


def test_best_fitness_never_falls_with_an_elite_and_short_ones_win_ties():
    target = from_text("x1 * x2 - x1", default_names(2))
    X = np.random.default_rng(1).normal(size=(2, 50)).astype(np.float32)
    wanted = evaluate([target], X)[0]

    def fitness(result):
        return -np.abs(evaluate(result, X) - wanted).mean(axis=1).round(12)

    breeder = Breeder(2, ("+", "-", "*"), 5, 21, 0.1, (0.0, 1.0))
    evolution = Evolution(
        breeder=breeder,
        population_size=60,
        crossover_rate=0.7,
        mutation_rate=0.25,
        tournament_size=4,
        elitism=1,
        parsimony=0.0,
    )
    best = []
    for generation, (ranked, values) in enumerate(evolution.generations(fitness, np.random.default_rng(0))):
        assert len(ranked) == 60
        keys = [(-value, program.size) for program, value in zip(ranked, values, strict=True)]
        assert keys == sorted(keys)
        best.append(values[0])
        if generation == 30:
            break
    assert (np.diff(best) >= 0).all()
    assert best[-1] == 0.0  # the formula itself, or an equal one


# ----------------------------------------------------------------------------------------------------------- storage


def test_programs_from_files_are_checked():
    scorer = FormulaScorer.of(from_text("x1 + 2 * log(x3)", default_names(3)), 3)
    arrays = scorer.to_arrays()
    assert FormulaScorer.from_arrays(arrays).program == scorer.program
    nan = np.array([0.0, 0.0, 0.0, np.nan, 0.0, 0.0])
    for match, change in (
        ("code 3", {"code": np.array([3], np.int32), "constants": np.zeros(1)}),
        ("code -13", {"code": np.array([-13, 0], np.int32), "constants": np.zeros(2)}),
        ("lacks 1", {"code": arrays["code"][:-1], "constants": arrays["constants"][:-1]}),
        ("ends at node 1", {"code": np.array([0, 0], np.int32), "constants": np.zeros(2)}),
        ("0 nodes", {"code": np.empty(0, np.int32), "constants": np.empty(0)}),
        ("constant nan", {"constants": nan}),
        ("constant 1e", {"constants": np.where(arrays["code"] == -1, 1e101, 0.0)}),
        ("constant 1.0", {"constants": np.ones(6)}),
        ("nodes", {"code": np.full(MAX_SIZE + 2, -11, np.int32), "constants": np.zeros(MAX_SIZE + 2)}),
        ("expected int32", {"code": arrays["code"].astype(np.int64)}),
        ("one number", {"n_features": np.array([3.0])}),
        ("shape|constants", {"constants": np.zeros(2)}),
    ):
        with pytest.raises(DataError, match=match):
            FormulaScorer.from_arrays(arrays | change)
    with pytest.raises(DataError, match="table of 2"):
        scorer.predict(np.zeros((1, 2), np.float32), np.array([0, 1]))
