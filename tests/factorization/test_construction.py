"""How a factorization is put together: what is checked, copied and filled in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dense
import wavemmf as wm
from wavemmf.errors import InvalidFactorizationError

A = dense.random_symmetric(9, seed=1)


@pytest.fixture(scope="module")
def f() -> wm.Factorization:
    return wm.factorize(A, core=4, k=3)


def rebuilt(f: wm.Factorization, **changes: Any) -> wm.Factorization:
    fields = {name: getattr(f, name) for name in f.__dataclass_fields__}
    return wm.Factorization(**{**fields, **changes})


@pytest.mark.parametrize("place", [(0, 0), (0, 2), (2, 1)])
def test_a_single_nan_in_a_block_is_refused(f: wm.Factorization, place: tuple[int, int]) -> None:
    r = f.rotations
    blocks = r.blocks.copy()
    blocks.reshape(-1, 3, 3)[0][place] = np.nan
    with pytest.raises(InvalidFactorizationError, match="not orthogonal"):
        wm.Rotations(r.n, r.offsets, r.groups, blocks, r.drop_offsets, r.wavelets)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_rounding_errors_of_the_core_are_forgiven_at_every_scale(
    f: wm.Factorization, scale: float
) -> None:
    core, diagonal = scale * f.core, scale * f.frequencies
    largest = max(np.abs(core).max(), np.abs(diagonal).max())
    for place, message in (((0, 1), "not symmetric"), ((2, 2), "diagonal differs")):
        for error, refused in ((1e-10 * largest, False), (1e-7 * largest, True)):
            damaged = core.copy()
            damaged[place] += error
            if refused:
                with pytest.raises(InvalidFactorizationError, match=message):
                    wm.CoreDiagonal(diagonal, damaged, f.core_indices)
            else:
                wm.CoreDiagonal(diagonal, damaged, f.core_indices)


def test_norms_are_plain_numbers(f: wm.Factorization) -> None:
    g = rebuilt(f, matrix_norm=np.float32(2.0), residual_norm=0)
    assert type(g.matrix_norm) is type(g.residual_norm) is float
    assert g.relative_error() == 0.0


def test_a_sparse_core_is_copied(f: wm.Factorization) -> None:
    given = sp.csr_array(f.core)
    g = rebuilt(f, h=wm.CoreDiagonal(f.frequencies, given, f.core_indices))
    given.data[0] += 1.0  # it is still the caller's
    np.testing.assert_array_equal(g.core.toarray(), f.core)


def test_history_and_parameters_are_kept_or_empty(f: wm.Factorization) -> None:
    plain = wm.Factorization.from_rotations(A, f.rotations)
    assert plain.history == wm.History()
    assert plain.parameters == {}
    told = wm.Factorization.from_rotations(A, f.rotations, f.history, {"k": 3})
    assert told.history is f.history
    assert told.parameters == {"k": 3}
    assert told.error() == pytest.approx(np.linalg.norm(A - told.to_dense()))


def test_sparse_results_hold_no_zeros_and_are_sorted(f: wm.Factorization) -> None:
    nothing = wm.factorize(np.zeros((5, 5)), core=2, k=2)
    assert nothing.h.to_sparse().nnz == 0
    basis = f.basis()
    for first, last in zip(basis.indptr, basis.indptr[1:], strict=False):
        assert (np.diff(basis.indices[first:last]) > 0).all()


def test_without_levels() -> None:
    whole = wm.factorize(A, core=9, k=3)
    assert "levels=0, k=0, core=9" in repr(whole)
    np.testing.assert_allclose(whole.to_dense(), A, atol=1e-12)
