"""The same graph as objects of other libraries gives the same factorization."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError
from wavemmf.graphs import as_matrix, symmetric_part

GRAPH = wm.graphs.karate()
ADJACENCY = GRAPH.adjacency.toarray()
EDGES = np.argwhere(np.triu(ADJACENCY))


def networkx_graph():
    networkx = pytest.importorskip("networkx", reason="needs networkx")
    return networkx.from_numpy_array(ADJACENCY)


def igraph_graph():
    igraph = pytest.importorskip("igraph", reason="needs igraph")
    return igraph.Graph(n=34, edges=EDGES.tolist())


def pyg_data():
    torch = pytest.importorskip("torch", reason="needs torch")
    data = pytest.importorskip("torch_geometric.data", reason="needs PyTorch Geometric")
    both_ways = np.vstack([EDGES, EDGES[:, ::-1]]).T.copy()
    return data.Data(edge_index=torch.from_numpy(both_ways), num_nodes=34)


def torch_tensor(layout):
    torch = pytest.importorskip("torch", reason="needs torch")
    dense = torch.from_numpy(ADJACENCY)
    return {"dense": dense.clone, "coo": dense.to_sparse, "csr": dense.to_sparse_csr}[layout]()


def data_frame():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    names = [f"member {i}" for i in range(34)]
    return pandas.DataFrame(ADJACENCY, index=names, columns=names)


def sparse_data_frame():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    return pandas.DataFrame.sparse.from_spmatrix(sp.csr_matrix(ADJACENCY))


def standard_array():
    return pytest.importorskip("array_api_strict", reason="needs array-api-strict").asarray(
        ADJACENCY
    )


class OnlyDLPack:
    """An array of a library that NumPy knows nothing else about."""

    def __dlpack__(self, **settings):
        return ADJACENCY.__dlpack__(**settings)

    def __dlpack_device__(self):
        return ADJACENCY.__dlpack_device__()


class OnlyArray:
    def __array__(self, dtype=None, copy=None):
        return np.array(ADJACENCY, dtype=dtype)


SOURCES = {
    "networkx": networkx_graph,
    "igraph": igraph_graph,
    "PyG": pyg_data,
    "torch dense": lambda: torch_tensor("dense"),
    "torch COO": lambda: torch_tensor("coo"),
    "torch CSR": lambda: torch_tensor("csr"),
    "pandas": data_frame,
    "sparse pandas": sparse_data_frame,
    "array API": standard_array,
    "__dlpack__": OnlyDLPack,
    "__array__": OnlyArray,
    **{
        f"scipy {layout}_{kind}": lambda layout=layout, kind=kind: getattr(sp, f"{layout}_{kind}")(
            ADJACENCY
        )
        for layout in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
        for kind in ("array", "matrix")
    },
}


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning")
@pytest.mark.parametrize("source", SOURCES)
def test_the_same_matrix(source):
    expected = wm.graphs.normalized_laplacian(GRAPH).toarray()
    matrix = as_matrix(SOURCES[source](), matrix="normalized_laplacian")
    np.testing.assert_array_equal(matrix.toarray(), expected)


@pytest.mark.parametrize("source", ["networkx", "igraph", "PyG"])
def test_graphs_are_factorized_through_their_normalized_laplacian(source):
    expected = wm.factorize(GRAPH, core=8, k=4)
    f = wm.factorize(SOURCES[source](), core=8, k=4)
    np.testing.assert_array_equal(f.rotations.blocks, expected.rotations.blocks)
    assert f.error() == expected.error()


def test_igraph_weights_loops_and_repeated_edges():
    igraph = pytest.importorskip("igraph", reason="needs igraph")
    graph = igraph.Graph(n=3, edges=[(0, 1), (0, 1), (2, 2)])
    expected = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(wm.graphs.adjacency(graph).toarray(), expected)
    graph.es["weight"] = [1.5, 2.0, 4.0]
    weighted = wm.graphs.adjacency(graph).toarray()
    np.testing.assert_array_equal(weighted, [[0, 3.5, 0], [3.5, 0, 0], [0, 0, 4.0]])
    unweighted = wm.graphs.adjacency(graph, weighted=False).toarray()
    np.testing.assert_array_equal(unweighted, expected > 0)


def test_igraph_errors():
    igraph = pytest.importorskip("igraph", reason="needs igraph")
    with pytest.raises(InvalidInputError, match="no vertices"):
        as_matrix(igraph.Graph())
    directed = igraph.Graph(n=2, edges=[(0, 1)], directed=True)
    with pytest.raises(InvalidInputError, match="not symmetric"):
        as_matrix(directed)
    assert as_matrix(symmetric_part(directed))[0, 1] == -1
    named = igraph.Graph(n=2, edges=[(0, 1)])
    named.es["weight"] = ["heavy"]
    with pytest.raises(InputTypeError, match="'weight' is not a number"):
        as_matrix(named)


def test_signals_of_torch_are_transformed():
    torch = pytest.importorskip("torch", reason="needs torch")
    f = wm.factorize(GRAPH, core=8, k=4)
    x = np.arange(34.0)
    np.testing.assert_array_equal(f.analyze(torch.from_numpy(x)), f.analyze(x))
