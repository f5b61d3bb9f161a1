"""Rows of an array as single values in compiled code: one vector instruction instead of a loop.

Numba's compiler vectorises a loop over a short row only after it has compared the addresses of all arrays involved, at
every row. A vector that is loaded, computed with and stored needs no such comparison. In plain Python a vector is a
copy of the row, so the same source runs there.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, overload, register_model

from fogplay.jit import INLINED

_by_llvm: Any = intrinsic
WIDTH = 16  # numbers in a vector: the length of a row


class Vector(types.Type):
    """``WIDTH`` numbers of one type."""

    def __init__(self, number: Any) -> None:
        self.number = number
        super().__init__(name=f"Vector({number}, {WIDTH})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(manager.lookup(kind.number).get_value_type(), WIDTH))


def load(array: Any, row: Any) -> Any:
    """The row of an array ``[rows, WIDTH]`` as a vector."""
    return array[row].copy()


def store(array: Any, row: Any, vector: Any) -> None:
    """Write a vector to a row of an array ``[rows, WIDTH]``."""
    array[row] = vector


def larger(first: Any, second: Any) -> Any:
    """The larger of two vectors, number by number."""
    return np.maximum(first, second)


def equal(first: Any, second: Any) -> Any:
    """1 where two vectors are equal, else 0."""
    return (first == second).astype(first.dtype)


def prefer(first: Any, second: Any, one: Any, other: Any) -> Any:
    """``one`` where the first vector is larger than the second, else ``other``."""
    return np.where(first > second, one, other)


def only(row: Any, marks: Any, mark: Any) -> Any:
    """The numbers of ``row`` where ``marks``, a vector of int32, has a bit of ``mark``; elsewhere 0."""
    return np.where(marks & mark != 0, row, np.zeros_like(row))


def _pointer(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> Any:
    """Where a row begins, as a pointer to a vector."""
    made = context.make_array(kind)(context, builder, array)
    at = builder.mul(builder.zext(row, cgutils.intp_t) if row.type.width < 64 else row, cgutils.intp_t(WIDTH))
    vector = ir.VectorType(context.get_value_type(kind.dtype), WIDTH)
    return builder.bitcast(builder.gep(made.data, [at]), vector.as_pointer())


def _is_rows(array: Any) -> bool:
    return isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C"


@_by_llvm
def _load(typing, array, row):
    def build(context, builder, signature, given):
        place = _pointer(context, builder, signature.args[0], *given)
        return builder.load(place, align=array.dtype.bitwidth // 8)

    return Vector(array.dtype)(array, types.uint64), build


@_by_llvm
def _store(typing, array, row, vector):
    def build(context, builder, signature, given):
        place = _pointer(context, builder, signature.args[0], given[0], given[1])
        bits, kept = vector.number.bitwidth, array.dtype.bitwidth
        row, kind = given[2], place.type.pointee
        if bits != kept:
            row = builder.fptrunc(row, kind) if bits > kept else builder.fpext(row, kind)
        builder.store(row, place, align=kept // 8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, vector), build


def _binary(instruction: str, flags: tuple[str, ...] = ("contract",)) -> Any:
    @_by_llvm
    def compute(typing, first, second):
        def build(context, builder, signature, given):
            return getattr(builder, instruction)(*given, flags=flags)

        return first(first, second), build

    return compute


@_by_llvm
def _larger(typing, first, second):
    def build(context, builder, signature, given):
        return builder.select(builder.fcmp_ordered(">", *given), *given)

    return first(first, second), build


@_by_llvm
def _equal(typing, first, second):
    def build(context, builder, signature, given):
        found = builder.fcmp_ordered("==", *given)
        return builder.uitofp(found, given[0].type)

    return first(first, second), build


@_by_llvm
def _prefer(typing, first, second, one, other):
    def build(context, builder, signature, given):
        return builder.select(builder.fcmp_ordered(">", given[0], given[1]), given[2], given[3])

    return one(first, second, one, other), build


@_by_llvm
def _only(typing, row, marks, mark):
    def build(context, builder, signature, given):
        both = builder.and_(given[1], given[2])
        nothing = ir.Constant(both.type, [0] * WIDTH)
        zero = ir.Constant(given[0].type, [0.0] * WIDTH)
        return builder.select(builder.icmp_signed("!=", both, nothing), given[0], zero)

    return row(row, marks, mark), build


_add, _subtract, _multiply, _divide = (_binary(each) for each in ("fadd", "fsub", "fmul", "fdiv"))
_or = _binary("or_", ())


@overload(load, jit_options=INLINED)
def _load_compiled(array, row):
    if _is_rows(array):
        return lambda array, row: _load(array, np.uint64(row))
    return None


@overload(store, jit_options=INLINED)
def _store_compiled(array, row, vector):
    if _is_rows(array) and isinstance(vector, Vector):
        return lambda array, row, vector: _store(array, np.uint64(row), vector)
    return None


@overload(larger, jit_options=INLINED)
def _larger_compiled(first, second):
    def compiled(first, second):
        return _larger(first, second)

    return compiled if isinstance(first, Vector) else None


@overload(equal, jit_options=INLINED)
def _equal_compiled(first, second):
    def compiled(first, second):
        return _equal(first, second)

    return compiled if isinstance(first, Vector) else None


@overload(prefer, jit_options=INLINED)
def _prefer_compiled(first, second, one, other):
    def compiled(first, second, one, other):
        return _prefer(first, second, one, other)

    return compiled if isinstance(first, Vector) else None


@overload(only, jit_options=INLINED)
def _only_compiled(row, marks, mark):
    def compiled(row, marks, mark):
        return _only(row, marks, mark)

    return compiled if isinstance(row, Vector) else None


def _operator(symbol: Any, compute: Any) -> None:
    @overload(symbol, jit_options=INLINED)
    def compiled(first, second):
        def apply(first, second):
            return compute(first, second)

        return apply if isinstance(first, Vector) and isinstance(second, Vector) else None


for _symbol, _compute in (
    (operator.add, _add),
    (operator.sub, _subtract),
    (operator.mul, _multiply),
    (operator.truediv, _divide),
    (operator.or_, _or),
):
    _operator(_symbol, _compute)
