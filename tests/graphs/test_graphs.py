"""Graph, generators, Laplacians and the conversion of foreign objects."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from wavemmf import factorize, graphs
from wavemmf.errors import InputTypeError, InvalidInputError, TooLargeError
from wavemmf.graphs import Graph, as_matrix, normalized_laplacian

TRIANGLE = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
WEIGHTED = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]])


def dense_normalized_laplacian(adjacency):
    degrees = np.abs(adjacency).sum(axis=1)
    roots = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    return np.diag(np.sign(degrees)) - adjacency / np.outer(roots, roots)


# Graph


def test_graph_is_validated_frozen_and_has_a_short_repr():
    graph = Graph(WEIGHTED, coordinates=np.zeros((3, 2)), name="w", labels=[0, 1, 0])
    assert (graph.n, graph.num_edges) == (3, 2)
    assert repr(graph) == "Graph('w', n=3, num_edges=2)"
    assert isinstance(graph.adjacency, sp.csr_array)
    assert graph.labels.dtype == np.int64
    with pytest.raises(AttributeError):
        graph.name = "other"


def test_self_loop_is_one_edge():
    assert Graph(np.array([[1.0, 1.0], [1.0, 0.0]])).num_edges == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"coordinates": np.zeros((2, 2))}, "coordinates must have one row for each of 3"),
        ({"coordinates": np.zeros(3)}, r"shape \(n, d\)"),
        ({"coordinates": np.full((3, 2), np.nan)}, "finite"),
        ({"labels": [0, 1]}, "labels must have one row"),
        ({"labels": [0.5, 1.0, 2.0]}, "vector of integers"),
        ({"features": np.ones((2, 4))}, "features must have one row"),
        ({"node_names": ["a"]}, "node_names must have one row"),
    ],
)
def test_graph_refuses_mismatched_fields(fields, message):
    with pytest.raises(InvalidInputError, match=message):
        Graph(TRIANGLE, **fields)


@pytest.mark.parametrize("bad", [np.ones((2, 3)), [[0, 1], [0, 0]], [[0, np.nan], [np.nan, 0]]])
def test_graph_refuses_bad_adjacency(bad):
    with pytest.raises(InvalidInputError):
        Graph(np.asarray(bad))


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_graph_survives_copy_and_pickle(clone):
    graph = graphs.karate()
    twin = clone(graph)
    np.testing.assert_array_equal(twin.adjacency.toarray(), graph.adjacency.toarray())
    assert twin.name == graph.name


# Generators


def test_karate_equals_the_one_of_networkx():
    networkx = pytest.importorskip("networkx", reason="compares with networkx")
    club = networkx.karate_club_graph()
    graph = graphs.karate()
    expected = networkx.to_numpy_array(club, weight=None)
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    clubs = [graph.class_names[label] for label in graph.labels]
    assert clubs == [club.nodes[v]["club"] for v in club]


def test_kronecker_power():
    seed = np.array([[0, 1], [1, 1]])
    np.testing.assert_array_equal(graphs.kronecker(3), np.kron(np.kron(seed, seed), seed))
    matrix = graphs.kronecker()
    assert matrix.shape == (512, 512)
    assert matrix.sum() == 3**9
    np.testing.assert_array_equal(graphs.kronecker(1, [[2.5]]), [[2.5]])


@pytest.mark.parametrize("order", [20, 60, 10**6])
def test_kronecker_too_large_is_refused_before_allocation(order, monkeypatch):
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(2**30))
    with pytest.raises(InvalidInputError):
        graphs.kronecker(order)


@pytest.mark.parametrize(("z", "depth", "n"), [(4, 4, 161), (3, 4, 46), (2, 3, 7), (5, 0, 1)])
def test_cayley_tree_size_degrees_and_numbering(z, depth, n):
    tree = graphs.cayley_tree(z, depth)
    assert (tree.n, tree.num_edges) == (n, n - 1)
    assert tree.coordinates.shape == (n, 2)
    degrees = tree.adjacency.sum(axis=1)
    assert set(degrees) <= {0, 1, z}
    levels = np.rint(np.linalg.norm(tree.coordinates, axis=1)).astype(int)
    assert levels.max() == depth
    assert (np.diff(levels) >= 0).all()
    parents = sp.tril(tree.adjacency).tocoo().col
    assert (np.diff(parents) >= 0).all()


def test_cayley_tree_is_connected():
    count, _ = sp.csgraph.connected_components(graphs.cayley_tree(4, 4).adjacency)
    assert count == 1


def test_cycle_path_and_grid_equal_networkx():
    networkx = pytest.importorskip("networkx", reason="compares with networkx")
    for graph, expected in [
        (graphs.cycle(7), networkx.cycle_graph(7)),
        (graphs.path(6), networkx.path_graph(6)),
        (graphs.grid(3, 5), networkx.grid_2d_graph(3, 5)),
    ]:
        matrix = networkx.to_numpy_array(expected)
        np.testing.assert_array_equal(graph.adjacency.toarray(), matrix)
    np.testing.assert_array_equal(graphs.grid(3, 5).coordinates[7], [2, 1])


def test_barabasi_albert_is_simple_connected_and_reproducible():
    graph = graphs.barabasi_albert(2000, 3, seed=1)
    assert graph.num_edges == 3 + 3 * (2000 - 4)
    assert set(graph.adjacency.data) == {1.0}
    assert not graph.adjacency.diagonal().any()
    assert sp.csgraph.connected_components(graph.adjacency)[0] == 1
    degrees = np.asarray(graph.adjacency.sum(axis=1))
    assert degrees.max() > 50 > 3 == np.sort(degrees)[100]
    again = graphs.barabasi_albert(2000, 3, seed=1)
    assert (graph.adjacency != again.adjacency).nnz == 0
    other = graphs.barabasi_albert(2000, 3, seed=2)
    assert (graph.adjacency != other.adjacency).nnz > 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: graphs.cycle(2),
        lambda: graphs.path(0),
        lambda: graphs.grid(0, 3),
        lambda: graphs.cayley_tree(1, 3),
        lambda: graphs.cayley_tree(3, -1),
        lambda: graphs.barabasi_albert(3, 3),
        lambda: graphs.kronecker(0),
        lambda: graphs.cayley_tree(9, 200),
    ],
)
def test_generators_refuse_bad_sizes(call):
    with pytest.raises(InvalidInputError):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: graphs.grid(10**6, 10**6),
        lambda: graphs.cycle(10**14),
        lambda: graphs.cayley_tree(10, 30),
        lambda: graphs.barabasi_albert(10**13, 3),
    ],
)
def test_generators_refuse_before_allocating(call):
    with pytest.raises(TooLargeError, match="GiB"):
        call()


# Laplacians


def random_adjacency(signed=False, loops=False, n=12):
    rng = np.random.default_rng(0)
    matrix = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 0 if loops else 1)
    if signed:
        matrix *= rng.choice([-1.0, 1.0], size=matrix.shape)
    matrix = np.maximum(matrix, matrix.T) if not signed else matrix + np.triu(matrix, 1).T
    matrix[3, :] = matrix[:, 3] = 0.0  # An isolated vertex.
    return matrix


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("signed", [False, True])
def test_laplacians_match_their_definition(signed, loops):
    matrix = random_adjacency(signed, loops)
    result = normalized_laplacian(matrix).toarray()
    np.testing.assert_array_equal(result, result.T)
    np.testing.assert_allclose(result, dense_normalized_laplacian(matrix), atol=1e-15)
    expected = np.diag(np.abs(matrix).sum(axis=1)) - matrix
    np.testing.assert_allclose(graphs.laplacian(matrix).toarray(), expected, atol=1e-15)
    for values in (np.linalg.eigvalsh(result), np.linalg.eigvalsh(expected)):
        assert values.min() > -1e-12
    assert np.linalg.eigvalsh(result).max() < 2 + 1e-12
    assert not result[3].any()


def test_laplacians_match_networkx_with_weights_loops_and_isolated_vertices():
    networkx = pytest.importorskip("networkx", reason="compares with networkx")
    graph = networkx.from_numpy_array(random_adjacency(loops=True))
    expected = networkx.normalized_laplacian_matrix(graph).toarray()
    np.testing.assert_allclose(normalized_laplacian(graph).toarray(), expected, atol=1e-15)
    expected = networkx.laplacian_matrix(graph).toarray()
    np.testing.assert_allclose(graphs.laplacian(graph).toarray(), expected, atol=1e-15)


def test_normalized_laplacian_of_a_cycle_is_exact():
    assert set(normalized_laplacian(graphs.cycle(5)).data) == {1.0, -0.5}


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200, 1.7e308])
def test_normalized_laplacian_at_extreme_scales(scale):
    expected = dense_normalized_laplacian(TRIANGLE)
    result = normalized_laplacian(TRIANGLE * scale).toarray()
    np.testing.assert_allclose(result, expected, rtol=1e-3 if scale < 1e-300 else 1e-14)


def test_laplacian_reports_overflow():
    with pytest.raises(InvalidInputError, match="overflow"):
        graphs.laplacian(TRIANGLE * 1.7e308)


def test_graph_without_edges():
    assert normalized_laplacian(np.zeros((4, 4))).nnz == 0
    assert normalized_laplacian(sp.csr_array((4, 4))).nnz == 0


def test_unweighted_option():
    np.testing.assert_array_equal(
        graphs.adjacency(WEIGHTED, weighted=False).toarray(), WEIGHTED > 0
    )
    np.testing.assert_array_equal(
        normalized_laplacian(WEIGHTED, weighted=False).toarray(),
        normalized_laplacian(WEIGHTED > 0).toarray(),
    )


def test_directed_graphs_are_an_error_or_made_undirected():
    directed = np.array([[0.0, 2.0, 0.0], [4.0, 0.0, 5.0], [0.0, 0.0, 0.0]])
    with pytest.raises(InvalidInputError, match="symmetric_part"):
        graphs.adjacency(directed)
    result = graphs.symmetric_part(directed, as_graph=True).adjacency.toarray()
    np.testing.assert_array_equal(result, [[0, 3, 0], [3, 0, 5], [0, 5, 0]])
    with pytest.raises(InvalidInputError, match="square"):
        graphs.symmetric_part(np.ones((2, 3)), as_graph=True)


# Conversion


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_as_matrix_takes_sparse_matrices_as_they_are(layout):
    for kind in (sp.csr_array, sp.csr_matrix):
        result = as_matrix(kind(WEIGHTED).asformat(layout))
        np.testing.assert_array_equal(result.toarray(), WEIGHTED)


@pytest.mark.parametrize(
    ("matrix", "function"),
    [
        ("normalized_laplacian", graphs.normalized_laplacian),
        ("laplacian", graphs.laplacian),
        ("adjacency", graphs.adjacency),
    ],
)
def test_as_matrix_names_the_matrix_of_the_graph(matrix, function):
    for obj in (WEIGHTED, sp.csr_array(WEIGHTED), Graph(WEIGHTED)):
        result = as_matrix(obj, matrix=matrix)
        np.testing.assert_array_equal(result.toarray(), function(WEIGHTED).toarray())


def test_as_matrix_gives_the_normalized_laplacian_of_graph_objects():
    result = as_matrix(Graph(WEIGHTED)).toarray()
    np.testing.assert_array_equal(result, normalized_laplacian(WEIGHTED).toarray())
    np.testing.assert_array_equal(as_matrix(WEIGHTED), WEIGHTED)
    np.testing.assert_array_equal(as_matrix(WEIGHTED.tolist()), WEIGHTED)


def test_as_matrix_refuses_unknown_matrix_names():
    with pytest.raises(InvalidInputError, match="'normalized_laplacian', 'laplacian', 'adjacency'"):
        as_matrix(WEIGHTED, matrix="modularity")


@pytest.mark.parametrize("obj", [None, object(), len, {"a": 1}, {1, 2}, iter([1])])
def test_as_matrix_refuses_other_objects(obj):
    with pytest.raises((InputTypeError, InvalidInputError)):
        as_matrix(obj)


def test_the_symmetric_part_of_what_has_names_keeps_them():
    networkx = pytest.importorskip("networkx", reason="needs networkx")
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    upper = np.triu(np.ones((2, 2)))
    np.testing.assert_array_equal(graphs.symmetric_part(upper), [[1, 0.5], [0.5, 1]])
    frame = pandas.DataFrame(upper, ["a", "b"], ["a", "b"])
    assert factorize(graphs.symmetric_part(frame), core=1, k=2).node_names == ("a", "b")
    graph = graphs.symmetric_part(networkx.DiGraph([("b", "a")]))
    assert graph.node_names == ("b", "a")
    assert graphs.symmetric_part(graph) is graph


def test_what_only_some_calls_need_is_not_imported():
    code = (
        "import sys, wavemmf\n"
        "heavy = {'torch', 'torch_geometric', 'networkx', 'sklearn', 'pandas', 'matplotlib'}\n"
        "heavy |= {'scipy.linalg', 'scipy.sparse.linalg', 'scipy.io', 'urllib.request'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_pandas_data_frame():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    np.testing.assert_array_equal(as_matrix(pandas.DataFrame(WEIGHTED)), WEIGHTED)
    with pytest.raises(InputTypeError, match="object"):
        as_matrix(pandas.DataFrame({"a": ["x", 1], "b": [1, 2]}))


def test_networkx_weights_multigraphs_and_errors():
    networkx = pytest.importorskip("networkx", reason="needs networkx")
    graph = networkx.from_numpy_array(WEIGHTED)
    assert graphs.is_graph(graph)
    np.testing.assert_array_equal(as_matrix(graph, matrix="adjacency").toarray(), WEIGHTED)
    unweighted = graphs.adjacency(graph, weighted=False).toarray()
    np.testing.assert_array_equal(unweighted, WEIGHTED > 0)
    multi = networkx.MultiGraph([("a", "b"), ("a", "b")])
    assert graphs.adjacency(multi)[0, 1] == 2
    assert graphs.adjacency(multi, weighted=False)[0, 1] == 1
    with pytest.raises(InvalidInputError, match="no vertices"):
        as_matrix(networkx.Graph())
    with pytest.raises(InvalidInputError, match="symmetric_part"):
        as_matrix(networkx.DiGraph([(0, 1)]))
    assert as_matrix(graphs.symmetric_part(networkx.DiGraph([(0, 1)])))[0, 1] == -1
    graph[0][1]["weight"] = "heavy"
    with pytest.raises(InputTypeError, match="weight"):
        as_matrix(graph)


def test_networkx_karate_without_weights_is_ours():
    networkx = pytest.importorskip("networkx", reason="needs networkx")
    theirs = normalized_laplacian(networkx.karate_club_graph(), weighted=False)
    assert (theirs != normalized_laplacian(graphs.karate())).nnz == 0


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
@pytest.mark.parametrize("layout", ["strided", "coo", "csr", "csc", "bsr"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "int64", "bool"])
def test_torch_tensors(layout, dtype):
    torch = pytest.importorskip("torch", reason="needs torch")
    tensor = torch.tensor(np.kron(np.eye(2), TRIANGLE)).to(getattr(torch, dtype))
    if layout == "bsr":
        tensor = tensor.to_sparse_bsr((3, 3))
    elif layout != "strided":
        tensor = tensor.to_sparse(layout=getattr(torch, f"sparse_{layout}"))
    result = as_matrix(tensor)
    assert sp.issparse(result) == (layout != "strided")
    dense = result.toarray() if sp.issparse(result) else result
    np.testing.assert_array_equal(dense, np.kron(np.eye(2), TRIANGLE))


def test_torch_gradients_complex_and_shapes():
    torch = pytest.importorskip("torch", reason="needs torch")
    np.testing.assert_array_equal(as_matrix(torch.nn.Parameter(torch.eye(2))), np.eye(2))
    with pytest.raises(InputTypeError, match="complex"):
        as_matrix(torch.eye(2, dtype=torch.complex64))
    with pytest.raises(InvalidInputError, match="2 dimensions"):
        as_matrix(torch.ones(3))
    as_adjacency = as_matrix(torch.tensor(WEIGHTED), matrix="normalized_laplacian")
    np.testing.assert_array_equal(as_adjacency.toarray(), normalized_laplacian(WEIGHTED).toarray())


def test_pyg_data():
    torch = pytest.importorskip("torch", reason="needs torch")
    data_module = pytest.importorskip("torch_geometric.data", reason="needs torch_geometric")
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    weights = torch.tensor([2.0, 2.0, 3.0, 3.0])
    plain = data_module.Data(edge_index=edge_index, num_nodes=4)
    assert graphs.is_graph(plain)
    matrix = graphs.adjacency(plain)
    assert matrix.shape == (4, 4)
    np.testing.assert_array_equal(matrix.toarray()[:3, :3], WEIGHTED > 0)
    np.testing.assert_array_equal(as_matrix(plain).toarray(), normalized_laplacian(plain).toarray())
    for fields in (
        {"edge_weight": weights},
        {"edge_attr": weights},
        {"edge_attr": weights[:, None]},
    ):
        data = data_module.Data(edge_index=edge_index, num_nodes=3, **fields)
        np.testing.assert_array_equal(graphs.adjacency(data).toarray(), WEIGHTED)
        np.testing.assert_array_equal(
            graphs.adjacency(data, weighted=False).toarray(), WEIGHTED > 0
        )
    bonds = data_module.Data(edge_index=edge_index, num_nodes=3, edge_attr=torch.ones(4, 5))
    np.testing.assert_array_equal(graphs.adjacency(bonds).toarray(), WEIGHTED > 0)


def test_pyg_errors():
    torch = pytest.importorskip("torch", reason="needs torch")
    data_module = pytest.importorskip("torch_geometric.data", reason="needs torch_geometric")
    with pytest.raises(InputTypeError, match="edge_index"):
        as_matrix(data_module.Data(x=torch.ones(3, 1)))
    one_way = data_module.Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2)
    with pytest.raises(InvalidInputError, match="symmetric_part"):
        as_matrix(one_way)
    assert graphs.adjacency(graphs.symmetric_part(one_way))[1, 0] == 1
    outside = data_module.Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2)
    with pytest.raises(InvalidInputError, match=r"outside 0\.\.1"):
        as_matrix(outside)
