"""Models as ONNX files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett._base.cached import cached_property
from plackett._files.atomic import replacing
from plackett._names.optional import optional
from plackett.export._forest import Forest
from plackett.export._form import SumOfParts, form_of
from plackett.export.tools import MissingToolError
from plackett.scorers.parts import Layer, Line, NetworkLayers

__all__ = ["write_onnx"]


def write_onnx(ranker: Any, path: str | os.PathLike[str], *, feature_names: Sequence[str] | None = None) -> None:
    """Write a fitted ranker as an ONNX file, for onnxruntime, Vespa, Triton and others (needs ``plackett[export]``).

    The input ``features`` is a table of float32, a row for each document and NaN for a missing value; the output
    ``scores`` has one column. Trees become a ``TreeEnsembleRegressor``, linear models and networks the usual operators
    (opset 17). ONNX adds leaf values in float32: scores agree to about seven digits, and no row takes another branch.

    Parameters
    ----------
    ranker
        A ranker of trees, linear functions or networks (``mlp``, ``sigmoid``), or a blend of these, also behind an
        `Imputer` and selectors of features in a pipeline.
    path
        The file to write.
    feature_names
        Names of the features, kept in the file as metadata (one per line); None means those of the training data.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> path = tempfile.mkdtemp() + "/model.onnx"
    >>> write_onnx(pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1]), path)
    >>> import onnx
    >>> onnx.load(path).graph.output[0].name
    'scores'
    """
    form = form_of(ranker, feature_names, fills=True)
    with replacing(path) as file:
        file.write(_Graph(form).model().SerializeToString())


class _Graph:
    """Collects the nodes and constants of a graph."""

    def __init__(self, form: SumOfParts) -> None:
        self.onnx = optional("onnx", "ONNX files need")
        self.form = form
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def model(self) -> Any:
        helper, single = self.onnx.helper, self.onnx.TensorProto.FLOAT
        terms = []
        for factor, part in self.form.parts:
            output = _PARTS[type(part)](self, part)
            terms.append(output if factor == 1.0 else self.op("Mul", output, self.constant(np.array([factor]))))
        total = terms[0]
        for term in terms[1:]:
            total = self.op("Add", total, term)
        self.nodes.append(helper.make_node("Identity", [total], ["scores"]))
        rows = helper.make_tensor_value_info("features", single, ["documents", len(self.form.names)])
        scores = helper.make_tensor_value_info("scores", single, ["documents", 1])
        graph = helper.make_graph(self.nodes, "plackett", [rows], [scores], self.constants)
        sets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
        model = helper.make_model(graph, producer_name="plackett", opset_imports=sets, ir_version=8)
        names = {"algorithm": self.form.algorithm, "feature_names": "\n".join(self.form.names)}
        helper.set_model_props(model, names)
        self.onnx.checker.check_model(model)
        return model

    @cached_property
    def rows(self) -> str:
        """The name of the features without missing values, for parts that are not trees."""
        if self.form.fills is None:
            return "features"
        return self.op("Where", self.op("IsNaN", "features"), self.constant(self.form.fills), "features")

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; returns the name of its output."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, values: np.ndarray) -> str:
        """Add a constant; returns its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(values, np.float32), name))
        return name


def _forest(graph: _Graph, forest: Forest) -> str:
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_values", "nodes_truenodeids",
            "nodes_falsenodeids", "nodes_missing_value_tracks_true", "target_treeids", "target_nodeids", "target_ids",
            "target_weights",
        )
    }  # fmt: skip
    for t, tree in enumerate(forest):
        number = tree.numbers()
        for node, index in number.items():
            leaf = node < 0
            entry = {
                "nodes_treeids": t,
                "nodes_nodeids": index,
                "nodes_featureids": 0 if leaf else tree.feature[node],
                "nodes_modes": "LEAF" if leaf else "BRANCH_LEQ",
                "nodes_values": 0.0 if leaf else float(tree.threshold[node]),
                "nodes_truenodeids": 0 if leaf else number[tree.left[node]],
                "nodes_falsenodeids": 0 if leaf else number[tree.right[node]],
                "nodes_missing_value_tracks_true": 0 if leaf else int(tree.missing_left[node]),
            }
            if leaf:
                entry |= {"target_treeids": t, "target_nodeids": index, "target_ids": 0}
                entry |= {"target_weights": tree.value[~node]}
            for name, value in entry.items():
                columns[name].append(value)
    attributes = columns | {"n_targets": 1, "aggregate_function": "SUM", "post_transform": "NONE"}
    return graph.op("TreeEnsembleRegressor", "features", domain="ai.onnx.ml", **attributes)


def _line(graph: _Graph, line: Line) -> str:
    weights, constant = graph.constant(line.weights[:, None]), graph.constant(np.array([line.intercept]))
    return graph.op("Gemm", graph.rows, weights, constant)


def _network(graph: _Graph, network: NetworkLayers) -> str:
    rows = graph.rows
    if network.log1p:
        logs = graph.op("Log", graph.op("Add", graph.op("Abs", rows), graph.constant(np.ones(1))))
        rows = graph.op("Mul", graph.op("Sign", rows), logs)
    rows = graph.op("Mul", graph.op("Sub", rows, graph.constant(network.mean)), graph.constant(network.scale))
    for layer in network.layers:
        rows = _layer(graph, rows, layer)
    return rows


def _layer(graph: _Graph, rows: str, layer: Layer) -> str:
    output = graph.op("Gemm", rows, graph.constant(layer.weights), graph.constant(layer.bias))
    if layer.norm is not None:
        output = graph.op("LayerNormalization", output, *map(graph.constant, layer.norm), epsilon=1e-5)
    output = _ACTIVATIONS[layer.activation](graph, output)
    return graph.op("Add", rows, output) if layer.skip else output


def _gelu(graph: _Graph, z: str) -> str:
    half = graph.op("Mul", z, graph.constant(np.array([0.5])))
    inner = graph.op("Erf", graph.op("Mul", z, graph.constant(np.array([0.5**0.5]))))
    return graph.op("Mul", half, graph.op("Add", inner, graph.constant(np.ones(1))))


_ACTIVATIONS: dict[str, Any] = {
    "identity": lambda graph, z: z,
    "relu": lambda graph, z: graph.op("Relu", z),
    "gelu": _gelu,
    "silu": lambda graph, z: graph.op("Mul", z, graph.op("Sigmoid", z)),
    "tanh": lambda graph, z: graph.op("Tanh", z),
    "sigmoid": lambda graph, z: graph.op("Sigmoid", z),
}
_PARTS: dict[type, Any] = {Forest: _forest, Line: _line, NetworkLayers: _network}


def score_onnx(path: Path, X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Scores by onnxruntime."""
    try:
        import onnxruntime
    except ImportError:
        raise MissingToolError("onnxruntime is not installed") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(["scores"], {"features": X})[0][:, 0]


class ONNXFormat:
    """ONNX."""

    kind: ClassVar[str] = "onnx"
    suffix: ClassVar[str] = ".onnx"
    proof: ClassVar[str] = "scored by onnxruntime"
    tolerance: ClassVar[float] = 1e-5
    write = staticmethod(write_onnx)
    score = staticmethod(score_onnx)
