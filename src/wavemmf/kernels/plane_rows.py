"""Vector instructions for compact levels (`planes.py`): the rows of a tile, turned in a plane.

With the wavelet w of a level, its own coordinate first, and ``s = sum_a w_a x_a`` over the other
rows, the rotation and its inverse are

    x_0 <- w_0 x_0 + sign s,        x_a <- x_a - w_a (sign x_0 + s / (1 + w_0)),

sign one for the rotation and minus one for its inverse: two multiplications per row.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ._vector_code import FLAGS, Rows, add_lanes

__all__ = ["carry_plane", "turn_plane"]


@intrinsic(prefer_literal=True)
def turn_plane(typingctx, x, groups, first, size, weights, entry, sign, columns):
    """Turn the rows ``groups[first : first + size]`` of the tile by the wavelet at `entry`."""
    signature = types.void(
        x, groups, types.intp, types.intp, weights, types.intp, x.dtype, columns
    )  # fmt: skip
    width = columns.literal_value

    def generate(context, builder, signature, arguments):
        x, groups, first, size, weights, entry, sign, _ = arguments
        kinds = signature.args
        level = _Level(context, builder, (kinds[1], groups, first), (kinds[4], weights, entry))
        rows = _Turned(level, Rows(context, builder, kinds[0], x, width), width)
        level.for_others(size, rows.add)
        rows.turn_own(sign)
        level.for_others(size, rows.turn)
        return context.get_dummy_value()

    return signature, generate


@intrinsic(prefer_literal=True)
def carry_plane(typingctx, y, v, groups, first, size, weights, entry, out, columns):
    """Turn the rows of both tiles back, and add the derivative by the wavelet to `out`.

    ``out[entry + a]`` gains ``sum v_a f(y) - y_a f(v)``, where f is what the rows of a tile are
    moved by; of the wavelet's own coordinate it is minus that.
    """
    signature = types.void(
        y, v, groups, types.intp, types.intp, weights, types.intp, out, columns
    )  # fmt: skip
    width = columns.literal_value

    def generate(context, builder, signature, arguments):
        y, v, groups, first, size, weights, entry, out, _ = arguments
        kinds = signature.args
        level = _Level(context, builder, (kinds[2], groups, first), (kinds[5], weights, entry))
        tiles = [
            _Turned(level, Rows(context, builder, kind, tile, width), width)
            for kind, tile in ((kinds[0], y), (kinds[1], v))
        ]
        sums = context.make_array(kinds[7])(context, builder, out).data
        back = ir.Constant(context.get_data_type(kinds[0].dtype), -1.0)

        def add(i, weight):
            for tile in tiles:
                tile.add(i, weight)

        def turn(i, weight):
            rows = [tile.load(i) for tile in tiles]
            _gain(builder, tiles, rows, builder.gep(sums, [builder.add(entry, i)]), 1.0)
            for tile in tiles:
                tile.turn(i, weight)

        level.for_others(size, add)
        own = [tile.load(level.zero) for tile in tiles]
        for tile in tiles:
            tile.turn_own(back)
        _gain(builder, tiles, own, builder.gep(sums, [entry]), -1.0)
        level.for_others(size, turn)
        return context.get_dummy_value()

    return signature, generate


class _Level:
    """The coordinates of a level and its wavelet, in the code being generated."""

    def __init__(self, context, builder, groups, weights):
        self.builder = builder
        self.zero = ir.Constant(context.get_value_type(types.intp), 0)
        self.groups, self.first = self._data(context, *groups)
        self.weights, self.entry = self._data(context, *weights)
        self.scalar = context.get_data_type(weights[0].dtype)

    def _data(self, context, kind, array, start):
        return context.make_array(kind)(context, self.builder, array).data, start

    def place(self, i, width):
        """Where the row of the i-th coordinate starts."""
        at = self.builder.gep(self.groups, [self.builder.add(self.first, i)])
        return self.builder.mul(self.builder.load(at), ir.Constant(self.zero.type, width))

    def weight(self, i):
        """The i-th entry of the wavelet."""
        at = self.builder.gep(self.weights, [self.builder.add(self.entry, i)])
        return self.builder.load(at)

    def for_others(self, size, body):
        """Generate a loop over all coordinates but the wavelet's own."""
        one = ir.Constant(self.zero.type, 1)
        with cgutils.for_range_slice(self.builder, one, size, one) as (i, _):
            body(i, self.weight(i))


class _Turned:
    """A tile whose rows are turned: sums and moves are kept in registers."""

    def __init__(self, level, rows, width):
        self.level, self.rows, self.width = level, rows, width
        self.builder = level.builder
        self.sums = [self._variable(rows.zero) for _ in range(rows.count)]
        self.moves = []

    def _variable(self, start):
        place = cgutils.alloca_once(self.builder, start.type)
        self.builder.store(start, place)
        return place

    def load(self, i):
        return self.rows.load(self.level.place(i, self.width))

    def add(self, i, weight):
        """Add a row to the sums."""
        factor = self.rows.broadcast(weight)
        for value, place in zip(self.load(i), self.sums, strict=True):
            total = self.rows.multiply_add(value, factor, self.builder.load(place))
            self.builder.store(total, place)

    def turn_own(self, sign):
        """Turn the wavelet's own row; what the others are moved by is known then."""
        builder, rows, level = self.builder, self.rows, self.level
        head = level.weight(level.zero)
        one = ir.Constant(level.scalar, 1.0)
        inverse = rows.broadcast(builder.fdiv(one, builder.fadd(one, head)))
        head, sign = rows.broadcast(head), rows.broadcast(sign)
        place = level.place(level.zero, self.width)
        turned = []
        for own, total in zip(rows.load(place), self.sums, strict=True):
            total = builder.load(total)
            turned.append(rows.multiply_add(head, own, builder.fmul(sign, total, flags=FLAGS)))
            signed = builder.fmul(sign, own, flags=FLAGS)
            self.moves.append(builder.fneg(rows.multiply_add(inverse, total, signed)))
        rows.store(turned, place)

    def turn(self, i, weight):
        """Move a row."""
        factor = self.rows.broadcast(weight)
        pairs = zip(self.load(i), self.moves, strict=True)
        moved = [self.rows.multiply_add(move, factor, value) for value, move in pairs]
        self.rows.store(moved, self.level.place(i, self.width))


def _gain(builder, tiles, values, target, sign):
    """Add ``sign * sum v f(y) - y f(v)`` to a number in memory."""
    y, v = tiles
    total = y.rows.zero
    for own, other, move, turn in zip(*values, y.moves, v.moves, strict=True):
        total = y.rows.multiply_add(other, move, total)
        total = y.rows.multiply_add(builder.fneg(own), turn, total)
    number = add_lanes(builder, [total], y.rows.lanes)[0]
    number = builder.fmul(ir.Constant(number.type, sign), number, flags=FLAGS)
    builder.store(builder.fadd(builder.load(target), number, flags=FLAGS), target)
