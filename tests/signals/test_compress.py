"""Signals as bytes: exact round trips, targets that are kept, and damage."""

from __future__ import annotations

import zlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wavemmf as wm
from wavemmf.errors import FileFormatError, InputTypeError, InvalidInputError, WavemmfError
from wavemmf.kernels.range_coder import LONGEST, decode_numbers, encode_numbers
from wavemmf.signals import compress, decompress
from wavemmf.signals._packed import Packed, pack, unpack
from wavemmf.signals._tree import coarse_to_fine

GRAPH = wm.graphs.grid(9, 8)
N = GRAPH.n


@pytest.fixture(scope="module")
def f() -> wm.Factorization:
    return wm.wavelets(GRAPH)


@pytest.fixture
def x(rng):
    return np.cumsum(rng.normal(size=N)) + 20.0 * (rng.random(N) < 0.05)


# -- the coder --


@settings(max_examples=50)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(0, 60),
    signals=st.integers(0, 4),
    bits=st.integers(1, LONGEST),
)
def test_numbers_come_back(seed, rows, signals, bits):
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-(2**bits) + 1, 2**bits, size=(rows, signals))
    numbers[rng.random(numbers.shape) < rng.random()] = 0
    parents = np.array([rng.integers(-1, i) if i else -1 for i in range(rows)], np.int64)
    choices = np.where(numbers.any(axis=1), rng.integers(0, 3, size=rows), 0)
    data = encode_numbers(numbers, parents, choices, True)
    found, chosen = decode_numbers(data, parents, signals, True)
    np.testing.assert_array_equal(found, numbers)
    np.testing.assert_array_equal(chosen, choices)


def test_coded_size_is_near_the_entropy(rng):
    numbers = rng.choice([-1, 0, 1], p=[0.05, 0.9, 0.05], size=(20_000, 1))
    data = encode_numbers(numbers, np.full(20_000, -1), np.zeros(20_000, np.int64), False)
    entropy = -(0.9 * np.log2(0.9) + 0.1 * np.log2(0.05))
    assert 8 * data.size < 1.05 * 20_000 * entropy


def test_a_long_run_of_carries():
    # Probabilities at their limit and unlikely numbers in between make long runs of 0xFF.
    numbers = np.zeros((50_000, 1), np.int64)
    numbers[::4999] = 2**LONGEST - 1
    parents = np.full(len(numbers), -1)
    data = encode_numbers(numbers, parents, np.zeros(len(numbers), np.int64), False)
    assert data.size < 700
    np.testing.assert_array_equal(decode_numbers(data, parents, 1, False)[0], numbers)


@pytest.mark.parametrize(("k", "drop"), [(2, 1), (4, 1), (4, 3)])
def test_parents_come_before_their_children(k, drop):
    r = wm.factorize(GRAPH, 5, k, drop, select="diffusion").rotations
    order, parents = coarse_to_fine(r)
    assert sorted(order.tolist()) == list(range(N))
    assert (parents < np.arange(N)).all()
    place = {int(c): i for i, c in enumerate(order)}
    for level in range(1, r.num_levels + 1):  # the definition, level by level
        survivors = [c for c in r.group(level) if c not in r.dropped(level)]
        later = [
            t for t in range(level + 1, r.num_levels + 1) if any(c in r.group(t) for c in survivors)
        ]
        parent = r.dropped(later[0])[0] if later else survivors[0]
        for wavelet in r.dropped(level):
            assert parents[place[int(wavelet)]] == place[int(parent)]


# -- round trips --


@pytest.mark.parametrize("adapt", [False, True])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (0,)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_the_error_is_the_error_told(f, rng, adapt, shape, dtype):
    x = (3.0 * rng.normal(size=(N, *shape))).astype(dtype)
    small = compress(x, f, step=0.5, adapt=adapt)
    found = decompress(small.data, f)
    assert found.shape == x.shape
    lost = np.linalg.norm(found - x.astype(np.float64), axis=0)
    np.testing.assert_allclose(small.error, lost / np.linalg.norm(x, axis=0), atol=1e-12)
    assert small.bits_per_node == 8 * len(small.data) / max(1, x.size)
    assert small.step == pytest.approx(0.5)


