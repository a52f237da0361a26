"""Whole numbers to bytes and back: an adaptive binary range coder, in whole numbers throughout.

A number is coded as the length of its magnitude in bits, one after the other (is it longer than 0,
than 1, ...), each with a probability that adapts to what came before in the same context; then its
bits below the first, and its sign. The result is the same on every machine.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit

__all__ = ["CONTEXTS", "LONGEST", "decode_numbers", "encode_numbers"]

#: Contexts of a number: lengths of four others, cut off at 3, 2, 2 and 2.
CONTEXTS = 4 * 3 * 3 * 3
#: Longest magnitude, in bits.
LONGEST = 31

# Probabilities are in units of 2^-15. Two of them adapt, one quickly and one slowly, and their mean
# is what counts: it is never nearer to 0 or 1 than 1/1024, so a bit costs at least 1/710 bits.
_BITS = 15
_QUICK, _SLOW = 4, 7
_LEAST = 32
# The range is kept above 2^24 in 32 bits, as in the coder of LZMA.
_TOP, _WORD = 1 << 24, (1 << 32) - 1
# Where a coder keeps its numbers.
_LOW, _RANGE, _CACHE, _WAITING, _POSITION = 0, 1, 2, 3, 4
# Models of one context: one for every length, one for the first bit below the leading one at every
# length, one for whether a level sets a coordinate aside at lengths 1, 2 and more, and one for
# which it is.
_FIRST_BIT, _ASIDE, _WHICH = LONGEST + 1, 2 * LONGEST + 2, 2 * LONGEST + 6
_MODELS = 2 * LONGEST + 7
# Bytes that one number can take, and then some.
_ROOM = 64


@jit
def _probability(models, context, model):
    """Probability of a zero, of 2^15."""
    mean = (models[0, context, model] + models[1, context, model]) >> 1
    return min(max(mean, _LEAST), (1 << _BITS) - _LEAST)


@jit
def _adapt(models, context, model, bit):
    target = 0 if bit else 1 << _BITS
    quick, slow = models[0, context, model], models[1, context, model]
    models[0, context, model] = quick + ((target - quick) >> _QUICK)
    models[1, context, model] = slow + ((target - slow) >> _SLOW)


@jit
def _shift_out(coder, out):
    """Write the top byte, once it is known whether a carry reaches it."""
    low = coder[_LOW]
    if low < 0xFF000000 or low > _WORD:
        carry = low >> 32
        while coder[_WAITING] > 0:
            out[coder[_POSITION]] = (coder[_CACHE] + carry) & 0xFF
            coder[_POSITION] += 1
            coder[_CACHE] = 0xFF
            coder[_WAITING] -= 1
        coder[_CACHE] = (low >> 24) & 0xFF
    coder[_WAITING] += 1
    coder[_LOW] = (low & 0x00FFFFFF) << 8


@jit
def _encode(coder, out, bit, zero, total_bits):
    """Code a bit whose probability of zero is ``zero / 2^total_bits``."""
    bound = (coder[_RANGE] >> total_bits) * zero
    if bit:
        coder[_LOW] += bound
        coder[_RANGE] -= bound
    else:
        coder[_RANGE] = bound
    while coder[_RANGE] < _TOP:
        coder[_RANGE] <<= 8
        _shift_out(coder, out)


@jit
def _decode(coder, data, zero, total_bits):
    """The bit that `_encode` was given; past the end of the data there are zeros."""
    bound = (coder[_RANGE] >> total_bits) * zero
    bit = 1 if coder[_LOW] >= bound else 0
    if bit:
        coder[_LOW] -= bound
        coder[_RANGE] -= bound
    else:
        coder[_RANGE] = bound
    while coder[_RANGE] < _TOP:
        coder[_RANGE] <<= 8
        byte = data[coder[_POSITION]] if coder[_POSITION] < data.size else 0
        coder[_POSITION] += 1
        coder[_LOW] = ((coder[_LOW] << 8) | byte) & _WORD
    return bit


@jit
def _encode_modelled(coder, out, models, context, model, bit):
    _encode(coder, out, bit, _probability(models, context, model), _BITS)
    _adapt(models, context, model, bit)


@jit
def _decode_modelled(coder, data, models, context, model):
    bit = _decode(coder, data, _probability(models, context, model), _BITS)
    _adapt(models, context, model, bit)
    return bit


@jit
def _length(number):
    """Bits of a magnitude."""
    magnitude, length = abs(number), 0
    while magnitude > 0:
        magnitude >>= 1
        length += 1
    return length


@jit
def _context(numbers, parents, i, s, sibling):
    """What is known already: the parent, its parent, the sibling, and the signal before."""
    parent = parents[i]
    near = grand = 0
    if parent >= 0:
        near = _length(numbers[parent, s])
        if parents[parent] >= 0:
            grand = _length(numbers[parents[parent], s])
    other = 0 if sibling < 0 else _length(numbers[sibling, s])
    before = 0 if s == 0 else _length(numbers[i, s - 1])
    return ((min(near, 3) * 3 + min(grand, 2)) * 3 + min(other, 2)) * 3 + min(before, 2)


@jit
def _new_models():
    # One more context for all that has to do with coordinates set aside.
    return np.full((2, CONTEXTS + 1, _MODELS), 1 << (_BITS - 1), np.int64)


@jit
def _encode_number(coder, out, models, context, number):
    length = _length(number)
    for i in range(LONGEST):
        _encode_modelled(coder, out, models, context, i, 1 if length > i else 0)
        if length <= i:
            break
    magnitude = abs(number)
    for i in range(length - 2, -1, -1):
        bit = (magnitude >> i) & 1
        if i == length - 2:
            _encode_modelled(coder, out, models, context, _FIRST_BIT + length, bit)
        else:
            _encode(coder, out, bit, 1, 1)
    if length:
        _encode(coder, out, 1 if number < 0 else 0, 1, 1)
    return length


@jit
def _decode_number(coder, data, models, context):
    length = 0
    while length < LONGEST and _decode_modelled(coder, data, models, context, length):
        length += 1
    magnitude = 1 if length else 0
    for i in range(length - 2, -1, -1):
        if i == length - 2:
            bit = _decode_modelled(coder, data, models, context, _FIRST_BIT + length)
        else:
            bit = _decode(coder, data, 1, 1)
        magnitude = 2 * magnitude + bit
    if length and _decode(coder, data, 1, 1):
        return -magnitude
    return magnitude


@jit
def _largest_length(numbers, i):
    longest = 0
    for s in range(numbers.shape[1]):
        longest = max(longest, _length(numbers[i, s]))
    return longest


@jit
def encode_numbers(numbers, parents, choices, choosing):
    """Code numbers (n, m), one row after the other; ``parents[i]`` is an earlier row, or -1.

    If `choosing`, a row that is not all zero is followed by ``choices[i]``, which is 0, 1 or 2.
    Magnitudes must be below ``2^LONGEST``. Returns the bytes.
    """
    rows, signals = numbers.shape
    coder = np.zeros(5, np.int64)
    coder[_RANGE], coder[_WAITING] = _WORD, 1
    out = np.empty(4096, np.uint8)
    models = _new_models()
    children = np.full(rows, -1, np.int64)
    for i in range(rows):
        sibling = children[parents[i]] if parents[i] >= 0 else -1
        for s in range(signals):
            if coder[_POSITION] + coder[_WAITING] + _ROOM > out.size:
                larger = np.empty(2 * (out.size + coder[_WAITING] + _ROOM), np.uint8)
                larger[: out.size] = out
                out = larger
            context = _context(numbers, parents, i, s, sibling)
            _encode_number(coder, out, models, context, numbers[i, s])
        longest = _largest_length(numbers, i)
        if choosing and longest:
            aside = 1 if choices[i] else 0
            _encode_modelled(coder, out, models, CONTEXTS, _ASIDE + min(longest, 3), aside)
            if aside:
                _encode_modelled(coder, out, models, CONTEXTS, _WHICH, choices[i] - 1)
        if parents[i] >= 0:
            children[parents[i]] = i
    for _ in range(5):
        _shift_out(coder, out)
    return out[1 : coder[_POSITION]].copy()  # the first byte is always zero


@jit
def decode_numbers(data, parents, signals, choosing):
    """The numbers and choices that `encode_numbers` was given."""
    rows = parents.size
    numbers = np.zeros((rows, signals), np.int64)
    choices = np.zeros(rows, np.int64)
    coder = np.zeros(5, np.int64)
    coder[_RANGE] = _WORD
    for _ in range(4):
        byte = data[coder[_POSITION]] if coder[_POSITION] < data.size else 0
        coder[_LOW] = (coder[_LOW] << 8) | byte
        coder[_POSITION] += 1
    models = _new_models()
    children = np.full(rows, -1, np.int64)
    for i in range(rows):
        sibling = children[parents[i]] if parents[i] >= 0 else -1
        for s in range(signals):
            context = _context(numbers, parents, i, s, sibling)
            numbers[i, s] = _decode_number(coder, data, models, context)
        longest = _largest_length(numbers, i)
        aside = _ASIDE + min(longest, 3)
        if choosing and longest and _decode_modelled(coder, data, models, CONTEXTS, aside):
            choices[i] = 1 + _decode_modelled(coder, data, models, CONTEXTS, _WHICH)
        if parents[i] >= 0:
            children[parents[i]] = i
    return numbers, choices
