"""Scoring by masks: every split of a tree is applied to many rows at once. See `plackett.scorers.trees.codes`.

One byte of a tree's mask is finished before the next, so that it stays in registers: nothing is written but the leaves.
The innermost step works on vectors of 64 bytes. It is written for LLVM directly: Numba vectorises the same loops over
bytes to half the speed. LLVM cuts the vectors to what the machine has, so that this works everywhere.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from plackett._kernels.kernel import kernel
from plackett.scorers.trees.codes import NODE, encode

#: Bytes in a vector, one for each row.
LANES = 64
#: Rows that are scored together: four vectors. With more, their codes would leave the caches.
MOST_ROWS = 4 * LANES

_BYTE, _NUMBER, _INT64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_BYTE, LANES)
_AT = {name: int(NODE.fields[name][1]) for name in NODE.names}  # type: ignore[index, union-attr]


class _Vectors:
    """Addresses, vectors of bytes and loops in the code of one function."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def at(self, base: Any, *terms: Any) -> Any:
        """An address: a base plus terms."""
        for term in terms:
            base = self.builder.add(base, term if isinstance(term, ir.Value) else _INT64(term))
        return base

    def times(self, number: Any, factor: Any) -> Any:
        return self.builder.mul(number, factor if isinstance(factor, ir.Value) else _INT64(factor))

    def load(self, address: Any, kind: Any = _VECTOR) -> Any:
        loaded = self.builder.load(self.builder.inttoptr(address, kind.as_pointer()))
        loaded.align = 1
        return loaded

    def store(self, value: Any, address: Any) -> None:
        self.builder.store(value, self.builder.inttoptr(address, _VECTOR.as_pointer())).align = 1

    def all_lanes(self, byte: Any) -> Any:
        empty = ir.Constant(_VECTOR, ir.Undefined)
        one = self.builder.insert_element(empty, byte, _NUMBER(0))
        return self.builder.shuffle_vector(one, empty, ir.Constant(ir.VectorType(_NUMBER, LANES), [0] * LANES))

    def constant(self, byte: int) -> Any:
        return ir.Constant(_VECTOR, [byte] * LANES)

    def variables(self, count: int, value: Any) -> list[Any]:
        """Vectors that change; each has the value from here on."""
        variables = [cgutils.alloca_once(self.builder, _VECTOR) for _ in range(count)]
        for variable in variables:
            self.builder.store(value, variable)
        return variables

    def loop(self, start: Any, stop: Any) -> Any:
        return cgutils.for_range_slice(self.builder, start, stop, _INT64(1), _INT64)


