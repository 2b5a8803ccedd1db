"""Static figures: files of the right kind, with what the Plotly figure has, without a browser and without pyplot."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.plot.save import _draw

go = pytest.importorskip("plotly.graph_objects", reason="plots need the extra 'report'")
matplotlib = pytest.importorskip("matplotlib", reason="figures without a browser need the extra 'static'")

from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


def drawn(figure):
    axes = Figure().subplots()
    _draw(figure, axes)
    return axes


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(20, n_features=4, random_state=0)


@pytest.fixture(scope="module")
def compared(data):
    scores = {"good $x$ <b>": data.X[:, 0] + data.y, "bad": data.X[:, 1]}
    return pk.compare(data, scores, ["nDCG@10"])


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("PDF", b"%PDF"), ("png", b"\x89PNG")])
def test_files_are_the_same_each_time(compared, tmp_path, kind, start):
    first, second = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    for path in (first, second):
        pk.plot.save(pk.plot.differences(compared), path, width=4, height=3)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().startswith(start)
    if kind == "svg":
        root = ET.parse(first).getroot()
        assert (root.get("width"), root.get("height")) == ("288pt", "216pt")


def test_lines_points_and_labels(data):
    scores = {"first": data.X[:, 0], "second": data.X[:, 1]}
    figure = pk.plot.measure_curve(data, scores, "nDCG", range(1, 6))
    axes = drawn(figure)
    curves = [line for line in axes.lines if len(line.get_xdata()) == 5]
    for line, points, trace in zip(curves, axes.collections, figure.data, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), trace.y)
        np.testing.assert_array_equal(points.get_offsets(), np.stack([trace.x, trace.y], axis=1))
        assert to_hex(line.get_color()) == trace.line.color
    assert {text.get_text(): to_hex(text.get_color()) for text in axes.texts} == {
        trace.name: trace.line.color for trace in figure.data
    }
    assert axes.get_xlabel() == "cut-off k (documents)" and axes.get_ylabel() == "nDCG@k"
    np.testing.assert_allclose(axes.get_xlim(), (0.5, 5.5))


def test_intervals_and_names_as_they_are(compared):
    figure = pk.plot.comparison(compared)
    axes = drawn(figure)
    (bars,) = (part for part in axes.collections if hasattr(part, "get_segments"))
    rows = sorted(compared.table.iter_rows(named=True), key=lambda row: -row["mean"])
    for number, (segment, row) in enumerate(zip(bars.get_segments(), rows, strict=True)):
        np.testing.assert_allclose(segment, [[row["low"], number], [row["high"], number]])
    assert [text.get_text() for text in axes.get_yticklabels()] == [r"good \$x\$ <b>", "bad"]
    assert axes.yaxis_inverted()  # the best is at the top


def test_bars_and_notes(compared):
    figure = pk.plot.differences(compared)
    axes = drawn(figure)
    heights = [bar.get_height() for bar in axes.patches]
    np.testing.assert_allclose(heights, figure.data[0].y)
    assert {to_hex(bar.get_facecolor()) for bar in axes.patches} == set(figure.data[0].marker.color)
    assert [text.get_text().split(" is better")[0] for text in axes.texts] == [r"good \$x\$ <b>", "bad"]
    frame = pk.permutation_importance(pk.LinearRegression().fit(DATA := pk.datasets.make_ranking(9, 5, 3)), DATA)
    axes = drawn(pk.plot.importances(frame))
    assert axes.yaxis_inverted() and len(axes.patches) == 3
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], frame["importance"], rtol=1e-4)


def test_logarithmic_axis_rings_and_legend(data):
    rankers = [pk.ListNet(validation_fraction=0.3, alpha=alpha).fit(data) for alpha in (0.1, 1.0)]
    figure = pk.plot.learning_curve(rankers)
    axes = drawn(figure)
    assert axes.get_xscale() == "log"
    np.testing.assert_allclose(np.log10(axes.get_xlim()), figure.layout.xaxis.range)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ListNet 1", "ListNet 2"]
    assert all(ring.get_facecolor().size == 0 for ring in axes.collections)  # open rings
    assert axes.lines[1].get_linestyle() == "--"


def test_every_plot_can_be_drawn(data):
    train, valid = (pk.datasets.make_ranking(30, n_features=4, random_state=seed) for seed in (0, 1))
    frontier = pk.feature_frontier("LinearRegression", train, valid)
    figure = pk.plot.feature_frontier(frontier)
    axes = drawn(figure)
    assert sum(len(part.get_offsets()) for part in axes.collections) == frontier.frame.height
    exits = pk.early_exit(pk.LambdaMART(n_estimators=10).fit(train), valid, keep=(3, 6), trees=(2, 5))
    assert len(drawn(pk.plot.exit_frontier(exits)).get_legend().get_texts()) == 2


def test_refusals(compared, tmp_path):
    figure = pk.plot.comparison(compared)
    with pytest.raises(DataError, match=r"curve.eps: the name of the file must end in .svg, .pdf, .png or .html"):
        pk.plot.save(figure, tmp_path / "curve.eps")
    with pytest.raises(DataError, match="a Comparison is not a figure; give what a function of plackett.plot"):
        pk.plot.save(compared, tmp_path / "curve.svg")
    with pytest.raises(DataError, match="a trace of type 'heatmap' cannot be drawn"):
        pk.plot.save(go.Figure(go.Heatmap(z=[[1]])), tmp_path / "curve.svg")
    with pytest.raises(DataError, match="width=-1, height=None; give inches"):
        pk.plot.save(figure, tmp_path / "curve.svg", width=-1)
    assert not list(tmp_path.iterdir())
    pk.plot.save(figure, tmp_path / "curve.html")
    assert "<html>" in (tmp_path / "curve.html").read_text("utf-8")[:100]


def test_settings_of_matplotlib_count_and_are_left_alone(compared, tmp_path):
    program = f"""
import sys, matplotlib
import plackett as pk
matplotlib.rcParams["svg.fonttype"] = "none"
figure = pk.plot.measure_curve(pk.RankingDataset.from_arrays(None, [1, 0, 1]), {{"a": [2, 0, 1]}}, "P", [1, 2])
pk.plot.save(figure, {str(tmp_path / "curve.svg")!r})
assert matplotlib.rcParams["svg.hashsalt"] is None
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert "cut-off k (documents)</text>" in (tmp_path / "curve.svg").read_text("utf-8")
