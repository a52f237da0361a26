"""Data sets of many graphs: the same as one by one, faster, and kept on disk."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError, TooLargeError
from wavemmf.factorization._collection import load_collection, save_collection
from wavemmf.graphs import as_matrices
from wavemmf.optimize import LBFGS, Stiefel
from wavemmf.select import Greedy

ISOLATED = sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(5, 5))
GRAPHS = [
    wm.graphs.karate(),
    wm.graphs.path(1),
    wm.graphs.path(2),
    wm.graphs.Graph(ISOLATED, name="isolated vertices"),
    wm.graphs.cycle(7),
    np.diag([3.0, 1.0, 2.0]),
    np.zeros((4, 4)),
    wm.graphs.kronecker(5),
    sp.csr_array(np.ones((6, 6))),
    wm.graphs.grid(17, 17),  # larger than what goes together
    *(wm.graphs.barabasi_albert(n, 2, seed=n) for n in range(5, 60)),
]


def assert_same(first: wm.Factorization, second: wm.Factorization) -> None:
    assert first.error() == second.error()
    assert first.matrix_norm == second.matrix_norm
    assert first.parameters == second.parameters
    assert first.history.errors == second.history.errors
    assert first.history.stopped == second.history.stopped
    for name in ("offsets", "groups", "blocks", "drop_offsets", "wavelets"):
        np.testing.assert_array_equal(
            getattr(first.rotations, name), getattr(second.rotations, name)
        )
    np.testing.assert_array_equal(first.frequencies, second.frequencies)
    np.testing.assert_array_equal(first.core, second.core)


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize(
    "settings",
    [
        {"core": 2, "k": 2},
        {"core": 3, "k": 8},
        {"core": 0, "k": 5, "drop": 3, "select": Greedy(survivors="nearest")},
        {"k": 4, "optimize": "lbfgs", "steps": 8},
        {"core": 2, "k": 3, "optimize": Stiefel(steps=3, smoothness=0.1)},
        {"core": 5, "k": 2, "select": Greedy(pairs="correlated"), "matrix": "laplacian"},
        {"core": 0.3, "k": 3},
        {"core": 2, "k": 2, "select": "diffusion"},
    ],
    ids=str,
)
def test_the_same_as_one_by_one(settings, threads, monkeypatch) -> None:
    monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
    results = wm.factorize_many(GRAPHS, **settings)
    assert len(results) == len(GRAPHS)
    for graph, result in zip(GRAPHS, results, strict=True):
        core = settings.get("core")
        alone = {**settings, "core": None if core is None else min(core, result.n)}
        assert_same(result, wm.factorize(graph, **alone))


def test_small_graphs_are_kept_whole() -> None:
    results = wm.factorize_many([wm.graphs.path(n) for n in (1, 2, 3)], core=3, k=8)
    assert [f.num_levels for f in results] == [0, 0, 0]
    assert [f.error() for f in results] == [0.0, 0.0, 0.0]


def test_nothing_to_do() -> None:
    assert wm.factorize_many([], core=2) == []


def test_progress() -> None:
    told = []
    wm.factorize_many(GRAPHS, core=2, k=2, progress=lambda *state: told.append(state[:2]))
    assert told[-1] == (len(GRAPHS), len(GRAPHS))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) > 2


@pytest.mark.parametrize(
    ("graphs", "settings", "error", "message"),
    [
        ([np.eye(2), np.ones((2, 3))], {}, InvalidInputError, "graph 1: the matrix must be square"),
        ([np.eye(2), None], {}, InputTypeError, "graph 1: cannot read NoneType"),
        ([np.eye(2), np.full((2, 2), np.nan)], {}, InvalidInputError, "graph 1: .* NaN"),
        ([np.eye(2)], {"k": 1}, InvalidInputError, "k must be"),
        ([np.eye(2)], {"drop": 4}, InvalidInputError, "drop"),
        ([np.eye(2)], {"core": -1}, InvalidInputError, "core must be"),
        ([np.eye(2)], {"core": 1.5}, InputTypeError, "core must be"),
        ([np.eye(2)], {"optimize": "newton"}, InvalidInputError, "optimize must be one of"),
        ([np.eye(2)], {"select": "random"}, InvalidInputError, "takes the selectors"),
        ([np.eye(2)], {"matrix": "incidence"}, InvalidInputError, "matrix must be one of"),
        ([np.eye(2)], {"cache": 3}, InputTypeError, "cache must be"),
        ([np.eye(9)], {"optimize": LBFGS(callback=print)}, InvalidInputError, "callback"),
        ([np.eye(9)], {"optimize": LBFGS, "core": 1}, InputTypeError, "optimize must be one of"),
    ],
)  # fmt: skip
def test_bad_input(graphs, settings, error, message) -> None:
    with pytest.raises(error, match=message):
        wm.factorize_many(graphs, **settings)


def test_too_large_names_the_graph(monkeypatch) -> None:
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", "100000")
    with pytest.raises(TooLargeError, match="graph 1: "):
        wm.factorize_many([np.eye(2), np.eye(300)], core=2)


def test_one_bad_graph_among_graphs_is_named() -> None:
    directed = sp.csr_array(np.triu(np.ones((3, 3)), 1))
    nx = pytest.importorskip("networkx")
    graphs = [wm.graphs.path(3), nx.from_scipy_sparse_array(directed, create_using=nx.DiGraph)]
    with pytest.raises(InvalidInputError, match="graph 1: the matrix is not symmetric"):
        wm.factorize_many(graphs, core=1)


# -- reading together -----------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.integers(1, 6), st.integers(0, 2**15 - 1), st.sampled_from([1.0, 3.5, 1e200])),
        min_size=2,
        max_size=4,
    ),
    st.sampled_from([None, "laplacian", "adjacency"]),
)
def test_matrices_read_together_are_those_read_alone(shapes, matrix) -> None:
    graphs = []
    for n, edges, weight in shapes:
        upper = np.zeros((n, n))
        places = np.triu_indices(n, 1)
        bits = [(edges >> bit) & 1 for bit in range(len(places[0]))]
        upper[places] = weight * np.array(bits)
        graphs.append(wm.graphs.Graph(upper + upper.T))
    for graph, found in zip(graphs, as_matrices(graphs, matrix, dense_up_to=3), strict=True):
        expected = wm.graphs.as_matrix(graph, matrix)
        assert sp.issparse(found) == (graph.n > 3)
        dense = found.toarray() if sp.issparse(found) else found
        np.testing.assert_array_equal(dense, expected.toarray())


# -- on disk --------------------------------------------------------------------------------------

SMALL = GRAPHS[:9]


def files(folder) -> list:
    return sorted(folder.iterdir())


def test_results_are_kept(tmp_path, monkeypatch) -> None:
    first = wm.factorize_many(GRAPHS, core=3, k=4, optimize="lbfgs", steps=5, cache=tmp_path)
    assert len(files(tmp_path)) > 1
    monkeypatch.setattr("wavemmf._many.factorize_chunk", None)  # nothing is computed any more
    told = []
    second = wm.factorize_many(
        GRAPHS, core=3, k=4, optimize="lbfgs", steps=5, cache=tmp_path,
        progress=lambda *state: told.append(state),
    )  # fmt: skip
    for kept, found in zip(first, second, strict=True):
        assert_same(kept, found)
        assert kept.history.details == found.history.details
    assert told == [(len(GRAPHS), len(GRAPHS), "")]


@pytest.mark.parametrize("change", [{"k": 3}, {"core": 2}, {"select": Greedy(survivors="nearest")}])
def test_other_settings_are_computed(tmp_path, change) -> None:
    wm.factorize_many(SMALL, core=3, k=4, cache=tmp_path)
    settings = {"core": 3, "k": 4, **change}
    results = wm.factorize_many(SMALL, **settings, cache=tmp_path)
    assert len(files(tmp_path)) == 2
    for first, second in zip(results, wm.factorize_many(SMALL, **settings), strict=True):
        assert_same(first, second)


def test_other_matrices_and_versions_are_computed(tmp_path, monkeypatch) -> None:
    wm.factorize_many(SMALL, core=3, cache=tmp_path)
    wm.factorize_many(SMALL[1:], core=3, cache=tmp_path)
    assert len(files(tmp_path)) == 2
    monkeypatch.setattr("wavemmf._fingerprint.__version__", "99")
    wm.factorize_many(SMALL, core=3, cache=tmp_path)
    assert len(files(tmp_path)) == 3


@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty", "flipped"])
def test_damaged_files_are_computed_again(tmp_path, damage) -> None:
    first = wm.factorize_many(SMALL, core=3, cache=tmp_path)
    (file,) = files(tmp_path)
    content = bytearray(file.read_bytes())
    if damage == "flipped":
        middle = len(content) // 2
        content[middle : middle + 64] = bytes(64)
    file.write_bytes(
        {"truncated": content[:-200], "garbage": b"no", "empty": b"", "flipped": content}[damage]
    )
    with pytest.warns(UserWarning, match=r"computing again|computed again"):
        second = wm.factorize_many(SMALL, core=3, cache=tmp_path)
    for kept, found in zip(first, second, strict=True):
        assert_same(kept, found)
    wm.factorize_many(SMALL, core=3, cache=tmp_path)  # repaired: no warning


def test_cache_of_the_user(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("wavemmf._cache.cache_folder", lambda: tmp_path)
    wm.factorize_many(SMALL, core=3, cache=True)
    assert files(tmp_path / "factorizations")


def test_a_cache_that_cannot_be_written(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInputError, match=r"cannot use .* as a cache"):
        wm.factorize_many(SMALL, core=3, cache=tmp_path / "file")


def test_interrupted_work_is_kept(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("WAVEMMF_NUM_THREADS", "1")

    def interrupt(done: int, total: int, note: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wm.factorize_many(GRAPHS, core=3, cache=tmp_path, progress=interrupt)
    assert len(files(tmp_path)) == 1
    assert all(file.suffix == ".mmfs" for file in files(tmp_path))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_ends_it(threads) -> None:
    script = """
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import wavemmf as wm
        graphs = [wm.graphs.barabasi_albert(40, 3, seed=s) for s in range(300)]
        wm.factorize_many(graphs[:2], core=2, k=4, optimize="lbfgs", steps=2)
        print("ready", flush=True)
        endless = wm.optimize.LBFGS(steps=100000, tolerance=0)
        wm.factorize_many(graphs, core=2, k=8, optimize=endless)
    """
    environment = {**os.environ, "WAVEMMF_NUM_THREADS": threads}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "KeyboardInterrupt" in errors


def test_collections_need_not_have_any(tmp_path) -> None:
    save_collection([], tmp_path / "none.mmfs")
    assert load_collection(tmp_path / "none.mmfs") == []


# -- data sets ------------------------------------------------------------------------------------


def write(folder, name: str, **parts: str) -> None:
    raw = folder / "TUDataset" / name / "raw"
    raw.mkdir(parents=True)
    for part, content in parts.items():
        (raw / f"{name}_{part}.txt").write_text(content)


TWO = {
    "A": "1, 2\n2, 1\n4, 3\n",
    "graph_indicator": "1\n1\n2\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n1\n2\n3\n4\n",
    "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5\n",
}


def test_tu_dataset(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    write(tmp_path, "TWO", **TWO)
    data = wm.datasets.tu_dataset("TWO")
    assert repr(data) == "GraphDataset('TWO', 2 graphs)"
    assert [(g.n, g.num_edges) for g in data.graphs] == [(2, 1), (3, 1)]
    np.testing.assert_array_equal(data.labels, [1, -1])
    np.testing.assert_array_equal(data.graphs[1].labels, [2, 3, 4])
    np.testing.assert_array_equal(data.graphs[1].features.toarray(), [[2.5, 3], [3.5, 4], [4.5, 5]])
    assert len(wm.factorize_many(data.graphs, core=1, k=2)) == len(data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"graph_indicator": "1\n2\n1\n2\n2\n"}, "must count"),
        ({"graph_labels": "1\n"}, "has 2 graphs but 1 graph labels"),
        ({"A": "1, 6\n"}, "outside 1..5"),
        ({"A": "1, 3\n"}, "between different graphs"),
        ({"A": "1, x\n"}, "is not a table of numbers"),
        ({"A": "1\n"}, "must have 2 integers"),
        ({"node_labels": "1\n"}, "has 1 lines for 5 nodes"),
    ],
)
def test_damaged_tu_dataset(tmp_path, monkeypatch, change, message) -> None:
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    write(tmp_path, "TWO", **{**TWO, **change})
    with pytest.raises(InvalidInputError, match=message):
        wm.datasets.tu_dataset("TWO")


def test_missing_tu_dataset(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("WAVEMMF_DATA", str(tmp_path))
    with pytest.raises(InvalidInputError, match="is missing"):
        wm.datasets.tu_dataset("NONE")
    with pytest.raises(InvalidInputError, match="not the name"):
        wm.datasets.tu_dataset("../x")


def test_nci1(need_data) -> None:
    need_data("TUDataset/NCI1/raw/NCI1_A.txt*")
    data = wm.datasets.tu_dataset("NCI1")
    assert len(data) == 4110
    assert sum(g.n for g in data.graphs) == 122747
    assert sum(g.num_edges for g in data.graphs) == 132753
    results = wm.factorize_many(data.graphs[:200], core=2, k=2)
    assert 0.2 < np.mean([f.relative_error() for f in results]) < 0.35


@pytest.mark.parametrize("steps", [None, 7])
def test_large_matrices_are_optimised_as_alone(steps: int | None, monkeypatch) -> None:
    """Parts of a large matrix take fewer steps than a whole one, unless told otherwise."""
    monkeypatch.setattr(sys.modules["wavemmf._factorize"], "_STAGES_FROM", 1100)
    graph = wm.graphs.grid(34, 34)
    taken: list[int] = []
    import wavemmf.large.learn as learn

    def watched(matrix, rotations, optimizer, inner=learn.optimize_rotations):
        taken.append(optimizer.steps)
        return inner(matrix, rotations, optimizer)

    monkeypatch.setattr(learn, "optimize_rotations", watched)
    settings = {"core": 200, "k": 3, "optimize": "lbfgs", "steps": steps}
    alone = wm.factorize(graph, **settings)
    expected = set(taken)
    taken.clear()
    assert_same(wm.factorize_many([graph], **settings)[0], alone)
    assert set(taken) == expected == {30 if steps is None else 7}


def test_defaults_are_those_of_factorize() -> None:
    """Whatever both can be told, both take for granted."""
    many, one = (inspect.signature(f).parameters for f in (wm.factorize_many, wm.factorize))
    shared = set(many) & set(one)
    assert {"steps", "core", "k", "drop", "select", "optimize"} <= shared
    assert {name: many[name].default for name in shared} == {
        name: one[name].default for name in shared
    }
