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

from torch_geometric.data import Batch  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402

from small_graphs import as_data, random_graphs  # noqa: E402
from wavemmf.nn import (  # noqa: E402
    AddWaveletBasis,
    BatchBasis,
    SparseOperator,
    WaveletConv,
    hop_operator,
    wavelet_basis,
)
from wavemmf.nn._batch import BASIS_KEYS  # noqa: E402
from wavemmf.nn._operators import network_matrix  # noqa: E402


@pytest.fixture
def counted(monkeypatch):
    """Count how often a factorization is computed."""
    module = sys.modules["wavemmf._many"]
    calls, original = [], module.factorize_chunk

    def count(*arguments):
        calls.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(module, "factorize_chunk", count)
    return calls


@pytest.mark.parametrize("matrix", ["normalized_laplacian", "augmented_laplacian"])
def test_the_attached_basis_is_the_basis_of_the_graph(matrix):
    """A single graph and a batch share what layers ask of a basis."""
    graph = wm.graphs.karate()
    data = AddWaveletBasis(core=8, k=4, matrix=matrix, threshold=0.0)(as_data(graph))
    attached = BatchBasis(data.to("cpu"))
    whole = wavelet_basis(graph, core=8, k=4, matrix=matrix, threshold=0.0)
    x = torch.randn(34, 3)
    torch.testing.assert_close(attached.analyze(x), whole.analyze(x), atol=1e-5, rtol=0)
    torch.testing.assert_close(attached.frequencies, whole.frequencies)
    assert torch.equal(attached.levels, whole.levels)
    for gains in ("all", "channel", "pair"):
        conv = WaveletConv(3, 4, gains=gains)
        torch.testing.assert_close(conv(x, attached), conv(x, whole), atol=1e-4, rtol=0)


def test_a_loader_collates_what_was_attached(rng):
    transform = AddWaveletBasis(k=4)
    data = [transform(as_data(graph)) for graph in random_graphs(rng)]
    (batch,) = DataLoader(data, batch_size=len(data))
    conv = WaveletConv(3, 2)
    alone = torch.cat([conv(each.x, BatchBasis(each)) for each in data])
    torch.testing.assert_close(conv(batch.x, BatchBasis(batch)), alone, atol=1e-5, rtol=0)
    again = Batch.from_data_list(batch.to_data_list())
    assert all(torch.equal(again[key], batch[key]) for key in BASIS_KEYS)


def test_equal_graphs_are_factorized_once(counted, tmp_path):
    transform = AddWaveletBasis(core=8, k=4, cache=tmp_path)
    first, second = transform(as_data(wm.graphs.karate())), transform(as_data(wm.graphs.karate()))
    assert first.wavelet_value is second.wavelet_value
    transform(as_data(wm.graphs.cycle(12)))
    assert len(counted) == 2
    AddWaveletBasis(core=8, k=4, cache=tmp_path)(as_data(wm.graphs.karate()))
    assert len(counted) == 2, "found on disk"
    AddWaveletBasis(core=8, k=3, cache=tmp_path)(as_data(wm.graphs.karate()))
    assert len(counted) == 3, "other settings are another basis"


def test_bases_in_memory_are_found_by_graph_matrix_and_settings():
    transform = AddWaveletBasis(core=8, k=4)
    for graph in (wm.graphs.karate(), wm.graphs.karate(), wm.graphs.cycle(34)):
        transform(as_data(graph))
    assert len(transform._known) == 2
    transform.settings["k"] = 3
    transform(as_data(wm.graphs.karate()))
    assert len(transform._known) == 3
    transform.matrix = "laplacian"
    transform(as_data(wm.graphs.karate()))
    assert len(transform._known) == 4
    transform.threshold = 0.1
    transform(as_data(wm.graphs.karate()))
    assert len(transform._known) == 5


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
        "AddWaveletBasis(core=8, k=4, matrix='normalized_laplacian', threshold=0.0001)"
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
