"""Models as C source code without dependencies."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._form import form_of
from plackett.export._source import Language, identifier, write_source
from plackett.export._tools import run_tool, tool, workshop

__all__ = ["write_c"]

_TYPES = {"float32": "float", "float64": "double", "int32": "int", "uint8": "unsigned char"}


def _table(name: str, values: np.ndarray) -> str:
    literals = [_literal(value, values.dtype == np.float32) for value in values.tolist()]
    return f"static const {_TYPES[values.dtype.name]} {name}[] = {{{', '.join(literals)}}};\n"


def _literal(value: float, single: bool) -> str:
    text = repr(value).replace("inf", "INFINITY")
    return f"{text}f" if single and "I" not in text else text


_FOREST = """static double forest(const float *x, int first, int last) {
    double total = 0.0;
    for (int t = first; t < last; t++) {
        int n = ROOT[t];
        while (n >= 0) {
            const float v = x[FEATURE[n]];
            n = (v != v ? MISSING_LEFT[n] : v <= THRESHOLD[n]) ? LEFT[n] : RIGHT[n];
        }
        total += LEAF[~n];
    }
    return total;
}
"""

_LINE = """static double line(const float *x, int at) {
    double total = 0.0;
    for (int j = 0; j < {n}; j++) total += WEIGHT[at + j] * x[j];
    return total + WEIGHT[at + {n}];
}
"""

_NETWORK = """static double activate(double z, int kind) {
    if (kind == 1) return z > 0.0 ? z : 0.0;
    if (kind == 2) return 0.5 * z * (1.0 + erf(z / sqrt(2.0)));
    if (kind == 3) return z / (1.0 + exp(-z));
    if (kind == 4) return tanh(z);
    if (kind == 5) return 1.0 / (1.0 + exp(-z));
    return z;
}

static double network(const float *x, int at, int first, int last, int log) {
    double in[{widest}], out[{widest}];
    for (int j = 0; j < {n}; j++) {
        const double v = log ? copysign(log1p(fabs((double)x[j])), x[j]) : x[j];
        in[j] = (v - WEIGHT[at + j]) * WEIGHT[at + {n} + j];
    }
    at += 2 * {n};
    for (int l = first; l < last; l++) {
        const int n_in = PLAN[5 * l], n_out = PLAN[5 * l + 1], norm = PLAN[5 * l + 3], skip = PLAN[5 * l + 4];
        const int bias = at + n_in * n_out;
        double mean = 0.0, variance = 0.0;
        for (int k = 0; k < n_out; k++) {
            out[k] = WEIGHT[bias + k];
            for (int j = 0; j < n_in; j++) out[k] += WEIGHT[at + k * n_in + j] * in[j];
            mean += out[k] / n_out;
        }
        if (norm) {
            for (int k = 0; k < n_out; k++) variance += (out[k] - mean) * (out[k] - mean) / n_out;
            for (int k = 0; k < n_out; k++) {
                out[k] = (out[k] - mean) / sqrt(variance + 1e-5) * WEIGHT[bias + n_out + k];
                out[k] += WEIGHT[bias + 2 * n_out + k];
            }
        }
        for (int k = 0; k < n_out; k++) in[k] = activate(out[k], PLAN[5 * l + 2]) + (skip ? in[k] : 0.0);
        at = bias + n_out * (norm ? 3 : 1);
    }
    return in[0];
}
"""

_FILL = """static void fill(float *x) {
    for (int j = 0; j < {n}; j++) {
        if (x[j] != x[j]) x[j] = FILL[j];
    }
}
"""

_FOOT = """/* The score of one document. */
double {name}_score(const float *x) {
    double total = 0.0;
    {sum}
    return total;
}

/* The scores of n documents, one after the other. */
void {name}_scores(const float *rows, long n, double *scores) {
    for (long i = 0; i < n; i++) scores[i] = {name}_score(rows + i * {n});
}
"""

#: With normalisation, the documents of a query are scored together.
_LISTS = """static double score(const float *x) {
    double total = 0.0;
    {sum}
    return total;
}

