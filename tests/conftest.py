"""Options and fixtures of the test suite: long tests and real data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Threads of LightGBM and PyTorch that wait, sleep: with one test worker per core, spinning would take the other's time.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# A kernel compiles inside the first example; the examples are the same in every run.
settings.register_profile("plackett", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("plackett")


NO_DATA = "needs public datasets: set PLACKETT_DATA to a folder that has them"


def pytest_addoption(parser):
    parser.addoption("--run-full", action="store_true", help="run the tests marked `full` as well")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--run-full"):
        return
    for item in items:
        if "full" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="too long for every run: give --run-full"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the unpacked public datasets, named by `PLACKETT_DATA`; tests that need it are skipped without."""
    named = os.environ.get("PLACKETT_DATA")
    if not named:
        pytest.skip(NO_DATA)
    if not Path(named).is_dir():
        pytest.fail(f"PLACKETT_DATA names {named}, which is no folder")
    return Path(named)


def pytest_terminal_summary(terminalreporter):
    """Say how many tests were skipped for want of data."""
    skipped = terminalreporter.stats.get("skipped", [])
    wanting = sum(isinstance(report.longrepr, tuple) and NO_DATA in report.longrepr[2] for report in skipped)
    if wanting:
        terminalreporter.write_line(f"{wanting} tests were skipped because PLACKETT_DATA names no folder of datasets")
