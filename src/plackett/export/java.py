"""Models as Java source code without dependencies."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export._form import form_of
from plackett.export._source import Language, identifier, write_source
from plackett.export._tools import run_tool, score_by_program, tool, workshop

__all__ = ["write_java"]

#: Words of the language, and classes that the code uses.
_RESERVED = """
_ abstract assert boolean break byte case catch char class const continue default do double else enum extends
false final finally float for goto if implements import instanceof int interface long native new null package
private protected public record return sealed permits short static strictfp super switch synchronized this
throw throws transient true try var void volatile while yield Base64 Boolean Byte ByteBuffer ByteOrder
Character Double Float Integer Long Math Object Short String System
"""

#: Characters of one string constant; javac takes 65,535 bytes.
_CHUNK = 60_000
_READERS = {
    "float32": ("float", "Float"),
    "float64": ("double", "Double"),
    "int32": ("int", "Int"),
    "uint8": ("byte", ""),
}


def _table(name: str, values: np.ndarray) -> str:
    """Tables are bytes in base 64: a method of Java's, and so a list of numbers, has at most 64 KiB."""
    word, buffer = _READERS[values.dtype.name]
    text = base64.b64encode(values.astype(values.dtype.newbyteorder("<")).tobytes()).decode()
    strings = ", ".join(f'"{text[i : i + _CHUNK]}"' for i in range(0, len(text), _CHUNK))
    read = f"bytes({strings})"
    if not buffer:
        return f"    private static final byte[] {name} = {read}.array();\n"
    return f"    private static final {word}[] {name} = {word}s({read});\n"


_HEAD = """import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;

public final class {name} {
    private {name}() {}

    private static ByteBuffer bytes(String... parts) {
        return ByteBuffer.wrap(Base64.getDecoder().decode(String.join("", parts))).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static int[] ints(ByteBuffer from) {
        int[] to = new int[from.remaining() / 4];
        from.asIntBuffer().get(to);
        return to;
    }

    private static float[] floats(ByteBuffer from) {
        float[] to = new float[from.remaining() / 4];
        from.asFloatBuffer().get(to);
        return to;
    }

    private static double[] doubles(ByteBuffer from) {
        double[] to = new double[from.remaining() / 8];
        from.asDoubleBuffer().get(to);
        return to;
    }
"""

_FOREST = """    private static double forest(float[] x, int first, int last) {
        double total = 0.0;
        for (int t = first; t < last; t++) {
            int n = ROOT[t];
            while (n >= 0) {
                final float v = x[FEATURE[n]];
                n = (Float.isNaN(v) ? MISSING_LEFT[n] != 0 : v <= THRESHOLD[n]) ? LEFT[n] : RIGHT[n];
            }
            total += LEAF[~n];
        }
        return total;
    }
"""

_LINE = """    private static double line(float[] x, int at) {
        double total = 0.0;
        for (int j = 0; j < {n}; j++) total += WEIGHT[at + j] * x[j];
        return total + WEIGHT[at + {n}];
    }
"""

_NETWORK = """    private static double erf(double z) {
        if (Math.abs(z) > 6.0) return Math.signum(z);
        double term = z, sum = z;
        for (int k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
            term *= 2.0 * z * z / (2 * k + 1);
            sum += term;
        }
        return 2.0 / Math.sqrt(Math.PI) * Math.exp(-z * z) * sum;
    }

    private static double activate(double z, int kind) {
        if (kind == 1) return z > 0.0 ? z : 0.0;
        if (kind == 2) return 0.5 * z * (1.0 + erf(z / Math.sqrt(2.0)));
        if (kind == 3) return z / (1.0 + Math.exp(-z));
        if (kind == 4) return Math.tanh(z);
        if (kind == 5) return 1.0 / (1.0 + Math.exp(-z));
        return z;
    }

    private static double network(float[] x, int at, int first, int last, int log) {
        double[] in = new double[{widest}], out = new double[{widest}];
        for (int j = 0; j < {n}; j++) {
            final double v = log != 0 ? Math.copySign(Math.log1p(Math.abs((double) x[j])), x[j]) : x[j];
            in[j] = (v - WEIGHT[at + j]) * WEIGHT[at + {n} + j];
        }
        at += 2 * {n};
        for (int l = first; l < last; l++) {
            final int nIn = PLAN[5 * l], nOut = PLAN[5 * l + 1], norm = PLAN[5 * l + 3], skip = PLAN[5 * l + 4];
            final int bias = at + nIn * nOut;
            double mean = 0.0, variance = 0.0;
            for (int k = 0; k < nOut; k++) {
                out[k] = WEIGHT[bias + k];
                for (int j = 0; j < nIn; j++) out[k] += WEIGHT[at + k * nIn + j] * in[j];
                mean += out[k] / nOut;
            }
            if (norm != 0) {
                for (int k = 0; k < nOut; k++) variance += (out[k] - mean) * (out[k] - mean) / nOut;
                for (int k = 0; k < nOut; k++) {
                    out[k] = (out[k] - mean) / Math.sqrt(variance + 1e-5) * WEIGHT[bias + nOut + k]
                            + WEIGHT[bias + 2 * nOut + k];
                }
            }
            for (int k = 0; k < nOut; k++) in[k] = activate(out[k], PLAN[5 * l + 2]) + (skip != 0 ? in[k] : 0.0);
            at = bias + nOut * (norm != 0 ? 3 : 1);
        }
        return in[0];
    }
"""