static void normalise(float *rows, long n) {
    for (int j = 0; j < {n}; j++) {
        double low = INFINITY, high = -INFINITY, total = 0.0, size = 0.0, count = 0.0, spread = 0.0;
        for (long i = 0; i < n; i++) {
            const double v = rows[i * {n} + j];
            if (v != v) continue;
            if (v < low) low = v;
            if (v > high) high = v;
            total += v;
            size += fabs(v);
            count += 1.0;
        }
        const double mean = total / (count > 1.0 ? count : 1.0);
        for (long i = 0; i < n; i++) {
            const double d = rows[i * {n} + j] - mean;
            if (d == d) spread += d * d;
        }
        double shift = 0.0, divisor = INFINITY;
        if ({method} == 0) shift = low;
        if ({method} == 1) shift = mean;
        if ({method} == 0 && high > low) divisor = high - low;
        if ({method} == 1 && high > low) divisor = sqrt(spread / (count - 1.0));
        if ({method} == 2 && size > 0.0) divisor = size;
        for (long i = 0; i < n; i++) rows[i * {n} + j] = (float)((rows[i * {n} + j] - shift) / divisor);
    }
}

/* The scores of the n documents of one query, one after the other; returns 0 unless memory is short. */
int {name}_scores(const float *rows, long n, double *scores) {
    const size_t bytes = (size_t)n * {n} * sizeof(float);
    float *copy = malloc(bytes > 0 ? bytes : 1);
    if (copy == NULL) return 1;
    memcpy(copy, rows, bytes);
{before}    normalise(copy, n);
    for (long i = 0; i < n; i++) scores[i] = score(copy + i * {n});
    free(copy);
    return 0;
}
"""

LANGUAGE = Language(
    "//",
    _table,
    "#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n",
    _FOREST,
    _LINE,
    _NETWORK,
    _FOOT,
    _LISTS,
    _FILL,
    "float y[{n}];\n    memcpy(y, x, sizeof y);\n    fill(y);",
    "    for (long i = 0; i < n; i++) fill(copy + i * {n});\n",
)


def write_c(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    r"""Write a fitted ranker as C99 source code without dependencies.

    ``model.c`` has the functions ``double model_score(const float *x)`` and ``void model_scores(const float *rows, long
    n, double *scores)``, with the name of the file. Trees and blends of trees give the scores of `predict` bit for bit;
    linear models differ in the last digits (the order of summation), networks by less than 1e-5 (ours compute in
    float32). Compile without ``-ffast-math``, which ignores NaN. A pipeline of a `QueryNormalizer` and a ranker has
    only the second function, for the documents of one query.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), a blend of these, or a pipeline of
        selectors of features, an `Imputer`, a `QueryNormalizer` (``minmax``, ``zscore``, ``sum``) and such a ranker.
    path
        The file to write; its name up to the first dot becomes the name of the functions.
    feature_names
        Names for the comment that lists the features; None means those of the training data.

    References
    ----------
    Capannini, Lucchese, Nardini, Orlando, Perego, Tonellotto: Quality versus efficiency in document scoring with
    learning-to-rank models. Information Processing & Management 2016.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.c"
    >>> write_c(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "double model_score(const float *x)" in open(path).read()
    True
    """
    path = Path(path)
    write_source(form_of(ranker, feature_names, lists=True, fills=True), LANGUAGE, path, identifier(path))


def score_c(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by the compiled file."""
    name = identifier(path)
    with workshop() as folder:
        command: list[str | Path] = [
            tool("gcc"),
            "-std=c99",
            "-O1",
            "-Wall",
            "-Werror",
            "-shared",
            "-fPIC",
            "-x",
            "c",
            path.resolve(),
        ]
        run_tool([*command, "-o", "model.so", "-lm"], folder)
        function = getattr(ctypes.CDLL(str(folder / "model.so")), f"{name}_scores")
        rows, scores = np.ascontiguousarray(X, np.float32), np.empty(len(X))
        function.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p]
        function.restype = None
        function(rows.ctypes.data, len(rows), scores.ctypes.data)
    return scores


class CFormat:
    """C source code."""

    kind: ClassVar[str] = "c"
    suffix: ClassVar[str] = ".c"
    proof: ClassVar[str] = "compiled by gcc"
    write = staticmethod(write_c)
    score = staticmethod(score_c)
