"""Models as Go source code without dependencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._form import form_of
from plackett.export._source import Language, identifier, write_source
from plackett.export._tools import run_tool, score_by_program, tool, workshop

__all__ = ["write_go"]

#: Words of the language, and a package that nobody can import.
_RESERVED = """
break case chan const continue default defer else fallthrough for func go goto if import interface main map
package range return select struct switch type var
"""


def _table(name: str, values: np.ndarray) -> str:
    go_type = values.dtype.name
    infinite = {"inf": f"{go_type}(math.Inf(1))", "-inf": f"{go_type}(math.Inf(-1))"}
    literals = ", ".join(infinite.get(text, text) for text in map(repr, values.tolist()))
    return f"var {_NAMES[name]} = []{go_type}{{{literals}}}\n"


#: Names as Go's readers expect them.
_NAMES = {
    "ROOT": "root", "FEATURE": "feature", "THRESHOLD": "threshold", "MISSING_LEFT": "missingLeft", "LEFT": "left",
    "RIGHT": "right", "LEAF": "leaf", "WEIGHT": "weight", "PLAN": "plan", "FILL": "fills",
}  # fmt: skip

_FOREST = """func forest(x []float32, first, last int) float64 {
	total := 0.0
	for t := first; t < last; t++ {
		n := root[t]
		for n >= 0 {
			v := x[feature[n]]
			if (v != v && missingLeft[n] != 0) || v <= threshold[n] {
				n = left[n]
			} else {
				n = right[n]
			}
		}
		total += leaf[^n]
	}
	return total
}
"""

_LINE = """func line(x []float32, at int) float64 {
	total := 0.0
	for j := 0; j < {n}; j++ {
		total += float64(weight[at+j] * float64(x[j])) // the conversion forbids fused operations
	}
	return total + weight[at+{n}]
}
"""

_NETWORK = """func activate(z float64, kind int32) float64 {
	switch kind {
	case 1:
		return math.Max(z, 0)
	case 2:
		return 0.5 * z * (1 + math.Erf(z/math.Sqrt2))
	case 3:
		return z / (1 + math.Exp(-z))
	case 4:
		return math.Tanh(z)
	case 5:
		return 1 / (1 + math.Exp(-z))
	}
	return z
}

func network(x []float32, at, first, last, log int) float64 {
	in, out := make([]float64, {widest}), make([]float64, {widest})
	for j := 0; j < {n}; j++ {
		v := float64(x[j])
		if log != 0 {
			v = math.Copysign(math.Log1p(math.Abs(v)), v)
		}
		in[j] = (v - weight[at+j]) * weight[at+{n}+j]
	}
	at += 2 * {n}
	for l := first; l < last; l++ {
		nIn, nOut, norm, skip := int(plan[5*l]), int(plan[5*l+1]), plan[5*l+3] != 0, plan[5*l+4] != 0
		bias := at + nIn*nOut
		mean, variance := 0.0, 0.0
		for k := 0; k < nOut; k++ {
			out[k] = weight[bias+k]
			for j := 0; j < nIn; j++ {
				out[k] += weight[at+k*nIn+j] * in[j]
			}
			mean += out[k] / float64(nOut)
		}
		at = bias + nOut
		if norm {
			for k := 0; k < nOut; k++ {
				variance += (out[k] - mean) * (out[k] - mean) / float64(nOut)
			}
			for k := 0; k < nOut; k++ {
				out[k] = (out[k]-mean)/math.Sqrt(variance+1e-5)*weight[at+k] + weight[at+nOut+k]
			}
			at += 2 * nOut
		}
		for k := 0; k < nOut; k++ {
			value := activate(out[k], plan[5*l+2])
			if skip {
				value += in[k]
			}
			in[k] = value
		}
	}
	return in[0]
}
"""

_FILL = """func fill(x []float32) []float32 {
	for j, v := range x {
		if v != v {
			x[j] = fills[j]
		}
	}
	return x
}
"""

_FOOT = """// Score is the score of one document.
func Score(x []float32) float64 {
	total := 0.0
	{sum}
	return total
}

// Scores are the scores of several documents.
func Scores(rows [][]float32) []float64 {
	scores := make([]float64, len(rows))
	for i, x := range rows {
		scores[i] = Score(x)
	}
	return scores
}
"""

#: With normalisation, the documents of a query are scored together.
_LISTS = """func score(x []float32) float64 {
	total := 0.0
	{sum}
	return total
}

