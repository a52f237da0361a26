"""Properties that hold for inputs nobody thought of."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import oracle
import wavemmf as wm
from wavemmf.factorization._norms import frobenius_norm

VALUES = st.one_of(
    st.just(0.0),
    st.integers(-3, 3).map(float),
    st.floats(-1e3, 1e3, allow_subnormal=False),
)


@st.composite
def symmetric_matrices(draw: st.DrawFn) -> np.ndarray:
    n = draw(st.integers(1, 12))
    a = draw(hnp.arrays(np.float64, (n, n), elements=VALUES))
    return np.tril(a) + np.tril(a, -1).T


@st.composite
def settings(draw: st.DrawFn) -> dict:
    k = draw(st.integers(2, 6))
    return {
        "k": k,
        "drop": draw(st.integers(1, k - 1)),
        "select": draw(st.sampled_from(["greedy", "random", "neighbors"])),
        "engine": draw(st.sampled_from(["dense", "sparse"])),
        "seed": draw(st.integers(0, 5)),
    }


@given(a=symmetric_matrices(), arguments=settings(), share=st.floats(0, 1))
def test_any_matrix_any_settings(a: np.ndarray, arguments: dict, share: float) -> None:
    f = wm.factorize(a, core=round(share * len(a)), **arguments)
    oracle.check_constraints(f)
    scale = frobenius_norm(a)
    assert abs(f.error() - frobenius_norm(a - f.to_dense())) <= 1e-9 * scale
    assert f.error() <= scale * (1 + 1e-12)
    x = np.linspace(-1, 1, 2 * len(a)).reshape(len(a), 2)
    np.testing.assert_allclose(f.synthesize(f.analyze(x)), x, atol=1e-12)
    np.testing.assert_allclose(f @ x, f.to_dense() @ x, atol=1e-11 * max(scale, 1))


@given(a=symmetric_matrices(), arguments=settings())
def test_save_and_load(a: np.ndarray, arguments: dict) -> None:
    f = wm.factorize(a, core=len(a) // 2, **arguments)
    with tempfile.TemporaryDirectory() as folder:
        f.save(Path(folder) / "f.mmf")
        g = wm.load(Path(folder) / "f.mmf")
    np.testing.assert_array_equal(g.to_dense(), f.to_dense())


@given(data=st.data(), a=symmetric_matrices())
def test_any_valid_explicit_indices(data: st.DataObject, a: np.ndarray) -> None:
    active = list(range(len(a)))
    groups, wavelets = [], []
    for _ in range(data.draw(st.integers(0, len(a)))):
        if not active:
            break
        group = data.draw(st.lists(st.sampled_from(active), min_size=1, max_size=5, unique=True))
        dropped = data.draw(st.lists(st.sampled_from(group), min_size=1, unique=True))
        groups.append(group)
        wavelets.append(dropped)
        active = [i for i in active if i not in dropped]
    f = wm.factorize(a, select=(groups, wavelets))
    oracle.check_constraints(f)
    assert [set(f.rotations.dropped(level + 1)) for level in range(len(groups))] == [
        set(dropped) for dropped in wavelets
    ]
    assert abs(f.error() - frobenius_norm(a - f.to_dense())) <= 1e-9 * frobenius_norm(a)


@given(a=symmetric_matrices().map(np.round), exponent=st.integers(-900, 900))
def test_powers_of_two_change_nothing_but_the_scale(a: np.ndarray, exponent: int) -> None:
    scale = 2.0**exponent  # integers stay exact under it
    f, g = wm.factorize(a, core=1, k=3), wm.factorize(a * scale, core=1, k=3)
    np.testing.assert_array_equal(f.rotations.blocks, g.rotations.blocks)
