"""Shortcuts through Numba's compiler: work that it repeats is done once, and the machine code stays the same.

They are in force while a kernel of ours is compiled. Numba compiles in one thread at a time: no other code sees them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import ffi
from numba import types
from numba.core import errors, ir, transforms, utils
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.target_extension import get_local_target
from numba.core.types.functions import BaseFunction

_call_type = BaseFunction.get_call_type
_list_vars = ir.Inst._rec_list_vars
_post_process = PostProcessor.run
_colors = getattr(errors, "HighlightColorScheme", None)  # with the package colorama
_markup = getattr(_colors, "_markup", None)

#: By function and types of arguments: the function, and the same with the one template that applies.
_narrowed: dict[Any, tuple[Any, Any]] = {}

#: Parts of an instruction that hold no variables.
_PLAIN = frozenset({str, int, float, bool, type(None), ir.Loc})

_in_force = False


@contextmanager
def shortcuts() -> Iterator[None]:
    """Compile with the shortcuts. Kernels called by this one are compiled inside the same context."""
    global _in_force
    if _in_force:
        yield
        return
    callbacks = getattr(ffi.lib._lock, "_cblist", [])
    timers = list(callbacks)
    _in_force = True
    BaseFunction.get_call_type = _quick_call_type
    ir.Inst._rec_list_vars = _quick_list_vars
    PostProcessor.run = _quick_post_process
    if _colors is not None:
        _colors._markup = _unmarked
    callbacks.clear()  # Numba takes the time of each call of LLVM, for statistics
    try:
        yield
    finally:
        callbacks.extend(timers)
        if _colors is not None:
            _colors._markup = _markup
        PostProcessor.run = _post_process
        ir.Inst._rec_list_vars = _list_vars
        BaseFunction.get_call_type = _call_type
        _in_force = False


def _quick_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """Signature of a call.

    An operator such as ``+`` has dozens of templates, and Numba tries them in turn, most of which fail with a message
    that is written and thrown away. Here the one that applies is remembered.
    """
    if type(function) is not types.Function:  # a function of C has one
        return _call_type(function, context, args, kws)
    key = id(function), args, tuple(kws.items())
    if key not in _narrowed:
        narrow = _narrow(function, context, args, kws)
        if narrow is None:
            return _call_type(function, context, args, kws)
        _narrowed[key] = function, narrow
    narrow = _narrowed[key][1]
    signature = _call_type(narrow, context, args, kws)
    function._impl_keys[signature.args] = narrow._impl_keys[signature.args]
    return signature


def _narrow(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """The function with the first template that applies; None if none does."""
    general = tuple(types.unliteral(kind) for kind in args), {name: types.unliteral(kind) for name, kind in kws.items()}
    target = get_local_target(context)
    for template in utils.order_by_target_specificity(target, function.templates, fnkey=function.key[0]):
        trial = template(context)
        for each in ((args, kws), general) if trial.prefer_literal else (general, (args, kws)):
            try:
                if trial.apply(*each) is not None:
                    return types.Function(template)
            except errors.NumbaError:
                continue
    return None


def _quick_list_vars(instruction: Any, part: Any) -> Any:
    """Variables that an instruction reads or writes; most of its parts are names and places."""
    kind = type(part)
    if kind is ir.Var:
        return [part]
    if kind is not dict:
        return [] if kind in _PLAIN else _list_vars(instruction, part)
    variables: list[Any] = []
    for value in part.values():
        if type(value) not in _PLAIN:
            variables += _quick_list_vars(instruction, value)
    return variables


def _quick_post_process(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Put the blocks in order after a pass: without the variables that are alive at each, which few kernels need."""
    code = self.func_ir
    if code.is_generator:
        _post_process(self, emit_dels, extend_lifetimes)
        return
    code.blocks = transforms.canonicalize_cfg(code.blocks)
    code.variable_lifetime = VariableLifetime(code.blocks)
    code.generator_info = None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _unmarked(scheme: Any, message: str, *_: Any, **__: Any) -> str:
    """An error message without colours: Numba prepares one for each instruction, in case it fails."""
    return message
