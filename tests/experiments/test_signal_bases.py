"""Bases that wavelets are compared with, and the comparison."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import wavemmf as wm
from wavemmf.cli.app import app
from wavemmf.errors import FileFormatError, InvalidInputError, TooLargeError
from wavemmf.experiments import signals as laboratory
from wavemmf.experiments._haar_walsh import (
    best_haar_walsh,
    bisections,
    haar_basis,
    halved_in_space,
    walsh_basis,
)
from wavemmf.experiments._signal_rivals import (
    eigenvector_basis,
    jacobi_basis,
    pursuit,
    spectral_frame,
    treelet_basis,
)
from wavemmf.experiments.signals import BASES, compare_signals, read_signals

GRAPH = wm.graphs.grid(7, 6)


@pytest.mark.parametrize(
    "make", [haar_basis, walsh_basis, eigenvector_basis, treelet_basis, jacobi_basis]
)
def test_bases_are_orthonormal(make):
    basis = make(GRAPH)
    dense = basis if isinstance(basis, np.ndarray) else basis.toarray()
    np.testing.assert_allclose(dense @ dense.T, np.eye(42), atol=1e-12)


def test_halves_in_space_give_a_haar_basis_too(rng):
    tree = halved_in_space(rng.random((42, 3)))
    assert [half.members.size for half in tree.halves] == [21, 21]
    basis = haar_basis(GRAPH, tree)
    np.testing.assert_allclose((basis @ basis.T).toarray(), np.eye(42), atol=1e-12)


def test_the_best_basis_keeps_the_norm_and_is_no_dearer_than_walsh_or_the_vertices(rng):
    tree = bisections(GRAPH)
    x = rng.normal(size=42)
    found = best_haar_walsh(x, tree)
    assert found @ found == pytest.approx(x @ x)
    cost = np.abs(found).sum()
    assert cost <= np.abs(walsh_basis(GRAPH, tree) @ x).sum() + 1e-12
    assert cost <= np.abs(x).sum() + 1e-12


def test_jacobi_rotations_take_away_what_theory_says():
    laplacian = wm.graphs.normalized_laplacian(GRAPH).toarray()
    basis = jacobi_basis(GRAPH)
    turned = basis @ laplacian @ basis.T
    beside = np.linalg.norm(turned - np.diag(np.diag(turned)))
    before = np.linalg.norm(laplacian - np.diag(np.diag(laplacian)))
    # The largest of n (n - 1) entries has at least their mean square.
    rotations = round(42 * np.log2(42))
    assert beside**2 <= before**2 * (1.0 - 2.0 / (42 * 41)) ** rotations


def test_a_pursuit_in_a_basis_takes_the_largest_coefficients(rng):
    basis, x = eigenvector_basis(GRAPH), rng.normal(size=42)
    errors = pursuit(basis, x, 10)
    energy = np.sort((basis @ x) ** 2)[::-1]
    np.testing.assert_allclose(errors, x @ x - np.concatenate([[0], np.cumsum(energy[:10])]))
    assert (np.diff(pursuit(spectral_frame(GRAPH), x, 20)) <= 1e-12).all()


def test_all_bases_are_compared(rng):
    x = rng.normal(size=42).cumsum()
    rows = compare_signals(GRAPH, x)
    assert [row.basis for row in rows] == list(BASES)
    for row in rows:
        assert all(a >= b for a, b in zip(row.errors, row.errors[1:], strict=False))
        assert row.curve[4] == pytest.approx(row.errors[0])
    energy = np.sort((haar_basis(GRAPH) @ x) ** 2)[::-1]
    haar = rows[list(BASES).index("haar")]
    assert haar.errors[1] == pytest.approx(np.sqrt(energy[4:].sum() / energy.sum()))


def test_several_signals_give_the_mean(rng):
    x = rng.normal(size=(42, 3))
    together = compare_signals(GRAPH, x, ["haar"])[0].errors
    alone = [compare_signals(GRAPH, column, ["haar"])[0].errors for column in x.T]
    np.testing.assert_allclose(together, np.mean(alone, axis=0))


def test_what_is_refused(monkeypatch, tmp_path):
    with pytest.raises(InvalidInputError, match="must have 42 rows"):
        compare_signals(GRAPH, np.zeros(5))
    with pytest.raises(InvalidInputError, match="got 'fourier'"):
        compare_signals(GRAPH, np.zeros(42), ["fourier"])
    small = (*BASES["walsh"][:2], 10)
    monkeypatch.setitem(laboratory.BASES, "walsh", small)
    with pytest.raises(TooLargeError, match="up to 10 vertices, got 42"):
        compare_signals(GRAPH, np.zeros(42), ["walsh"])
    path = tmp_path / "signal.txt"
    path.write_text("1\nnan\n")
    with pytest.raises(FileFormatError, match="not finite"):
        read_signals(path)


def test_the_command_prints_a_table_and_draws(tmp_path):
    signal, picture, record = (tmp_path / name for name in ("x.txt", "x.png", "x.json"))
    np.savetxt(signal, np.arange(34.0))
    arguments = ["compare", "signals", "--graph", "karate", "--signal", str(signal)]
    more = ["--bases", "diffusion-k2,haar", "--plot", str(picture), "--record", str(record)]
    done = CliRunner().invoke(app, [*arguments, *more])
    assert done.exit_code == 0, done.output
    assert "diffusion-k2" in done.output
    assert "haar" in done.output
    assert picture.read_bytes()[1:4] == b"PNG"
    assert '"what": "compare signals"' in record.read_text()
    wrong = CliRunner().invoke(app, [*arguments, "--bases", "fourier"])
    assert wrong.exit_code == 2
