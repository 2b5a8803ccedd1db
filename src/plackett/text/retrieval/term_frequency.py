"""Term-frequency variants by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import choice
from plackett._kernels.kernel import kernel, kernel_from, template
from plackett.text.index.field import Field
from plackett.text.retrieval.base import TermKernels, term_kernels


@kernel(inline=True)
def _raw(tf, length, most):
    return float(tf)


@kernel(inline=True)
def _log(tf, length, most):
    return 1.0 + math.log(tf)


@kernel(inline=True)
def _length(tf, length, most):
    return tf / length


@kernel(inline=True)
def _max(tf, length, most):
    return tf / most


@kernel(inline=True)
def _augmented(tf, length, most):
    return 0.5 + 0.5 * tf / most


@kernel(inline=True)
def _binary(tf, length, most):
    return 1.0


@kernel(inline=True)
def _log1p(tf, length, most):
    return math.log(1.0 + tf)


@kernel(inline=True)
def _log1p_length(tf, length, most):
    return math.log(1.0 + tf / length)


@template
def value(tf, length, most):
    """Stands for a variant in the templates."""
    raise NotImplementedError


@template
def _plain(tf, length, unique, extra, a, b, c, p):
    return a * value(tf, length, extra)


@template
def _divided(tf, length, unique, extra, a, b, c, p):
    return a * value(tf, length, 1.0) / extra


class Variant(NamedTuple):
    """A term-frequency variant: the numbers for whole arrays, and the loops of models that use it."""

    #: Function of counts, lengths and largest counts.
    numbers: Callable[[Any, Any, Any], Any]
    #: Weights times the variant.
    plain: TermKernels
    #: The same divided by the document's number.
    divided: TermKernels
    #: Whether it needs the document's largest count.
    reads_largest: bool = False


def _variant(function: Any, numbers: Callable[[Any, Any, Any], Any], reads_largest: bool = False) -> Variant:
    loops = [term_kernels(kernel_from(template, inline=True, value=function)) for template in (_plain, _divided)]
    return Variant(numbers, loops[0], loops[1], reads_largest)


TF: dict[str, Variant] = {
    "raw": _variant(_raw, lambda tf, length, most: tf * 1.0),
    "log": _variant(_log, lambda tf, length, most: 1.0 + np.log(tf)),
    "length": _variant(_length, lambda tf, length, most: tf / length),
    "max": _variant(_max, lambda tf, length, most: tf / most, True),
    "augmented": _variant(_augmented, lambda tf, length, most: 0.5 + 0.5 * tf / most, True),
    "binary": _variant(_binary, lambda tf, length, most: np.ones(np.shape(tf))),
    "log1p": _variant(_log1p, lambda tf, length, most: np.log1p(tf)),
    "log1p-length": _variant(_log1p_length, lambda tf, length, most: np.log1p(tf / length)),
}


def tf_name(name: str) -> str:
    """Return the name, or raise an error if there is no such variant."""
    choice("tf", name, TF)
    return name


def largest_counts(field: Field) -> np.ndarray:
    """How often the most frequent term of each document occurs; 1 for an empty one."""
    most = np.ones(field.n_documents)
    document = np.repeat(np.arange(field.n_documents), np.diff(field.forward.offsets))
    np.maximum.at(most, document, field.forward.counts)
    return most
