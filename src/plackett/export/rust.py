"""Models as Rust source code without dependencies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._form import form_of
from plackett.export._source import Language, identifier, write_source
from plackett.export._tools import run_tool, score_by_program, tool, workshop

__all__ = ["write_rust"]

_TYPES = {"float32": "f32", "float64": "f64", "int32": "i32", "uint8": "u8"}


def _table(name: str, values: np.ndarray) -> str:
    rust_type = _TYPES[values.dtype.name]
    literals = ", ".join(map(repr, values.tolist())).replace("inf", f"{rust_type}::INFINITY")
    return f"static {name}: [{rust_type}; {values.size}] = [{literals}];\n"


_FOREST = """fn forest(x: &[f32], first: usize, last: usize) -> f64 {
    let mut total = 0.0;
    for t in first..last {
        let mut n = ROOT[t];
        while n >= 0 {
            let s = n as usize;
            let v = x[FEATURE[s] as usize];
            let goes_left = if v.is_nan() { MISSING_LEFT[s] != 0 } else { v <= THRESHOLD[s] };
            n = if goes_left { LEFT[s] } else { RIGHT[s] };
        }
        total += LEAF[!n as usize];
    }
    total
}
"""

_LINE = """fn line(x: &[f32], at: usize) -> f64 {
    let mut total = 0.0;
    for j in 0..{n} {
        total += WEIGHT[at + j] * x[j] as f64;
    }
    total + WEIGHT[at + {n}]
}
"""

_NETWORK = """fn erf(z: f64) -> f64 {
    if z.abs() > 6.0 {
        return z.signum();
    }
    let (mut term, mut sum, mut k) = (z, z, 1.0);
    while term.abs() > 1e-17 * sum.abs() {
        term *= 2.0 * z * z / (2.0 * k + 1.0);
        sum += term;
        k += 1.0;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-z * z).exp() * sum
}

fn activate(z: f64, kind: usize) -> f64 {
    match kind {
        1 => z.max(0.0),
        2 => 0.5 * z * (1.0 + erf(z / std::f64::consts::SQRT_2)),
        3 => z / (1.0 + (-z).exp()),
        4 => z.tanh(),
        5 => 1.0 / (1.0 + (-z).exp()),
        _ => z,
    }
}

fn network(x: &[f32], start: usize, first: usize, last: usize, log: usize) -> f64 {
    let mut input = [0.0; {widest}];
    let mut out = [0.0; {widest}];
    for j in 0..{n} {
        let raw = x[j] as f64;
        let v = if log != 0 { raw.abs().ln_1p().copysign(raw) } else { raw };
        input[j] = (v - WEIGHT[start + j]) * WEIGHT[start + {n} + j];
    }
    let mut at = start + 2 * {n};
    for l in first..last {
        let plan: Vec<usize> = PLAN[5 * l..5 * l + 5].iter().map(|&p| p as usize).collect();
        let (n_in, n_out) = (plan[0], plan[1]);
        let bias = at + n_in * n_out;
        let (mut mean, mut variance) = (0.0, 0.0);
        for k in 0..n_out {
            out[k] = WEIGHT[bias + k];
            for j in 0..n_in {
                out[k] += WEIGHT[at + k * n_in + j] * input[j];
            }
            mean += out[k] / n_out as f64;
        }
        at = bias + n_out;
        if plan[3] != 0 {
            for k in 0..n_out {
                variance += (out[k] - mean) * (out[k] - mean) / n_out as f64;
            }
            let deviation = f64::sqrt(variance + 1e-5);
            for k in 0..n_out {
                out[k] = (out[k] - mean) / deviation * WEIGHT[at + k] + WEIGHT[at + n_out + k];
            }
            at += 2 * n_out;
        }
        for k in 0..n_out {
            input[k] = activate(out[k], plan[2]) + if plan[4] != 0 { input[k] } else { 0.0 };
        }
    }
    input[0]
}
"""

_FILL = """fn fill(x: &mut [f32]) {
    for j in 0..{n} {
        if x[j].is_nan() {
            x[j] = FILL[j];
        }
    }
}
"""

_FOOT = """/// The score of one document.
pub fn score(x: &[f32]) -> f64 {
    let mut total = 0.0;
    {sum}
    total
}

