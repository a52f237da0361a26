"""The comparison of methods, its CSV file and its plot."""

from __future__ import annotations

import csv
import dataclasses
import sys
from itertools import cycle

import numpy as np
import pytest
import scipy.sparse as sp

import wavemmf as wm
from wavemmf import experiments
from wavemmf.errors import (
    InputTypeError,
    InvalidInputError,
    MissingDependencyError,
    TooLargeError,
)
from wavemmf.experiments import CONTENDERS, ComparisonRow, compare
from wavemmf.experiments import _contenders as registry

BY_DEFAULT = [name for name in CONTENDERS if name != "learned-restarts"]
ROW = ComparisonRow("greedy", 8, 0.25, 0.125, 100, 200, 300, 0.5)


@pytest.fixture
def no_work(monkeypatch):
    """Fail if any method is run."""

    def refuse(case):
        raise AssertionError("work was started")

    for name, method in CONTENDERS.items():
        monkeypatch.setitem(CONTENDERS, name, dataclasses.replace(method, run=refuse))


def test_rows_hold_the_figures_of_each_method():
    graph = wm.graphs.karate()
    rows = {row.method: row for row in compare(graph, [6], 5, 1, BY_DEFAULT, 3, steps=20)}
    assert list(rows) == BY_DEFAULT
    expected = {
        "learned": wm.factorize(graph, 6, 5, optimize="lbfgs", steps=20),
        "greedy": wm.factorize(graph, 6, 5),
        "greedy-k2": wm.factorize(graph, 6, 2),
        "neighbors": wm.factorize(graph, 6, 5, select="neighbors", seed=3),
        "random": wm.factorize(graph, 6, 5, select="random", seed=3),
        "nystrom": wm.baselines.nystrom(graph, 6, seed=3),
        "truncated_eigh": wm.baselines.truncated_eigh(graph, 6),
    }
    for name, result in expected.items():
        row = rows[name]
        assert row.error == pytest.approx(result.error(), rel=1e-12)
        assert row.relative_error == pytest.approx(result.relative_error(), rel=1e-12)
        assert row.stored_numbers == result.stored_numbers
        assert row.stored_bytes == result.stored_bytes
        assert row.multiplications == result.multiplications
        assert row.basis_nonzeros == result.basis_nonzeros
        assert row.core == 6
        assert row.seconds > 0
        assert row.error_std is None


def test_errors_are_those_of_the_dense_difference():
    A = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()
    (row,) = compare(A, [5], k=4, methods=["greedy"])
    f = wm.factorize(A, 5, 4)
    assert row.error == pytest.approx(np.linalg.norm(A - f.to_dense()), rel=1e-9)


def test_random_methods_are_averaged_over_seeds():
    graph = wm.graphs.karate()
    rows = compare(graph, [6], k=4, methods=["greedy", "random"], seed=5, runs=3)
    errors = [wm.factorize(graph, 6, 4, select="random", seed=s).error() for s in (5, 6, 7)]
    assert rows[0].error_std is None
    assert rows[1].error == pytest.approx(np.mean(errors), rel=1e-12)
    assert rows[1].error_std == pytest.approx(np.std(errors, ddof=1), rel=1e-9)
    counts = (rows[1].stored_numbers, rows[1].multiplications, rows[1].basis_nonzeros)
    assert all(type(count) is int for count in counts)


def test_truncated_jacobi_may_use_the_multiplications_of_greedy():
    graph = wm.graphs.karate()
    (row,) = compare(graph, [8], methods=["truncated_jacobi"])
    budget = wm.factorize(graph, 8, 8).multiplications
    assert budget - 8 < row.multiplications <= budget
    both = compare(graph, [8], methods=["truncated_jacobi", "greedy"])
    assert both[0].multiplications == row.multiplications


def test_learned_is_left_out_of_larger_matrices():
    assert "learned" in registry.choose_methods(None, 1024)
    assert "learned" not in registry.choose_methods(None, 1025)


def test_learned_restarts_is_run_on_request():
    assert "learned-restarts" not in registry.choose_methods(None, 34)
    assert "learned-restarts" in registry.choose_methods(None, 34, restarts=3)
    assert registry.choose_methods(["greedy"], restarts=3) == ["greedy", "learned-restarts"]
    graph = wm.graphs.karate()
    rows = compare(graph, [8], k=4, methods=["learned", "greedy"], steps=8, restarts=3, seed=2)
    settings = {"optimize": "lbfgs", "steps": 8, "restarts": 3, "seed": 2}
    expected = wm.factorize(graph, 8, 4, **settings).error()
    assert [row.method for row in rows] == ["learned", "greedy", "learned-restarts"]
    assert rows[2].error == pytest.approx(expected, rel=1e-9)
    assert rows[0].error < rows[1].error
    assert rows[0].multiplications == rows[1].multiplications


