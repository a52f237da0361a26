"""Solve linear systems with H: a division, and a small or sparse system on the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from ..errors import SingularError
from ..validation import check_memory
from .rotations import Floats, Integers

__all__ = ["h_solver"]

# Eigenvalues of H smaller than this share of its largest entry count as zero.
_SINGULAR = 1e-12


def h_solver(
    diagonal: Floats, core: Any, core_indices: Integers, shift: float
) -> Callable[[Floats], Floats]:
    """Return a function that solves ``(H + shift * I) y = c`` for columns c.

    Examples
    --------
    >>> solve = h_solver(np.array([2.0, 4.0]), np.array([[4.0]]), np.array([1]), shift=0.0)
    >>> solve(np.array([[2.0], [8.0]])).ravel()
    array([1., 2.])
    """
    shifted = diagonal + shift
    wavelets = np.delete(np.arange(diagonal.size), core_indices)
    largest = float(np.abs(shifted).max(initial=0.0))
    smallest = float(np.abs(shifted[wavelets]).min(initial=np.inf))
    if smallest <= _SINGULAR * largest:
        raise SingularError(_message(f"a wavelet has frequency {smallest:.3g}", shift))
    solve_core = _core_solver(core, shift, largest)

    def solve(coefficients: Floats) -> Floats:
        solution = coefficients / shifted[:, np.newaxis]
        solution[core_indices] = solve_core(coefficients[core_indices])
        return solution

    return solve


def _core_solver(core: Any, shift: float, largest: float) -> Callable[[Floats], Floats]:
    size = core.shape[0]
    if size == 0:
        return np.copy
    if sp.issparse(core):
        try:
            factors = splu(sp.csc_matrix(core + shift * sp.eye_array(size)))
        except RuntimeError as error:  # what SuperLU raises for exact zeros
            raise SingularError(_message("the core is singular", shift)) from error
        if np.abs(factors.U.diagonal()).min() <= _SINGULAR * largest:
            raise SingularError(_message("the core is singular", shift))
        return lambda c: np.asarray(factors.solve(np.ascontiguousarray(c)))
    check_memory(5 * 8 * size * size, f"the eigenvectors of a core of {size} rows")
    values, vectors = scipy.linalg.eigh(core + shift * np.eye(size))
    if np.abs(values).min() <= _SINGULAR * max(largest, float(np.abs(values).max())):
        raise SingularError(_message("the core is singular", shift))
    return lambda c: np.asarray(vectors @ ((vectors.T @ c) / values[:, np.newaxis]))


def _message(what: str, shift: float) -> str:
    return (
        f"{what} with shift={shift:g}: give another shift to solve (A + shift I) x = b instead, or "
        "take pinv() @ b for the least-squares solution"
    )
