"""Commands run in this process, without what `plackett.cli.main` does around them."""

from __future__ import annotations

from collections.abc import Sequence

from typer.testing import CliRunner, Result

from plackett.cli.app import app_for


def invoke(words: Sequence[str]) -> Result:
    """Run ``plackett`` with these arguments."""
    return CliRunner().invoke(app_for(words), words)
