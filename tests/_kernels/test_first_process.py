"""The process that compiles computes the same bits as those that load what it compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EVERY_RESULT = Path(__file__).with_name("every_result.py")


def _results(part: str, cache: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, EVERY_RESULT, part],
        env=os.environ | {"PLACKETT_CACHE_DIR": str(cache)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _compiled(cache: Path) -> set[Path]:
    return {path for path in cache.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Empty at first; what one part has compiled is there for the next."""
    return tmp_path_factory.mktemp("kernels")


@pytest.mark.parametrize("part", ["measures", "losses", "own_solvers", pytest.param("rankers", marks=pytest.mark.full)])
def test_the_first_process_computes_what_later_ones_do(part, cache):
    before = _compiled(cache)
    first = _results(part, cache)
    compiled = _compiled(cache)
    assert compiled > before
    later = _results(part, cache)
    assert [line for line in first if line not in later] == []
    assert len(first) == len(later) >= 8
    assert _compiled(cache) == compiled, "the second process compiled, too"