def test_quantised_coefficients_come_back_exactly(f, x):
    small = compress(x, f, step=0.3)
    packed = unpack(small.data, f.rotations)
    np.testing.assert_array_equal(packed.numbers[:, 0], np.trunc(f.analyze(x) / 0.3))
    coefficients = f.analyze(decompress(small, f))
    zero = packed.numbers[:, 0] == 0
    middles = (packed.numbers[:, 0] + 0.5 * np.sign(packed.numbers[:, 0])) * 0.3
    np.testing.assert_allclose(coefficients, middles, atol=1e-12)
    assert zero.any()
    # Once coded, coding again changes nothing.
    again = compress(decompress(small, f), f, step=0.3)
    assert again.data == small.data


def test_the_same_signals_give_the_same_bytes(f, x):
    made = {compress(x, wm.wavelets(GRAPH), error=0.1).data for _ in range(2)}
    assert made == {bytes(compress(x, f, error=0.1))}


def test_bytes_are_as_they_always_were():
    # Of a basis in exact numbers: the same on every machine, and for every later version.
    r = wm.Rotations.from_levels(
        4,
        [[0, 1], [2, 3], [0, 2]],
        [[[0.6, 0.8], [-0.8, 0.6]]] * 3,
        [[1], [3], [2]],
    )
    numbers = np.array([[5, 0], [-1, 2], [0, 0], [300, -7]])
    data = pack(Packed(numbers, 0.25, True, np.array([2, 0, 0])), r)
    assert data.hex() == (
        "574d53013819c87082ed981d03000000000000d03f0400000002000000e41e91e73bbcbc40b308be07"
    )
    np.testing.assert_array_equal(unpack(data, r).numbers, numbers)
    np.testing.assert_array_equal(unpack(data, r).choices, [2, 0, 0])


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_units_do_not_matter(f, x, scale):
    small = compress(scale * x, f, error=0.05, adapt=True)
    assert small.error <= 0.05
    np.testing.assert_allclose(decompress(small, f) / scale, x, atol=0.3 * np.abs(x).max())
    assert len(small.data) == pytest.approx(len(compress(x, f, error=0.05, adapt=True).data), abs=2)


@pytest.mark.parametrize("x", [np.zeros(N), np.zeros((N, 2))])
def test_zeros_take_next_to_nothing(f, x):
    small = compress(x, f, error=0.1)
    assert len(small.data) < 40
    np.testing.assert_array_equal(decompress(small, f), x)
    np.testing.assert_array_equal(small.error, 0.0)


# -- targets --


@pytest.mark.parametrize("adapt", [False, True])
@pytest.mark.parametrize("error", [0.5, 0.1, 1e-3, 1e-7])
def test_the_error_is_no_larger_than_asked(f, x, error, adapt):
    small = compress(x, f, error=error, adapt=adapt)
    assert 0.7 * error < small.error <= error
    assert np.linalg.norm(decompress(small, f) - x) <= (1 + 1e-6) * error * np.linalg.norm(x)


@pytest.mark.parametrize("bits", [5.0, 8.0, 16.0])
def test_the_size_is_no_larger_than_asked(f, x, bits):
    small = compress(x, f, bits=bits)
    assert 0.85 * bits < small.bits_per_node <= bits
    assert compress(x, f, bits=bits, adapt=True).error <= small.error


def test_setting_spikes_aside_is_never_larger(f, x):
    for error in (0.3, 0.1, 0.03):
        fixed, adapted = (compress(x, f, error=error, adapt=a) for a in (False, True))
        assert len(adapted.data) <= len(fixed.data)


def test_spikes_are_cheaper_set_aside(rng):
    graph = wm.graphs.grid(30, 30)
    f = wm.wavelets(graph)
    x = graph.coordinates.sum(axis=1) + 100.0 * (rng.random(900) < 0.03)
    fixed, adapted = (compress(x, f, error=0.2, adapt=a) for a in (False, True))
    assert adapted.set_aside > 5
    assert len(adapted.data) < 0.95 * len(fixed.data)
    assert np.linalg.norm(decompress(adapted, f) - x) <= 0.2 * np.linalg.norm(x)


