"""Options and fixtures of the test suite: long tests and real data."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# Threads of LightGBM and PyTorch that wait, sleep: with one test worker per core, spinning would take the other's time.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# A kernel compiles inside the first example; the examples are the same in every run.
settings.register_profile("plackett", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("plackett")


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
    """Folder of the unpacked public datasets: `PLACKETT_DATA`, or the archives beside the checkout, unpacked once."""
    named = os.environ.get("PLACKETT_DATA")
    if named:
        if not Path(named).is_dir():
            pytest.fail(f"PLACKETT_DATA names {named}, which is no folder")
        return Path(named)
    prepare = Path(__file__).resolve().parents[2] / "shared" / "data" / "prepare"
    if not prepare.exists():
        pytest.skip("needs public datasets: set PLACKETT_DATA to a folder that has them")
    import fcntl  # `prepare` is a shell script: where it runs, there is fcntl

    folder = Path(tempfile.gettempdir()) / f"plackett-data-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as lock:  # one worker unpacks, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([str(prepare), str(folder)], check=True, stdout=subprocess.DEVNULL)
    return folder
