"""The kernels of small problems, against dense algebra."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wavemmf.kernels.local import quick_score
from wavemmf.kernels.simd import LANES, add_and_multiply
from wavemmf.kernels.stiefel import cayley_move
from wavemmf.parallel.threads import aligned_zeros


@numba.njit
def _add_and_multiply(out, weight, vector, following):  # type: ignore[no-untyped-def]
    return add_and_multiply(out, weight, vector, following)


@settings(deadline=None, max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=5),
    step=st.sampled_from([1e-6, 0.1, 1.0, 40.0]),
    single=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_cayley_move_against_dense_algebra(
    sizes: list[int], step: float, single: bool, seed: int
) -> None:
    dtype = np.float32 if single else np.float64
    rng = np.random.default_rng(seed)
    skew = [x - x.T for x in (rng.normal(size=(m, m)) for m in sizes)]
    blocks = [np.linalg.qr(rng.normal(size=(m, m)))[0] for m in sizes]
    packed, moving = (
        np.concatenate([x.ravel() for x in each]).astype(dtype) for each in (blocks, skew)
    )
    entries = np.array(sizes) ** 2
    offsets = np.concatenate([[0], np.cumsum(entries)])
    out, change = np.empty_like(packed), np.empty_like(packed)
    cayley_move(packed, np.array(sizes), offsets, moving, step, out, change)
    accuracy = 2e-4 if single else 1e-11
    for x, block, first, last in zip(skew, blocks, offsets, offsets[1:], strict=False):
        identity = np.eye(len(x))
        turned = np.linalg.solve(identity - 0.5 * step * x, step * x)
        moved = block + turned @ block
        np.testing.assert_allclose(change[first:last], turned.ravel(), atol=accuracy)
        np.testing.assert_allclose(out[first:last], moved.ravel(), atol=accuracy)


@pytest.mark.parametrize("vectors", [1, 2, 7])
def test_add_and_multiply(vectors: int) -> None:
    rng = np.random.default_rng(vectors)
    out, vector, following = aligned_zeros((3, vectors * LANES))
    out[:], vector[:], following[:] = rng.normal(size=(3, vectors * LANES))
    expected = out - 0.7 * vector
    product = _add_and_multiply(out, -0.7, vector, following)
    np.testing.assert_allclose(out, expected, rtol=1e-14, atol=1e-15)
    assert product == pytest.approx(expected @ following, rel=1e-12)


@settings(deadline=None, max_examples=60)
@given(
    size=st.integers(1, 16),
    others=st.integers(0, 6),
    exponent=st.integers(-6, 6),
    seed=st.integers(0, 2**32 - 1),
)
def test_smallest_cost_is_no_worse_than_that_of_an_eigenvector(
    size: int, others: int, exponent: int, seed: int
) -> None:
    matrix = np.random.default_rng(seed).normal(size=(size + others, size + others))
    matrix = (matrix + matrix.T) * 2.0**exponent
    block = np.ascontiguousarray(matrix[:size, :size])
    gram = np.ascontiguousarray((matrix @ matrix)[:size, :size])
    _, vectors = np.linalg.eigh(gram)
    most = min(v @ gram @ v - (v @ block @ v) ** 2 for v in vectors.T)
    values = np.linalg.eigvalsh(gram)
    gap = np.diff(values, prepend=-np.inf).min() / np.trace(gram)
    accuracy = 1e-7 / max(gap, 1e-7)  # vectors of close eigenvalues are not determined
    rounding = max(accuracy, 1e-7) * np.trace(gram)
    assert 0.0 <= quick_score(gram, block, 1) <= most + rounding
