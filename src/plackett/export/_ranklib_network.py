"""RankLib's networks: one line per neuron with the weights of the links that leave it."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.export._lines import ModelText
from plackett.scorers.sigmoid_layers import SigmoidLayersScorer

_MOST_LAYERS, _MOST_NEURONS = 100, 1_000_000
#: Weights of the first layer, a gigabyte of them.
_MOST_WEIGHTS = 1 << 27


def read_network(model: ModelText, n_features: int | None) -> tuple[SigmoidLayersScorer, int]:
    """The network of a file, and its number of features.

    The lines are: the feature numbers; the number of hidden layers; the size of each; and for each neuron its layer,
    its number and the weights of its links to the next layer. After the inputs there is one more neuron, the bias,
    which is linked to all neurons of all layers, those of the first layer first. Every neuron is logistic.
    """
    lines = [(number, line.split()) for number, line in model.lines() if not line.startswith("##")]
    if len(lines) < 2:
        raise DataError(f"{model.path}: the file ends before the network")
    number, fields = lines[0]
    features = np.array([model.whole(field, number, "a feature number", 1) - 1 for field in fields])
    number, fields = lines[1]
    hidden = model.whole(fields[0], number, "the number of hidden layers", 0, _MOST_LAYERS)
    if len(lines) < 2 + hidden:
        model.fail(lines[-1][0], f"the sizes of {hidden} hidden layers should follow")
    sizes = [model.whole(w[0], n, "the size of a layer", 1, _MOST_NEURONS) for n, w in lines[2 : 2 + hidden]]
    widths = [features.size, *sizes, 1]
    weights_of = {}
    for number, fields in lines[2 + hidden :]:
        if len(fields) < 2:
            model.fail(number, "expected a layer, a neuron and its weights")
        layer, neuron = (model.whole(field, number, "a number of a layer or neuron") for field in fields[:2])
        if layer > hidden or neuron >= widths[layer] + (layer == 0):
            model.fail(number, f"the network has no neuron {neuron} in layer {layer}")
        bias = layer == 0 and neuron == features.size
        links = sum(widths[1:]) if bias else widths[layer + 1]
        if len(fields) - 2 != links:
            model.fail(number, f"neuron {neuron} of layer {layer} has {len(fields) - 2} weights instead of {links}")
        if (layer, neuron) in weights_of:
            model.fail(number, f"neuron {neuron} of layer {layer} occurs twice")
        weights_of[layer, neuron] = [model.real(field, number, "a weight") for field in fields[2:]]
    missing = [
        (i, k) for i, width in enumerate(widths[:-1]) for k in range(width + (i == 0)) if (i, k) not in weights_of
    ]
    if missing:
        raise DataError(f"{model.path}: no weights of neuron {missing[0][1]} of layer {missing[0][0]}")
    size = int(features.max()) + 1 if n_features is None else n_features
    if size <= features.max():
        raise DataError(f"{model.path}: the model uses feature {features.max() + 1}, and n_features={n_features}")
    if size * widths[1] > _MOST_WEIGHTS:
        raise DataError(f"{model.path}: {size} features and {widths[1]} neurons are more than can be held in memory")
    weights = [np.array([weights_of[i, k] for k in range(width)]) for i, width in enumerate(widths[:-1])]
    first = np.zeros((size, widths[1]))
    np.add.at(first, features, weights[0])
    biases = np.split(np.array(weights_of[0, features.size]), np.cumsum(widths[1:])[:-1])
    return SigmoidLayersScorer((first, *weights[1:]), tuple(biases)), size


def write_network(scorer: Any) -> str:
    """The lines of a network of sigmoid layers, or of our own `sigmoid` network with its map of the features.

    RankLib's output neuron is logistic: where ours is linear, its scores are those of ours put through the logistic
    function, in the same order.
    """
    weights, biases = _layers(scorer)
    widths = [weights[0].shape[0], *(w.shape[1] for w in weights)]
    lines = [" ".join(str(j + 1) for j in range(widths[0])), str(len(widths) - 2), *map(str, widths[1:-1])]
    for i, weight in enumerate(weights):
        lines += [f"{i} {k} {_text(row)}" for k, row in enumerate(weight)]
        if i == 0:
            lines.append(f"0 {widths[0]} {_text(np.concatenate(biases))}")
    return "\n".join([*lines, ""])


def _layers(scorer: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    if isinstance(scorer, SigmoidLayersScorer):
        return list(scorer.weights), list(scorer.biases)
    network, features = scorer.network, scorer.features
    if network.name != "sigmoid" or network.n_outputs != 1 or features.log1p:
        raise DataError(
            "RankLib has only networks of sigmoid layers: train with architecture='sigmoid' and log1p=False to export"
        )
    names = [f"hidden.{i}" for i in range(len(network.hidden))] + ["output"]
    weights = [scorer.weights[f"{name}.weight"].T.astype(np.float64) for name in names]
    biases = [scorer.weights[f"{name}.bias"].astype(np.float64) for name in names]
    scale, mean = features.scale.astype(np.float64), features.mean.astype(np.float64)
    biases[0] = biases[0] - (mean * scale) @ weights[0]
    weights[0] = weights[0] * scale[:, None]
    return weights, biases


def _text(row: np.ndarray) -> str:
    return " ".join(map(repr, row.tolist()))
