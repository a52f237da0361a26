"""Vector instructions for the rows of a tile: copy, add, multiply by a block, scalar products.

Written as plain loops these are correct but two to three times slower: the compiler cannot know
that the rows do not overlap, tests it again for every short row, keeps sums in memory, and calls
a library routine to copy 32 numbers. Here the generated code says what is meant: a row is a few
vectors, sums stay in registers. LLVM splits the vectors on processors with shorter ones.

A tile is a flat array whose rows have `columns` entries, a constant known when a kernel is compiled
(an integer literal in the source, passed through inlined functions). Positions are unsigned.
"""

from __future__ import annotations

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from ._vector_code import FLAGS, INDEX, LANE, Rows, add_lanes, counter, exchange, fused_vectors

__all__ = [
    "LANES",
    "add_and_multiply",
    "add_multiple",
    "cayley_block",
    "copy_row",
    "fused",
    "multiply_rows",
    "transpose_square",
]

#: Arrays for `add_and_multiply` have a multiple of this many entries.
LANES = 32


@intrinsic
def _fused_numbers(typingctx, a, b, c):
    """``a * b + c`` of numbers, rounded once; a loop of them is turned into vectors."""
    signature = types.float64(types.float64, types.float64, types.float64)

    def generate(context, builder, signature, arguments):
        number = ir.DoubleType()
        function = builder.module.globals.get("llvm.fma.f64")
        if function is None:
            kind = ir.FunctionType(number, [number] * 3)
            function = ir.Function(builder.module, kind, "llvm.fma.f64")
        return builder.call(function, arguments)

    return signature, generate


def _product_and_sum(a, b, c):
    return a * b + c


# Without a compiler kernels run as plain Python, for tests: their digits are their own then.
fused = _product_and_sum if config.DISABLE_JIT else _fused_numbers


@intrinsic(prefer_literal=True)
def copy_row(typingctx, source, at, out, place, columns):
    """``out[place : place + columns] = source[at : at + columns]``."""
    signature = types.void(source, types.uint64, out, types.uint64, columns)
    width = columns.literal_value

    def generate(context, builder, signature, arguments):
        source, at, out, place, _ = arguments
        values = Rows(context, builder, signature.args[0], source, width).load(at)
        Rows(context, builder, signature.args[2], out, width).store(values, place)
        return context.get_dummy_value()

    return signature, generate


@intrinsic(prefer_literal=True)
def add_multiple(typingctx, rows, at, factor, place, columns):
    """``rows[place : place + columns] += factor * rows[at : at + columns]``."""
    signature = types.void(rows, types.uint64, rows.dtype, types.uint64, columns)
    width = columns.literal_value

    def generate(context, builder, signature, arguments):
        rows, at, factor, place, _ = arguments
        x = Rows(context, builder, signature.args[0], rows, width)
        weight = x.broadcast(factor)
        pairs = zip(x.load(at), x.load(place), strict=True)
        x.store([x.multiply_add(value, weight, total) for value, total in pairs], place)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def add_and_multiply(typingctx, out, weight, vector, following):
    """``out += weight * vector``; returns the scalar product of `out` with the following vector.

    The arrays are of double precision and filled up with zeros to a multiple of `LANES`. They are
    read once, and the sums of several vectors run side by side.
    """
    signature = types.float64(out, types.float64, vector, following)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        x = Rows(context, builder, kinds[0], arguments[0], LANES)
        v = Rows(context, builder, kinds[2], arguments[2], LANES)
        f = Rows(context, builder, kinds[3], arguments[3], LANES)
        size = context.make_array(kinds[0])(context, builder, arguments[0]).nitems
        factor = x.broadcast(arguments[1])
        before = builder.block
        loop = builder.append_basic_block("entries")
        after = builder.append_basic_block("done")
        builder.branch(loop)

        builder.position_at_end(loop)
        at = counter(builder, before, ir.Constant(INDEX, 0))
        sums = [counter(builder, before, x.zero) for _ in range(x.count)]
        pairs = zip(v.load(at), x.load(at), strict=True)
        moved = [x.multiply_add(value, factor, total) for value, total in pairs]
        x.store(moved, at)
        totals = []
        for value, other, total in zip(moved, f.load(at), sums, strict=True):
            totals.append(x.multiply_add(value, other, total))
            total.add_incoming(totals[-1], loop)
        next_place = builder.add(at, ir.Constant(INDEX, LANES))
        at.add_incoming(next_place, loop)
        builder.cbranch(builder.icmp_signed("<", next_place, size), loop, after)

        builder.position_at_end(after)
        while len(totals) > 1:
            half = len(totals) // 2
            pairs = zip(totals[:half], totals[half:], strict=True)
            totals = [builder.fadd(a, b, flags=FLAGS) for a, b in pairs]
        return add_lanes(builder, totals, x.lanes)[0]

    return signature, generate


