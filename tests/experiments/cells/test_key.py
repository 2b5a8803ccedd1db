"""What identifies a finished cell."""

from __future__ import annotations

import subprocess
import sys

import plackett as pk
from plackett.experiments.cells.key import describe


def test_a_command_and_a_program_find_the_same_experiment():
    """In the process of a command, the base of rankers is ours, elsewhere scikit-learn's."""
    code = """
from plackett import ListNet
from plackett.experiments.cells.key import cell_key, identity
from plackett.experiments.contestants import contestants
from plackett.measures.language import parse
print(cell_key(identity(*contestants(ListNet()), parse("nDCG"), {}), {}))
"""
    command = f"from plackett._base.process import own_process; own_process(){code}"
    keys = {
        subprocess.run([sys.executable, "-c", each], check=True, capture_output=True).stdout for each in (code, command)
    }
    assert len(keys) == 1


class _Plain(pk.ListNet):
    pass


class _Other(pk.ListNet):
    def predict(self, X, **options):
        return -super().predict(X, **options)


def test_the_source_of_a_ranker_in_a_script_counts():
    plain, other = describe(_Plain())["source"], describe(_Other())["source"]
    assert len(plain) == len(other) == 1 and plain != other
    assert describe(pk.ListNet())["source"] == []
