"""The operations of `wavemmf.kernels.simd` in NumPy, for runs without a compiler.

With ``NUMBA_DISABLE_JIT=1`` kernels run as plain Python, but vector instructions exist in compiled
code only. `install` puts these in their place, so that every other kernel can be run, watched and
changed line by line.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

import numpy as np

import wavemmf.kernels

Array = np.ndarray


def copy_row(source: Array, at: int, out: Array, place: int, columns: int) -> None:
    out.reshape(-1)[_row(place, columns)] = source.reshape(-1)[_row(at, columns)]


def add_multiple(rows: Array, at: int, factor: float, place: int, columns: int) -> None:
    rows[_row(place, columns)] += factor * rows[_row(at, columns)]


def add_and_multiply(out: Array, weight: float, vector: Array, following: Array) -> float:
    out += weight * vector
    return float(out @ following)


def multiply_rows(
    source: Array, size: int, weights: Array, entry: int, row_step: int, step: int,
    out: Array, places: Sequence[int], columns: int,
) -> None:  # fmt: skip
    rows = source[: int(size) * columns].reshape(int(size), columns)
    for number, place in enumerate(places):
        first = int(entry) + number * int(row_step)
        out[_row(place, columns)] = weights[first + int(step) * np.arange(int(size))] @ rows


def transpose_square(
    source: Array, at: int, step: int, out: Array, place: int, out_step: int, columns: int
) -> None:
    flat, lanes = out.reshape(-1), np.arange(columns)
    square = source.reshape(-1)[int(at) + int(step) * lanes[:, None] + lanes]
    flat[int(place) + int(out_step) * lanes[:, None] + lanes] = square.T


def cayley_block(
    skew: Array, at: int, half: float, blocks: Array, place: int,
    change: Array, out: Array, entry: int, columns: int,
) -> None:  # fmt: skip
    shape, square = (columns, columns), columns * columns
    x = skew[_row(at, square)].reshape(shape)
    block = blocks[_row(place, square)].reshape(shape)
    identity = np.eye(columns, dtype=x.dtype)
    turned = np.linalg.solve(identity - half * x, 2 * half * x)
    moved = block + turned @ block
    change[_row(entry, square)] = turned.ravel()
    polished = 1.5 * moved - 0.5 * moved @ moved.T @ moved
    out[_row(entry, square)] = polished.ravel()


def turn_block(
    x: Array, buffer: Array, groups: Array, first: int, size: int, blocks: Array, entry: int,
    forward: bool, columns: int,
) -> None:  # fmt: skip
    block = blocks[_row(entry, size * size)].reshape(size, size)
    rows, group = x.reshape(-1, columns), groups[first : first + size]
    rows[group] = (block if forward else block.T) @ rows[group]


def add_products(
    y: Array, v: Array, groups: Array, first: int, size: int, out: Array, entry: int, lower: bool,
    columns: int,
) -> None:  # fmt: skip
    group = groups[first : first + size]
    products = y.reshape(-1, columns)[group] @ v.reshape(-1, columns)[group].T
    out[_row(entry, size * size)] += (np.tril(products, -1) if lower else products).ravel()


def turn_plane(
    x: Array, groups: Array, first: int, size: int, weights: Array, entry: int, sign: float,
    columns: int,
) -> None:  # fmt: skip
    _moved(x, groups[first : first + size], weights[entry : entry + size], sign, columns)


def carry_plane(
    y: Array, v: Array, groups: Array, first: int, size: int, weights: Array, entry: int,
    out: Array, columns: int,
) -> None:  # fmt: skip
    group, wavelet = groups[first : first + size], weights[entry : entry + size]
    before = [tile.reshape(-1, columns)[group] for tile in (y, v)]
    move_y, move_v = (_moved(tile, group, wavelet, -1.0, columns) for tile in (y, v))
    gained = before[1] @ move_y - before[0] @ move_v
    gained[0] *= -1.0
    out[entry : entry + size] += gained


def _moved(x: Array, group: Array, wavelet: Array, sign: float, columns: int) -> Array:
    """Turn the rows of a group, and return what all but the first are moved by."""
    rows = x.reshape(-1, columns)
    own, along = rows[group[0]].copy(), wavelet[1:] @ rows[group[1:]]
    move = -(sign * own + along / (1.0 + wavelet[0]))
    rows[group[0]] = wavelet[0] * own + sign * along
    rows[group[1:]] += np.outer(wavelet[1:], move)
    return move


def _row(start: int, length: int) -> slice:
    return slice(int(start), int(start) + length)


PLAIN = (
    add_and_multiply, add_multiple, add_products, carry_plane, cayley_block, copy_row,
    multiply_rows, transpose_square, turn_block, turn_plane,
)  # fmt: skip


def install() -> None:
    """Put the plain operations in place of the vector instructions, in all kernels."""
    for found in pkgutil.iter_modules(wavemmf.kernels.__path__):
        module = importlib.import_module(f"wavemmf.kernels.{found.name}")
        for function in PLAIN:
            if hasattr(module, function.__name__):
                setattr(module, function.__name__, function)
