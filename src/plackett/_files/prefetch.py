"""Prefetch memory before it is needed: otherwise, access to rows in random order is mostly waiting."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Inside kernels: fetch the cache line of ``array[index]``. A hint, which changes no result; any index is safe."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        content = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(content.data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [address, number(0), number(3), number(1)])  # to read, to be kept, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


# kernels that use it are compiled anew when this file changes
prefetch.plackett_stamp = hashlib.blake2b(Path(__file__).read_bytes(), digest_size=10).hexdigest()
