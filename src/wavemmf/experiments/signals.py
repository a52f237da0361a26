"""Signals on graphs, the bases that wavelets are compared with, and the comparison."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._graph import Graph
from .._progress import Progress, silent
from ..datasets import data_file
from ..errors import FileFormatError, InvalidInputError, TooLargeError
from ..graphs import adjacency
from ..io._edgelist import read_edge_list
from ..io._text import read_text
from ..select import Diffusion
from ..signals import wavelets
from ._haar_walsh import (
    best_haar_walsh,
    bisections,
    haar_basis,
    halved_in_space,
    walsh_basis,
)
from ._signal_rivals import (
    eigenvector_basis,
    jacobi_basis,
    pursuit,
    spectral_frame,
    treelet_basis,
)

__all__ = [
    "BASES",
    "SHARES",
    "TORONTO_SIGNALS",
    "SignalRow",
    "compare_signals",
    "eigenvector_basis",
    "haar_basis",
    "halved_in_space",
    "read_signals",
    "toronto",
]

Floats = npt.NDArray[np.float64]

TORONTO_SIGNALS = ("pedestrians", "vehicles")

#: Shares of the coefficients at which errors are told.
SHARES = (0.05, 0.1, 0.2, 0.3)
# Bases that are dense, and their largest graphs.
_DENSE = 4096


@dataclass(frozen=True)
class SignalRow:
    """How few coefficients of one basis say a signal.

    Attributes
    ----------
    basis : str
        One of `BASES`.
    adapted : bool
        Whether the basis was chosen for the signal, or is a frame that a pursuit chooses from.
    errors : list of float
        Relative errors of the best terms at the `SHARES`, the mean of all signals.
    curve : list of float
        The same at 1, 2, ... 50 % of the coefficients.
    seconds, megabytes : float
        To make the basis: time, and the largest memory that Python had allocated.
    nonzeros : float or None
        Entries above 1e-3 of a basis vector, on average.
    """

    basis: str
    adapted: bool
    errors: list[float]
    curve: list[float]
    seconds: float
    megabytes: float
    nonzeros: float | None


@dataclass(frozen=True)
class _Made:
    """A basis made for a graph: squared errors of best terms, for each signal by its column."""

    tails: Callable[[Floats], Floats]
    nonzeros: float | None


def toronto() -> tuple[Graph, dict[str, Floats]]:
    """Return the street intersections of Toronto, and counts at each of them.

    Returns
    -------
    Graph
        2275 intersections at (longitude, latitude), 3381 streets of weight 1.
    dict
        The signals, by the names in `TORONTO_SIGNALS`.

    References
    ----------
    City of Toronto open data, as used by Saito, Irion and Shao for HGLET, GHWT and eGHWT.
    """
    coordinates = _numbers("signals/toronto.xy")
    edges = read_edge_list(data_file("signals/toronto.edges"), num_nodes=len(coordinates))
    graph = Graph(edges.adjacency, coordinates=coordinates, name="toronto")
    return graph, {name: _counts(f"signals/toronto.{name}", graph.n) for name in TORONTO_SIGNALS}


def _counts(name: str, n: int) -> Floats:
    found = _numbers(name)
    if found.shape != (n,):
        raise FileFormatError(
            f"{name} must hold {n} numbers, one a line; its shape is {found.shape}"
        )
    return found


def read_signals(path: Any) -> Floats:
    r"""Read signals from a text file: a line per vertex, a column per signal.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "heights.txt")
    ...     _ = file.write_text("1.5\n2\n")
    ...     read_signals(file)
    array([1.5, 2. ])
    """
    text = read_text(Path(path))
    if not text.strip():
        raise FileFormatError(f"{path} holds no numbers")
    try:
        values = np.loadtxt(text.splitlines(), comments=None)
    except ValueError as error:
        raise FileFormatError(f"{path} is not a table of numbers: {error}") from error
    if not np.isfinite(values).all():
        raise FileFormatError(f"{path} has numbers that are not finite")
    return values


def _numbers(name: str) -> Floats:
    return read_signals(data_file(name))


def _orthonormal(basis: Any) -> _Made:
    entries = np.abs(basis.data if sp.issparse(basis) else basis)
    return _Made(lambda x: _tails(basis @ x), float((entries > 1e-3).sum()) / basis.shape[0])


def _wavelets(k: int, **settings: Any) -> Callable[[Any], _Made]:
    def make(graph: Any) -> _Made:
        f = wavelets(graph, k=k, select=Diffusion(**settings))
        nonzeros = f.basis(threshold=1e-3).nnz / f.n
        return _Made(lambda x: _tails(f.analyze(x)), nonzeros)

    return make


def _best_haar_walsh(graph: Any) -> _Made:
    tree = bisections(graph)
    haar = haar_basis(graph, tree)

    def coefficients(x: Floats) -> Floats:
        walsh, plain = best_haar_walsh(x, tree), haar @ x
        return walsh if np.abs(walsh).sum() < np.abs(plain).sum() else plain

    return _Made(lambda x: _tails(np.stack([coefficients(c) for c in x.T], axis=1)), None)


def _frame(graph: Any) -> _Made:
    atoms = spectral_frame(graph)

    def tails(x: Floats) -> Floats:
        most = x.shape[0] // 2
        return np.stack([pursuit(atoms, column, most) for column in x.T], axis=1)

    return _Made(tails, float((np.abs(atoms) > 1e-3).sum()) / len(atoms))


#: What is compared: how each is made, whether it adapts to the signal, and the largest graph.
BASES: dict[str, tuple[Callable[[Any], _Made], bool, int | None]] = {
    "diffusion-k2": (_wavelets(2), False, None),
    "diffusion-k4": (_wavelets(4), False, None),
    "diffusion-k2-degrees": (_wavelets(2, balanced=False), False, None),
    "diffusion-k4-degrees": (_wavelets(4, balanced=False), False, None),
    "haar": (lambda g: _orthonormal(haar_basis(g)), False, None),
    "walsh": (lambda g: _orthonormal(walsh_basis(g)), False, _DENSE),
    "ghwt": (_best_haar_walsh, True, None),
    "eigenvectors-laplacian": (lambda g: _orthonormal(eigenvector_basis(g, False)), False, _DENSE),
    "eigenvectors": (lambda g: _orthonormal(eigenvector_basis(g)), False, _DENSE),
    "treelets": (lambda g: _orthonormal(treelet_basis(g)), False, _DENSE),
    "jacobi": (lambda g: _orthonormal(jacobi_basis(g)), False, _DENSE),
    "spectral-wavelets": (_frame, True, _DENSE),
}


def compare_signals(
    graph: Any,
    signals: Any,
    bases: Iterable[str] | None = None,
    progress: Progress = silent,
) -> list[SignalRow]:
    """Say signals by the largest coefficients of several bases.

    Parameters
    ----------
    graph : Graph or adjacency matrix
        With weights that say how alike neighbours are.
    signals : array, shape (n,) or (n, m)
        One signal, or several as columns.
    bases : list of str, optional
        Any of `BASES`; by default all that can be made for a graph of this size, without
        spectral-wavelets, whose pursuit is slow, for several signals.
    progress : Progress
        Called before each basis.

    Returns
    -------
    list of SignalRow

    Examples
    --------
    >>> from wavemmf.graphs import grid
    >>> rows = compare_signals(grid(8, 8), np.arange(64.0), ["diffusion-k2", "haar"])
    >>> [row.basis for row in rows]
    ['diffusion-k2', 'haar']
    """
    n = adjacency(graph).shape[0]
    x = np.asarray(signals, np.float64)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or x.shape[0] != n or not x.shape[1]:
        raise InvalidInputError(f"signals must have {n} rows, got shape {np.shape(signals)}")
    chosen = _chosen(bases, n, x.shape[1])
    rows = []
    for done, name in enumerate(chosen):
        progress(done, len(chosen), name)
        rows.append(_measure(name, graph, x))
    progress(len(chosen), len(chosen), "")
    return rows


def _chosen(bases: Iterable[str] | None, n: int, count: int) -> Sequence[str]:
    if bases is None:
        small = [name for name, (_, _, most) in BASES.items() if most is None or n <= most]
        return [name for name in small if count == 1 or name != "spectral-wavelets"]
    names = list(bases)
    for name in names:
        if name not in BASES:
            raise InvalidInputError(f"bases must be of {', '.join(BASES)}, got {name!r}")
        most = BASES[name][2]
        if most is not None and n > most:
            raise TooLargeError(f"{name} is for graphs of up to {most} vertices, got {n}")
    return names


def _measure(name: str, graph: Any, x: Floats) -> SignalRow:
    make, adapted, _ = BASES[name]
    tracemalloc.start()
    start = time.perf_counter()
    made = make(graph)
    seconds = time.perf_counter() - start
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    tails = made.tails(x)
    relative = np.sqrt(np.maximum(tails, 0.0) / np.maximum(tails[0], 1e-300)).mean(axis=1)

    def at(share: float) -> float:
        return float(relative[min(round(share * len(x)), relative.size - 1)])

    curve = [at(0.01 * percent) for percent in range(1, 51)]
    errors = [at(share) for share in SHARES]
    return SignalRow(name, adapted, errors, curve, seconds, megabytes, made.nonzeros)


def _tails(coefficients: Any) -> Floats:
    """Squared errors when the largest 0, 1, 2, ... coefficients are kept, column by column."""
    energy = np.sort(coefficients**2, axis=0)
    zero = np.zeros((1, energy.shape[1]))
    return np.concatenate([zero, np.cumsum(energy, axis=0)])[::-1]
