"""Agreement of judges: worked examples of the literature, definitions, planted judges."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from plackett._base.errors import DataError
from plackett.selection.judges.aggregate import RULES, aggregate_labels
from plackett.selection.judges.cohen import cohen_kappa
from plackett.selection.judges.dawid_skene import dawid_skene
from plackett.selection.judges.fleiss import fleiss_kappa
from plackett.selection.judges.krippendorff import krippendorff_alpha
from plackett.selection.judges.ratings import JudgeRatings

N = np.nan
#: Krippendorff's example: four observers, twelve units.
EXAMPLE = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
).T


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorff_example(level, value):
    assert round(krippendorff_alpha(EXAMPLE, level=level), 3) == value


def test_krippendorff_interval_by_pairs():
    """The definition as a double loop over the values of units."""
    units = [row[~np.isnan(row)] for row in EXAMPLE]
    units = [unit for unit in units if unit.size > 1]
    values = np.concatenate(units)
    inner = sum(sum((a - b) ** 2 for a, b in itertools.permutations(u, 2)) / (u.size - 1) for u in units)
    outer = sum((a - b) ** 2 for a, b in itertools.permutations(values, 2)) / (values.size - 1)
    np.testing.assert_allclose(krippendorff_alpha(EXAMPLE, level="interval"), 1 - inner / outer)


def test_fleiss_example():
    """Fourteen raters, ten subjects, five categories."""
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    assert round(fleiss_kappa([np.repeat(np.arange(5), row) for row in counts]), 3) == 0.210
    with pytest.raises(DataError, match="krippendorff_alpha"):
        fleiss_kappa(EXAMPLE)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_like_scikit_learn(weights):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 60)
    b = np.where(rng.random(60) < 0.6, a, rng.integers(0, 4, 60))
    np.testing.assert_allclose(cohen_kappa(a, b, weights=weights), cohen_kappa_score(a, b, weights=weights))


def test_nothing_to_compare():
    assert np.isnan(cohen_kappa([1, 1], [1, 1]))
    assert np.isnan(cohen_kappa([1, N], [N, 1]))
    assert np.isnan(krippendorff_alpha([[1, 1], [1, 1]]))
    assert np.isnan(krippendorff_alpha([[1, N], [N, 1]]))


def _planted(n=400, seed=0):
    """Grades 0–3; a careful judge, two sloppy ones, and one who is always a grade too high."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    columns = []
    for right, shift in ((0.95, 0), (0.55, 0), (0.55, 0), (0.9, 1)):
        wrong = np.clip(truth + rng.choice([-1, 1], n), 0, 3)
        columns.append(np.clip(np.where(rng.random(n) < right, truth, wrong) + shift, 0, 3))
    labels = np.column_stack(columns).astype(float)
    labels[rng.random(labels.shape) < 0.2] = N
    kept = ~np.isnan(labels).all(axis=1)
    return labels[kept], truth[kept]


def test_the_model_finds_the_judges_out():
    labels, truth = _planted()
    model = dawid_skene(labels)
    assert np.all(np.diff(model.objective) >= -1e-9 * np.abs(model.objective[1:]))
    assert model.accuracy.argmax() == 0
    assert model.confusion[3, 1].argmax() == 2  # too high by one
    right = {rule: np.mean(aggregate_labels(labels, rule) == truth) for rule in ("model", "majority", "median")}
    assert right["model"] > max(right["majority"], right["median"]) + 0.05


def test_one_step_by_its_definition():
    """Expectation and maximisation as plain loops reach the same tables."""
    labels, _ = _planted(40)
    model = dawid_skene(labels, max_iter=500, tol=1e-13)
    codes, k = JudgeRatings.of(labels).codes, 4
    posterior = model.posterior
    for j in range(4):
        for t in range(k):
            row = [0.3 ** abs(t - c) for c in range(k)]
            for i in range(len(codes)):
                if codes[i, j] >= 0:
                    row[codes[i, j]] += posterior[i, t]
            np.testing.assert_allclose(model.confusion[j, t], np.array(row) / sum(row), atol=1e-5)


@pytest.mark.parametrize("rule", RULES)
def test_judges_of_one_mind(rule):
    labels = np.repeat([[0.0], [1.0], [2.0], [0.0]], 3, axis=1)
    np.testing.assert_allclose(aggregate_labels(labels, rule), labels[:, 0], atol=0.2)