def test_an_interrupt_ends_the_comparison():
    # The optimiser itself would go on with the best so far.
    def interrupt(done, total, note):
        if "error" in note:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(wm.graphs.karate(), [8], k=4, methods=["learned"], progress=interrupt)


def test_large_matrices_get_only_sparse_methods_by_default():
    assert registry.choose_methods(None, 10**6) == ["greedy", "compact", "greedy-k2"]


def test_dense_methods_that_do_not_fit_are_refused_before_work(monkeypatch, no_work):
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", "1000")
    with pytest.raises(TooLargeError, match="nystrom"):
        compare(wm.graphs.karate(), [8], methods=["greedy", "nystrom"])


def test_default_cores_follow_the_size():
    rows = compare(wm.graphs.cycle(64), k=3, methods=["greedy"])
    assert [row.core for row in rows] == [4, 8, 16]
    assert [row.core for row in compare(np.eye(1), k=2, methods=["greedy"])] == [1]


def test_sparse_and_dense_input_agree():
    A = wm.graphs.normalized_laplacian(wm.graphs.karate())
    sparse, dense = (compare(M, [6], k=4, methods=["greedy", "nystrom"]) for M in (A, A.toarray()))
    for one, other in zip(sparse, dense, strict=True):
        assert one.error == pytest.approx(other.error, rel=1e-9)


def test_large_sparse_input_uses_the_sparse_engine():
    n = 1200
    chain = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    (row,) = compare(chain, [600], k=3, methods=["greedy"], matrix="laplacian")
    assert 0 < row.relative_error < 1


def test_duplicates_are_run_once():
    rows = compare(wm.graphs.karate(), [4, 4], k=3, methods=["greedy", "greedy"])
    assert len(rows) == 1


def test_the_matrix_is_read_once(tmp_path, monkeypatch):
    path = tmp_path / "matrix.npy"
    np.save(path, np.eye(12))
    reads = []
    original = wm.graphs._convert.load_if_path
    monkeypatch.setattr(
        wm.graphs._convert,
        "load_if_path",
        lambda obj: reads.append(obj) or original(obj) if obj is path else original(obj),
    )
    compare(path, [2, 3], k=2, methods=["greedy", "nystrom"])
    assert reads == [path]


def test_progress_is_reported():
    calls = []
    compare(
        wm.graphs.karate(),
        [4, 8],
        k=3,
        methods=["greedy", "random"],
        runs=2,
        progress=lambda done, total, note: calls.append((done, total, note)),
    )
    assert {total for _, total, _ in calls} == {6}
    assert [done for done, _, _ in calls] == [0, 0, 1, 2, 3, 4, 5, 6]
    assert calls[2][2] == "random, core 4"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cores": [4, 35]}, r"core \(for n = 34\) must be an integer .* at most 34, got 35"),
        ({"cores": [4, -1]}, "got -1"),
        ({"cores": []}, "at least one core size"),
        ({"k": 1}, "k must be an integer at least 2, got 1"),
        ({"k": 3, "drop": 3}, r"drop \(for k = 3\) must be .* at most 2, got 3"),
        ({"methods": ["greedy", "magic"]}, "'greedy-k2', 'neighbors'.*got 'magic'"),
        ({"methods": []}, "at least one method"),
        ({"steps": -1}, "steps must be an integer at least 0"),
        ({"restarts": 0}, "restarts must be an integer at least 1"),
        ({"runs": 0}, "runs must be an integer at least 1"),
        ({"seed": -1}, "seed must be an integer at least 0"),
    ],
)
def test_bad_settings_are_refused_before_work(settings, message, no_work):
    with pytest.raises(InvalidInputError, match=message):
        compare(wm.graphs.karate(), **{"cores": [4], **settings})


@pytest.mark.parametrize("cores", [8, [2.5], ["4"]])
def test_cores_of_a_wrong_kind_are_refused(cores, no_work):
    with pytest.raises(InputTypeError, match="core"):
        compare(wm.graphs.karate(), cores)


