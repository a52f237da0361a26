"""From graphs to bases: the PyG transform, its caches, and the exact hop."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.errors import InvalidInputError

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")

from torch_geometric.data import Data  # noqa: E402

from wavemmf.nn import (  # noqa: E402
    AddWaveletBasis,
    SparseOperator,
    hop_operator,
    network_matrix,
    wavelet_basis,
)


def as_data(graph):
    edges = np.stack(sp.coo_array(graph.adjacency).coords)
    return Data(edge_index=torch.from_numpy(edges.astype(np.int64)), num_nodes=graph.n)


@pytest.fixture
def counted(monkeypatch):
    """Count how often a factorization is computed."""
    module = sys.modules["wavemmf.nn._operators"]
    calls, original = [], module.factorize

    def count(*arguments, **settings):
        calls.append(settings)
        return original(*arguments, **settings)

    monkeypatch.setattr(module, "factorize", count)
    return calls


def test_the_basis_is_attached():
    data = AddWaveletBasis(core=8, k=4)(as_data(wm.graphs.karate()))
    expected = wavelet_basis(wm.graphs.karate(), core=8, k=4)
    x = torch.randn(34, 2)
    assert torch.equal(data.wavelet_basis.analysis(x), expected.analysis(x))
    assert data.to("cpu").wavelet_basis is not None


def test_equal_graphs_are_factorized_once(counted, tmp_path):
    transform = AddWaveletBasis(core=8, k=4, cache=tmp_path)
    first, second = transform(as_data(wm.graphs.karate())), transform(as_data(wm.graphs.karate()))
    assert first.wavelet_basis is second.wavelet_basis
    transform(as_data(wm.graphs.cycle(12)))
    assert len(counted) == 2
    AddWaveletBasis(core=8, k=4, cache=tmp_path)(as_data(wm.graphs.karate()))
    assert len(counted) == 2, "found on disk"
    AddWaveletBasis(core=8, k=3, cache=tmp_path)(as_data(wm.graphs.karate()))
    assert len(counted) == 3, "other settings are another basis"


def test_matrices():
    a = wm.graphs.karate().adjacency.toarray() + np.eye(34)
    d = a.sum(axis=1) ** -0.5
    hat = d[:, None] * a * d
    np.testing.assert_allclose(network_matrix(wm.graphs.karate()).toarray(), np.eye(34) - hat)
    x = np.arange(34.0)[:, None]
    got = hop_operator(wm.graphs.karate(), torch.float64)(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(got, hat @ x)
    plain = network_matrix(as_data(wm.graphs.karate()), "normalized_laplacian")
    np.testing.assert_allclose(
        plain.toarray(), wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()
    )
    with pytest.raises(InvalidInputError, match="matrix must be one of"):
        AddWaveletBasis(matrix="identity")


def test_a_node_has_one_self_loop_whatever_it_had():
    looped = [[5.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    plain = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_array_equal(network_matrix(looped).toarray(), network_matrix(plain).toarray())
    assert network_matrix(plain)[2, 2] == 0.0, "an isolated node keeps what it has"


def test_it_introduces_itself():
    assert repr(AddWaveletBasis(core=8, k=4)) == (
        "AddWaveletBasis(core=8, k=4, matrix='augmented_laplacian')"
    )


def test_sparse_products_with_dropout(rng):
    matrix = sp.random_array((20, 9), density=0.3, rng=rng, format="csr")
    operator = SparseOperator(matrix, torch.float64)
    x = torch.randn(9, 2, dtype=torch.float64, requires_grad=True)
    np.testing.assert_allclose(operator(x).detach().numpy(), matrix @ x.detach().numpy())
    y = torch.randn(20, 2, dtype=torch.float64)
    np.testing.assert_allclose(operator.adjoint(y).numpy(), matrix.T @ y.numpy())

    def dropped(x):
        torch.manual_seed(3)
        return operator(x, rate=0.5)

    assert torch.autograd.gradcheck(dropped, (x,))
    assert torch.autograd.gradgradcheck(operator, (x,))
    kept = dropped(torch.eye(9, dtype=torch.float64)).numpy()
    entries = matrix.toarray()
    assert set(np.unique(np.round(kept[entries != 0] / entries[entries != 0], 6))) == {0.0, 2.0}
    with pytest.raises(InvalidInputError, match=r"shape \(9, channels\), got \(20, 2\)"):
        operator(y)
