"""The graph of who is alike, against cosines computed one by one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import wavemmf as wm
from wavemmf.errors import InvalidInputError
from wavemmf.graphs import _similarity as similarity


def cosines(x):
    holders = np.maximum((x > 0).sum(axis=0), 1)
    weighted = x * np.log(len(x) / holders)
    lengths = np.linalg.norm(weighted, axis=1)
    inverse = np.divide(1.0, lengths, out=np.zeros(len(x)), where=lengths > 0)
    likeness = inverse[:, None] * (weighted @ weighted.T) * inverse
    np.fill_diagonal(likeness, 0.0)
    return likeness


@given(
    arrays(np.float64, (9, 5), elements=st.sampled_from([0.0, 0.0, 1.0, 2.0])),
    st.integers(1, 10),
)
def test_every_vertex_is_joined_with_its_nearest(x, neighbors):
    adjacency = wm.graphs.similarity_graph(x, neighbors).adjacency.toarray()
    likeness = cosines(x)
    there = adjacency > 0
    np.testing.assert_allclose(adjacency[there], likeness[there], atol=1e-12)
    for i in range(9):
        alike = np.sort(likeness[i])[::-1][:neighbors]
        alike = alike[alike > 1e-9]
        kept = np.sort(adjacency[i])[::-1]
        assert (kept[: alike.size] >= alike - 1e-9).all(), "none of the nearest is missing"
        assert there[i].sum() >= alike.size


def test_rows_are_compared_in_pieces(monkeypatch, rng):
    x = sp.random_array((50, 20), density=0.3, rng=rng)
    whole = wm.graphs.similarity_graph(x, 3).adjacency
    monkeypatch.setattr(similarity, "_ROWS", 7)
    pieces = wm.graphs.similarity_graph(x, 3).adjacency
    assert abs(whole - pieces).max() < 1e-12


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_features_are_refused(bad):
    with pytest.raises(InvalidInputError, match="finite and not negative"):
        wm.graphs.similarity_graph([[1.0, bad], [0.0, 1.0]])
    with pytest.raises(InvalidInputError, match="neighbors"):
        wm.graphs.similarity_graph([[1.0]], 0)


@pytest.mark.parametrize("unit", [2.0**560, 2.0**-560])
def test_the_unit_of_features_does_not_matter(unit, rng):
    features = sp.random_array((30, 12), density=0.3, rng=rng, format="csr")
    expected = wm.graphs.similarity_graph(features).adjacency
    found = wm.graphs.similarity_graph(features * unit).adjacency
    assert expected.nnz > 0
    np.testing.assert_array_equal(found.toarray(), expected.toarray())


def test_features_are_left_as_they_are():
    features = sp.csr_array(np.array([[1.0, 2.0, 0.0], [3.0, 0.0, 1.0], [0.0, 4.0, 5.0]]))
    features.data[1] = 0.0  # stored all the same
    before = features.toarray(), features.indptr.copy(), features.data.copy()
    wm.graphs.similarity_graph(features, neighbors=1)
    np.testing.assert_array_equal(features.toarray(), before[0])
    np.testing.assert_array_equal(features.indptr, before[1])
    np.testing.assert_array_equal(features.data, before[2])