_FILL = """    private static float[] fill(float[] x) {
        for (int j = 0; j < {n}; j++) {
            if (Float.isNaN(x[j])) x[j] = FILL[j];
        }
        return x;
    }
"""

_FOOT = """    /** The score of one document. */
    public static double score(float[] x) {
        double total = 0.0;
        {sum}
        return total;
    }

    /** The score of each document. */
    public static double[] scores(float[][] rows) {
        double[] scores = new double[rows.length];
        for (int i = 0; i < rows.length; i++) scores[i] = score(rows[i]);
        return scores;
    }
}
"""

#: With normalisation, the documents of a query are scored together.
_LISTS = """    private static double score(float[] x) {
        double total = 0.0;
        {sum}
        return total;
    }

    private static void normalise(float[][] rows) {
        for (int j = 0; j < {n}; j++) {
            double low = Double.POSITIVE_INFINITY, high = Double.NEGATIVE_INFINITY;
            double total = 0.0, size = 0.0, count = 0.0, spread = 0.0;
            for (float[] row : rows) {
                final double v = row[j];
                if (Double.isNaN(v)) continue;
                low = Math.min(low, v);
                high = Math.max(high, v);
                total += v;
                size += Math.abs(v);
                count += 1.0;
            }
            final double mean = total / Math.max(count, 1.0);
            for (float[] row : rows) {
                final double d = row[j] - mean;
                if (!Double.isNaN(d)) spread += d * d;
            }
            double shift = 0.0, divisor = Double.POSITIVE_INFINITY;
            if ({method} == 0) shift = low;
            if ({method} == 1) shift = mean;
            if ({method} == 0 && high > low) divisor = high - low;
            if ({method} == 1 && high > low) divisor = Math.sqrt(spread / (count - 1.0));
            if ({method} == 2 && size > 0.0) divisor = size;
            for (float[] row : rows) row[j] = (float) ((row[j] - shift) / divisor);
        }
    }

    /** The score of each document of one query. */
    public static double[] scores(float[][] rows) {
        float[][] copy = new float[rows.length][];
        for (int i = 0; i < rows.length; i++) copy[i] = rows[i].clone();
{before}        normalise(copy);
        double[] scores = new double[rows.length];
        for (int i = 0; i < rows.length; i++) scores[i] = score(copy[i]);
        return scores;
    }
}
"""

LANGUAGE = Language(
    "//",
    _table,
    _HEAD,
    _FOREST,
    _LINE,
    _NETWORK,
    _FOOT,
    _LISTS,
    _FILL,
    "final float[] y = fill(x.clone());",
    "        for (float[] row : copy) fill(row);\n",
)

_DRIVER = """import java.io.*;
import java.nio.*;
import java.nio.file.*;

public final class Driver {
    public static void main(String[] arguments) throws IOException {
        int n = Integer.parseInt(arguments[0]), d = Integer.parseInt(arguments[1]);
        byte[] bytes = Files.readAllBytes(Path.of("rows"));
        FloatBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        float[][] rows = new float[n][d];
        for (float[] row : rows) in.get(row);
        ByteBuffer out = ByteBuffer.allocate(8 * n).order(ByteOrder.LITTLE_ENDIAN);
        for (double score : {name}.scores(rows)) out.putDouble(score);
        Files.write(Path.of("scores"), out.array());
    }
}
"""


def write_java(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as one Java class without dependencies (Java 8 and later).

    ``Model.java`` has ``public static double score(float[] x)`` and ``double[] scores(float[][] rows)`` in the class of
    that name. Trees and blends of trees give the scores of `predict` bit for bit; linear models differ in the last
    digits, networks by less than 1e-5. Tables are stored in base 64, so that large models compile too. A pipeline of a
    `QueryNormalizer` and a ranker has only the second function, for the documents of one query.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), a blend of these, or a pipeline of
        selectors of features, an `Imputer`, a `QueryNormalizer` (``minmax``, ``zscore``, ``sum``) and such a ranker.
    path
        The file to write; its name becomes the name of the class.
    feature_names
        Names for the comment that lists the features; None means those of the training data.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/Model.java"
    >>> write_java(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "public static double score(float[] x)" in open(path).read()
    True
    """
    path = Path(path)
    write_source(form_of(ranker, feature_names, lists=True, fills=True), LANGUAGE, path, identifier(path, _RESERVED))


def score_java(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by the compiled class."""
    name = identifier(path, _RESERVED)
    with workshop() as folder:
        (folder / f"{name}.java").write_bytes(path.read_bytes())
        (folder / "Driver.java").write_text(_DRIVER.replace("{name}", name))
        run_tool([tool("javac"), "-encoding", "UTF-8", f"{name}.java", "Driver.java"], folder)
        return score_by_program([tool("java"), "-cp", ".", "Driver", str(len(X)), str(X.shape[1])], X, folder)


class JavaFormat:
    """Java source code."""

    kind: ClassVar[str] = "java"
    suffix: ClassVar[str] = ".java"
    proof: ClassVar[str] = "compiled by javac"
    write = staticmethod(write_java)
    score = staticmethod(score_java)
