"""Compiling with Numba, and calling compiled functions by address.

Numba's own cache does not notice an edited function in another file. Here the folder of the cache is named by a
hash of every compiled source, so an edit anywhere starts a fresh one, and a damaged or unwritable cache costs a
compilation, never a run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

CACHE_VARIABLE = "AZULSIM_CACHE_DIR"
"""Environment variable: where compiled code is kept, instead of the user's cache folder."""

widen = cast(Callable[[Any], int], np.int64)
"""Turns a narrow field of a record into a 64-bit integer, in which compiled code computes."""

_announced = False


@cache
def source_hash() -> str:
    """Return a hash of every source that takes part in compiled code, and of Numba's version."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted([*root.glob("engine/*.py"), *root.glob("strategy/*.py"), root / "rules.py", root / "schema.py"]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


source_hash()  # taken when the sources are imported: code compiled later must not pass for that of files edited since


@cache
def cache_folder() -> Path:
    """Return the folder that holds this version's compiled code (made when first written)."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen) / source_hash()
    from platformdirs import user_cache_path

    return user_cache_path("azulsim", appauthor=False) / source_hash()


def _announce() -> None:
    """Say once a process that compiling takes a while, unless told to keep quiet (workers are)."""
    global _announced
    if not _announced and not os.environ.get("AZULSIM_QUIET"):
        _announced = True
        print("azulsim: compiling the engine and its strategies (once, about 20 s)", file=sys.stderr, flush=True)


@cache
def _complain(text: str) -> None:
    """Write a note to stderr, the same one once a process."""
    print(text, file=sys.stderr, flush=True)


class _Locator(_CacheLocator):  # type: ignore[misc]
    def __init__(self, py_func: Callable[..., Any]) -> None:
        self._py_file = py_func.__code__.co_filename
        self._line = py_func.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return source_hash()

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func)


class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_Locator]  # noqa: RUF012


class _Cache(FunctionCache):  # type: ignore[misc]
    """A cache keyed by a name of ours: Numba's own key changes with every process for functions over functions."""

    _impl_class = _CacheImpl

    def __init__(self, py_func: Callable[..., Any], key: str) -> None:
        self._key = key
        super().__init__(py_func)
        name = hashlib.sha256(f"{py_func.__module__}.{py_func.__qualname__} {key}".encode()).hexdigest()[:16]
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=f"{py_func.__name__}-{name}.py{sys.version_info[0]}{sys.version_info[1]}",
            source_stamp=source_hash(),
        )

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (sig, codegen.magic_tuple(), self._key)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # a damaged file must cost no more than compiling again
            found = None
            with contextlib.suppress(OSError):  # nor be in the way of what will be kept instead
                Path(self._cache_file._index_path).unlink(missing_ok=True)
        if found is None:
            _announce()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # compiled code that cannot be kept still runs
            _complain(f"azulsim: compiled code cannot be kept in {self._cache_path}: {error}")
            self.disable()


def compiled(
    function: F | None = None, *, key: str | None = "", is_inlined: bool = False, is_borrowing: bool = False
) -> Any:
    """Compile a function, releasing the GIL; use as a decorator.

    Parameters
    ----------
    key : str or None
        Names what the code depends on beside the sources of the engine (such as a strategy's own text); None keeps
        no compiled code on disk.
    is_inlined : bool
        True to put the code into every caller: what a caller does not use of a result is then never computed.
    is_borrowing : bool
        True for a function that makes no arrays, and whose caller keeps those it is given: references to them are then
        not counted. Each count locks the memory it is in, which costs as much as dozens of ordinary instructions.
    """

    def wrap(py_func: F) -> F:
        dispatcher = numba.njit(nogil=True, forceinline=is_inlined, _nrt=not is_borrowing)(py_func)
        if key is not None:
            dispatcher._cache = _Cache(py_func, key)
        return cast(F, dispatcher)

    return wrap if function is None else wrap(function)