def _leaves_of(vectors: int) -> Any:
    """Inside kernels, a function for rows that fill this many vectors: which leaf of one tree each of them reaches."""

    @intrinsic
    def reach_leaves(typing_context: Any, codes: Any, nodes: Any, offsets: Any, n_bytes: Any, leaves: Any) -> Any:
        """All arguments are whole numbers. Apart from ``n_bytes``, the bytes of the tree's mask, they are addresses.

        ``codes`` are rows of codes of vectors × `LANES` bytes, ``offsets`` says where the nodes of each byte begin, and
        ``leaves`` receives one byte for each row.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            codes, nodes, offsets, n_bytes, leaves = arguments
            v = _Vectors(builder)
            zero, ones = v.constant(0), v.constant(255)
            bits, base = v.variables(vectors, zero), v.variables(vectors, zero)
            with v.loop(_INT64(0), n_bytes) as (j, _):
                at = v.at(offsets, v.times(j, 8))
                mask = v.variables(vectors, ones)
                with v.loop(v.load(at, _INT64), v.load(v.at(at, 8), _INT64)) as (i, _):
                    node = v.at(nodes, v.times(i, NODE.itemsize))
                    row = v.times(builder.zext(v.load(v.at(node, _AT["row"]), _NUMBER), _INT64), vectors * LANES)
                    code, kept = (v.all_lanes(v.load(v.at(node, _AT[name]), _BYTE)) for name in ("code", "keep"))
                    for k in range(vectors):
                        above = builder.icmp_unsigned(">", v.load(v.at(codes, row, k * LANES)), code)
                        stays = builder.select(above, kept, ones)
                        builder.store(builder.and_(builder.load(mask[k]), stays), mask[k])
                number = v.all_lanes(builder.trunc(builder.shl(j, _INT64(3)), _BYTE))
                for k in range(vectors):  # the first byte that is not empty
                    before, here = builder.load(bits[k]), builder.load(mask[k])
                    open_ = builder.icmp_unsigned("==", before, zero)
                    builder.store(builder.select(open_, here, before), bits[k])
                    builder.store(builder.select(open_, number, builder.load(base[k])), base[k])
            trailing_zeros = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(_VECTOR, [_VECTOR, ir.IntType(1)]), f"llvm.cttz.v{LANES}i8"
            )
            for k in range(vectors):
                lowest = builder.call(trailing_zeros, [builder.load(bits[k]), ir.Constant(ir.IntType(1), 0)])
                v.store(builder.or_(builder.load(base[k]), lowest), v.at(leaves, k * LANES))
            return context.get_dummy_value()

        return types.void(*([types.intp] * 5)), generate

    # kernels that use it are recompiled when this file changes
    reach_leaves.plackett_stamp = hashlib.blake2b(Path(__file__).read_bytes(), digest_size=10).hexdigest()
    return reach_leaves


_leaves_of_64, _leaves_of_128, _leaves_of_256 = _leaves_of(1), _leaves_of(2), _leaves_of(4)


@kernel
def score_by_masks(
    lo, hi, blocks, X, tables, table_offsets, row_feature, row_missing, row_block, row_mirrored, row_set, set_offsets,
    set_words, tiny, nodes, node_offsets, byte_offsets, leaf_value, leaf_offsets, out
):  # fmt: skip
    """Scores of the rows of some blocks, each of at most `MOST_ROWS` rows.

    The leaves are added to ``out[row, output]`` in the order of the trees.
    """
    outputs = out.shape[1]
    n_rows = max(row_feature.size, 1)
    code_buffer = np.empty(n_rows * MOST_ROWS, np.uint8)
    leaves = np.empty(MOST_ROWS, np.uint8)
    places = np.empty(MOST_ROWS, np.int32)
    values = np.empty(MOST_ROWS, X.dtype)
    known = np.empty(MOST_ROWS, X.dtype)
    sums = np.empty((outputs, MOST_ROWS), np.float64)
    for b in range(lo, hi):
        start = blocks[b]
        n = blocks[b + 1] - start
        width = LANES if n <= LANES else 2 * LANES if n <= 2 * LANES else 4 * LANES
        codes = code_buffer[: n_rows * width].reshape(n_rows, width)
        encode(X, start, n, tables, table_offsets, row_feature, row_missing, row_block, row_mirrored, row_set,
               set_offsets, set_words, tiny, values[:width], known[:width], places[:width], codes)  # fmt: skip
        sums[:] = 0.0
        for l in range(n):
            for k in range(outputs):
                sums[k, l] = out[start + l, k]
        for t in range(byte_offsets.size - 1):
            first = byte_offsets[t]
            n_bytes = byte_offsets[t + 1] - first
            offsets = node_offsets.ctypes.data + 8 * first
            if width == LANES:
                _leaves_of_64(codes.ctypes.data, nodes.ctypes.data, offsets, n_bytes, leaves.ctypes.data)
            elif width == 2 * LANES:
                _leaves_of_128(codes.ctypes.data, nodes.ctypes.data, offsets, n_bytes, leaves.ctypes.data)
            else:
                _leaves_of_256(codes.ctypes.data, nodes.ctypes.data, offsets, n_bytes, leaves.ctypes.data)
            of_tree = leaf_value[leaf_offsets[t] : leaf_offsets[t + 1]]
            total = sums[t % outputs]
            for l in range(width):
                total[l] += of_tree[np.uint64(leaves[l])]
        for l in range(n):
            for k in range(outputs):
                out[start + l, k] = sums[k, l]
