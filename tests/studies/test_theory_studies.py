"""Studies of the theory: stability, bounds, tendency, the top of the list."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.plot.chart import line_chart
from plackett.theory.stability.measured import Stability
from studies.query_stability import planted_queries, query_stability
from studies.surrogate_bounds import surrogate_bounds
from studies.tendency import tendency
from studies.top_k_interplay import top_k_interplay

#: Table 1 of the paper: Ranking SVM and IR-SVM, 30 queries left out.
PUBLISHED = (
    [3.59, 1.14, 0.88, 0.81, 1.84, 1.15, 0.89, 1.30, 0.90, 1.42, 1.38, 1.39, 0.56, 1.43, 1.42, 1.01, 1.13, 1.34, 1.04,
     0.86, 0.43, 0.51, 0.64, 0.92, 0.50, 0.88, 4.53, 0.99, 1.13, 0.62],
    [0.07, 0.07, 0.06, 0.06, 0.05, 0.24, 0.18, 0.06, 0.09, 0.08, 0.11, 0.15, 0.11, 0.13, 0.14, 0.11, 0.06, 0.11, 0.08,
     0.05, 0.09, 0.20, 0.27, 0.14, 0.18, 0.08, 0.12, 0.09, 0.21, 0.14],
)  # fmt: skip


def test_figures_are_computed_as_in_the_paper():
    for values, (mean, largest, variance) in zip(PUBLISHED, ((1.221, 4.53, 0.721), (0.118, 0.27, 0.0034)), strict=True):
        result = Stability("query", "remove", np.array(values), None, np.empty(0), np.empty(0))
        assert (result.mean, result.max) == pytest.approx((mean, largest), abs=5e-4)
        assert result.variance == pytest.approx(variance, rel=0.01)


def test_one_long_query_moves_ranking_svm_more_than_ir_svm():
    study = query_stability(n=31, n_jobs=1)
    rank, ir, weak = study.frame.to_dicts()
    for row in (rank, ir, weak):
        assert 0 < row["mean Δ"] <= row["max Δ"] <= row["τ"]
    assert rank["max Δ"] > 2 * ir["max Δ"]  # the long query dominates one and not the other
    assert ir["AP"] > rank["AP"]  # most queries are short
    # the price of a pair is that of a query: λ is smaller by the mean number of pairs, 2 · 3 of 30 queries, 20² of one
    assert ir["λ"] / weak["λ"] == pytest.approx((30 * 6 + 400) / 31)
    assert weak["mean Δ"] > ir["mean Δ"]
    assert study.to_svg().startswith("<svg") and "IRSVM" in study.picture


def test_planted_queries_disagree_with_the_long_one():
    data = planted_queries()
    assert data.group.tolist() == [5] * 30 + [40]
    slope = [
        np.corrcoef(data.X[a:b, 0], data.y[a:b])[0, 1] for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)
    ]
    assert np.mean(slope[:30]) > 0.5 and slope[30] < -0.5


def test_a_dataset_of_ones_own_is_split_and_scaled():
    data = pk.datasets.make_ranking(40, (4, 12), 6, random_state=0)
    data = data.replace(X=np.nan_to_num(data.X))
    frame = query_stability(data, n=3, penalties=(0.01, 0.1), n_jobs=1).frame
    assert (frame["max Δ"] <= frame["τ"]).all() and (frame["nDCG@5"] > 0).all()


@pytest.mark.full
def test_ohsumed(data_dir):
    fold = pk.datasets.load("ohsumed", fold=1, root=data_dir)
    data = pk.concat([fold.train, fold.valid, fold.test])
    frame = query_stability(data, n=30).frame
    assert (frame["max Δ"] <= frame["τ"]).all()


def test_no_bound_is_violated_and_some_say_something():
    study = surrogate_bounds(n_lists=400)
    assert (study.frame["violations"] == 0).all() and (study.frame["least ratio"] >= 1 - 1e-9).all()
    assert study.frame["says something"].max() > 0.2
    assert "Logistic" in study.picture


def test_smooth_measures_come_close_and_others_do_not():
    study = tendency(n_models=60, strengths=(0.3, 10.0, 100.0))
    for name in ("ApproxNDCG", "SoftNDCG"):
        values = study.frame[f"ε, {name}"].to_list()
        assert values[0] > values[2] and values[2] < 0.05
    svm = study.parts[0].frame.filter(surrogate="SVM-MAP")["ε"][0]
    assert svm > 0.99


def test_losses_of_no_more_positions_than_count_never_miss():
    frame = top_k_interplay(n_spaces=25).frame
    table = frame.drop("true loss").to_numpy()
    assert (table[np.tril_indices(3)] == 0).all()  # l ≤ k
    assert table[0, 1:].min() > 0  # the first document is missed by losses that look further


def test_charts_are_svg_whatever_the_numbers(tmp_path):
    text = line_chart(
        {"a & b": ([1, 10, 100], [0.0, np.nan, 5.0]), "c": ([1], [1])},
        title="<t>",
        x_label="x",
        y_label="y",
        log_x=True,
    )
    import xml.etree.ElementTree as tree

    assert tree.fromstring(text).tag.endswith("svg")
    assert "a &amp; b" in text and "&lt;t&gt;" in text
    from studies.run import app

    out = tmp_path / "chart.svg"
    result = CliRunner().invoke(app, ["query-stability", "--out", str(out), "--jobs", "1"])
    assert result.exit_code == 0 and out.read_text("utf-8").startswith("<svg")
    refused = CliRunner().invoke(app, ["top-k-loss", "--out", str(tmp_path / "x.svg")])
    assert refused.exit_code == 2 and "no chart" in refused.output
