"""What a report is made from, and what is refused."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import wavemmf as wm
from command_line import failed, run
from wavemmf.errors import InvalidInputError, TooLargeError
from wavemmf.report._drawing import hilbert_points, make_drawing
from wavemmf.report._hierarchy import drop_levels, heirs, tree_order
from wavemmf.report._images import reduced_image
from wavemmf.report._packing import pack_floats, pack_fractions, pack_integers
from wavemmf.report._reach import reach

KARATE = wm.graphs.karate()
TYPES = {"Uint8Array": "u1", "Uint16Array": "u2", "Uint32Array": "u4", "Int16Array": "i2"}


@pytest.fixture(scope="module")
def f():
    return wm.factorize(KARATE, core=8, k=4)


def unpack(packed):
    kind = TYPES.get(packed["type"], "f4")
    return np.frombuffer(base64.b64decode(packed["data"]), "<" + kind) * packed["scale"]


def content_of(page):
    (text,) = re.findall(r'<script type="application/json" id="content">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_the_page_holds_what_is_needed_to_compute_every_wavelet(f):
    content = content_of(wm.report.report_html(f, KARATE))
    r = {name: unpack(packed) for name, packed in content["rotations"].items()}
    for own, fields in (("offsets", "offsets"), ("groups", "groups"), ("wavelets", "wavelets")):
        np.testing.assert_array_equal(r[own], getattr(f.rotations, fields))
    np.testing.assert_allclose(r["blocks"], f.rotations.blocks, atol=1e-7)
    np.testing.assert_allclose(unpack(content["frequencies"]), f.frequencies, rtol=1e-6)
    assert content["figures"]["relative_error"] == f.relative_error()
    assert content["figures"]["nonzeros"] == KARATE.num_edges + KARATE.n
    assert [image["name"] for image in content["images"]] == ["before", "after"]


def test_scales_and_a_signal(f, rng):
    x = rng.normal(size=34)
    content = content_of(wm.report.report_html(f, KARATE, signal=x))
    rows = wm.signals.describe(f, KARATE)
    np.testing.assert_array_equal(unpack(content["octaves"]), rows["band"] + 1)
    np.testing.assert_array_equal(unpack(content["hops"]), rows["hops"])
    np.testing.assert_allclose(unpack(content["coefficients"]), f.analyze(x), atol=1e-6)
    without = content_of(wm.report.report_html(f))
    assert (without["hops"], without["coefficients"]) == (None, None)
    with pytest.raises(InvalidInputError, match="shows one signal, got 2 of them"):
        wm.report.report_html(f, KARATE, signal=np.ones((34, 2)))


def test_large_blocks_are_rounded(f, monkeypatch):
    monkeypatch.setattr("wavemmf.report._content._EXACT", 10)
    packed = content_of(wm.report.report_html(f))["rotations"]["blocks"]
    assert packed["type"] == "Int16Array"
    np.testing.assert_allclose(unpack(packed), f.rotations.blocks, atol=2e-5)


def test_the_page_loads_nothing(f):
    page = wm.report.report_html(f, KARATE)
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")
    assert "@@" not in page
    assert len(page) < 200_000


def test_names_cannot_break_out_of_the_page(f):
    bad = "</script><script>alert(1)</script>"
    graph = wm.graphs.Graph(KARATE.adjacency, name=bad, node_names=[bad] * 34)
    page = wm.report.report_html(f, graph)
    assert bad not in page
    assert content_of(page)["drawing"]["names"] == [bad] * 34


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_integers_are_packed_exactly(values):
    np.testing.assert_array_equal(unpack(pack_integers(values)), values)


@given(st.lists(st.floats(-1, 1, width=32), max_size=20))
def test_floats_are_packed_as_promised(values):
    np.testing.assert_array_equal(unpack(pack_floats(values)), values)
    np.testing.assert_allclose(unpack(pack_fractions(values)), values, atol=0.51 / 32767)


@pytest.mark.parametrize(("k", "drop"), [(2, 1), (4, 1), (6, 3)])
def test_the_hierarchy(k, drop):
    f = wm.factorize(KARATE, core=6, k=k, drop=drop)
    levels, parents = drop_levels(f), heirs(f)
    assert (levels[f.core_indices] == 0).all()
    for i in range(f.n):
        if i in f.core_indices:
            assert parents[i] == i
        else:
            assert i in f.rotations.dropped(levels[i])
            group = f.rotations.groups[slice(*f.rotations.offsets[levels[i] - 1 : levels[i] + 1])]
            assert parents[i] in group
            if group.size == 1:  # nobody is left to inherit
                continue
            assert levels[parents[i]] == 0 or levels[parents[i]] > levels[i], "it outlives it"


def test_branches_do_not_cross(f):
    column = np.argsort(tree_order(f))
    ends = np.where(drop_levels(f) == 0, f.num_levels + 1, drop_levels(f))
    for i, parent in enumerate(heirs(f)):
        low, high = sorted((column[i], column[parent]))
        between = [j for j in range(f.n) if low < column[j] < high]
        assert all(ends[j] < ends[i] for j in between)


def test_pairs_are_merged_into_their_partner():
    f = wm.factorize(wm.graphs.path(4), core=1, k=2)
    for level in range(1, 4):
        group = f.rotations.groups[2 * level - 2 : 2 * level]
        (dropped,) = f.rotations.dropped(level)
        assert heirs(f)[dropped] == group[group != dropped][0]


def test_a_group_that_vanishes_has_no_heir():
    r = wm.Rotations.from_levels(3, [[0, 1]], [np.eye(2)], [[0, 1]])
    f = wm.Factorization.from_rotations(np.diag([1.0, 2.0, 3.0]), r)
    assert heirs(f).tolist() == [0, 1, 2]
    assert sorted(tree_order(f).tolist()) == [0, 1, 2]
    assert len(wm.report.report_html(f)) > 0


def test_reach_counts_the_entries_of_the_basis(f):
    support, main = reach(f)
    basis = f.basis()
    np.testing.assert_array_equal(support, np.diff(basis.indptr))
    squares = np.sort(basis.toarray() ** 2, axis=1)[:, ::-1]
    for i in range(f.n):
        assert squares[i, : main[i]].sum() >= 0.99 - 1e-12
        assert squares[i, : main[i] - 1].sum() < 0.99 + 1e-12


@given(st.integers(1, 12), st.integers(1, 8), st.integers(0, 2**31))
def test_images_keep_the_largest_entries(n, most, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.5)
    order = rng.permutation(n)
    image = reduced_image(sp.csr_array(matrix), order, most)
    m = min(n, most)
    cell = np.arange(n) * m // n
    for i in range(m):
        for j in range(m):
            entries = matrix[np.ix_(order[cell == i], order[cell == j])].ravel()
            assert image[i, j] == entries[np.abs(entries).argmax()]


def test_points_on_the_curve_are_neighbours():
    points = hilbert_points(64) * 7
    assert {tuple(p) for p in points.round().astype(int)} == {
        (i, j) for i in range(8) for j in range(8)
    }
    np.testing.assert_allclose(np.abs(np.diff(points, axis=0)).sum(axis=1), 1.0)
    assert hilbert_points(1).shape == (1, 2)


def test_drawings_say_what_they_are(f):
    assert "edges of the graph" in make_drawing(f, KARATE).note
    alone = make_drawing(f)
    assert "No graph was given" in alone.note
    assert len(alone.lines) == f.n - f.core_size
    matrix = make_drawing(f, wm.graphs.normalized_laplacian(KARATE).toarray())
    assert "largest entries" in matrix.note
    assert len(matrix.lines) == KARATE.num_edges
    for drawing in (alone, matrix):
        assert drawing.points.shape == (34, 2)
        assert drawing.points.min() >= -1e-9
        assert drawing.points.max() <= 1 + 1e-9


def test_another_matrix_of_the_graph_is_not_shown_as_the_factorized_one():
    f = wm.factorize(KARATE, core=8, k=4, matrix="adjacency")
    assert len(content_of(wm.report.report_html(f, KARATE))["images"]) == 1


@pytest.mark.parametrize(
    ("matrix", "core"), [(np.zeros((5, 5)), 2), (np.eye(1), 1), (np.eye(3), 3), (np.eye(4), 0)]
)
def test_degenerate_matrices_have_pages(matrix, core):
    f = wm.factorize(matrix, core=core, k=2)
    for given_matrix in (None, matrix):
        assert content_of(wm.report.report_html(f, given_matrix))["n"] == len(matrix)


def test_what_is_refused(f, tmp_path, monkeypatch):
    with pytest.raises(InvalidInputError, match="34 rows, but the graph or matrix beside it has 5"):
        wm.report.report_html(f, wm.graphs.path(5))
    with pytest.raises(InvalidInputError, match=r"suffix must be \.html"):
        wm.report.write_report(f, tmp_path / "report.pdf")
    with pytest.raises(InvalidInputError, match="does not exist"):
        wm.report.write_report(f, tmp_path / "nowhere" / "report.html")
    monkeypatch.setattr("wavemmf.report._page._MOST_NODES", 33)
    with pytest.raises(TooLargeError, match="at most 33 nodes, got 34"):
        wm.report.report_html(f)


def test_the_command(f, tmp_path):
    saved, page = tmp_path / "club.mmf", tmp_path / "report.html"
    f.save(saved)
    for option in ((), ("--matrix", "karate"), ("--graph", "karate", "--title", "A club")):
        result = run("report", saved, *option, "-o", page)
        assert result.exit_code == 0, result.output
        assert str(page) in result.output
    assert "<title>A club" in page.read_text(encoding="utf-8")
    assert [entry.name for entry in tmp_path.iterdir()].count("report.html") == 1
    failed(run("report", saved, "--graph", "cayley", "-o", page), "34 rows")
    failed(run("report", saved, "--graph", "nothing", "-o", page), "neither a file nor a data set")
    failed(run("report", saved, "-o", tmp_path / "x.png"), "suffix must be .html")
    failed(run("report", page, "-o", page), "the output")