def test_tables(tmp_path):
    long = pl.DataFrame(
        {"query": list("aabb"), "docid": list("xxyy"), "rater": ["r1", "r2"] * 2, "rating": [1, 2, 0, 0]}
    )
    result = JudgeRatings.of(long)
    assert result.judges == ("r1", "r2")
    assert result.labels.tolist() == [[1, 2], [0, 0]]
    wide = pl.DataFrame({"query": ["a", "b"], "judge_1": ["1", ""], "judge_2": ["2", "0"]})
    wide.write_csv(tmp_path / "x.csv")
    np.testing.assert_array_equal(JudgeRatings.of(tmp_path / "x.csv").labels, [[1, 2], [N, 0]])
    with pytest.raises(DataError, match="judge 'r1' labels query 'a'"):
        JudgeRatings.of(pl.concat([long, long.head(1)]))
    with pytest.raises(DataError, match="row 1: 'good' is not a number"):
        JudgeRatings.of(wide.with_columns(judge_1=pl.lit("good")))
    with pytest.raises(DataError, match="no columns of judges"):
        JudgeRatings.of(wide.select("query"))


@pytest.mark.parametrize("source", [[1, 2], [[1], [2]], [[N, N]], [[1, np.inf]]])
def test_no_ratings(source):
    with pytest.raises(DataError):
        krippendorff_alpha(source)


def test_any_file_is_read_or_refused(tmp_path):
    """Random changes of a table: the reader gives ratings or says what is wrong, and does nothing else."""
    rng = np.random.default_rng(0)
    tables = [
        b"qid,docid,judge,label\n1,a,x,2\n1,a,y,1\n1,b,x,0\n2,c,y,1\n",
        "query,document,rater1,rater2\n1,\u00e4,2,1\n1,b,,0\n2,\u4e2d,1,1\n".encode(),
    ]
    pieces = [
        b"",
        b",",
        b"\n",
        b'"',
        b"\x00",
        b"\xff\xfe",
        b"nan",
        b"inf",
        b"-1",
        b"1e999",
        b"judge",
        b"label",
        b"\r",
        b" ",
    ]
    path, fine, refused, named = tmp_path / "ratings.csv", 0, 0, 0
    for trial in range(300):
        content = tables[trial % 2]
        for _ in range(int(rng.integers(1, 5))):
            a, b = np.sort(rng.integers(0, len(content) + 1, 2))
            b = min(b, a + int(rng.integers(0, 6)))
            content = content[:a] + pieces[rng.integers(len(pieces))] + content[b:]
        path.write_bytes(content)
        try:
            result = JudgeRatings.of(path)
        except DataError as error:
            named += str(path) in str(error)
            refused += 1
            continue
        fine += 1
        assert result.labels.shape[1] == len(result.judges) >= 2 and not np.isinf(result.labels).any()
        for rule in RULES:
            aggregate_labels(JudgeRatings(result.labels[~np.isnan(result.labels).all(axis=1)], result.judges), rule)
    assert fine > 20 and refused > 20 and named == refused


def test_a_judge_called_like_a_column(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("query,document,judge,label\nq1,a,query,1\nq1,a,label,0\nq1,b,query,2\n")
    result = JudgeRatings.of(path)
    assert result.judges == ("label", "query")
    np.testing.assert_array_equal(result.labels, [[0, 1], [np.nan, 2]])
    assert result.items.rows() == [("q1", "a"), ("q1", "b")]


def test_bad_labels_by_the_row_of_the_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("query,document,judge,label\nq1,a,x,1\nq1,a,y,1\nq1,b,x,good\n")
    with pytest.raises(DataError, match="column 'label', row 3: 'good'"):
        JudgeRatings.of(path)


def test_a_judge_named_twice():
    table = pl.DataFrame({"docid": [1, 2], "anna": [1, 0], "ben": [1, 1]})
    assert JudgeRatings.of(table, ["anna", "ben"]).judges == ("anna", "ben")
    with pytest.raises(DataError, match="'anna' is given as a judge more than once"):
        JudgeRatings.of(table, ["anna", "anna"])
