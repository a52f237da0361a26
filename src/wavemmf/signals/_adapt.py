"""The basis that suits given signals best: one of several factorizations, fitted to spikes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._graph import Graph
from .._progress import Progress, silent
from .._validation import check_choice, check_finite
from ..errors import InputTypeError, InvalidInputError
from ..factorization import Factorization, Rotations
from ..factorization._compress import compress_matrix
from ..graphs import as_matrix, weights_from_lengths
from ..io import load_if_path
from ..select import Diffusion
from ._aside import aside_levels, can_set_aside, with_aside
from ._check import as_signals
from ._compress import Coder, compress
from ._packed import pack
from ._terms import best_terms
from ._wavelets import wavelets

__all__ = ["COSTS", "Adapted", "adapt"]

Floats = npt.NDArray[np.float64]

COSTS = ("terms", "bits", "l1", "entropy")

# What is tried for a graph, beside its weights: a walk that leaves constants as they are, and the
# diffusions of two matrices.
_WALKS = {
    "balanced": ("normalized_laplacian", True),
    "normalized_laplacian": ("normalized_laplacian", False),
    "laplacian": ("laplacian", False),
}
# How often the smallest coefficient that is kept is looked for again.
_ROUNDS = 4
# Signals that few terms say exactly are compared at this error.
_LEAST_ERROR = 1e-6
# About what a coefficient takes, where nothing is set aside and nothing is measured.
_BITS_OF_A_TERM = 8.0


@dataclass(frozen=True)
class Adapted:
    """A basis adapted to signals.

    Attributes
    ----------
    factorization : Factorization
        The adapted basis: that of the best candidate, in which some levels may set a node aside.
    candidate : Factorization
        The best candidate as it is.
    name : str
        What it is called.
    costs : dict
        The cost of every candidate, by name.
    set_aside : int
        Levels that set a node aside.
    side_bits : float
        What it takes to tell the adapted basis to somebody who has the candidates: which one it
        is, and which levels set a node aside, as `compress` codes it.
    side_terms : float
        The same, divided by the bits of one coefficient: so many terms fewer could be said.
    """

    factorization: Factorization
    candidate: Factorization
    name: str
    costs: dict[str, float]
    set_aside: int
    side_bits: float
    side_terms: float


def adapt(
    x: Any,
    candidates: Any,
    *,
    cost: str = "terms",
    share: float = 0.1,
    aside: bool = True,
    progress: Progress = silent,
) -> Adapted:
    r"""Choose the basis in which given signals cost least, and fit it to their spikes.

    Parameters
    ----------
    x : array of shape (n,) or (n, m), Series or DataFrame
        One signal, or m of them that share a basis.
    candidates : graph, or sequence or dict of Factorization
        What is chosen from; the keys of a dict are names. For a graph (anything that `wavelets`
        takes, but for lists) these are its wavelets of the balanced walk and of both Laplacians,
        with its weights and, if it has coordinates, with 1/distance.
    cost : {"terms", "bits", "l1", "entropy"}
        What is compared. "terms": the relative error of so many of the largest coefficients
        as `share` says, less those that the side information could say. "bits": the size of
        `compress` at the error that as many coefficients of the first candidate reach. With all
        coefficients c, "l1": :math:`\sum |c_i|`; "entropy": :math:`-\sum c_i^2 \log_2 c_i^2`.
        Signals are divided by their norms first.
    share : float
        The share of the coefficients that the basis is to be good for.
    aside : bool
        Let levels of two coordinates set one aside as it is, so that a spike is one coefficient,
        where that pays: see the notes.
    progress : callable
        Called as ``progress(done, total, note)`` after every candidate.

    Returns
    -------
    Adapted

    Notes
    -----
    A level keeps one mixture of two coordinates and drops another, its wavelet. A spike thus goes
    on into every coarser wavelet. With `aside` a level may drop one of its coordinates as it is,
    and keep the other. The choices make
    :math:`\sum \min(c_i^2, t^2) + 0.4\, t^2\, \#\text{choices}` small, level by level until none
    changes; t is the smallest coefficient that is kept. Candidates with k > 2 stay as they are.

    Examples
    --------
    >>> import wavemmf as wm
    >>> graph = wm.graphs.grid(12, 12)
    >>> x = np.add.outer(np.arange(12.0), np.arange(12.0)).ravel()
    >>> x[[30, 77, 110]] += 40.0
    >>> found = adapt(x, [wm.wavelets(graph), wm.wavelets(graph, k=4)])
    >>> found.name, found.set_aside
    ('0', 3)
    >>> fixed = wm.signals.best_terms(found.candidate, x, 14).error
    >>> bool(wm.signals.best_terms(found.factorization, x, 14 - 2).error < 0.9 * fixed)
    True
    """
    check_choice("cost", cost, COSTS)
    if not 0.0 < check_finite("share", share) < 1.0:
        raise InvalidInputError(f"share must be between 0 and 1, got {share!r}")
    makers = _makers(candidates)
    costs: dict[str, float] = {}
    best: _Fitted | None = None
    error = None
    for name, make in makers.items():
        candidate = make(name)
        signals = _unit_columns(as_signals(x, candidate.basis)[0])
        fitted = _fit(candidate, signals, share, aside, math.log2(len(makers)))
        error = _error(fitted.candidate.basis, signals, share) if error is None else error
        costs[name] = _cost(cost, fitted, signals, share, error)
        if best is None or costs[name] < costs[best.candidate.name]:
            best = fitted
        progress(len(costs), len(makers), f"{name}: {costs[name]:.4g}\n")
    if best is None:
        raise InvalidInputError("adapt needs at least one candidate, got none")
    return Adapted(
        _with_rotations(best),
        best.candidate.basis,
        best.candidate.name,
        costs,
        int(np.count_nonzero(best.choices)),
        best.side_bits,
        best.side_terms,
    )


@dataclass(frozen=True)
class _Candidate:
    """A basis, and the matrix it was made for if that is known."""

    name: str
    basis: Factorization
    matrix: Any = None


@dataclass(frozen=True)
class _Fitted:
    """A candidate, which of its levels set a node aside, and what that takes to say."""

    candidate: _Candidate
    choices: npt.NDArray[np.int64]
    side_bits: float
    side_terms: float

    @property
    def rotations(self) -> Rotations:
        """The levels, some of which set a node aside."""
        rotations = self.candidate.basis.rotations
        return with_aside(rotations, self.choices) if self.choices.any() else rotations

    @property
    def basis(self) -> Factorization:
        """The transform with these levels; its H is still that of the candidate."""
        return replace(self.candidate.basis, rotations=self.rotations)


_Maker = Callable[[str], _Candidate]


def _makers(candidates: Any) -> dict[str, _Maker]:
    """Return what makes every candidate, by name: they need not be there all at once."""
    if isinstance(candidates, Factorization):
        candidates = [candidates]
    if isinstance(candidates, list | tuple):
        candidates = {str(i): each for i, each in enumerate(candidates)}
    if not isinstance(candidates, Mapping):
        return _of_graph(load_if_path(candidates))
    for name, each in candidates.items():
        if not isinstance(each, Factorization):
            raise InputTypeError(
                f"candidates must be a graph or factorizations, but {name!r} is a "
                f"{type(each).__name__}"
            )
    return {str(name): _given(each) for name, each in candidates.items()}


def _given(f: Factorization) -> _Maker:
    return lambda name: _Candidate(name, f)


def _of_graph(graph: Any) -> dict[str, _Maker]:
    graphs = {"": graph}
    if isinstance(graph, Graph) and graph.coordinates is not None:
        shortest = 1e-3 * float(np.ptp(graph.coordinates, axis=0).max(initial=0.0)) or 1.0
        graphs[", 1/distance"] = weights_from_lengths(graph, "coordinates", at_least=shortest)
    return {
        f"{walk}{weights}": _made(of, matrix, balanced)
        for weights, of in graphs.items()
        for walk, (matrix, balanced) in _WALKS.items()
    }


def _made(graph: Any, matrix: str, balanced: bool) -> _Maker:
    def make(name: str) -> _Candidate:
        f = wavelets(graph, matrix=matrix, select=Diffusion(balanced=balanced))
        return _Candidate(name, f, as_matrix(graph, matrix=matrix))

    return make


def _unit_columns(signals: Floats) -> Floats:
    columns = signals.reshape(len(signals), -1)
    columns = columns / (np.abs(columns).max(initial=0.0) or 1.0)
    norms = np.linalg.norm(columns, axis=0)
    return np.asarray(columns / np.where(norms > 0.0, norms, 1.0))


def _fit(candidate: _Candidate, signals: Floats, share: float, aside: bool, bits: float) -> _Fitted:
    """Set nodes aside where it pays; `bits` are those that say which candidate it is."""
    f = candidate.basis
    best = _Fitted(candidate, np.zeros(f.num_levels, np.int64), bits, bits / _BITS_OF_A_TERM)
    if not (aside and can_set_aside(f.rotations)):
        return best
    coder = Coder(f, signals, adapt=True)
    limit = _smallest_kept(best, signals, share)
    for _ in range(_ROUNDS):
        if limit <= 0.0:
            break
        choices = aside_levels(f.rotations, signals, limit)
        if not choices.any():
            break
        more, of_a_term = _side_bits(coder, limit)
        fitted = _Fitted(candidate, choices, bits + more, (bits + more) / of_a_term)
        # Fewer coefficients are large now: what is kept is not what it was.
        limit = _smallest_kept(fitted, signals, share)
        best = min(best, fitted, key=lambda each: _counted_error(each, signals, share))
    return best


def _smallest_kept(fitted: _Fitted, signals: Floats, share: float) -> float:
    """Return the magnitude of the last term that can be said, the mean of all signals."""
    f = fitted.basis
    ranked = np.sort(np.abs(f.analyze(signals)), axis=0)[::-1]
    terms = _terms(f, signals, share, fitted.side_terms)
    return float(np.mean(ranked[min(terms, f.n - 1)]))


def _terms(f: Factorization, signals: Floats, share: float, without: float) -> int:
    fewer: int = math.ceil(without / max(1, signals.shape[1]))
    return max(0, round(share * f.n) - fewer)


def _counted_error(fitted: _Fitted, signals: Floats, share: float) -> float:
    return _error(fitted.basis, signals, share, fitted.side_terms)


def _error(f: Factorization, signals: Floats, share: float, without: float = 0.0) -> float:
    """Return the relative error of the largest terms, of all signals together."""
    errors = best_terms(f, signals, _terms(f, signals, share, without)).error
    return float(np.sqrt(np.mean(errors**2)))


def _cost(cost: str, fitted: _Fitted, signals: Floats, share: float, error: float) -> float:
    f = fitted.candidate.basis
    if cost == "bits":
        aside = bool(fitted.choices.any())
        limit = max(error, _LEAST_ERROR)
        return 8.0 * len(compress(signals, f, error=limit, adapt=aside).data)
    if cost == "terms":
        return _counted_error(fitted, signals, share)
    sizes = np.abs(fitted.basis.analyze(signals))
    if cost == "l1":
        return float(sizes.sum())
    energy = sizes[sizes > 0.0] ** 2
    return float(-(energy * np.log2(energy)).sum())


def _side_bits(coder: Coder, limit: float) -> tuple[float, float]:
    """Return the bits that the choices take, and the bits of one coefficient."""
    packed, _ = coder.quantised(limit / coder.unit)
    rotations = coder.f.rotations
    alone = len(pack(replace(packed, choices=None), rotations))
    bare = len(pack(replace(packed, numbers=0 * packed.numbers, choices=None), rotations))
    terms = np.count_nonzero(packed.numbers)
    return 8.0 * (len(pack(packed, rotations)) - alone), 8.0 * (alone - bare) / terms


def _with_rotations(fitted: _Fitted) -> Factorization:
    """Return the factorization with the chosen levels: of the matrix, or of the approximation."""
    f, matrix = fitted.candidate.basis, fitted.candidate.matrix
    if not fitted.choices.any():
        return f
    exact = matrix is not None
    h, error = compress_matrix(matrix if exact else f.to_dense(), fitted.rotations)
    return replace(
        f,
        rotations=fitted.rotations,
        h=h,
        residual_norm=error if exact else f.residual_norm + error,
        error_is_exact=exact,
    )
