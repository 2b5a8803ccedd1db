"""A small experiment with names that could do harm, and its report."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

pytest.importorskip("plotly")
pytest.importorskip("jinja2")

from plackett.datasets import make_ranking
from plackett.experiments.experiment import experiment
from plackett.experiments.report import write_report

NASTY = '<b>&"x'
RANKERS = {NASTY: "ListNet", "a_b%": "LinearRegression", "trees": "LambdaMART(n_estimators=6, min_child_samples=2)"}


class Page(HTMLParser):
    """Elements with their attributes, tables as rows of texts, and the content of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.tables, self.raw = [], [], []
        self.words = []
        self._open = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "table":
            self.tables.append({"caption": "", "rows": []})
        elif tag == "tr":
            self.tables[-1]["rows"].append([])
        elif tag in ("td", "th"):
            self.tables[-1]["rows"][-1].append("")
        if tag in ("td", "th", "caption", "script", "style", "title", "option"):
            self._open = tag
        if tag in ("script", "style"):
            self.raw.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag):
        if tag == self._open:
            self._open = None

    def handle_data(self, data):
        if self._open in ("script", "style"):
            tag, attributes, text = self.raw[-1]
            self.raw[-1] = (tag, attributes, text + data)
        elif self._open in ("td", "th"):
            self.tables[-1]["rows"][-1][-1] += data.strip()
        elif self._open == "caption":
            self.tables[-1]["caption"] += data
        elif self._open is None:
            self.words.append(data)

    def table(self, caption):
        (result,) = [table for table in self.tables if table["caption"] == caption]
        header, *rows = result["rows"]
        return header, rows

    @property
    def data(self):
        (text,) = [text for _, attributes, text in self.raw if attributes.get("id") == "report-data"]
        return json.loads(text)


@pytest.fixture(scope="session")
def finished():
    data = {"<i>one": make_ranking(24, 7, 4, random_state=0), "two": make_ranking(20, 6, 4, random_state=1)}
    return experiment(data, RANKERS, ["nDCG@5", "AP"], folds=3, n_trials=2, n_jobs=1)


@pytest.fixture(scope="session")
def folder(finished, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    assert write_report(finished, folder) == folder / "report.html"
    return folder


@pytest.fixture(scope="session")
def page(folder):
    return Page((folder / "report.html").read_text("utf-8"))


@pytest.fixture(scope="session")
def read_page():
    return Page