def test_csv_holds_all_rows(tmp_path):
    rows = [ROW, dataclasses.replace(ROW, method="random", error_std=0.1 + 0.2)]
    experiments.save_comparison_csv(rows, tmp_path / "rows.csv")
    with open(tmp_path / "rows.csv", encoding="utf-8", newline="") as stream:
        read = list(csv.DictReader(stream))
    assert list(read[0]) == [field.name for field in dataclasses.fields(ComparisonRow)]
    assert read[0]["error_std"] == ""
    assert float(read[1]["error_std"]) == 0.1 + 0.2
    assert [row["method"] for row in read] == ["greedy", "random"]


class TestPlot:
    @pytest.fixture(autouse=True)
    def _matplotlib(self):
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")

    @pytest.mark.parametrize(
        ("suffix", "start"), [("png", b"\x89PNG"), ("PDF", b"%PDF"), ("svg", b"<?xml")]
    )
    def test_the_suffix_names_the_format(self, tmp_path, suffix, start):
        path = tmp_path / f"plot.{suffix}"
        experiments.save_comparison_plot([ROW], path, "a $title with _odd_ characters")
        assert path.read_bytes().startswith(start)
        assert [file.name for file in tmp_path.iterdir()] == [path.name]

    def test_every_method_has_its_line(self):
        rows = [
            dataclasses.replace(ROW, method=name, core=core, error_std=std)
            for name, std in zip(CONTENDERS, cycle([None, 0.1]), strict=False)
            for core in (16, 4)
        ]
        figure = experiments._plots._draw(rows, "all of them")
        (axes,) = figure.axes
        legend = [text.get_text() for text in figure.legends[0].get_texts()]
        assert legend == list(CONTENDERS)
        assert axes.get_yscale() == "log"
        assert [label.get_text() for label in axes.get_xticklabels()] == ["4", "16"]
        looks = {(line.get_color(), line.get_marker()) for line, *_ in axes.containers}
        assert len(looks) == len(CONTENDERS)

    @pytest.mark.parametrize("core", [0, 8])
    def test_an_exact_approximation_can_be_drawn(self, tmp_path, core):
        row = dataclasses.replace(ROW, error=0.0, core=core)
        experiments.save_comparison_plot([row], tmp_path / "plot.png")
        assert (tmp_path / "plot.png").stat().st_size > 1000

    def test_the_tradeoff_shows_every_row(self):
        rows = [
            dataclasses.replace(ROW, method=name, core=core, error=1.0 / core)
            for name in CONTENDERS
            for core in (16, 4)
        ]
        figure = experiments._plots._draw_tradeoff(rows, "all of them", 190)
        assert len(figure.axes) == 3
        for axes in figure.axes:
            assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
            drawn = [len(points.get_offsets()) for points in axes.collections]
            assert drawn == [2] * len(CONTENDERS)
        legend = [text.get_text() for text in figure.legends[0].get_texts()]
        assert set(legend) == {*CONTENDERS, "the matrix (exact)"}
        looks = {points.get_edgecolor().tobytes() for points in figure.axes[0].collections}
        assert len(looks) == len(CONTENDERS)

    @pytest.mark.parametrize("changes", [{"error": 0.0}, {"basis_nonzeros": 0}, {"core": 0}])
    def test_extreme_rows_have_a_place_in_the_tradeoff(self, tmp_path, changes):
        rows = [ROW, dataclasses.replace(ROW, method="nystrom", **changes)]
        experiments.save_tradeoff_plot(rows, tmp_path / "plot.png", "a $title")
        assert (tmp_path / "plot.png").stat().st_size > 1000

    @pytest.mark.parametrize("exact", [0.0, 1e-14])
    def test_rounding_errors_do_not_squeeze_the_plot(self, exact):
        rows = [ROW, dataclasses.replace(ROW, method="nystrom", error=exact)]
        (axes,) = experiments._plots._draw(rows, "").axes
        assert axes.get_ylim()[0] > 1e-9
        assert "at the bottom" in axes.get_ylabel()

    @pytest.mark.parametrize("name", ["plot.jpg", "plot", "plot.png.gz"])
    def test_other_suffixes_are_refused(self, tmp_path, name):
        with pytest.raises(InvalidInputError, match=r"must be one of \.png, \.pdf, \.svg"):
            experiments.save_comparison_plot([ROW], tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    def test_pyplot_is_left_alone(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
        experiments.save_comparison_plot([ROW], tmp_path / "plot.png")


def test_a_plot_needs_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"wavemmf\[plot\]"):
        wm.plot.check_plot_path(tmp_path / "plot.png")