func normalise(rows [][]float32) {
	for j := 0; j < {n}; j++ {
		low, high := math.Inf(1), math.Inf(-1)
		total, size, count, spread := 0.0, 0.0, 0.0, 0.0
		for _, row := range rows {
			v := float64(row[j])
			if v != v {
				continue
			}
			low, high = math.Min(low, v), math.Max(high, v)
			total += v
			size += math.Abs(v)
			count++
		}
		mean := total / math.Max(count, 1)
		for _, row := range rows {
			d := float64(row[j]) - mean
			if d == d {
				spread += float64(d * d)
			}
		}
		shift, divisor := 0.0, math.Inf(1)
		switch {
		case {method} == 0 && high > low:
			divisor = high - low
		case {method} == 1 && high > low:
			divisor = math.Sqrt(spread / (count - 1))
		case {method} == 2 && size > 0:
			divisor = size
		}
		if {method} == 0 {
			shift = low
		} else if {method} == 1 {
			shift = mean
		}
		for _, row := range rows {
			row[j] = float32((float64(row[j]) - shift) / divisor)
		}
	}
}

// Scores are the scores of the documents of one query.
func Scores(rows [][]float32) []float64 {
	rest := make([][]float32, len(rows))
	for i, row := range rows {
		rest[i] = append([]float32(nil), row...)
	}
{before}	normalise(rest)
	scores := make([]float64, len(rows))
	for i, x := range rest {
		scores[i] = score(x)
	}
	return scores
}
"""

LANGUAGE = Language(
    "//",
    _table,
    'package {name}\n\nimport "math"\n\nvar _ = math.Inf\n',
    _FOREST,
    _LINE,
    _NETWORK,
    _FOOT,
    _LISTS,
    _FILL,
    "y := fill(append([]float32(nil), x...))",
    "\tfor _, row := range rest {\n\t\tfill(row)\n\t}\n",
)

_DRIVER = """package main

import (
	"encoding/binary"
	"math"
	"os"
	"strconv"

	"proof/{name}"
)

func main() {
	d, _ := strconv.Atoi(os.Args[1])
	bytes, err := os.ReadFile("rows")
	if err != nil {
		panic(err)
	}
	var rows [][]float32
	for i := 0; i < len(bytes); i += 4 * d {
		row := make([]float32, d)
		for j := range row {
			row[j] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[i+4*j:]))
		}
		rows = append(rows, row)
	}
	var out []byte
	for _, score := range {name}.Scores(rows) {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(score))
	}
	if os.WriteFile("scores", out, 0o600) != nil {
		panic("cannot write")
	}
}
"""


def write_go(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as a Go package that needs nothing but ``math``.

    ``model.go`` is the package ``model`` with ``Score(x []float32) float64`` and ``Scores(rows [][]float32)
    []float64``. Trees and blends of trees give the scores of `predict` bit for bit; linear models differ in the last
    digits, networks by less than 1e-5. A pipeline of a `QueryNormalizer` and a ranker has only the second function, for
    the documents of one query.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), a blend of these, or a pipeline of
        selectors of features, an `Imputer`, a `QueryNormalizer` (``minmax``, ``zscore``, ``sum``) and such a ranker.
    path
        The file to write; its name up to the first dot, in small letters and digits, becomes the name of the package.
    feature_names
        Names for the comment that lists the features; None means those of the training data.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.go"
    >>> write_go(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "func Score(x []float32) float64" in open(path).read()
    True
    """
    path = Path(path)
    write_source(form_of(ranker, feature_names, lists=True, fills=True), LANGUAGE, path, _package(path))


def _package(path: Path) -> str:
    allowed = "small letters, digits and _ only, with a letter first and not _test at the end"
    return identifier(path, _RESERVED, pattern=r"[a-z][a-z0-9_]*(?<!_test)", allowed=allowed)


def score_go(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by the compiled package."""
    name = _package(path)
    with workshop() as folder:
        (folder / name).mkdir()
        (folder / name / "model.go").write_bytes(path.read_bytes())
        (folder / "main.go").write_text(_DRIVER.replace("{name}", name))
        (folder / "go.mod").write_text("module proof\n\ngo 1.19\n")
        run_tool([tool("go"), "build", "-o", "proof", "."], folder)
        return score_by_program([folder / "proof", str(X.shape[1])], X, folder)


class GoFormat:
    """Go source code."""

    kind: ClassVar[str] = "go"
    suffix: ClassVar[str] = ".go"
    proof: ClassVar[str] = "compiled by go"
    write = staticmethod(write_go)
    score = staticmethod(score_go)
