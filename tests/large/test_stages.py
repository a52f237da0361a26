"""Stages of parts: the same mathematics as one run, whatever the parts and the threads."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import wavemmf as wm
from wavemmf.factorization._project import project
from wavemmf.graphs import partition
from wavemmf.large import reduce_in_stages
from wavemmf.optimize import LBFGS
from wavemmf.report._summary import as_facts, summarize
from wavemmf.select import Greedy, Task
from wavemmf.select._part import Method, Part, reduce_part


def laplacian(graph: object) -> sp.csr_array:
    matrix = sp.csr_array(wm.graphs.normalized_laplacian(graph))
    matrix.sort_indices()
    return matrix


def random_sparse(n: int, per_row: int, seed: int) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), per_row)
    columns = rng.integers(0, n, rows.size)
    upper = sp.coo_array((rng.normal(size=rows.size), (rows, columns)), (n, n))
    matrix = sp.csr_array(upper + upper.T)
    matrix.sort_indices()
    return matrix


def as_factorization(matrix: sp.csr_array, outcome: object) -> wm.Factorization:
    return wm.Factorization(
        outcome.rotations,
        outcome.h,
        float(np.sqrt((matrix.data**2).sum())),
        outcome.residual + outcome.discarded,
        error_is_exact=False,
    )


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("nearest", [False, True])
@pytest.mark.parametrize("part_size", [50, 130, 1000])
def test_error_is_bounded_and_close(k: int, nearest: bool, part_size: int) -> None:
    matrix = laplacian(wm.graphs.grid(18, 18))
    method = Method(k, 1, k == 2, nearest, 1e-5)
    outcome = reduce_in_stages(matrix, 30, method, part_size)
    f = as_factorization(matrix, outcome)
    true = np.linalg.norm(matrix.toarray() - f.to_dense())
    assert true <= f.error() * (1 + 1e-12)
    assert abs(true - outcome.residual) <= outcome.discarded + 1e-9
    assert f.core_size == 30
    serial = wm.Factorization.from_rotations(
        matrix, reduce_part(Part(matrix, np.ones(324, bool)), 30, method).rotations
    )
    assert f.error() < 1.12 * serial.error()


@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_bounds_of_graphs_that_do_not_fall_into_parts(
    scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wavemmf.large import factorize as large

    monkeypatch.setattr(large, "_EXACT_WORK", 0.0)
    matrix = scale * sp.csr_array(wm.graphs.barabasi_albert(3000, 3, seed=0).adjacency)
    monkeypatch.setattr(large, "reduce_in_stages", partial(reduce_in_stages, part_size=200))
    f = large.factorize_in_stages(matrix, Greedy(), Task(core=30, k=4, drop=1), {})
    true = np.linalg.norm((matrix / scale).toarray() - f.to_dense() / scale) * scale
    assert not f.error_is_exact
    assert true <= f.error() <= f.matrix_norm + f.h.norm()
    estimate, spread = f.history.details["estimated_error"]
    assert abs(estimate - true) < 4 * spread
    # The H that is best for these rotations is hardly better, and asked for, it is there.
    best = wm.Factorization.from_rotations(matrix, f.rotations)
    assert best.error_is_exact
    assert 0.99 * true < best.error() <= true * (1 + 1e-12)


@pytest.mark.parametrize("drop", [1, 2])
def test_thread_count_does_not_matter(drop: int, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = laplacian(wm.graphs.grid(20, 20))
    results = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        results.append(reduce_in_stages(matrix, 45, Method(4, drop, False, False, 1e-5), 80))
    for other in results[1:]:
        assert np.array_equal(results[0].rotations.blocks, other.rotations.blocks)
        assert np.array_equal(results[0].rotations.groups, other.rotations.groups)
        assert results[0].residual == other.residual


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 60),
    per_row=st.integers(0, 3),
    part_size=st.integers(4, 80),
    k=st.integers(2, 5),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_any_sparse_matrix(
    n: int, per_row: int, part_size: int, k: int, seed: int, data: st.DataObject
) -> None:
    matrix = random_sparse(n, per_row, seed)
    core = data.draw(st.integers(0, n))
    drop = data.draw(st.integers(1, k - 1))
    outcome = reduce_in_stages(matrix, core, Method(k, drop, False, True, 1e-6), part_size)
    f = as_factorization(matrix, outcome)
    assert f.core_size == core
    true = np.linalg.norm(matrix.toarray() - f.to_dense())
    assert true <= f.error() + 1e-9 * (1 + f.matrix_norm)
    assert abs(true - outcome.residual) <= outcome.discarded + 1e-9 * (1 + f.matrix_norm)


@settings(max_examples=15, deadline=None)
@given(
    n=st.integers(20, 70), per_row=st.integers(1, 2), k=st.integers(2, 5), seed=st.integers(0, 99)
)
def test_learned_parts_of_any_sparse_matrix(n: int, per_row: int, k: int, seed: int) -> None:
    matrix = random_sparse(n, per_row, seed)
    method = Method(k, 1, False, True, 1e-6)
    outcome = reduce_in_stages(matrix, n // 4, method, 40, optimizer=LBFGS(steps=5))
    f = as_factorization(matrix, outcome)
    true = np.linalg.norm(matrix.toarray() - f.to_dense())
    assert true <= f.error() + 1e-9 * (1 + f.matrix_norm)
    assert abs(true - outcome.residual) <= outcome.discarded + 1e-9 * (1 + f.matrix_norm)


def test_learning_lowers_the_error() -> None:
    graph = wm.graphs.grid(40, 40)
    plain = wm.factorize(graph, core=160, k=4, engine="sparse")
    learned = wm.factorize(graph, core=160, k=4, engine="sparse", optimize="lbfgs")
    matrix = wm.graphs.normalized_laplacian(graph)
    true = np.linalg.norm(matrix.toarray() - learned.to_dense())
    assert learned.error_is_exact
    assert learned.error() == pytest.approx(true, rel=1e-9)
    assert learned.error() < plain.error()
    assert learned.error() < 9.95
    assert len(learned.history.details["stages"]) > 1
    assert learned.history.method == "lbfgs in parts"
    assert learned.optimized_in_parts
    assert as_facts(summarize(learned))["optimisation"] == "lbfgs in parts"
    assert "optimized='lbfgs in parts'" in repr(learned)
    assert "optimized" not in repr(plain)


def test_learning_does_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for threads in ("1", "2"):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        results.append(
            wm.factorize(wm.graphs.grid(30, 30), core=90, engine="sparse", optimize="lbfgs")
        )
    assert np.array_equal(results[0].rotations.blocks, results[1].rotations.blocks)
    assert results[0].error() == results[1].error()


def test_learning_gives_way_where_a_graph_does_not_fall_into_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from wavemmf.large import stages

    monkeypatch.setattr(stages, "_LEARNED_SIZES", (64, 128))
    f = wm.factorize(
        wm.graphs.barabasi_albert(1500, 4), core=600, engine="sparse", optimize="lbfgs"
    )
    assert [stage["learned"] for stage in f.history.details["stages"]] == [False]
    assert f.history.method == "greedy"
    assert f.relative_error() < 0.2


@pytest.mark.parametrize("setting", [{"callback": print}, {"checkpoint": "state.ckpt"}])
def test_settings_that_parts_cannot_have(setting: dict[str, object]) -> None:
    with pytest.raises(wm.errors.InvalidInputError, match=next(iter(setting))):
        wm.factorize(wm.graphs.grid(20, 20), core=40, engine="sparse", optimize=LBFGS(**setting))


def test_every_stage_is_told() -> None:
    notes: list[str] = []
    f = wm.factorize(
        wm.graphs.grid(30, 30), core=90, engine="sparse", optimize="lbfgs",
        progress=lambda done, total, note: notes.append(note),
    )  # fmt: skip
    told = [note for note in notes if note.endswith("\n")]
    assert len(told) == len(f.history.details["stages"])
    assert "rows left" in told[0]
    assert "error so far" in told[0]


@pytest.mark.parametrize("pattern", ["everywhere", "band"])
def test_projection_against_dense_algebra(pattern: str) -> None:
    matrix = random_sparse(150, 2, 5)
    rotations = wm.factorize(matrix, core=40, k=4).rotations
    core = rotations.core
    w = wm.Factorization.from_rotations(matrix, rotations).basis().toarray()
    rotated = w @ matrix.toarray() @ w.T
    wanted = np.ones((40, 40), bool)
    if pattern == "band":
        wanted = np.abs(np.subtract.outer(np.arange(40), np.arange(40))) < 5
    found, error = project(
        matrix, rotations, None if pattern == "everywhere" else sp.csr_array(wanted * 1.0)
    )
    assert sp.issparse(found.core) == (pattern == "band")
    h = np.diag(rotated.diagonal())
    h[np.ix_(core, core)] = rotated[np.ix_(core, core)] * wanted
    np.testing.assert_allclose(found.to_dense(), h, atol=1e-10)
    assert error == pytest.approx(np.linalg.norm(rotated - h), rel=1e-9)


@pytest.mark.parametrize("sparse_core", [False, True])
@pytest.mark.parametrize("columns", [None, 3])
def test_solve(sparse_core: bool, columns: int | None) -> None:
    matrix = laplacian(wm.graphs.grid(18, 18))
    if sparse_core:
        method = Method(4, 1, False, True, 1e-5)
        f = as_factorization(matrix, reduce_in_stages(matrix, 40, method, 90))
    else:
        f = wm.factorize(matrix, core=40)
    shape = (324,) if columns is None else (324, columns)
    b = np.random.default_rng(1).normal(size=shape)
    dense = f.to_dense() + 0.3 * np.eye(324)
    np.testing.assert_allclose(f.solve(b, shift=0.3), np.linalg.solve(dense, b), atol=1e-9)


def test_singular_systems_are_refused() -> None:
    f = wm.factorize(np.diag([1.0, 0.0, 2.0, 3.0]), core=2, k=2)
    with pytest.raises(wm.errors.SingularError, match="shift"):
        f.solve(np.ones(4))
    np.testing.assert_allclose(f.solve(np.ones(4), shift=1.0), [0.5, 1.0, 1 / 3, 0.25])
    with pytest.raises(wm.errors.InvalidInputError, match="shift"):
        f.solve(np.ones(4), shift=np.nan)


def test_frozen_rows_are_left_alone() -> None:
    matrix = laplacian(wm.graphs.grid(10, 10))
    free = np.arange(100) % 10 > 1
    reduced = reduce_part(Part(matrix, free), 0, Method(4, 1, False, False, 1e-6))
    assert not np.isin(reduced.rotations.groups, np.flatnonzero(~free)).any()
    assert reduced.matrix.shape[0] == 20


def test_sparse_core_is_used_and_stored(tmp_path: object) -> None:
    matrix = laplacian(wm.graphs.grid(18, 18))
    f = as_factorization(matrix, reduce_in_stages(matrix, 40, Method(4, 1, False, True, 1e-5), 90))
    x = np.random.default_rng(0).normal(size=(324, 3))
    dense = f.to_dense()
    np.testing.assert_allclose(f @ x, dense @ x, atol=1e-12)
    f.save(tmp_path / "sparse.mmf")
    g = wm.load(tmp_path / "sparse.mmf")
    assert sp.issparse(g.core)
    assert not g.error_is_exact
    np.testing.assert_array_equal(g @ x, f @ x)
    assert g.stored_numbers == f.stored_numbers < f.rotations.blocks.size + 324 + 40 * 41 // 2


def test_large_arrays_are_mapped(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from wavemmf.factorization import _archive as archive

    monkeypatch.setattr(archive, "_MAP_FROM", 64)
    f = wm.factorize(wm.graphs.karate(), core=8, k=4)
    f.save(tmp_path / "karate.mmf")
    g = wm.load(tmp_path / "karate.mmf")
    base = g.rotations.blocks
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    np.testing.assert_array_equal(g.to_dense(), f.to_dense())


def test_hutchinson_estimate_agrees() -> None:
    matrix = laplacian(wm.graphs.grid(18, 18))
    f = wm.factorize(matrix, core=30, k=4)
    estimate, spread = f.estimate_error(matrix, samples=200, seed=3)
    assert abs(estimate - f.error()) < 4 * spread
    with pytest.raises(wm.errors.InvalidInputError, match="samples"):
        f.estimate_error(matrix, samples=1)
    with pytest.raises(wm.errors.InvalidInputError, match="shape"):
        f.estimate_error(matrix[:5][:, :5])


@pytest.mark.parametrize("installed", [True, False])
def test_partition_is_balanced(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if installed:
        pytest.importorskip("pymetis")
    else:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    graph = wm.graphs.grid(30, 30)
    parts = partition(graph.adjacency, 9)
    sizes = np.bincount(parts, minlength=9)
    assert sizes.max() <= 1.2 * 100
    coo = sp.coo_array(graph.adjacency)
    cut = np.mean(parts[coo.coords[0]] != parts[coo.coords[1]])
    assert cut < 0.3


def test_factorize_takes_stages_for_large_sparse_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(wm.factorize.__globals__, "_STAGES_FROM", 300)
    matrix = 3e200 * laplacian(wm.graphs.grid(34, 34))
    f = wm.factorize(matrix, core=115, k=4)
    assert f.history.details["stages"][0]["rows"] == 34 * 34
    difference = (f.to_dense() - matrix.toarray()) / 1e200
    assert np.linalg.norm(difference) <= f.error() / 1e200 * (1 + 1e-9)
    assert f.relative_error() < 0.3
