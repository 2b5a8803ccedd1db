"""Models as JavaScript source code without dependencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._form import form_of
from plackett.export._source import Language, identifier, write_source
from plackett.export._tools import score_by_program, tool, workshop

__all__ = ["write_javascript"]

#: Words of the language, and names that the code uses.
_RESERVED = """
arguments await break case catch class const continue debugger default delete do else enum eval export extends
false finally for function if implements import in instanceof interface let new null package private protected
public return static super switch this throw true try typeof var void while with yield undefined NaN Infinity
Array Buffer Float32Array Float64Array Int32Array Math Number Object Uint8Array exports module require
"""

_TYPES = {"float32": "Float32Array", "float64": "Float64Array", "int32": "Int32Array", "uint8": "Uint8Array"}


def _table(name: str, values: np.ndarray) -> str:
    literals = ", ".join(map(repr, values.tolist())).replace("inf", "Infinity")
    return f"  const {name} = new {_TYPES[values.dtype.name]}([{literals}]);\n"


_FOREST = """  function forest(x, first, last) {
    let total = 0;
    for (let t = first; t < last; t++) {
      let n = ROOT[t];
      while (n >= 0) {
        const v = Math.fround(x[FEATURE[n]]);
        n = (v !== v ? MISSING_LEFT[n] !== 0 : v <= THRESHOLD[n]) ? LEFT[n] : RIGHT[n];
      }
      total += LEAF[~n];
    }
    return total;
  }
"""

_LINE = """  function line(x, at) {
    let total = 0;
    for (let j = 0; j < {n}; j++) total += WEIGHT[at + j] * Math.fround(x[j]);
    return total + WEIGHT[at + {n}];
  }
"""

_NETWORK = """  function erf(z) {
    if (Math.abs(z) > 6) return Math.sign(z);
    let term = z, sum = z;
    for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
      term *= 2 * z * z / (2 * k + 1);
      sum += term;
    }
    return 2 / Math.sqrt(Math.PI) * Math.exp(-z * z) * sum;
  }

  const ACTIVATE = [
    (z) => z,
    (z) => Math.max(z, 0),
    (z) => 0.5 * z * (1 + erf(z / Math.SQRT2)),
    (z) => z / (1 + Math.exp(-z)),
    Math.tanh,
    (z) => 1 / (1 + Math.exp(-z)),
  ];

  function network(x, at, first, last, log) {
    const input = new Float64Array({widest}), out = new Float64Array({widest});
    for (let j = 0; j < {n}; j++) {
      const raw = Math.fround(x[j]);
      const v = log ? Math.sign(raw) * Math.log1p(Math.abs(raw)) : raw;
      input[j] = (v - WEIGHT[at + j]) * WEIGHT[at + {n} + j];
    }
    at += 2 * {n};
    for (let l = first; l < last; l++) {
      const [nIn, nOut, kind, norm, skip] = PLAN.subarray(5 * l, 5 * l + 5);
      const bias = at + nIn * nOut;
      let mean = 0, variance = 0;
      for (let k = 0; k < nOut; k++) {
        out[k] = WEIGHT[bias + k];
        for (let j = 0; j < nIn; j++) out[k] += WEIGHT[at + k * nIn + j] * input[j];
        mean += out[k] / nOut;
      }
      if (norm) {
        for (let k = 0; k < nOut; k++) variance += (out[k] - mean) * (out[k] - mean) / nOut;
        for (let k = 0; k < nOut; k++) {
          out[k] = (out[k] - mean) / Math.sqrt(variance + 1e-5) * WEIGHT[bias + nOut + k] + WEIGHT[bias + 2 * nOut + k];
        }
      }
      for (let k = 0; k < nOut; k++) input[k] = ACTIVATE[kind](out[k]) + (skip ? input[k] : 0);
      at = bias + nOut * (norm ? 3 : 1);
    }
    return input[0];
  }
"""

_FILL = """  function fill(x) {
    for (let j = 0; j < {n}; j++) {
      if (x[j] !== x[j]) x[j] = FILL[j];
    }
    return x;
  }
