"""Models as Vespa rank profiles."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._files.atomic import replacing
from plackett.export._forest import Forest, Tree, above_double
from plackett.export._form import form_of
from plackett.scorers.parts import Layer, Line, NetworkLayers

__all__ = ["write_vespa"]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: A rank feature: a name, perhaps with arguments and an output, such as fieldMatch(title).completeness.
_FEATURE = re.compile(r"[A-Za-z_][\w.]*(\([\w .,()]*\))?(\.\w+)*")
#: Larger networks belong in an ONNX file, which Vespa reads too.
_MOST_WEIGHTS = 20_000


def write_vespa(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    r"""Write a fitted ranker as a Vespa rank profile: a ranking expression, and a function for each feature.

    The file is a ``.profile`` for the folder of the schema (``schemas/doc/model.profile``), with the expression in
    ``second-phase``. A feature whose name is a plain word is a function that reads an attribute of that name; replace
    these lines by your expressions. Other names, such as ``bm25(title)`` or ``fieldMatch(title).proximity``, are used
    as they are: they must be rank features of Vespa.

    Vespa computes in double and compares ``x < t``. Thresholds are written so that values need not be rounded to
    float32, as `predict` does; a missing value (NaN) goes to the side that the model gives it. (Vespa's own import of
    LightGBM's JSON turns ``<=`` into ``<``, and the dump it reads has lost infinite thresholds.) Trees and blends of
    trees give the scores of `predict` exactly; small networks are written as functions, larger ones are better exported
    with `write_onnx`, which Vespa reads too.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks, or a blend of these, also behind an `Imputer` and selectors of
        features in a pipeline.
    path
        The file to write; its name up to the first dot becomes the name of the rank profile.
    feature_names
        Names of the features in Vespa; None means those of the training data, or ``f1``, ``f2``, …

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/ltr.profile"
    >>> ranker = pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> write_vespa(ranker, path, feature_names=["bm25(title)"])
    >>> open(path).readline()
    'rank-profile ltr {\n'
    """
    form = form_of(ranker, feature_names, fills=True)
    path = Path(path)
    name = path.name.split(".")[0]
    if not _WORD.fullmatch(name):
        raise DataError(
            f"{path.name}: the name of the file becomes the name of the rank profile; use letters and digits"
        )
    for word in form.names:
        if not _FEATURE.fullmatch(word):
            raise DataError(
                f"{word!r} is not a rank feature of Vespa, such as bm25(title); give feature_names (--feature-names)"
            )
    functions = [(word, f"attribute({word})") for word in form.names if _WORD.fullmatch(word)]
    whole = list(form.names)
    if form.fills is not None:  # a missing value differs from itself
        whole = [f"filled{j}" for j in range(len(form.names))]
        for new, word, fill in zip(whole, form.names, form.fills.tolist(), strict=True):
            functions.append((new, f"if ({word} == {word}, {word}, {fill!r})"))
    terms = []
    for i, (factor, part) in enumerate(form.parts):
        text = _part(part, form.names if isinstance(part, Forest) else whole, f"layer{i}", functions)
        terms.append(text if factor == 1.0 else f"{factor!r} * ({text})")
    lines = [f"rank-profile {name} {{"]
    for word, text in functions:
        lines += [f"    function {word}() {{", f"        expression: {text}", "    }"]
    lines += [
        "    second-phase {",
        "        expression {",
        f"            {' + '.join(terms)}",
        "        }",
        "    }",
        "}",
        "",
    ]
    with replacing(path) as file:
        file.write("\n".join(lines).encode())


def _part(part: Any, names: Sequence[str], prefix: str, functions: list[tuple[str, str]]) -> str:
    if isinstance(part, Forest):
        return "\n            + ".join(_tree(tree, names) for tree in part) or "0.0"
    if isinstance(part, Line):
        return _sum(part.weights.tolist(), list(names), part.intercept)
    return _network(part, names, prefix, functions)


def _tree(tree: Tree, names: Sequence[str]) -> str:
    above = above_double(tree.threshold).tolist()
    expression_of = {~i: repr(value) for i, value in enumerate(tree.value)}
    for node in reversed(range(len(tree.feature))):
        name, left, right = (
            names[tree.feature[node]],
            expression_of.pop(tree.left[node]),
            expression_of.pop(tree.right[node]),
        )
        if tree.threshold[node] == np.inf:  # everything that is not missing goes left
            expression_of[node] = left if tree.missing_left[node] else f"if ({name} == {name}, {left}, {right})"
        elif tree.missing_left[node]:  # a comparison with NaN is false
            expression_of[node] = f"if (!({name} >= {above[node]!r}), {left}, {right})"
        else:
            expression_of[node] = f"if ({name} < {above[node]!r}, {left}, {right})"
    return expression_of[tree.root]


def _sum(weights: list[float], inputs: list[str], constant: float) -> str:
    terms = [f"{weight!r} * {name}" for weight, name in zip(weights, inputs, strict=True) if weight]
    return " + ".join([*terms, repr(float(constant))]).replace("+ -", "- ")


def _network(part: NetworkLayers, names: Sequence[str], prefix: str, functions: list[tuple[str, str]]) -> str:
    if sum(layer.weights.size for layer in part.layers) > _MOST_WEIGHTS:
        raise DataError(
            f"a network of more than {_MOST_WEIGHTS} weights is too large for a ranking expression; Vespa reads ONNX "
            "files: use write_onnx"
        )
    inputs = []
    for j, name in enumerate(names):
        raw = f"if ({name} < 0.0, -log(1.0 - {name}), log(1.0 + {name}))" if part.log1p else name
        functions.append((f"{prefix}_in{j}", f"({raw} - {float(part.mean[j])!r}) * {float(part.scale[j])!r}"))
        inputs.append(f"{prefix}_in{j}")
    for i, layer in enumerate(part.layers):
        inputs = _layer(layer, inputs, f"{prefix}_{i}", functions)
    return inputs[0]


def _layer(layer: Layer, inputs: list[str], prefix: str, functions: list[tuple[str, str]]) -> list[str]:
    sums = [f"{prefix}_sum{k}" for k in range(layer.bias.size)]
    for k, word in enumerate(sums):
        functions.append((word, _sum(layer.weights[:, k].tolist(), inputs, float(layer.bias[k]))))
    if layer.norm is not None:
        n, mean, deviation = layer.bias.size, f"{prefix}_mean", f"{prefix}_deviation"
        functions.append((mean, f"({' + '.join(sums)}) / {float(n)!r}"))
        squares = " + ".join(f"({word} - {mean}) * ({word} - {mean})" for word in sums)
        functions.append((deviation, f"sqrt(({squares}) / {float(n)!r} + 1e-05)"))
        scaled = []
        for k, word in enumerate(sums):
            scale, shift = (float(numbers[k]) for numbers in layer.norm)
            functions.append((f"{prefix}_norm{k}", f"({word} - {mean}) / {deviation} * {scale!r} + {shift!r}"))
            scaled.append(f"{prefix}_norm{k}")
        sums = scaled
    outputs = []
    for k, word in enumerate(sums):
        text = _ACTIVATIONS[layer.activation].replace("z", word)
        functions.append((f"{prefix}_out{k}", f"{text} + {inputs[k]}" if layer.skip else text))
        outputs.append(f"{prefix}_out{k}")
    return outputs


_ACTIVATIONS = {
    "identity": "z",
    "relu": "relu(z)",
    "gelu": "0.5 * z * (1.0 + erf(z / 1.4142135623730951))",
    "silu": "z * sigmoid(z)",
    "tanh": "tanh(z)",
    "sigmoid": "sigmoid(z)",
}


# ------------------------------------------------------------------------------------------ the rule, for the proof

_BLANK = re.compile(r"\s*")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)|(?P<word>[A-Za-z_][A-Za-z0-9_.]*)|(?P<sign>>=|==|[<!(),+*/-]))"
)


class _Expression:
    """Values of a ranking expression for all rows at once: arithmetic in double, a comparison with NaN is false."""

    def __init__(self, text: str, known: dict[str, np.ndarray], rows: int) -> None:
        self.text, self.known, self.rows, self.at = text, known, rows, 0

    def value(self) -> np.ndarray:
        total = self._sum()
        if self._peek():
            raise DataError(f"unexpected {self._peek()!r} in a ranking expression")
        return total

    def _peek(self) -> str:
        token = _TOKEN.match(self.text, self.at)
        return token[0].strip() if token else ""

    def _next(self) -> str:
        token = _TOKEN.match(self.text, self.at)
        if token is None:
            raise DataError(f"cannot read {self.text[self.at : self.at + 30]!r} in a ranking expression")
        self.at = token.end()
        return token[0].strip()

    def _take(self, sign: str) -> bool:
        if self._peek() != sign:
            return False
        self._next()
        return True

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise DataError(f"expected {sign!r} in a ranking expression, found {self._peek()!r}")

    def _sum(self) -> np.ndarray:
        total = self._product()
        while (sign := self._peek()) in ("+", "-"):
            self._next()
            term = self._product()
            total = total + term if sign == "+" else total - term
        return total

    def _product(self) -> np.ndarray:
        total = self._factor()
        while (sign := self._peek()) in ("*", "/"):
            self._next()
            factor = self._factor()
            total = total * factor if sign == "*" else total / factor
        return total

    def _condition(self) -> np.ndarray:
        if self._take("!"):
            self._expect("(")
            negated = ~self._condition()
            self._expect(")")
            return negated
        left = self._sum()
        sign = self._next()
        right = self._sum()
        return {"<": np.less, ">=": np.greater_equal, "==": np.equal}[sign](left, right)

    def _factor(self) -> np.ndarray:
        for name in self.known:  # rank features may look like anything
            if not _WORD.fullmatch(name) and self.text.startswith(name, self._blank()):
                self.at = self._blank() + len(name)
                return self.known[name]
        word = self._next()
        if word == "-":
            return -self._factor()
        if word == "(":
            total = self._sum()
            self._expect(")")
            return total
        if word == "if":
            return self._if()
        if word in self.known:
            return self.known[word]
        if word in _FUNCTIONS:
            self._expect("(")
            output = _FUNCTIONS[word](self._sum())
            self._expect(")")
            return output
        return np.full(self.rows, float(word))

    def _blank(self) -> int:
        return _BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]

    def _if(self) -> np.ndarray:
        self._expect("(")
        holds = self._condition()
        self._expect(",")
        first = self._sum()
        self._expect(",")
        second = self._sum()
        self._expect(")")
        return np.where(holds, first, second)


def _erf(z: np.ndarray) -> np.ndarray:
    from scipy.special import erf

    return erf(z)


_FUNCTIONS: dict[str, Any] = {
    "sigmoid": lambda z: 1.0 / (1.0 + np.exp(-z)),
    "relu": lambda z: np.maximum(z, 0.0),
    "tanh": np.tanh,
    "log": np.log,
    "sqrt": np.sqrt,
    "erf": _erf,
}
_FUNCTION = re.compile(r"    function (\S+)\(\) \{\n        expression: (.*)\n    \}\n")
_MAIN = re.compile(r"        expression \{\n(.*?)\n        \}", re.DOTALL)


def score_vespa(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by Vespa's rule."""
    text = Path(path).read_text(encoding="utf-8")
    main = _MAIN.search(text)
    if main is None:
        raise DataError(f"{path}: no expression in the rank profile")
    known = {name: X[:, j].astype(np.float64) for j, name in enumerate(names)}
    with np.errstate(all="ignore"):
        for word, expression in _FUNCTION.findall(text):
            if expression != f"attribute({word})":
                known[word] = _Expression(expression, known, len(X)).value()
        total = np.zeros(len(X))
        try:
            total = _Expression(main[1], known, len(X)).value()
        except RecursionError:
            raise DataError("a tree is too deep to be checked; train with fewer leaves or a max_depth") from None
    return total


class VespaFormat:
    """Vespa's ranking expressions."""

    kind: ClassVar[str] = "vespa"
    suffix: ClassVar[str] = ".profile"
    proof: ClassVar[str] = "scored by Vespa's rule (x < t in double)"
    write = staticmethod(write_vespa)
    score = staticmethod(score_vespa)
