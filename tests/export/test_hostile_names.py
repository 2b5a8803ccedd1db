"""Names of features reach the generated source only as words in comments."""

from __future__ import annotations

import re

import numpy as np
import pytest

import plackett as pk

NAMES = (
    r"x\u000aimport java.io.File; class {name} { static { } } /\u002a",
    "ends in a backslash\\",
    "trigraph ??/",
    "*/ int x; /*",
    "{sum} {n} {name}",
    "“quotes” \u2028 \x85",
)


@pytest.mark.parametrize("write", [pk.write_c, pk.write_java, pk.write_javascript, pk.write_go, pk.write_rust])
def test_names_cannot_leave_the_comment(write, tmp_path):
    rng = np.random.default_rng(0)
    ranker = pk.ListNet(alpha=0.1).fit(rng.normal(size=(20, len(NAMES))), np.arange(20) % 3, qid=np.repeat([1, 2], 10))
    file = "Model.java" if write is pk.write_java else "model.txt"  # the name of the file is a name in the code
    lines = []
    for kind, names in (("plain", [f"n{j}" for j in range(len(NAMES))]), ("hostile", list(NAMES))):
        (tmp_path / kind).mkdir()
        write(ranker, tmp_path / kind / file, feature_names=names)
        lines.append((tmp_path / kind / file).read_text("utf-8").splitlines())
    one, other = lines
    assert len(one) == len(other)
    for expected, line in zip(one, other, strict=True):
        if expected != line:  # a comment with a name
            assert re.fullmatch(r"\s*(//!?|#|\*)?\s*\d+: [\w .,:()=<>+-]*", line), line
            assert not re.search(r"[\\?{}*/]", line.split(":", 1)[1])