def compile_for(function: Any, signature: Any) -> int:
    """Compile a function for one signature and return the address of its machine code, for `call`."""
    function.compile(signature)
    result = function.overloads[signature.args]
    return cast(int, result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def make_call(signature: Any) -> Any:
    """Return a compiled operation ``call(address, *arguments)`` for functions of one signature.

    An exception raised in the called function goes on to the caller, as in an ordinary call. (Numba's first-class
    functions do the same at a higher price, and as an experimental feature.)
    """

    @intrinsic
    def call(typingctx: Any, address: Any, arguments: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            convention = context.call_conv
            function_type = convention.get_function_type(signature.return_type, signature.args)
            callee = builder.inttoptr(args[0], function_type.as_pointer())
            values = cgutils.unpack_tuple(builder, args[1])
            status, result = convention.call_function(builder, callee, signature.return_type, signature.args, values)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        return signature.return_type(types.int64, types.Tuple(signature.args)), codegen

    return call


@intrinsic
def popcount(typingctx: Any, x: Any) -> Any:
    """Count the set bits of an int64."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def largest_byte(typingctx: Any, x: Any) -> Any:
    """Return the largest of the eight bytes of an int64, each from 0 to 255."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte, eight = ir.IntType(8), ir.VectorType(ir.IntType(8), 8)
        kind = ir.FunctionType(byte, [eight])
        find = cgutils.get_or_insert_function(builder.module, kind, "llvm.vector.reduce.umax.v8i8")
        return builder.zext(builder.call(find, [builder.bitcast(args[0], eight)]), args[0].type)

    return types.int64(types.int64), codegen


@intrinsic
def lowest_bit(typingctx: Any, x: Any) -> Any:
    """Return the index of the lowest set bit of an int64 that is not 0."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


def make_pick(where: Sequence[int]) -> Any:
    """Return a compiled operation ``pick(numbers)``: those that stand at some places of a tuple of float64."""

    @intrinsic
    def pick(typingctx: Any, numbers: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            values = cgutils.unpack_tuple(builder, args[0], len(numbers))
            return context.make_tuple(builder, sig.return_type, [values[i] for i in where])

        return types.BaseTuple.from_types((types.float64,) * len(where))(numbers), codegen

    return pick


@intrinsic
def assume(typingctx: Any, condition: Any) -> Any:
    """Promise the compiler that a condition holds: branches that contradict it are left out."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(1)])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.assume"), args)
        return context.get_dummy_value()

    return types.void(types.boolean), codegen


@intrinsic
def as_pointer(typingctx: Any, address: Any) -> Any:
    """Turn an int64 address into a pointer that `numba.carray` accepts."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), codegen


@intrinsic
def make_record(typingctx: Any, dtype: Any) -> Any:
    """Return a record of a dtype, all zeros, that lives until the function that asks for it returns.

    A record taken out of a new array does not keep the array, whose memory goes back at once and may be given to the
    next array: compiled code must never write ``np.zeros(1, dtype)[0]``.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        record = _reserve(context, builder, dtype.dtype)
        cgutils.memset(builder, record, ir.Constant(ir.IntType(64), dtype.dtype.size), 0)
        return record

    return dtype.dtype(dtype), codegen


@intrinsic
def reserve_record(typingctx: Any, dtype: Any) -> Any:
    """Return memory for a record of a dtype, as `make_record` does, but with whatever stood there before."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _reserve(context, builder, dtype.dtype)

    return dtype.dtype(dtype), codegen


@intrinsic
def copy_record(typingctx: Any, record: Any) -> Any:
    """Return a copy of a record that lives until the function that asks for it returns; in a loop, always in place."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        copy = _reserve(context, builder, record)
        cgutils.raw_memcpy(builder, copy, args[0], ir.Constant(ir.IntType(64), record.size), 1)
        return copy

    return record(record), codegen


@intrinsic
def copy_into(typingctx: Any, record: Any, memory: Any) -> Any:
    """Copy a record over another one of its dtype."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        cgutils.raw_memcpy(builder, args[1], args[0], ir.Constant(ir.IntType(64), record.size), 1)
        return context.get_dummy_value()

    return types.void(record, memory), codegen


def _reserve(context: Any, builder: Any, record: Any) -> Any:
    """Set memory for a record aside on the stack of the function being built."""
    pointer = cgutils.alloca_once(builder, context.get_value_type(record).pointee)
    pointer.align = 16
    return pointer


def address_of(array: np.ndarray[Any, Any]) -> int:
    """Return the address of an array's first byte; the caller keeps the array alive while it is used."""
    return int(array.ctypes.data)
