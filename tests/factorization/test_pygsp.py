"""Filter banks of PyGSP on the basis of a factorization."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.errors import InvalidInputError, MissingDependencyError

GRAPH = wm.graphs.grid(5, 6)
LAPLACIANS = {"normalized": "normalized_laplacian", "combinatorial": "laplacian"}


def test_without_it_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygsp.graphs", None)
    monkeypatch.setitem(sys.modules, "pygsp", None)
    with pytest.raises(MissingDependencyError, match=r"wavemmf\[pygsp\]"):
        wm.factorize(GRAPH, core=4).to_pygsp(GRAPH)


class TestWithIt:
    @pytest.fixture(autouse=True)
    def filters(self):
        self.filters = pytest.importorskip("pygsp.filters", reason="needs PyGSP")

    @pytest.mark.parametrize("kind", LAPLACIANS)
    @pytest.mark.parametrize("core", [1, 8, 30])
    def test_its_basis_diagonalises_the_approximation(self, kind, core):
        f = wm.factorize(GRAPH, core=core, k=3, matrix=LAPLACIANS[kind])
        seen = f.to_pygsp(GRAPH)
        assert seen.lap_type == kind
        assert np.all(np.diff(seen.e) >= 0.0)
        assert seen.lmax == seen.e[-1]
        np.testing.assert_allclose(seen.U.T @ seen.U, np.eye(30), atol=1e-12)
        np.testing.assert_allclose((seen.U * seen.e) @ seen.U.T, f.to_dense(), atol=1e-12)

    def test_a_filter_is_a_function_of_the_factorization(self, rng):
        f = wm.factorize(GRAPH, core=5, k=4)
        seen, x = f.to_pygsp(GRAPH), rng.standard_normal((30, 2))
        heat = self.filters.Heat(seen, scale=3.0)
        wanted = f.apply(lambda e: np.exp(-3.0 * np.maximum(e, 0.0) / seen.lmax)) @ x
        np.testing.assert_allclose(heat.filter(x, method="exact"), wanted, atol=1e-12)

    def test_a_tight_frame_stays_one(self, rng):
        seen = wm.factorize(GRAPH, core=5, k=4).to_pygsp(GRAPH)
        bank, x = self.filters.Itersine(seen), rng.standard_normal(30)
        back = bank.synthesize(bank.analyze(x, method="exact"), method="exact")
        np.testing.assert_allclose(back, x, atol=1e-10)

    def test_with_the_whole_matrix_as_core_it_is_exact(self, rng):
        seen, x = wm.factorize(GRAPH, core=30).to_pygsp(GRAPH), rng.standard_normal(30)
        plain = type(seen)(GRAPH.adjacency, lap_type="normalized")
        plain.compute_fourier_basis()
        filtered = [self.filters.MexicanHat(g).filter(x, method="exact") for g in (seen, plain)]
        np.testing.assert_allclose(*filtered, atol=1e-8)

    def test_coordinates_go_along(self):
        seen = wm.factorize(GRAPH, core=4).to_pygsp(GRAPH)
        np.testing.assert_array_equal(seen.coords, GRAPH.coordinates)

    def test_another_matrix_is_refused(self):
        f = wm.factorize(GRAPH, core=4, matrix="adjacency")
        with pytest.raises(InvalidInputError, match="another matrix"):
            f.to_pygsp(GRAPH)
        with pytest.raises(InvalidInputError, match="20 vertices"):
            f.to_pygsp(wm.graphs.grid(4, 5))