def test_the_coder_beats_zlib(rng):
    graph = wm.graphs.grid(40, 40)
    f = wm.wavelets(graph)
    x = np.sin(graph.coordinates / 5.0).sum(axis=1) + 0.1 * rng.normal(size=1600)
    small = compress(x, f, error=0.1)
    numbers = unpack(small.data, f.rotations).numbers.astype(np.int8)
    assert len(small.data) < 0.9 * len(zlib.compress(numbers.tobytes(), 9))


def test_levels_of_more_coordinates_set_nothing_aside(x):
    f = wm.wavelets(GRAPH, k=4)
    small = compress(x, f, error=0.1, adapt=True)
    assert small.set_aside == 0
    assert small.data == compress(x, f, error=0.1).data


def test_a_series_is_put_in_order(x):
    names = [f"n{i}" for i in range(N)]
    f = wm.wavelets(wm.graphs.Graph(GRAPH.adjacency, node_names=names))
    mixed = pd.Series(x, names).sample(frac=1.0, random_state=0)
    assert compress(mixed, f, step=0.1).data == compress(x, f, step=0.1).data


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ({}, InvalidInputError, "give one of step, error or bits"),
        ({"step": 1.0, "bits": 2.0}, InvalidInputError, "give one of"),
        ({"step": 0.0}, InvalidInputError, "step must be a finite number above 0"),
        ({"step": 1e-300}, InvalidInputError, "step must be at least"),
        ({"error": -1.0}, InvalidInputError, "error must be a finite number above 0"),
        ({"error": 1e-15}, InvalidInputError, "error must be at least"),
        ({"bits": 1e-3}, InvalidInputError, "bits must be at least"),
        ({"bits": "few"}, InputTypeError, "bits must be"),
    ],
)
def test_targets_that_are_not_allowed(f, x, target, error, message):
    with pytest.raises(error, match=message):
        compress(x, f, **target)


# -- damage --


def test_another_basis_is_refused(f, x):
    data = compress(x, f, step=0.1).data
    for other in (wm.wavelets(GRAPH, k=4), wm.wavelets(wm.graphs.path(5))):
        with pytest.raises(InvalidInputError, match="in another basis"):
            decompress(data, other)
    with pytest.raises(InputTypeError, match="f must be a Factorization"):
        decompress(data, "f")


def test_bytes_of_another_kind_or_version(f, x):
    data = compress(x, f, step=0.1).data
    with pytest.raises(FileFormatError, match="are not compressed signals"):
        decompress(b"PK" + data, f)
    with pytest.raises(FileFormatError, match="version 9"):
        decompress(data[:3] + b"\x09" + data[4:], f)


@settings(max_examples=200)
@given(place=st.integers(0, 400), value=st.integers(1, 255), cut=st.integers(0, 400))
def test_any_damage_is_noticed(place, value, cut):
    f, data = _sample()
    changed = bytearray(data)
    changed[place % len(data)] ^= value
    for damaged in (bytes(changed), data[: cut % len(data)]):
        with pytest.raises(WavemmfError):
            decompress(damaged, f)


@settings(max_examples=100)
@given(body=st.binary(max_size=200), signals=st.integers(0, 2**32 - 1), flags=st.integers(0, 3))
def test_bytes_made_up_with_a_right_checksum(body, signals, flags):
    f, data = _sample()
    head = data[:12] + bytes([flags]) + data[13:25] + signals.to_bytes(4, "little")
    made_up = head + body
    made_up += zlib.crc32(made_up).to_bytes(4, "little")
    try:
        found = decompress(made_up, f)
    except WavemmfError:
        return
    assert found.size <= 8 * 1024 * (200 + 64)


_SAMPLES: list = []


def _sample():
    if not _SAMPLES:
        f = wm.wavelets(wm.graphs.grid(9, 8))
        x = np.random.default_rng(0).normal(size=N)
        _SAMPLES.append((f, compress(x, f, step=0.2, adapt=True).data))
    return _SAMPLES[0]
