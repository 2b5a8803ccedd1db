"""Model files of svm_rank and SVM-light."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett.data.estimators import last_step
from plackett.export._form import form_of
from plackett.export._lines import ModelText
from plackett.rankers.base import Ranker
from plackett.scorers.linear import LinearScorer

__all__ = ["read_svm_rank", "write_svm_rank"]

#: The lines between the version and the support vectors: what stands there, and after which comment.
_HEAD = (
    "kernel type",
    "kernel parameter -d",
    "kernel parameter -g",
    "kernel parameter -s",
    "kernel parameter -r",
    "kernel parameter -u",
    "highest feature index",
    "number of training documents",
    "number of support vectors plus 1",
    "threshold b",
)


def read_svm_rank(path: str | os.PathLike[str], *, n_features: int | None = None) -> Ranker:
    r"""Read a linear model of ``svm_rank_learn`` or ``svm_learn`` as a `RankSVM` with the same scores.

    The score is :math:`\sum_i \alpha_i\, x_i \cdot x - b` over the support vectors; a linear svm_rank model has
    one, its weights. Other kernels are rejected.

    Parameters
    ----------
    path
        The model file.
    n_features
        Number of columns of the data to score; None means the highest feature number that has a weight. svm_rank leaves
        out weights of 0, so give the number of columns if the last ones have no weight.

    References
    ----------
    Joachims: Training linear SVMs in linear time. KDD 2006.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.dat"
    >>> write_svm_rank(pk.rankers.RankSVM(C=1.0).fit([[0.0], [1.0]], [0, 1], qid=[1, 1]), path)
    >>> read_svm_rank(path).rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])
    """
    from plackett._base.version import __version__
    from plackett.rankers.pairwise.rank_svm import RankSVM

    model = ModelText.read(path)
    lines = list(model.lines())
    if not lines or not lines[0][1].startswith("SVM-light Version"):
        raise DataError(f"{path}:1: not an svm_rank model; its first line should be 'SVM-light Version …'")
    head = {}
    for (number, line), what in zip(lines[1:], _HEAD, strict=False):
        value, mark, comment = line.partition("#")
        if not mark or not comment.strip().startswith(what):
            model.fail(number, f"expected a line '… # {what}', found {line[:40]!r}")
        head[what] = number, value.strip()
    if len(head) < len(_HEAD):
        raise DataError(f"{path}: the file ends before '# {_HEAD[len(head)]}'")
    if head["kernel type"][1] != "0":
        model.fail(
            head["kernel type"][0], f"kernel {head['kernel type'][1][:20]!r}; only linear models (0) can be read"
        )
    # svm_rank counts one feature more than there are: the weights say how many
    model.whole(head["highest feature index"][1], head["highest feature index"][0], "the highest feature")
    vectors = lines[1 + len(_HEAD) :]
    expected = model.whole(head[_HEAD[8]][1], head[_HEAD[8]][0], "the number of support vectors plus 1", 1) - 1
    if len(vectors) != expected:
        raise DataError(f"{path}: {len(vectors)} support vectors instead of {expected}")
    weighted: list[tuple[int, float]] = []
    for number, line in vectors:
        alpha, *tokens = line.partition("#")[0].split() or [""]
        times = model.real(alpha, number, "a coefficient")
        pairs = model.pairs([token for token in tokens if not token.startswith("qid:")], number)
        weighted += [(feature, times * value) for feature, value in pairs]
    size = max((feature for feature, _ in weighted), default=1)
    if n_features is not None and n_features < size:
        raise DataError(f"{path}: the model uses feature {size}, and n_features={n_features}")
    weights = np.zeros(n_features or size)
    for feature, weight in weighted:
        weights[feature - 1] += weight
    threshold = model.real(head["threshold b"][1], head["threshold b"][0], "the threshold")
    ranker = RankSVM()
    ranker.scorer_ = LinearScorer(weights[:, None], np.array([-threshold]))
    ranker.n_features_in_, ranker.history_ = weights.size, []
    ranker.card_ = {"algorithm": "RankSVM", "plackett": __version__, "read_from": "svm_rank"}
    return ranker


def write_svm_rank(ranker: Ranker, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    r"""Write any fitted linear ranker as a model that ``svm_rank_classify`` reads.

    svm_rank keeps weights in float32: its scores agree in about seven digits.

    Parameters
    ----------
    ranker
        The ranker.
    path
        The file to write.
    feature_names
        Not stored: svm_rank knows features by number.

    References
    ----------
    Joachims: Training linear SVMs in linear time. KDD 2006.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.dat"
    >>> write_svm_rank(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> open(path).readline()
    'SVM-light Version V6.20\n'
    """
    form = form_of(ranker, feature_names)
    if not form.all_lines:
        raise DataError(f"{type(ranker).__name__} is not a fitted linear ranker with one score, as svm_rank needs")
    line = form.line("svm_rank")
    weights = line.weights.tolist()
    documents = last_step(ranker).card_.get("data", {}).get("rows", 0)
    values = (0, 3, 1, 1, 1, "empty", len(weights), documents, 2, repr(-line.intercept))
    lines = ["SVM-light Version V6.20"]
    lines += [f"{value}{'' if value == 'empty' else ' '}# {what}" for value, what in zip(values, _HEAD, strict=True)]
    lines[-1] += ", each following line is a SV (starting with alpha*y)"
    # the last weight says how many features there are, even where it is 0
    kept = [f"{j}:{weight!r}" for j, weight in enumerate(weights, 1) if weight or j == len(weights)]
    lines.append(" ".join(["1", *kept, "#"]))
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


def score_svm_rank(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by svm_rank's rule: weights in float32, sums in double, less the threshold."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    threshold = float(lines[10].partition("#")[0])
    total = np.zeros(len(X))
    for word in lines[11].partition("#")[0].split()[1:]:
        feature, _, weight = word.partition(":")
        total += float(np.float32(weight)) * X[:, int(feature) - 1].astype(np.float64)
    return total - threshold


class SVMRankFormat:
    """svm_rank's models."""

    kind: ClassVar[str] = "svm_rank"
    first_line: ClassVar[str] = r"SVM-light Version .*"
    suffix: ClassVar[str] = ".dat"
    proof: ClassVar[str] = "scored by svm_rank's rule (weights in float32)"
    tolerance: ClassVar[float] = 1e-5
    read = staticmethod(read_svm_rank)
    write = staticmethod(write_svm_rank)
    score = staticmethod(score_svm_rank)
