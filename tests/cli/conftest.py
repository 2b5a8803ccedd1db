"""The command line, run as a user runs it."""

from __future__ import annotations

import sys

import pytest

from plackett import cli


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs ``plackett`` in this process: exit code, stdout, stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["plackett", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.run()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return call