"""

_FOOT = """  /** The score of one document. */
  function score(x) {
    let total = 0;
    {sum}
    return total;
  }

  /** The score of each document. */
  function scores(rows) {
    return Array.from(rows, score);
  }

  return { score, scores };
})();

if (typeof module !== "undefined") module.exports = {name};
"""

#: With normalisation, the documents of a query are scored together.
_LISTS = """  function score(x) {
    let total = 0;
    {sum}
    return total;
  }

  function normalise(rows) {
    for (let j = 0; j < {n}; j++) {
      let low = Infinity, high = -Infinity, total = 0, size = 0, count = 0, spread = 0;
      for (const row of rows) {
        const v = row[j];
        if (v !== v) continue;
        low = Math.min(low, v);
        high = Math.max(high, v);
        total += v;
        size += Math.abs(v);
        count += 1;
      }
      const mean = total / Math.max(count, 1);
      for (const row of rows) {
        const d = row[j] - mean;
        if (d === d) spread += d * d;
      }
      let shift = 0, divisor = Infinity;
      if ({method} === 0) shift = low;
      if ({method} === 1) shift = mean;
      if ({method} === 0 && high > low) divisor = high - low;
      if ({method} === 1 && high > low) divisor = Math.sqrt(spread / (count - 1));
      if ({method} === 2 && size > 0) divisor = size;
      for (const row of rows) row[j] = (row[j] - shift) / divisor;
    }
  }

  /** The score of each document of one query. */
  function scores(rows) {
    const copy = Array.from(rows, (row) => Float32Array.from(row));
{before}    normalise(copy);
    return copy.map(score);
  }

  return { scores };
})();

if (typeof module !== "undefined") module.exports = {name};
"""

LANGUAGE = Language(
    "//",
    _table,
    "const {name} = (() => {",
    _FOREST,
    _LINE,
    _NETWORK,
    _FOOT,
    _LISTS,
    _FILL,
    "const y = fill(Float32Array.from(x));",
    "    copy.forEach((row) => fill(row));\n",
)

_DRIVER = """const fs = require("fs");
const model = require(process.argv[2]);
const d = Number(process.argv[3]);
const bytes = fs.readFileSync("rows");
const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const rows = [];
for (let i = 0; i < values.length; i += d) rows.push(values.subarray(i, i + d));
fs.writeFileSync("scores", Buffer.from(Float64Array.from(model.scores(rows)).buffer));
"""


def write_javascript(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as JavaScript source code without dependencies, for Node and browsers.

    ``model.js`` defines (and in Node exports) an object with the functions ``score(x)`` and ``scores(rows)``. Numbers
    are rounded to float32 first, as `predict` does. Trees and blends of trees then give its scores bit for bit; linear
    models differ in the last digits, networks by less than 1e-5. A pipeline of a `QueryNormalizer` and a ranker has
    only the second function, for the documents of one query.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), a blend of these, or a pipeline of
        selectors of features, an `Imputer`, a `QueryNormalizer` (``minmax``, ``zscore``, ``sum``) and such a ranker.
    path
        The file to write; its name up to the first dot becomes the name of the object.
    feature_names
        Names for the comment that lists the features; None means those of the training data.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.js"
    >>> write_javascript(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "module.exports = model" in open(path).read()
    True
    """
    path = Path(path)
    write_source(form_of(ranker, feature_names, lists=True, fills=True), LANGUAGE, path, identifier(path, _RESERVED))


def score_javascript(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by Node."""
    name = identifier(path, _RESERVED)
    with workshop() as folder:
        (folder / f"{name}.js").write_bytes(path.read_bytes())
        (folder / "driver.cjs").write_text(_DRIVER)
        return score_by_program([tool("node"), "driver.cjs", f"./{name}.js", str(X.shape[1])], X, folder)


class JavaScriptFormat:
    """JavaScript source code."""

    kind: ClassVar[str] = "javascript"
    suffix: ClassVar[str] = ".js"
    proof: ClassVar[str] = "run by Node"
    write = staticmethod(write_javascript)
    score = staticmethod(score_javascript)