/// The scores of documents that follow each other in one slice.
pub fn scores(rows: &[f32]) -> Vec<f64> {
    rows.chunks_exact({n}).map(score).collect()
}
"""

#: With normalisation, the documents of a query are scored together.
_LISTS = """fn score(x: &[f32]) -> f64 {
    let mut total = 0.0;
    {sum}
    total
}

fn normalise(rows: &mut [f32]) {
    for j in 0..{n} {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut total, mut size, mut count, mut spread) = (0.0, 0.0, 0.0, 0.0);
        for row in rows.chunks_exact({n}) {
            let v = row[j] as f64;
            if v.is_nan() {
                continue;
            }
            low = f64::min(low, v);
            high = f64::max(high, v);
            total += v;
            size += v.abs();
            count += 1.0;
        }
        let mean = total / f64::max(count, 1.0);
        for row in rows.chunks_exact({n}) {
            let d = row[j] as f64 - mean;
            if !d.is_nan() {
                spread += d * d;
            }
        }
        let (shift, divisor) = match {method} {
            0 => (low, if high > low { high - low } else { f64::INFINITY }),
            1 => (mean, if high > low { f64::sqrt(spread / (count - 1.0)) } else { f64::INFINITY }),
            _ => (0.0, if size > 0.0 { size } else { f64::INFINITY }),
        };
        for row in rows.chunks_exact_mut({n}) {
            row[j] = ((row[j] as f64 - shift) / divisor) as f32;
        }
    }
}

/// The scores of the documents of one query, which follow each other in one slice.
pub fn scores(rows: &[f32]) -> Vec<f64> {
    let mut copy = rows.to_vec();
{before}    normalise(&mut copy);
    copy.chunks_exact({n}).map(score).collect()
}
"""

LANGUAGE = Language(
    "//",
    _table,
    "",
    _FOREST,
    _LINE,
    _NETWORK,
    _FOOT,
    _LISTS,
    _FILL,
    "let mut row = x.to_vec();\n    fill(&mut row);\n    let y = &row[..];",
    "    for row in copy.chunks_exact_mut({n}) {\n        fill(row);\n    }\n",
)

_DRIVER = """#[path = "{name}.rs"]
mod model;

fn main() -> std::io::Result<()> {
    let rows: Vec<f32> = std::fs::read("rows")?
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let scores: Vec<u8> = model::scores(&rows).iter().flat_map(|s| s.to_le_bytes()).collect();
    std::fs::write("scores", scores)
}
"""


def write_rust(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as a Rust module without dependencies.

    ``model.rs`` has ``pub fn score(x: &[f32]) -> f64`` and ``pub fn scores(rows: &[f32]) -> Vec<f64>``. Trees and
    blends of trees give the scores of `predict` bit for bit; linear models differ in the last digits, networks by less
    than 1e-5. A pipeline of a `QueryNormalizer` and a ranker has only the second function, for the documents of one
    query.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), a blend of these, or a pipeline of
        selectors of features, an `Imputer`, a `QueryNormalizer` (``minmax``, ``zscore``, ``sum``) and such a ranker.
    path
        The file to write.
    feature_names
        Names for the comment that lists the features; None means those of the training data.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.rs"
    >>> write_rust(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "pub fn score(x: &[f32]) -> f64" in open(path).read()
    True
    """
    path = Path(path)
    write_source(form_of(ranker, feature_names, lists=True, fills=True), LANGUAGE, path, identifier(path))


def score_rust(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by the compiled module."""
    name = identifier(path)
    with workshop() as folder:
        (folder / f"{name}.rs").write_bytes(path.read_bytes())
        (folder / "driver.rs").write_text(_DRIVER.replace("{name}", name))
        run_tool([tool("rustc"), "-O", "-A", "dead_code", "-D", "warnings", "-o", "proof", "driver.rs"], folder)
        return score_by_program([folder / "proof"], X, folder)


class RustFormat:
    """Rust source code."""

    kind: ClassVar[str] = "rust"
    suffix: ClassVar[str] = ".rs"
    proof: ClassVar[str] = "compiled by rustc"
    write = staticmethod(write_rust)
    score = staticmethod(score_rust)