@intrinsic(prefer_literal=True)
def cayley_block(typingctx, skew, at, half, blocks, place, change, out, entry, columns):
    """Move one square block along its Cayley curve, as `wavemmf.kernels.stiefel` explains.

    X has `columns` rows and starts at ``skew[at]``, the block O at ``blocks[place]``. What O is
    multiplied by, less the identity, goes to ``change[entry]``, and what becomes of it to
    ``out[entry]``. Everything in between stays in registers: through memory each step of the
    elimination would wait for the one before.
    """
    signature = types.void(
        skew, types.uint64, skew.dtype, blocks, types.uint64, change, out, types.uint64, columns
    )
    width = columns.literal_value

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        skew, at, half, blocks, place, change, out, entry, _ = arguments
        x = _Square(context, builder, kinds[0].dtype, width)
        turned = x.solve(x.load(kinds[0], skew, at), half)
        x.store(turned, kinds[5], change, entry)
        block = x.load(kinds[3], blocks, place)
        moved = x.product(turned, block, block)
        # Newton's step is O (3 - O^T O) / 2.
        gram = x.product(x.scaled(moved, -0.5), moved, x.identity(1.5), transposed=True)
        x.store(x.product(moved, gram), kinds[6], out, entry)
        return context.get_dummy_value()

    return signature, generate


class _Square:
    """Arithmetic with small square matrices held as one vector per row."""

    def __init__(self, context, builder, dtype, width):
        self.context = context
        self.builder = builder
        self.width = width
        self.scalar = context.get_data_type(dtype)
        self.bytes = dtype.bitwidth // 8
        self.vector = ir.VectorType(self.scalar, width)

    def load(self, kind, array, position):
        places = self._addresses(kind, array, position)
        return [self.builder.load(address, align=self.bytes) for address in places]

    def store(self, rows, kind, array, position):
        for row, address in zip(rows, self._addresses(kind, array, position), strict=True):
            self.builder.store(row, address, align=self.bytes)

    def identity(self, factor):
        """The identity times a number."""
        lanes = range(self.width)
        return [ir.Constant(self.vector, [factor if a == b else 0.0 for b in lanes]) for a in lanes]

    def scaled(self, rows, factor):
        weight = ir.Constant(self.vector, [factor] * self.width)
        return [self._times(weight, row) for row in rows]

    def product(self, weights, rows, start=None, transposed=False):
        """``weights @ rows + start``, or with the weights transposed."""
        result = []
        for a in range(self.width):
            total = None if start is None else start[a]
            for b in range(self.width):
                row, lane = (b, a) if transposed else (a, b)
                weight = self._lane(weights[row], lane)
                total = self._sum_of_products(weight, rows[b], total)
            result.append(total)
        return result

    def solve(self, x, half):
        """``(I - half X)^{-1} 2 half X`` by elimination without exchanges."""
        builder, width = self.builder, self.width
        step = self._everywhere(builder.fadd(half, half))
        minus = self._everywhere(builder.fneg(half))
        left = [
            self._sum_of_products(minus, own, row)
            for row, own in zip(self.identity(1.0), x, strict=True)
        ]
        right = [self._times(step, row) for row in x]
        inverses = []
        for p in range(width):
            pivot = builder.extract_element(left[p], ir.Constant(LANE, p))
            inverse = builder.fdiv(ir.Constant(self.scalar, -1.0), pivot)
            inverses.append(self._everywhere(inverse))
            for a in range(p + 1, width):
                factor = self._times(self._lane(left[a], p), inverses[p])
                left[a] = self._sum_of_products(factor, left[p], left[a])
                right[a] = self._sum_of_products(factor, right[p], right[a])
        for p in range(width - 1, -1, -1):
            # Minus the row of the result, until the end: it is what the others need.
            right[p] = self._times(inverses[p], right[p])
            for a in range(p):
                right[a] = self._sum_of_products(self._lane(left[a], p), right[p], right[a])
        return [builder.fneg(row) for row in right]

    def _lane(self, vector, lane):
        """One entry of a vector in all places."""
        mask = ir.Constant(ir.VectorType(LANE, self.width), [lane] * self.width)
        return self.builder.shuffle_vector(vector, vector, mask)

    def _everywhere(self, value):
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, value, ir.Constant(LANE, 0))
        return self._lane(first, 0)

    def _times(self, a, b):
        return self.builder.fmul(a, b, flags=FLAGS)

    def _sum_of_products(self, a, b, total):
        return self._times(a, b) if total is None else fused_vectors(self.builder, a, b, total)

    def _addresses(self, kind, array, position):
        builder = self.builder
        data = self.context.make_array(kind)(self.context, builder, array).data
        for row in range(self.width):
            at = builder.add(position, ir.Constant(INDEX, row * self.width))
            yield builder.bitcast(builder.gep(data, [at]), self.vector.as_pointer())


