"""Pieces of LLVM code from which the vector instructions of kernels are made."""

from __future__ import annotations

from llvmlite import ir

__all__ = ["FLAGS", "INDEX", "LANE", "Rows", "add_lanes", "counter", "exchange", "fused_vectors"]

_VECTOR_BYTES = 64
# What `_jit.py` allows the compiler for plain loops.
FLAGS = ("nsz",)
INDEX = ir.IntType(64)
LANE = ir.IntType(32)


def fused_vectors(builder, a, b, c):
    """``a * b + c`` rounded once: one instruction, and the same digits on every processor."""
    lanes = a.type.count
    kind = f"v{lanes}f{64 if a.type.element == ir.DoubleType() else 32}"
    function = builder.module.globals.get(f"llvm.fma.{kind}")
    if function is None:
        signature = ir.FunctionType(a.type, [a.type] * 3)
        function = ir.Function(builder.module, signature, f"llvm.fma.{kind}")
    return builder.call(function, [a, b, c])


class Rows:
    """Reads and writes rows of a tile as vectors, in the code being generated."""

    def __init__(self, context, builder, array_type, array, columns):
        self.builder = builder
        self.data = context.make_array(array_type)(context, builder, array).data
        scalar = context.get_data_type(array_type.dtype)
        self.bytes = array_type.dtype.bitwidth // 8
        self.lanes = min(columns, _VECTOR_BYTES // self.bytes)
        self.count = columns // self.lanes
        self.vector = ir.VectorType(scalar, self.lanes)
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)

    def load(self, position):
        return [
            self.builder.load(self._address(position, part), align=self.bytes)
            for part in range(self.count)
        ]

    def store(self, values, position):
        for part, value in enumerate(values):
            self.builder.store(value, self._address(position, part), align=self.bytes)

    def scalar(self, position):
        return self.builder.load(self.builder.gep(self.data, [position]))

    def broadcast(self, value):
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, value, ir.Constant(LANE, 0))
        everywhere = ir.Constant(ir.VectorType(LANE, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, undefined, everywhere)

    def multiply_add(self, a, b, total):
        return fused_vectors(self.builder, a, b, total)

    def _address(self, position, part):
        place = self.builder.add(position, ir.Constant(INDEX, part * self.lanes))
        return self.builder.bitcast(self.builder.gep(self.data, [place]), self.vector.as_pointer())


def counter(builder, before, start):
    """A value that changes from turn to turn of the loop being generated."""
    value = builder.phi(start.type)
    value.add_incoming(start, before)
    return value


def add_lanes(builder, sums, lanes):
    """Add up the lanes of each vector."""
    while lanes > 1:
        lanes //= 2
        low = ir.Constant(ir.VectorType(LANE, lanes), list(range(lanes)))
        high = ir.Constant(ir.VectorType(LANE, lanes), list(range(lanes, 2 * lanes)))
        sums = [
            builder.fadd(
                builder.shuffle_vector(s, s, low), builder.shuffle_vector(s, s, high), flags=FLAGS
            )
            for s in sums
        ]
    return [builder.extract_element(s, ir.Constant(LANE, 0)) for s in sums]


def exchange(builder, rows, distance):
    """Swap the off-diagonal squares of side `distance` of every square twice that size."""
    lanes = range(len(rows))
    upper = [lane + len(rows) - distance if lane & distance else lane for lane in lanes]
    lower = [lane + len(rows) if lane & distance else lane + distance for lane in lanes]
    masks = [ir.Constant(ir.VectorType(LANE, len(rows)), mask) for mask in (upper, lower)]
    result = list(rows)
    for i in lanes:
        if not i & distance:
            pair = rows[i], rows[i + distance]
            result[i], result[i + distance] = (builder.shuffle_vector(*pair, m) for m in masks)
    return result
