"""Does an installed plackett work? Import, evaluate, train, save, load and the command line, away from the sources.

``make dist`` runs this with the Python of a fresh environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numpy as np

import plackett as pk


def main() -> None:
    """Fail with an assertion or an error where something does not work."""
    assert Path(pk.__file__).is_relative_to(sys.prefix), f"{pk.__file__} is not the installed package"
    assert pk.__version__ == version("plackett")
    assert (Path(pk.__file__).parent / "py.typed").exists(), "type checkers would not see the types"

    for name in ("index.html", "main.js", "style.css"):
        assert files("plackett.workbench").joinpath("page", name).is_file(), f"the page of the workbench lacks {name}"
    assert len(pk.datasets.available()) > 20 and len(pk.published("mq2008")) > 20
    assert len(pk.datasets.load("pydocs", variant="judged").queries) == 40

    data = pk.datasets.make_ranking(n_queries=30, docs_per_query=10, n_features=4, random_state=0)
    train, test = pk.split_queries(data, (0.7, 0.3), random_state=0)
    ranker = pk.LambdaMART(n_estimators=10).fit(train)
    value = pk.evaluate(test, ranker.predict(test), "nDCG@10").mean["nDCG@10"]
    assert 0.5 < value <= 1.0, value

    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        ranker.save("model.plackett")
        assert np.array_equal(pk.load("model.plackett").predict(test), ranker.predict(test))

        for language in ("c", "go", "java", "javascript", "rust"):  # their templates are files of the package
            getattr(pk.export, f"write_{language}")(ranker, f"model.{language}")
        pk.write_letor(train, "train.txt")
        pk.write_letor(test, "test.txt")
        plackett("train", "LambdaMART", "train.txt", "--out", "shell.plackett", "-p", "n_estimators=10")
        plackett("predict", "shell.plackett", "test.txt", "--out", "scores.txt")
        assert "nDCG@10" in plackett("evaluate", "test.txt", "scores.txt", "-m", "nDCG@10")
        assert "LambdaMART" in plackett("list", "--kind", "ranker")
        os.chdir(sys.prefix)
    print(f"plackett {pk.__version__} in {Path(pk.__file__).parent} works")


def plackett(*arguments: str) -> str:
    """What the command prints; its error ends the program."""
    command = Path(sys.executable).with_name("plackett")
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"plackett {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
