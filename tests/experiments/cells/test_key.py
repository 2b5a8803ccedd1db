"""What identifies a finished cell."""

from __future__ import annotations

import subprocess
import sys

import plackett as pk
from plackett.experiments.cells.key import describe


def test_importing_scikit_learn_makes_no_other_ranker():
    """From its import on, the bases of rankers are scikit-learn's: the same experiment must still be found."""
    code = (
        "import sys; from plackett import ListNet; from plackett.experiments.cells.key import describe; "
        "before = describe(ListNet()); assert 'sklearn' not in sys.modules; import sklearn.base; "
        "assert describe(ListNet()) == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class _Plain(pk.ListNet):
    pass


class _Other(pk.ListNet):
    def predict(self, X, **options):
        return -super().predict(X, **options)


def test_the_source_of_a_ranker_in_a_script_counts():
    plain, other = describe(_Plain())["source"], describe(_Other())["source"]
    assert len(plain) == len(other) == 1 and plain != other
    assert describe(pk.ListNet())["source"] == []
