"""Pictures: what is on them, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import wavemmf as wm
from command_line import failed, run
from wavemmf.errors import InvalidInputError
from wavemmf.experiments import compare

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

TREE = wm.graphs.cayley_tree(3, 4)


@pytest.fixture(scope="module")
def f():
    return wm.factorize(TREE, core=6, k=6, optimize="lbfgs", steps=10)


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def test_a_wavelet_is_drawn_on_the_graph(f):
    ax = wm.plot.wavelet(f, 20, TREE)
    edges, nodes = ax.collections[:2]
    assert len(edges.get_segments()) == TREE.num_edges
    assert sorted(nodes.get_array()) == sorted(f.wavelet(20).ravel())
    low, high = nodes.get_clim()
    assert low == -high, "zero is white"
    assert "level 20" in ax.get_title()


def test_given_axes_are_used_and_returned(f):
    _, ax = pyplot.subplots()
    assert wm.plot.wavelet(f, 1, TREE, ax=ax) is ax
    for draw in (wm.plot.spectrum, wm.plot.h_matrix, wm.plot.convergence):
        _, own = pyplot.subplots()
        assert draw(f, ax=own) is own
    assert len(pyplot.get_fignums()) == 4, "no further figures were opened"


def test_stems_as_in_the_paper(f):
    ax = wm.plot.wavelet(f, 20, TREE, stems=True)
    assert ax.name == "3d"
    edges, uprights, nodes = ax.collections
    assert edges.get_zorder() < uprights.get_zorder() < nodes.get_zorder()
    assert not ax.computed_zorder, "or the edges are hidden"
    with pytest.raises(InvalidInputError, match="three-dimensional"):
        wm.plot.wavelet(f, 20, TREE, ax=pyplot.subplots()[1], stems=True)


def test_scaling_functions(f):
    ax = wm.plot.scaling_function(f, 5, TREE)
    assert sorted(ax.collections[1].get_array()) == sorted(f.scaling_functions()[5])
    with pytest.raises(InvalidInputError, match="below the core size 6"):
        wm.plot.scaling_function(f, 6, TREE)


def test_h_is_ordered_by_elimination(f):
    (image,) = wm.plot.h_matrix(f).images
    shades = np.asarray(image.get_array())
    outside = shades[6:, 6:][~np.eye(f.n - 6, dtype=bool)]
    assert (outside == shades.min()).all(), "nothing beside the diagonal"


def test_the_matrix_is_shown_level_by_level(f):
    panels = wm.plot.compression(f, TREE, [0, f.num_levels])
    first, last = (np.asarray(ax.images[0].get_array()) for ax in panels)
    order = np.concatenate([f.core_indices, f.rotations.wavelets[::-1]])
    a = wm.graphs.normalized_laplacian(TREE).toarray()
    w = f.basis().toarray()
    for shades, matrix in ((first, a), (last, w @ a @ w.T)):
        sizes = np.abs(matrix[np.ix_(order, order)])
        expected = np.log10(np.maximum(sizes / sizes.max(), 1e-4))
        np.testing.assert_allclose(shades, expected, atol=1e-6)
    assert len(wm.plot.compression(f, TREE)) == 4
    with pytest.raises(InvalidInputError, match="levels must be from 0 to 40"):
        wm.plot.compression(f, TREE, [41])
    with pytest.raises(InvalidInputError, match="A must have shape"):
        wm.plot.compression(f, wm.graphs.karate())


def test_curves(f, rng):
    (line,) = wm.plot.convergence(f).lines
    assert tuple(line.get_ydata()) == f.history.errors
    (line,) = wm.plot.convergence(f, against="seconds").lines
    assert tuple(line.get_xdata()) == f.history.seconds
    with pytest.raises(InvalidInputError, match="no history"):
        wm.plot.convergence(wm.factorize(TREE, core=6))
    x = rng.standard_normal(f.n)
    ours, plain = wm.plot.sparse_approximation(f, x).lines
    kept = np.sort(np.abs(f.analyze(x)))[:-3]
    assert ours.get_ydata()[3] == pytest.approx(np.linalg.norm(kept) / np.linalg.norm(x))
    assert plain.get_ydata()[0] == pytest.approx(1.0)
    with pytest.raises(InvalidInputError, match="nothing to approximate"):
        wm.plot.sparse_approximation(f, np.zeros(f.n))


def test_training_of_a_policy():
    class History:
        errors = np.linspace(2.0, 1.0, 100)

    points, mean = wm.plot.training(History(), window=10).lines
    assert len(points.get_ydata()) == 100
    assert mean.get_ydata()[0] == pytest.approx(History.errors[:10].mean())


def test_errors_of_several_methods():
    rows = compare(TREE, [6, 12], k=4, methods=["greedy", "nystrom"])
    _, ax = pyplot.subplots()
    assert wm.plot.comparison(rows, ax=ax) is ax
    assert list(ax.get_xticks()) == [6, 12]
    for cost in ("basis_nonzeros", "stored_numbers", "multiplications"):
        points = wm.plot.comparison(rows, against=cost).collections[0].get_offsets()
        expected = [(getattr(row, cost), row.error) for row in rows if row.method == "greedy"]
        np.testing.assert_allclose(points, expected)
    with pytest.raises(InvalidInputError, match="against"):
        wm.plot.comparison(rows, against="beauty")


def test_frequencies_by_level(f):
    wavelets, core = wm.plot.spectrum(f).lines
    assert sorted(wavelets.get_ydata()) == sorted(f.frequencies[f.rotations.wavelets])
    assert len(core.get_ydata()) == 6


def test_layouts_are_repeatable_and_finite():
    for graph in (wm.graphs.karate(), wm.graphs.barabasi_albert(700, 2, seed=0)):
        points = wm.plot.layout(graph)
        assert points.shape == (graph.n, 2)
        assert np.isfinite(points).all()
        np.testing.assert_array_equal(points, wm.plot.layout(graph))
    np.testing.assert_array_equal(wm.plot.layout(TREE), TREE.coordinates)


def test_bad_signals_are_named():
    with pytest.raises(InvalidInputError, match="one value for each of 46 vertices"):
        wm.plot.signal([1.0], TREE)


def test_the_command(tmp_path):
    saved = tmp_path / "karate.mmf"
    run("factorize", "karate", "--core", 8, "--k", 4, "-o", saved)
    for extra in ((), ("--stems",), ("--level", "1,2,3,26")):
        picture = tmp_path / "wavelets.png"
        result = run("plot", saved, "--graph", "karate", "-o", picture, *extra)
        assert result.exit_code == 0, result.output
        pixels = pyplot.imread(picture)
        assert pixels.std() > 0.01, "not blank"
    failed(run("plot", saved, "--graph", "karate", "--level", "27"), "from 1 to 26")
    failed(run("plot", saved, "--graph", "karate", "-o", "x.gif"), "suffix")
    failed(run("plot", saved, "--graph", "cayley"), "vertices")


def test_vertices_with_the_same_neighbours_do_not_hide_each_other():
    points = wm.plot.layout(wm.graphs.karate())
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + 10.0 * np.eye(34)
    assert apart.min() > 0.02
