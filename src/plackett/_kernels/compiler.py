"""How kernels are compiled: with less work than by Numba's default, and to the same machine code in every process.

Numba makes machine code, with wrappers for Python and C, of every function that a kernel calls, although the kernel
contains a copy of it. Here a kernel that is called by others is kept in LLVM's intermediate form, to be linked into its
callers. That saves a quarter of the time, and a fit gives the same bits in the process that compiles as in later ones:
machine code of the called kernel, which only the compiling process has, would be run in place of the copy, and the two
round differently where sums may be reordered. Copies are private to their kernel, so no kernel runs that of another.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from llvmlite import binding
from numba import _dynfunc, types, version_info
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, Flags, compile_result

#: Versions of Numba whose inner workings the shortcuts know; with any other, kernels compile more slowly.
KNOWN = (0, 62) <= tuple(version_info[:2]) <= (0, 68)
if KNOWN:
    from plackett._kernels.shortcuts import shortcuts
else:
    shortcuts = nullcontext  # type: ignore[assignment]

#: To be raised when kernels are compiled in another way: code from before is then left alone.
FORM = 2


class _Library(JITCodeLibrary):
    """Code of a kernel. Functions that are only declared, most of them, are not optimised: there is nothing to do."""

    def _optimize_functions(self, module: Any) -> None:
        if not KNOWN:
            super()._optimize_functions(module)
            return
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


class OuterLibrary(_Library):
    """Machine code of a kernel that Python calls, together with the kernels that it calls itself."""

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.linkonce_odr:
                function.linkage = binding.Linkage.internal


class InnerLibrary(_Library):
    """A kernel that other kernels call, optimised but not machine code."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class QuickFlags(Flags):
    """Numba's options for a compilation, compared without asking for each of them.

    They are part of the key by which Numba looks up every operation in a kernel: an eighth of the time otherwise.
    """

    __slots__ = ()
    _hash = hash(Flags())  # Numba's own is the same for all options
    _defaults = Flags().values()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QuickFlags):
            return super().__eq__(other)
        return self._values == other._values or self.values() == other.values()

    def values(self) -> dict[str, Any]:
        """All options with their values."""
        return self._defaults | self._values


class OuterCompiler(Compiler):
    """Compiles a kernel that Python calls."""

    def _compile_core(self) -> Any:
        self.state.flags = QuickFlags(self.state.flags)
        self.state.library = _library(OuterLibrary, self.state.targetctx, self.state.func_id.func_qualname)
        with _without_collector(), shortcuts():
            result = super()._compile_core()
        for environment in result._find_referenced_environments():  # those of the kernels that it calls
            result.codegen.set_env(environment.env_name, environment)
        return result


class InnerCompiler(Compiler):
    """Compiles a kernel that other kernels call."""

    def _compile_core(self) -> Any:
        self.state.flags = QuickFlags(self.state.flags)
        self.state.flags.no_compile = True
        self.state.library = _library(InnerLibrary, self.state.targetctx, self.state.func_id.func_qualname)
        with shortcuts():
            result = _with_entry(super()._compile_core())
        result.target_context.insert_user_function(result.entry_point, result.fndesc, [result.library])
        return result


#: Numba's options for the two kinds. A wrapper for C is used by neither.
OUTER = {"no_cfunc_wrapper": True, "pipeline_class": OuterCompiler}
INNER = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": InnerCompiler}


def plain_integers(dispatcher: Any) -> Any:
    """Let an inner kernel take a number that is written out, such as 0, as any other integer.

    Numba compiles a kernel for the value of such an argument, and once more for other integers. It even does so for a
    variable that merely begins as 0, and then has no use for the first.
    """
    call_template = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return call_template(
            [_plain(kind) for kind in args],
            {name: _plain(kind) for name, kind in kws.items()},
        )

    dispatcher.get_call_template = get_call_template
    return dispatcher


def _plain(kind: Any) -> Any:
    return types.unliteral(kind) if isinstance(kind, types.IntegerLiteral) else kind


def pack_inner(result: CompileResult) -> tuple[Any, ...]:
    """What the cache keeps of a compiled inner kernel."""
    result.fndesc.typemap = result.fndesc.calltypes = None  # large, and not needed after compiling
    result.library._ensure_finalized()
    bitcode = result.library._final_module.as_bitcode()
    return bitcode, result.fndesc, result.environment, result.signature, result.reload_init


def unpack_inner(context: Any, packed: tuple[Any, ...]) -> CompileResult:
    """An inner kernel from the cache."""
    bitcode, fndesc, environment, signature, reload_init = packed
    for prepare in reload_init:
        prepare()
    library = _library(InnerLibrary, context, fndesc.qualname)
    library._final_module = binding.parse_bitcode(bitcode)
    library._finalize_final_module()
    result = compile_result(
        target_context=context,
        typing_context=context.typing_context,
        library=library,
        fndesc=fndesc,
        environment=environment,
        signature=signature,
        objectmode=False,
        lifted=(),
        reload_init=reload_init,
    )
    return _with_entry(result)


def _with_entry(result: Any) -> Any:
    """Numba looks functions up by their entry point: an inner kernel gets one that leads nowhere."""
    library, name = result.library, result.fndesc.qualname
    entry = _dynfunc.make_function(result.fndesc.lookup_module(), name, name, 0, result.environment, (library,))
    return result._replace(entry_point=entry)


def _library(kind: type[JITCodeLibrary], context: Any, name: str) -> Any:
    library = kind(context.codegen(), name)
    library.enable_object_caching()
    return library


@contextmanager
def _without_collector() -> Iterator[None]:
    """Python's collector of cycles takes 7 % of the time of a compilation and frees little."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
