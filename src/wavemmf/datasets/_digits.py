"""Kernel matrices of handwritten digits."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._optional import require
from .._validation import check_integer, check_memory, check_positive
from ..errors import FileFormatError, InvalidInputError
from ..io._text import read_content
from ._folder import data_file

__all__ = ["digits_kernel", "mnist_kernel"]

# Least width of a kernel; the greatest is its inverse.
_NARROWEST = 1e-100


def digits_kernel(sigma: float = 1.0, n_per_class: int | None = None) -> NDArray[np.float64]:
    r"""Return the Gaussian kernel matrix of scikit-learn's 8x8 digits.

    .. math:: K_{ij} = \exp\left(-\|x_i - x_j\|^2 / (2 \sigma^2)\right)

    Parameters
    ----------
    sigma : float
        The width; pixels are scaled to [0, 1].
    n_per_class : int, optional
        Take the first so many images of each digit, zeros first; by default all 1797 images
        in their own order.

    Returns
    -------
    ndarray, shape (n, n)
        Symmetric, with unit diagonal.
    """
    sigma = _check_width(sigma)
    bunch = require("sklearn.datasets", extra="sklearn").load_digits()
    pixels, digits = np.asarray(bunch.data) / 16.0, np.asarray(bunch.target)
    if n_per_class is not None:
        pixels = pixels[_first_of_each(digits, "n_per_class", n_per_class)]
    return _gaussian_kernel(pixels, sigma)


def mnist_kernel(per_class: int = 100, sigma: float = 10.0) -> NDArray[np.float64]:
    r"""Return the Gaussian kernel matrix of images from the MNIST test set.

    .. math:: K_{ij} = \exp\left(-\|x_i - x_j\|^2 / (2 \sigma^2)\right)

    Parameters
    ----------
    per_class : int
        Take the first so many images of each digit, zeros first.
    sigma : float
        The width; pixels are scaled to [0, 1].

    Returns
    -------
    ndarray, shape (10 * per_class, 10 * per_class)
        Symmetric, with unit diagonal.
    """
    sigma = _check_width(sigma)
    digits = read_idx(data_file("mnist/t10k-labels-idx1-ubyte"), dimensions=1)
    chosen = _first_of_each(digits, "per_class", per_class)
    images = read_idx(data_file("mnist/t10k-images-idx3-ubyte"), dimensions=3)
    if len(images) != len(digits):
        raise FileFormatError(f"MNIST: {len(images)} images but {len(digits)} labels")
    return _gaussian_kernel(images[chosen].reshape(len(chosen), -1) / 255.0, sigma)


def _check_width(sigma: float) -> float:
    width = check_positive("sigma", sigma)
    if not _NARROWEST <= width <= 1.0 / _NARROWEST:  # its square must be a number
        raise InvalidInputError(
            f"sigma must be between {_NARROWEST:g} and {1.0 / _NARROWEST:g}, got {sigma!r}"
        )
    return width


def _gaussian_kernel(points: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    check_memory(24.0 * len(points) ** 2, f"a kernel matrix of order {len(points)}")
    # Imported here because scipy.spatial would add a third to the time of importing wavemmf.
    from scipy.spatial.distance import pdist, squareform

    squared = squareform(pdist(points, "sqeuclidean"))
    return np.asarray(np.exp(-squared / (2.0 * sigma**2)), dtype=np.float64)


def _first_of_each(digits: NDArray[np.integer], name: str, count: int) -> NDArray[np.intp]:
    count = check_integer(name, count, minimum=1)
    scarcest = int(np.bincount(digits, minlength=10).min())
    if count > scarcest:
        raise InvalidInputError(f"{name} must be at most {scarcest}, got {count}")
    return np.concatenate([np.flatnonzero(digits == digit)[:count] for digit in range(10)])


def read_idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """Read the IDX format of MNIST: a magic number, the shape, then bytes."""
    content = read_content(path)
    try:
        magic, *shape = struct.unpack_from(f">{1 + dimensions}I", content)
    except struct.error as error:
        raise FileFormatError(f"{path} is not a complete IDX file: {error}") from error
    start = 4 * (1 + dimensions)
    if magic != 0x0800 + dimensions or len(content) - start != math.prod(shape):
        raise FileFormatError(f"{path} is not an IDX file of bytes in {dimensions} dimensions")
    if 0 in shape:  # the other lengths may then be anything, more than an array can have
        raise FileFormatError(f"{path} is empty: its shape is {tuple(shape)}")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)
