"""Models as PMML 4.4."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar
from xml.sax.saxutils import quoteattr

import numpy as np

from plackett._base.errors import DataError
from plackett._base.version import __version__
from plackett._files.atomic import replacing
from plackett.export._forest import Forest, Tree, largest_double
from plackett.export._form import SumOfParts, form_of
from plackett.export.tools import MissingToolError
from plackett.scorers.parts import Line, NetworkLayers

__all__ = ["write_pmml"]

#: What the model predicts; JPMML wants it to be named for networks.
_TARGET = "relevance"
_ACTIVATIONS = {"identity": "identity", "relu": "rectifier", "tanh": "tanh", "sigmoid": "logistic"}


def write_pmml(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as PMML 4.4, for JPMML and other engines that score such files.

    Trees are a ``MiningModel`` that adds up a ``TreeModel`` per tree, linear models a ``RegressionModel``, networks of
    sigmoid layers a ``NeuralNetwork``; a blend adds up its members. Everything is in double, and thresholds are written
    so that values need not be rounded to float32, as `predict` does. A missing value goes to the side that the model
    gives it. JPMML gives the scores of tree rankers exactly.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks of sigmoid layers, or a blend of these, also behind an `Imputer`
        and selectors of features in a pipeline.
    path
        The file to write.
    feature_names
        Names of the fields; None means those of the training data, or ``f1``, ``f2``, …

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.pmml"
    >>> write_pmml(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> "<RegressionModel" in open(path).read()
    True
    """
    form = form_of(ranker, feature_names, fills=True)
    taken = {"score", _TARGET} & {*form.names}
    if taken:
        raise DataError(f"{taken.pop()!r} is the name of an output field; give other feature_names")
    with replacing(path) as file:
        file.writelines(f"{line}\n".encode() for line in _document(form))


def _document(form: SumOfParts) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">'
    yield f'<Header><Application name="plackett" version="{__version__}"/></Header>'
    yield "<DataDictionary>"
    for name in form.names:
        yield f'<DataField name={quoteattr(name)} optype="continuous" dataType="double"/>'
    yield f'<DataField name="{_TARGET}" optype="continuous" dataType="double"/>'
    yield "</DataDictionary>"
    models = [model for factor, part in form.parts for model in _models(part, factor)]
    if len(models) == 1:
        yield from _model(form, models[0], _output())
    else:
        yield '<MiningModel functionName="regression">'
        yield from _schema(form, _output())
        yield '<Segmentation multipleModelMethod="sum">'
        for model in models:
            yield "<Segment><True/>"
            yield from _model(form, model, ())
            yield "</Segment>"
        yield "</Segmentation></MiningModel>"
    yield "</PMML>"


def _output() -> tuple[str, ...]:
    return (
        '<Output><OutputField name="score" optype="continuous" dataType="double" feature="predictedValue"/></Output>',
    )


def _schema(form: SumOfParts, output: tuple[str, ...], *, filled: bool = False) -> Iterator[str]:
    fills = form.fills.tolist() if filled and form.fills is not None else [None] * len(form.names)
    yield "<MiningSchema>"
    for name, fill in zip(form.names, fills, strict=True):
        replaced = "" if fill is None else f' missingValueReplacement="{fill!r}"'
        yield f"<MiningField name={quoteattr(name)}{replaced}/>"
    yield f'<MiningField name="{_TARGET}" usageType="target"/>'
    yield "</MiningSchema>"
    yield from output


def _models(part: Any, factor: float) -> Iterator[Any]:
    if isinstance(part, Forest):
        yield from part.scaled(factor)
    elif isinstance(part, Line):
        yield Line(part.weights * factor, part.intercept * factor)
    else:
        yield part, factor


def _model(form: SumOfParts, model: Any, output: tuple[str, ...]) -> Iterator[str]:
    if isinstance(model, Tree):
        strategy = 'missingValueStrategy="defaultChild" splitCharacteristic="binarySplit"'
        yield f'<TreeModel functionName="regression" {strategy}>'
        yield from _schema(form, output)
        yield from _nodes(model, form.names)
        yield "</TreeModel>"
    elif isinstance(model, Line):
        yield '<RegressionModel functionName="regression">'
        yield from _schema(form, output, filled=True)
        yield f'<RegressionTable intercept="{model.intercept!r}">'
        for name, weight in zip(form.names, model.weights.tolist(), strict=True):
            yield f'<NumericPredictor name={quoteattr(name)} coefficient="{weight!r}"/>'
        yield "</RegressionTable></RegressionModel>"
    else:
        network, factor = model
        yield from _network(form, network, factor, output)