@intrinsic(prefer_literal=True)
def multiply_rows(
    typingctx, source, size, weights, entry, row_step, step, out, places, columns
):  # fmt: skip
    """A few rows of a product: ``out[places[r]] = sum_i weights[r, i] source[i]``.

    `source` holds `size` rows back to back, ``weights[r, i]`` stands at
    ``entry + r * row_step + i * step``, and ``out[p]`` is the row that starts at p.
    """
    signature = types.void(
        source, types.uint64, weights, types.uint64, types.uint64, types.uint64, out, places,
        columns,
    )  # fmt: skip
    width = columns.literal_value
    rows = places.count

    def generate(context, builder, signature, arguments):
        source, size, weights, entry, row_step, step, out, places, _ = arguments
        kinds = signature.args
        x = Rows(context, builder, kinds[0], source, width)
        w = Rows(context, builder, kinds[2], weights, 1)
        before = builder.block
        loop = builder.append_basic_block("rows")
        after = builder.append_basic_block("done")
        builder.branch(loop)

        builder.position_at_end(loop)
        count = counter(builder, before, ir.Constant(INDEX, 0))
        row = counter(builder, before, ir.Constant(INDEX, 0))
        weight = counter(builder, before, entry)
        sums = [[counter(builder, before, x.zero) for _ in range(x.count)] for _ in range(rows)]
        values = x.load(row)
        at = weight
        totals = []
        for old in sums:
            factor = x.broadcast(w.scalar(at))
            totals.append([x.multiply_add(v, factor, s) for v, s in zip(values, old, strict=True)])
            at = builder.add(at, row_step)
        following = builder.add(count, ir.Constant(INDEX, 1))
        count.add_incoming(following, loop)
        row.add_incoming(builder.add(row, ir.Constant(INDEX, width)), loop)
        weight.add_incoming(builder.add(weight, step), loop)
        for old, new in zip(sums, totals, strict=True):
            for s, total in zip(old, new, strict=True):
                s.add_incoming(total, loop)
        builder.cbranch(builder.icmp_unsigned("<", following, size), loop, after)

        builder.position_at_end(after)
        result = Rows(context, builder, kinds[6], out, width)
        for r, total in enumerate(totals):
            result.store(total, builder.extract_value(places, r))
        return context.get_dummy_value()

    return signature, generate


@intrinsic(prefer_literal=True)
def transpose_square(typingctx, source, at, step, out, place, out_step, columns):
    """Transpose a square of `columns` by `columns` entries, a power of two.

    Row i of the square starts at ``source[at + i * step]``, its transpose at
    ``out[place + i * out_step]``.
    """
    signature = types.void(
        source, types.uint64, types.uint64, out, types.uint64, types.uint64, columns
    )
    width = columns.literal_value

    def generate(context, builder, signature, arguments):
        source, at, step, out, place, out_step, _ = arguments
        x = Rows(context, builder, signature.args[0], source, width)
        result = Rows(context, builder, signature.args[3], out, width)
        rows = []
        for _ in range(width):
            rows.append(x.load(at)[0])
            at = builder.add(at, step)
        distance = 1
        while distance < width:
            rows = exchange(builder, rows, distance)
            distance *= 2
        for row in rows:
            result.store([row], place)
            place = builder.add(place, out_step)
        return context.get_dummy_value()

    return signature, generate
