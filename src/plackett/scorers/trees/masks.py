"""Scoring by masks: every split of a tree is applied to many rows at once. See `plackett.scorers.trees.codes`.

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

from plackett._kernel import kernel
from plackett.scorers.trees.codes import NODE, encode

__all__ = ["LANES", "score_by_masks"]

#: Bytes in a vector: rows that are scored together are a multiple of it.
LANES = 64

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

    def keep(self, address: Any, kept: Any, where: Any) -> None:
        """Clear all bits but ``kept`` in the lanes ``where``."""
        mask = self.load(address)
        self.store(self.builder.select(where, self.builder.and_(mask, kept), mask), address)

    def loop(self, start: Any, stop: Any, step: Any = 1) -> Any:
        return cgutils.for_range_slice(
            self.builder, start, stop, step if isinstance(step, ir.Value) else _INT64(step), _INT64
        )


@intrinsic
def _reach_leaves(
    typing_context: Any, codes: Any, mask: Any, nodes: Any, first: Any, wide: Any, end: Any, n_bytes: Any, width: Any,
    leaves: Any
) -> Any:  # fmt: skip
    """Inside kernels: the leaf that each of ``width`` rows reaches in one tree.

    All arguments are whole numbers. ``codes``, ``mask``, ``nodes`` and ``leaves`` are addresses: of the codes (rows of
    codes × width), of scratch (n_bytes × width), of the splits, and of the bytes that receive the leaves.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        codes, mask, nodes, first, wide, end, n_bytes, width, leaves = arguments
        v = _Vectors(builder)
        zero, ones = v.constant(0), v.constant(255)

        with v.loop(_INT64(0), v.times(n_bytes, width), LANES) as (at, _):
            v.store(ones, v.at(mask, at))

        def byte(node: Any, name: str) -> Any:
            return v.load(v.at(node, _AT[name]), _BYTE)

        def split(i: Any) -> tuple[Any, Any, Any]:
            node = v.at(nodes, v.times(i, NODE.itemsize))
            row = builder.zext(v.load(v.at(node, _AT["row"]), _NUMBER), _INT64)
            return node, v.at(codes, v.times(row, width)), v.all_lanes(byte(node, "code"))

        def mask_row(node: Any, name: str) -> Any:
            return v.at(mask, v.times(builder.zext(byte(node, name), _INT64), width))

        with v.loop(first, wide) as (i, _):  # splits that touch one byte of the mask
            node, row, code = split(i)
            kept, target = v.all_lanes(byte(node, "keep_first")), mask_row(node, "first")
            with v.loop(_INT64(0), width, LANES) as (at, _):
                v.keep(v.at(target, at), kept, builder.icmp_unsigned(">", v.load(v.at(row, at)), code))
        with v.loop(wide, end) as (i, _):  # several bytes: those between the first and the last are cleared
            node, row, code = split(i)
            from_, to = v.all_lanes(byte(node, "keep_first")), v.all_lanes(byte(node, "keep_last"))
            one, other = mask_row(node, "first"), mask_row(node, "last")
            with v.loop(_INT64(0), width, LANES) as (at, _):
                where = builder.icmp_unsigned(">", v.load(v.at(row, at)), code)
                v.keep(v.at(one, at), from_, where)
                v.keep(v.at(other, at), to, where)
                with v.loop(builder.add(one, width), other, width) as (row_between, _):
                    v.keep(v.at(row_between, at), zero, where)

        trailing_zeros = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_VECTOR, [_VECTOR, ir.IntType(1)]), f"llvm.cttz.v{LANES}i8"
        )
        with v.loop(_INT64(0), width, LANES) as (at, _):
            bits, base = (cgutils.alloca_once_value(builder, zero) for _ in range(2))
            builder.store(zero, bits)
            builder.store(zero, base)
            with v.loop(_INT64(0), n_bytes) as (j, _):  # the first byte that is not empty
                found = builder.load(bits)
                open_ = builder.icmp_unsigned("==", found, zero)
                here = v.load(v.at(mask, v.times(j, width), at))
                number = v.all_lanes(builder.trunc(builder.shl(j, _INT64(3)), _BYTE))
                builder.store(builder.select(open_, here, found), bits)
                builder.store(builder.select(open_, number, builder.load(base)), base)
            lowest = builder.call(trailing_zeros, [builder.load(bits), ir.Constant(ir.IntType(1), 0)])
            v.store(builder.or_(builder.load(base), lowest), v.at(leaves, at))
        return context.get_dummy_value()

    return types.void(*([types.intp] * 9)), generate


# kernels that use it are recompiled when this file changes
_reach_leaves.plackett_stamp = hashlib.blake2b(Path(__file__).read_bytes(), digest_size=10).hexdigest()


@kernel
def score_by_masks(  # type: ignore[no-untyped-def]
    lo, hi, blocks, X, tables, table_offsets, row_feature, row_missing, row_block, row_mirrored, row_set, set_offsets,
    set_words, tiny, nodes, node_offsets, mask_bytes, leaf_value, leaf_offsets, width, out
):  # fmt: skip
    """Scores of the rows of some blocks, each of at most ``width`` rows, a multiple of `LANES`.

    The leaves are added to ``out[row, output]`` in the order of the trees.
    """
    outputs = out.shape[1]
    most = 1
    for t in range(mask_bytes.size):
        most = max(most, mask_bytes[t])
    codes = np.empty((max(row_feature.size, 1), width), np.uint8)
    mask = np.empty((most, width), np.uint8)
    leaves = np.empty(width, np.uint8)
    places = np.empty(width, np.int32)
    values = np.empty(width, X.dtype)
    known = np.empty(width, X.dtype)
    sums = np.empty((outputs, width), np.float64)
    for b in range(lo, hi):
        start = blocks[b]
        n = blocks[b + 1] - start
        encode(X, start, n, tables, table_offsets, row_feature, row_missing, row_block, row_mirrored, row_set,
               set_offsets, set_words, tiny, values, known, places, codes)  # fmt: skip
        sums[:] = 0.0
        for l in range(n):
            for k in range(outputs):
                sums[k, l] = out[start + l, k]
        for t in range(mask_bytes.size):
            _reach_leaves(codes.ctypes.data, mask.ctypes.data, nodes.ctypes.data, node_offsets[t, 0],
                          node_offsets[t, 1], node_offsets[t, 2], mask_bytes[t], width, leaves.ctypes.data)  # fmt: skip
            of_tree = leaf_value[leaf_offsets[t] : leaf_offsets[t + 1]]
            total = sums[t % outputs]
            for l in range(width):
                total[l] += of_tree[np.uint64(leaves[l])]
        for l in range(n):
            for k in range(outputs):
                out[start + l, k] = sums[k, l]