def _nodes(tree: Tree, names: Sequence[str]) -> Iterator[str]:
    number, thresholds = tree.numbers(), largest_double(tree.threshold).tolist()
    stack: list[Any] = [(tree.root, "<True/>")]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        node, test = item
        if node < 0:
            yield f'<Node id="{number[node]}" score="{tree.value[~node]!r}">{test}</Node>'
            continue
        default = tree.left[node] if tree.missing_left[node] else tree.right[node]
        yield f'<Node id="{number[node]}" defaultChild="{number[default]}">{test}'
        predicate = f"<SimplePredicate field={quoteattr(names[tree.feature[node]])} operator="
        if thresholds[node] < np.inf:
            left, right = (
                f'{predicate}"{word}" value="{thresholds[node]!r}"/>' for word in ("lessOrEqual", "greaterThan")
            )
        elif tree.missing_left[node]:
            left, right = "<True/>", "<False/>"
        else:  # not every engine can read INF
            left, right = f'{predicate}"isNotMissing"/>', f'{predicate}"isMissing"/>'
        stack += ["</Node>", (tree.right[node], right), (tree.left[node], left)]


def _network(form: SumOfParts, network: NetworkLayers, factor: float, output: tuple[str, ...]) -> Iterator[str]:
    if network.log1p:
        raise DataError("networks on logarithms of features cannot be written as PMML: train with log1p=False")
    layers = network.folded()
    if any(layer.norm is not None or layer.skip or layer.activation not in _ACTIVATIONS for layer in layers):
        raise DataError("PMML's networks have no normalised or skipping layers: train with architecture='sigmoid'")
    yield '<NeuralNetwork functionName="regression" activationFunction="identity">'
    yield from _schema(form, output, filled=True)
    yield f'<NeuralInputs numberOfInputs="{len(form.names)}">'
    for j, name in enumerate(form.names):
        yield (
            f'<NeuralInput id="0,{j}"><DerivedField optype="continuous" dataType="double">'
            f"<FieldRef field={quoteattr(name)}/></DerivedField></NeuralInput>"
        )
    yield "</NeuralInputs>"
    for i, layer in enumerate(layers, 1):
        yield f'<NeuralLayer activationFunction="{_ACTIVATIONS[layer.activation]}">'
        for k, bias in enumerate(layer.bias.tolist()):
            yield f'<Neuron id="{i},{k}" bias="{bias!r}">'
            for j, weight in enumerate(layer.weights[:, k].tolist()):
                yield f'<Con from="{i - 1},{j}" weight="{weight!r}"/>'
            yield "</Neuron>"
        yield "</NeuralLayer>"
    last = len(layers) + 1
    yield (
        f'<NeuralLayer activationFunction="identity"><Neuron id="{last},0" bias="0.0">'
        f'<Con from="{last - 1},0" weight="{factor!r}"/></Neuron></NeuralLayer>'
    )
    yield (
        f'<NeuralOutputs numberOfOutputs="1"><NeuralOutput outputNeuron="{last},0"><DerivedField optype="continuous" '
        f'dataType="double"><FieldRef field="{_TARGET}"/></DerivedField></NeuralOutput></NeuralOutputs>'
    )
    yield "</NeuralNetwork>"


def score_pmml(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by JPMML, which brings its Java code along."""
    try:
        import jpmml_evaluator
    except ImportError:
        raise MissingToolError("jpmml_evaluator is not installed") from None
    evaluator = jpmml_evaluator.make_evaluator(str(path)).verify()
    rows = (
        {name: None if np.isnan(value) else float(value) for name, value in zip(names, row, strict=True)} for row in X
    )
    return np.array([evaluator.evaluate(row)["score"] for row in rows], np.float64)


class PMMLFormat:
    """PMML 4.4."""

    kind: ClassVar[str] = "pmml"
    suffix: ClassVar[str] = ".pmml"
    proof: ClassVar[str] = "scored by JPMML"
    write = staticmethod(write_pmml)
    score = staticmethod(score_pmml)
