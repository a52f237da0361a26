"""Vector instructions for full blocks: the rows of a tile, multiplied by a block.

A few rows of the product are added up in registers, over a few columns at a time: each vector that
is read is used for all of those rows, and each weight for all of those columns. How many fit
depends on the processor; every sum is added up in the same order whatever they are, so the
result is the same to the last bit.
"""

from __future__ import annotations

from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from ._vector_code import FLAGS, LANE, Rows

__all__ = ["add_products", "turn_block"]


def _has_long_vectors() -> bool:
    """Whether kernels are compiled for a processor with 32 registers of 64 bytes."""
    if config.CPU_NAME not in (None, "", "host"):
        return False
    return bool(binding.get_host_cpu_features().get("avx512f", False))


# Rows and bytes of columns whose sums are kept in registers, next to what they are made of.
_ROWS, _COLUMN_BYTES = (8, 128) if _has_long_vectors() else (4, 64)
# Rows of both tiles whose products are added up side by side.
_LEFT, _RIGHT = (4, 4) if _has_long_vectors() else (1, 4)


@intrinsic(prefer_literal=True)
def turn_block(
    typingctx, x, buffer, groups, first, size, blocks, entry, forward, columns
):  # fmt: skip
    """Multiply the rows ``groups[first : first + size]`` of the tile by the block at `entry`.

    Forward applies the block, backward its transpose. `buffer` has room for the rows of a group.
    """
    signature = types.void(
        x, buffer, groups, types.intp, types.intp, blocks, types.intp, types.boolean, columns
    )
    width = columns.literal_value

    def generate(context, builder, signature, arguments):
        x, buffer, groups, first, size, blocks, entry, forward, _ = arguments
        kinds = signature.args
        part = min(width, _COLUMN_BYTES * 8 // kinds[0].dtype.bitwidth)
        one = ir.Constant(size.type, 1)
        group = _Group(context, builder, (kinds[2], groups), first, size, width)
        turn = _Turn(
            group,
            Rows(context, builder, kinds[0], x, part),
            Rows(context, builder, kinds[1], buffer, part),
            Rows(context, builder, kinds[5], blocks, 1),
        )
        turn.entry = entry
        turn.row_step = builder.select(forward, size, one)
        turn.step = builder.select(forward, one, size)
        with _loop(builder, 0, width, part) as group.offset:
            turn.turn()
        return context.get_dummy_value()

    return signature, generate


@intrinsic(prefer_literal=True)
def add_products(typingctx, y, v, groups, first, size, out, entry, lower, columns):
    """Add the scalar products of the rows of a group in two tiles to the block ``out[entry]``.

    Row a and column b of the block belong to row a in `y` and row b in `v`. With `lower` only
    what is below the diagonal is wanted, and the rest stays as it is.
    """
    signature = types.void(
        y, v, groups, types.intp, types.intp, out, types.intp, types.boolean, columns
    )
    width = columns.literal_value

    def generate(context, builder, signature, arguments):
        y, v, groups, first, size, out, entry, lower, _ = arguments
        kinds = signature.args
        group = _Group(context, builder, (kinds[2], groups), first, size, width)
        products = _Products(
            group,
            Rows(context, builder, kinds[0], y, width),
            Rows(context, builder, kinds[1], v, width),
            Rows(context, builder, kinds[5], out, 1),
            entry,
        )
        with _loop(builder, 0, size, _LEFT) as a:
            last = builder.add(a, _number(_LEFT))
            stop = builder.select(lower, _smaller(builder, last, size), size)
            with _loop(builder, 0, stop, _RIGHT) as b:
                products.add(a, b, lower)
        return context.get_dummy_value()

    return signature, generate


class _Group:
    """The coordinates of a level, and where their rows are in a tile."""

    def __init__(self, context, builder, groups, first, size, width):
        self.builder, self.first, self.size, self.width = builder, first, size, width
        self._data = context.make_array(groups[0])(context, builder, groups[1]).data
        self.offset = _number(0)

    def place(self, i):
        """Where the columns of the i-th row begin."""
        at = self.builder.gep(self._data, [self.builder.add(self.first, i)])
        row = self.builder.mul(self.builder.load(at), _number(self.width))
        return self.builder.add(row, self.offset)


class _Turn:
    """One level is turned, in the code being generated."""

    def __init__(self, group, x, buffer, weights):
        self.builder, self.size, self.place = group.builder, group.size, group.place
        self.x, self.buffer, self.weights = x, buffer, weights

    def turn(self):
        """Replace the rows of the group, in a few columns."""
        builder = self.builder
        whole = builder.icmp_signed("==", self.size, _number(_ROWS))
        with builder.if_else(whole) as (then, otherwise):
            with then:
                # All sums are in registers before the first row is written.
                self._product(_number(0), _ROWS, lambda i: self.x.load(self.place(i)))
            with otherwise:
                self._turn_through_buffer()

    def _turn_through_buffer(self):
        part = self.x.lanes * self.x.count
        builder = self.builder

        def place(i):
            return builder.mul(i, _number(part))

        with _loop(builder, 0, self.size, 1) as i:
            self.buffer.store(self.x.load(self.place(i)), place(i))
        done = _number(0)
        for rows in (_ROWS, 4, 1):
            if rows == 4 and _ROWS == 4:
                continue
            rest = builder.and_(builder.sub(self.size, done), _number(-rows))
            stop = builder.add(done, rest)
            with _loop(builder, done, stop, rows) as a:
                self._product(a, rows, lambda i: self.buffer.load(place(i)))
            done = stop

    def _product(self, a, rows, load):
        """Write the rows ``a : a + rows`` of the product of the block with what is loaded."""
        builder, x = self.builder, self.x
        sums = [[_variable(builder, x.zero) for _ in range(x.count)] for _ in range(rows)]
        start = builder.add(self.entry, builder.mul(a, self.row_step))
        with _loop(builder, 0, self.size, 1) as i:
            values = load(i)
            at = builder.add(start, builder.mul(i, self.step))
            for own in sums:
                factor = x.broadcast(self.weights.scalar(at))
                for place, value in zip(own, values, strict=True):
                    total = x.multiply_add(value, factor, builder.load(place))
                    builder.store(total, place)
                at = builder.add(at, self.row_step)
        for r, own in enumerate(sums):
            place = self.place(builder.add(a, _number(r)))
            x.store([builder.load(total) for total in own], place)


class _Products:
    """Scalar products of the rows of two tiles, in the code being generated."""

    def __init__(self, group, y, v, out, entry):
        self.builder, self.group = group.builder, group
        self.y, self.v, self.out, self.entry = y, v, out, entry
        scalar = y.zero.type.element
        self._found = cgutils.alloca_once(self.builder, ir.ArrayType(scalar, _LEFT * _RIGHT))
        self._scalar = scalar

    def add(self, a, b, lower):
        """Add the products of some rows from a on and some rows from b on."""
        builder, size = self.builder, self.group.size
        sums = self._sums(self._rows(self.y, a, _LEFT), self._rows(self.v, b, _RIGHT))
        place = 0
        for vector in sums:
            target = builder.gep(self._found, [_number(0), _number(place)])
            pointer = builder.bitcast(target, vector.type.as_pointer())
            builder.store(vector, pointer, align=self.y.bytes)
            place += vector.type.count
        with _loop(builder, 0, _smaller(builder, builder.sub(size, a), _number(_LEFT)), 1) as r:
            row = builder.add(a, r)
            stop = builder.select(lower, row, size)
            count = _smaller(builder, builder.sub(stop, b), _number(_RIGHT))
            with _loop(builder, 0, count, 1) as c:
                at = builder.add(builder.mul(r, _number(_RIGHT)), c)
                own = builder.load(builder.gep(self._found, [_number(0), at]))
                at = builder.add(builder.mul(row, size), builder.add(b, c))
                target = builder.gep(self.out.data, [builder.add(self.entry, at)])
                builder.store(builder.fadd(builder.load(target), own, flags=FLAGS), target)

    def _rows(self, tile, a, count):
        """Some rows; behind the end of the group the last one is repeated."""
        last = self.builder.sub(self.group.size, _number(1))
        numbers = [self.builder.add(a, _number(r)) for r in range(count)]
        return [tile.load(self.group.place(_smaller(self.builder, i, last))) for i in numbers]

    def _sums(self, left, right):
        totals = [[self.y.zero] * _RIGHT for _ in left]
        for part in range(self.y.count):
            for r, own in enumerate(left):
                for c, other in enumerate(right):
                    totals[r][c] = self.y.multiply_add(own[part], other[part], totals[r][c])
        return _sums_of_lanes(self.builder, [total for row in totals for total in row])


def _sums_of_lanes(builder, vectors):
    """Add up the lanes of each vector, halves first; the sums in order, as few vectors.

    Two vectors share a register as soon as half of each is left.
    """
    numbers, width = 1, vectors[0].type.count
    while width > 1:
        pairs = [
            (vectors[i], vectors[-1] if len(vectors) == 1 else vectors[i + 1])
            for i in range(0, len(vectors), 2)
        ]
        count = numbers if len(vectors) == 1 else 2 * numbers
        half = width // 2
        low = [number * width + lane for number in range(count) for lane in range(half)]
        masks = [
            ir.Constant(ir.VectorType(LANE, len(low)), [lane + shift for lane in low])
            for shift in (0, half)
        ]
        vectors = [
            builder.fadd(*(builder.shuffle_vector(*pair, mask) for mask in masks), flags=FLAGS)
            for pair in pairs
        ]
        numbers, width = count, half
    return vectors


def _loop(builder, start, stop, step):
    """Generate a loop; gives the counter."""
    numbers = [_number(value) for value in (start, stop, step)]
    return _Counter(cgutils.for_range_slice(builder, *numbers))


class _Counter:
    def __init__(self, loop):
        self._loop = loop

    def __enter__(self):
        return self._loop.__enter__()[0]

    def __exit__(self, *error):
        return self._loop.__exit__(*error)


def _number(value):
    return ir.Constant(ir.IntType(64), value) if isinstance(value, int) else value


def _smaller(builder, a, b):
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _variable(builder, start):
    place = cgutils.alloca_once(builder, start.type)
    builder.store(start, place)
    return place
