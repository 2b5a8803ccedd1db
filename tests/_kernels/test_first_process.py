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


@pytest.mark.parametrize("part", ["measures", "losses", "rankers"])
def test_the_first_process_computes_what_later_ones_do(part, tmp_path):
    first = _results(part, tmp_path)
    compiled = _compiled(tmp_path)
    assert compiled
    later = _results(part, tmp_path)
    assert [line for line in first if line not in later] == []
    assert len(first) == len(later) > 50
    assert _compiled(tmp_path) == compiled, "the second process compiled, too"
