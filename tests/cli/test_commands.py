"""The command line: results, exit codes, messages, and what is left behind."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import wavemmf as wm
from command_line import failed, interrupted, run, start
from wavemmf.experiments import CONTENDERS
from wavemmf.experiments.records import read_record

FAST = "greedy,greedy-k2,nystrom"


@pytest.fixture
def no_work(monkeypatch):
    """Fail if a factorization or a comparison is started."""

    def refuse(*arguments, **settings):
        raise AssertionError("work was started")

    monkeypatch.setattr(sys.modules["wavemmf.cli.factorize"], "run_factorization", refuse)
    monkeypatch.setattr(sys.modules["wavemmf.cli.compare"], "run_comparison", refuse)


@pytest.fixture
def folder(tmp_path):
    """Return an empty folder for results."""
    path = tmp_path / "results"
    path.mkdir()
    return path


class TestProcess:
    def test_version(self):
        done = start("--version")
        assert (done.returncode, done.stdout) == (0, f"wavemmf {wm.__version__}\n")

    def test_factorize_and_info(self, folder):
        path = folder / "karate.mmf"
        done = start("factorize", "karate", "--core", 8, "--k", 8, "-o", path, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        told = json.loads(done.stdout)
        f = wm.load(path)
        assert told["error"] == f.error()
        assert told["relative_error"] == f.relative_error()
        assert (told["n"], told["core"], told["k"], told["drop"]) == (34, 8, 8, 1)
        assert told["levels"] == f.num_levels
        assert told["stored_numbers"] == f.stored_numbers
        assert told["multiplications"] == f.multiplications
        assert told["basis_nonzeros"] == f.basis_nonzeros
        assert told["seconds"] > 0
        assert told["output"] == str(path)
        assert [file.name for file in folder.iterdir()] == ["karate.mmf"]

        done = start("info", path)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"{f.error():.6g}" in done.stdout
        assert "\x1b" not in done.stdout

    def test_compare(self, folder):
        plot, table = folder / "karate.png", folder / "karate.csv"
        arguments = ["--cores", "4,8", "--k", 4, "--methods", FAST, "--plot", plot, "--csv", table]
        narrow = {**os.environ, "COLUMNS": "40"}
        done = start("compare", "karate", *arguments, env=narrow)
        assert (done.returncode, done.stderr) == (0, "")
        assert "\x1b" not in done.stdout
        lines = [line.split() for line in done.stdout.splitlines()]
        shown = [line[:2] for line in lines if line and line[0] in CONTENDERS]
        assert shown == [[name, core] for core in "48" for name in FAST.split(",")]
        assert plot.read_bytes().startswith(b"\x89PNG")
        with open(table, encoding="utf-8", newline="") as stream:
            assert [row["core"] for row in csv.DictReader(stream)] == ["4"] * 3 + ["8"] * 3

    def test_an_error_has_no_traceback(self, folder):
        done = start("factorize", "karate", "--k", 1, "-o", folder / "karate.mmf")
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr == "error: k must be an integer at least 2, got 1\n"
        assert list(folder.iterdir()) == []


class TestHelp:
    @pytest.mark.parametrize("command", [[], ["factorize"], ["refine"], ["info"], ["compare"]])
    def test_help_gives_an_example(self, command):
        result = run(*command, "--help")
        assert result.exit_code == 0
        assert " ".join(["    wavemmf", *command]) in result.stdout

    def test_without_arguments_help_is_shown(self):
        assert "Usage:" in run().output

    @pytest.mark.parametrize(
        "arguments", [["factorise"], ["factorize"], ["compare", "karate", "--k", "x"]]
    )
    def test_wrong_usage(self, arguments):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert "Usage:" in result.stderr


class TestFactorize:
    def test_without_output_the_summary_is_printed(self):
        result = run("factorize", "karate", "--core", 10)
        assert result.exit_code == 0
        assert re.search(r"^core +10 *$", result.stdout, re.MULTILINE)
        assert "nothing (give -o FILE)" in result.stdout

    def test_without_output_json_says_so(self):
        result = run("factorize", "karate", "--core", 10, "--json")
        assert json.loads(result.stdout)["output"] is None

    def test_options_reach_the_library(self, folder):
        path = folder / "f.mmf"
        options = ["--core", 6, "--k", 3, "--drop", 2, "--select", "random", "--seed", 7]
        result = run("factorize", "karate", *options, "--matrix", "adjacency", "-o", path)
        assert result.exit_code == 0
        expected = wm.factorize(wm.graphs.karate(), 6, 3, 2, "random", seed=7, matrix="adjacency")
        assert wm.load(path).error() == pytest.approx(expected.error(), rel=1e-12)

    def test_engine_pairs_and_survivors_reach_the_library(self):
        options = ["--engine", "sparse", "--pairs", "correlated", "--survivors", "nearest"]
        result = run("factorize", "karate", "--core", 6, "--k", 2, *options, "--json")
        told = json.loads(result.stdout)
        selector = wm.select.Greedy(pairs="correlated", survivors="nearest")
        expected = wm.factorize(wm.graphs.karate(), 6, 2, select=selector, engine="sparse")
        assert told["error"] == pytest.approx(expected.error(), rel=1e-12)
        assert told["parameters"]["engine"] == "sparse"

    def test_the_core_may_be_a_share(self):
        told = json.loads(run("factorize", "karate", "--core", 0.25, "--json").stdout)
        assert told["parameters"]["core"] == 8
        assert told["error"] == wm.factorize(wm.graphs.karate(), 0.25).error()

    def test_a_file_wins_over_a_name(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "karate").write_text("0 1\n")
        failed(run("factorize", "karate"), "suffix must be one of", ".mtx")

    def test_a_folder_does_not_hide_a_name(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "karate").mkdir()
        assert run("factorize", "karate", "--json").exit_code == 0

    def test_an_existing_output_is_replaced(self, folder):
        path = folder / "f.mmf"
        path.write_text("old")
        assert run("factorize", "karate", "-o", path).exit_code == 0
        assert wm.load(path).n == 34

    def test_the_input_is_not_overwritten(self, folder, no_work):
        path = folder / "matrix.npy"
        np.save(path, np.eye(4))
        before = path.read_bytes()
        failed(run("factorize", path, "-o", path), "is the input")
        assert path.read_bytes() == before

    @pytest.mark.parametrize(
        ("options", "parts"),
        [
            (["--k", 1], ["k must be an integer at least 2, got 1"]),
            (["--k", 3, "--drop", 3], ["drop (for k = 3)", "at most 2, got 3"]),
            (["--drop", 0], ["drop (for k = 4)", "at least 1"]),
            (["--core", 35], ["core (for n = 34)", "at most 34, got 35"]),
            (["--core", -1], ["at least 0", "got -1"]),
            (["--select", "magic"], ["'greedy', 'diffusion', 'random'", "'magic'"]),
            (["--engine", "quantum"], ["'auto', 'dense', 'sparse'"]),
            (["--pairs", "some"], ["'exhaustive', 'correlated'"]),
            (["--survivors", "some"], ["'auto', 'eigenvectors', 'nearest'"]),
            (["--survivors", "auto", "--select", "random"], ["--survivors is not for --select"]),
            (["--core", 1.5], ["an integer, or a share of the rows between 0 and 1, got 1.5"]),
            (["--core", "some"], ["--core must be a number of rows or a share of them"]),
            (["--matrix", "identity"], ["'normalized_laplacian', 'laplacian', 'adjacency'"]),
            (["--seed", -1], ["seed must be an integer at least 0"]),
        ],
    )
    @pytest.mark.parametrize("json_option", [[], ["--json"]])
    def test_bad_settings(self, options, parts, json_option, folder):
        failed(run("factorize", "karate", *options, "-o", folder / "f.mmf", *json_option), *parts)
        assert list(folder.iterdir()) == []

    def test_output_is_checked_before_the_work(self, folder, no_work):
        failed(run("factorize", "karate", "-o", folder / "no" / "f.mmf"), "does not exist")
        failed(run("factorize", "karate", "-o", folder), "it is a directory")
        assert list(folder.iterdir()) == []


class TestInputs:
    def write(self, folder, name, content):
        path = folder / name
        if isinstance(content, str):
            path.write_text(content)
        else:
            np.save(path, content)
        return path

    @pytest.mark.parametrize("command", ["factorize", "compare"])
    def test_an_unknown_name(self, command):
        failed(run(command, "karat"), "'karat'", "karate, cayley", ".mtx, .mtx.gz, .npz")

    def test_a_missing_file(self, tmp_path):
        failed(run("factorize", tmp_path / "no.npy"), "no.npy", "neither a file nor a data set")

    def test_a_folder(self, tmp_path):
        failed(run("factorize", tmp_path), "is a directory")

    def test_an_unknown_suffix(self, tmp_path):
        failed(run("factorize", self.write(tmp_path, "a.xls", "0 1")), "a.xls", ".edges")

    def test_a_malformed_edge_list(self, tmp_path):
        path = self.write(tmp_path, "g.edges", "0 1\n1 2\n2 x\n")
        failed(run("factorize", path), "g.edges, line 3", "'x'")

    def test_an_asymmetric_matrix(self, tmp_path):
        matrix = np.eye(12)
        matrix[2, 5] = 0.5
        path = self.write(tmp_path, "a.npy", matrix)
        for command in ("factorize", "compare"):
            result = run(command, path)
            failed(result, "not symmetric", "(2, 5)", "a difference of 0.5", "--symmetrize")
            assert "symmetric_part" not in result.stderr
        assert run("factorize", path, "--symmetrize", "--json").exit_code == 0
        options = ["--symmetrize", "--methods", "greedy", "--json"]
        assert run("compare", path, *options).exit_code == 0

    @pytest.mark.parametrize(
        ("matrix", "part"),
        [
            (np.full((3, 3), np.nan), "NaN"),
            (np.full((3, 3), np.inf), "infinite"),
            (np.ones((3, 4)), "must be square, got shape (3, 4)"),
            (np.ones(3), "2 dimensions"),
            (np.ones((0, 0)), "empty"),
            (np.ones((2, 2), complex), "complex"),
        ],
    )
    def test_matrices_that_cannot_be_factorized(self, tmp_path, matrix, part):
        path = self.write(tmp_path, "a.npy", matrix)
        for command in ("factorize", "compare"):
            failed(run(command, path), part)

    def test_a_damaged_file(self, tmp_path):
        failed(run("factorize", self.write(tmp_path, "a.npy", "not an array")), "a.npy")

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
    def test_a_file_without_permission(self, tmp_path):
        path = self.write(tmp_path, "a.npy", np.eye(3))
        path.chmod(0)
        failed(run("factorize", path), "permission denied")

    def test_too_little_memory(self, monkeypatch):
        monkeypatch.setenv("WAVEMMF_MAX_MEMORY", "1000")
        failed(run("factorize", "karate"), "GiB", "WAVEMMF_MAX_MEMORY")

    def test_unexpected_errors_keep_their_traceback(self, monkeypatch):
        def fail(*given):
            raise RuntimeError("a bug")

        monkeypatch.setattr(sys.modules["wavemmf.cli.factorize"], "read_input", fail)
        result = run("factorize", "karate")
        assert isinstance(result.exception, RuntimeError)

    def test_an_interrupt_that_numba_wrapped(self, monkeypatch):
        # What Ctrl-C becomes in a kernel that returns arrays, such as those of the sparse engine.
        def fail(*given):
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

        monkeypatch.setattr(sys.modules["wavemmf.cli.factorize"], "read_input", fail)
        result = run("factorize", "karate")
        assert result.exit_code == 130
        assert result.stderr == "interrupted; nothing was written\n"

    @pytest.mark.parametrize("cause", [None, ValueError("a bug")])
    def test_other_errors_of_compiled_code_are_no_interrupts(self, monkeypatch, cause):
        def fail(*given):
            raise SystemError("a bug") from cause

        monkeypatch.setattr(sys.modules["wavemmf.cli.factorize"], "read_input", fail)
        assert isinstance(run("factorize", "karate").exception, SystemError)

    def test_errors_of_the_operating_system_are_told(self, monkeypatch, folder):
        def fail(path):
            raise OSError(28, "No space left on device", str(path))

        monkeypatch.setattr(wm.Factorization, "save", lambda self, path: fail(path))
        result = run("factorize", "karate", "-o", folder / "f.mmf")
        failed(result, "No space left on device", "f.mmf")


class TestInfo:
    @pytest.fixture
    def saved(self, folder):
        path = folder / "karate.mmf"
        wm.factorize(wm.graphs.karate(), 8, 4).save(path)
        return path

    def test_json(self, saved):
        told = json.loads(run("info", saved, "--json").stdout)
        f = wm.load(saved)
        assert told["error"] == f.error()
        assert told["basis_nonzeros"] == f.basis_nonzeros
        assert told["file_bytes"] == saved.stat().st_size
        assert told["parameters"]["select"] == "greedy"
        assert told["stopped"] == "the core size 8 was reached"

    def test_text_compares_with_the_dense_matrix(self, saved):
        text = run("info", saved).stdout
        assert "(dense matrix: 595)" in text
        assert "select = greedy" in text

    def test_a_factorization_without_history(self, folder):
        matrix = wm.graphs.as_matrix(wm.graphs.karate())
        rotations = wm.factorize(matrix, 8, 4, drop=2).rotations
        wm.Factorization.from_rotations(matrix, rotations).save(folder / "f.mmf")
        told = json.loads(run("info", folder / "f.mmf", "--json").stdout)
        assert (told["k"], told["drop"], told["seconds"]) == (4, 2, None)
        assert "unknown" in run("info", folder / "f.mmf").stdout

    @pytest.mark.parametrize(
        ("parameters", "details"),
        [
            ({"k": "eight", "drop": [1]}, {}),
            ({"restarts": "many"}, {"restarts": 3, "closed_form_errors": "small"}),
            ({}, {"restarts": "3", "closed_form_errors": {"best": 1, "median": 1, "worst": 1}}),
            ({}, {"restarts": 3, "closed_form_errors": {"best": "x"}, "optimized_errors": [1]}),
            ({}, {"estimated_error": "large"}),
            ({}, {"estimated_error": [1.0, "x"]}),
            ({"optimize": 3}, {"gradient_norm": "small"}),
        ],
    )
    def test_metadata_of_another_kind(self, folder, parameters, details):
        f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        history = replace(f.history, details=details)
        replace(f, parameters=parameters, history=history).save(folder / "f.mmf")
        told = json.loads(run("info", folder / "f.mmf", "--json").stdout)
        assert (told["k"], told["drop"], told["estimated_error"]) == (4, 1, None)
        assert run("info", folder / "f.mmf").exit_code == 0

    def test_json_without_numbers_that_are_none(self, folder):
        f = wm.factorize(wm.graphs.karate(), core=8, k=4)
        history = replace(f.history, errors=(np.nan,), seconds=(np.inf,), details={"x": np.nan})
        strange = replace(f, history=history, parameters={"x": -np.inf}, matrix_norm=0.0)
        strange.save(folder / "f.mmf")
        told = json.loads(
            run("info", folder / "f.mmf", "--json").stdout, parse_constant=pytest.fail
        )
        assert (told["seconds"], told["parameters"], told["relative_error"]) == (
            None,
            {"x": None},
            None,
        )

    @pytest.mark.parametrize("scale", [1e-170, 1e160])
    def test_json_of_any_units(self, folder, scale):
        a = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()
        np.save(folder / "a.npy", scale * a)
        done = run("factorize", folder / "a.npy", "--core", 8, "--k", 4, "--json")
        told = json.loads(done.stdout, parse_constant=pytest.fail)
        assert told["error"] == wm.factorize(scale * a, core=8, k=4).error()

    def test_a_missing_file(self, folder):
        failed(run("info", folder / "no.mmf"), "no such file", "no.mmf")

    def test_a_damaged_file(self, saved):
        saved.write_bytes(saved.read_bytes()[:500])
        failed(run("info", saved), "karate.mmf is not a whole wavemmf file")


class TestRecord:
    def test_what_was_compared_is_kept(self, folder):
        options = ("--cores", "4,8", "--methods", "greedy,random", "--runs", 2, "--seed", 5)
        result = run("compare", "karate", *options, "--record", folder, "--json")
        told = json.loads(result.stdout)
        (path,) = folder.glob("compare-karate-*.json")
        kept = read_record(path)
        assert (kept.what, kept.data, kept.seeds) == ("compare", ["karate"], [5, 6])
        assert kept.values == told["rows"]
        assert kept.settings["k"] == told["k"]
        assert kept.settings["cores"] == [4, 8]

    def test_where_nothing_can_be_written_nothing_is_run(self, folder, no_work):
        failed(run("compare", "karate", "--record", folder / "no" / "a.json"), "does not exist")


class TestCompare:
    def test_json(self):
        result = run(
            "compare", "karate", "--cores", "4, 8", "--methods", "greedy, random", "--runs", 2,
            "--seed", 3, "--k", 4, "--json",
        )  # fmt: skip
        told = json.loads(result.stdout)
        assert (told["input"], told["n"], told["k"], told["drop"]) == ("karate", 34, 4, 1)
        assert (told["seed"], told["runs"]) == (3, 2)
        figures = [(row["method"], row["core"]) for row in told["rows"]]
        assert figures == [("greedy", 4), ("random", 4), ("greedy", 8), ("random", 8)]
        assert told["rows"][0]["error_std"] is None
        assert told["rows"][1]["error_std"] > 0

    def test_learned_rows(self, folder):
        options = ["--cores", "8,4", "--methods", "learned,greedy", "--steps", 10, "--k", 4]
        options += ["--restarts", 4, "--tradeoff", folder / "a.svg"]
        told = json.loads(run("compare", "karate", *options, "--json").stdout)
        assert (told["steps"], told["restarts"]) == (10, 4)
        names = [row["method"] for row in told["rows"]]
        assert names == ["learned", "greedy", "learned-restarts"] * 2
        learned, greedy, _ = told["rows"][:3]
        assert learned["error"] < greedy["error"]
        assert b"the matrix (exact)" in (folder / "a.svg").read_bytes()

    def test_default_cores(self):
        told = json.loads(run("compare", "karate", "--methods", "greedy-k2", "--json").stdout)
        assert [row["core"] for row in told["rows"]] == [2, 4, 8]

    def test_the_matrix_of_the_graph_can_be_chosen(self):
        options = ["--cores", 8, "--methods", "truncated_eigh", "--matrix", "adjacency", "--json"]
        told = json.loads(run("compare", "karate", *options).stdout)
        adjacency = wm.graphs.adjacency(wm.graphs.karate())
        expected = wm.baselines.truncated_eigh(adjacency, 8).error()
        assert told["rows"][0]["error"] == pytest.approx(expected)

    def test_the_table_fits_a_terminal(self):
        options = ["--cores", 8, "--methods", FAST + ",truncated_eigh", "--runs", 2]
        lines = run("compare", "karate", *options).stdout.splitlines()
        assert max(len(line.rstrip()) for line in lines) <= 80
        assert "std" in lines[3]

    @pytest.mark.parametrize(
        ("options", "parts"),
        [
            (["--cores", "4,x"], ["--cores must be integers separated by commas", "'4,x'"]),
            (["--cores", "4,35"], ["core (for n = 34)", "got 35"]),
            (["--cores", ","], ["at least one core size"]),
            (["--k", 1], ["k must be"]),
            (["--k", 3, "--drop", 3], ["drop (for k = 3)"]),
            (["--methods", "greedy,magic"], ["'greedy'", "'truncated_jacobi'", "got 'magic'"]),
            (["--methods", ""], ["at least one method"]),
            (["--runs", 0], ["runs must be"]),
            (["--steps", -1], ["steps must be"]),
            (["--restarts", 0], ["restarts must be"]),
            (["--seed", -1], ["seed must be"]),
        ],
    )
    def test_bad_settings(self, options, parts, folder):
        outputs = ["--csv", folder / "a.csv"]
        failed(run("compare", "karate", *options, *outputs), *parts)
        assert list(folder.iterdir()) == []

    def test_outputs_are_checked_before_the_work(self, folder, no_work):
        failed(run("compare", "karate", "--csv", folder / "no" / "a.csv"), "does not exist")
        failed(run("compare", "karate", "--plot", folder / "a.jpg"), ".png, .pdf, .svg")
        failed(run("compare", "karate", "--tradeoff", folder / "a.jpg"), ".png, .pdf, .svg")
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")
        for option in ("--plot", "--tradeoff"):
            failed(run("compare", "karate", option, folder / "no" / "a.png"), "does not exist")
        assert list(folder.iterdir()) == []


class TestTerminal:
    """How a terminal is recognised, told by a stream that says it is one or not."""

    def test_progress_is_silent_without_a_terminal(self):
        result = run("compare", "karate", "--cores", 8, "--methods", "greedy")
        assert result.stderr == ""

    def test_colour_is_never_piped(self, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        result = run("compare", "karate", "--cores", 8, "--methods", "greedy")
        assert "\x1b" not in result.stdout


# The command, telling its parent at some {place} when to interrupt it.
INTERRUPTED = """
import contextlib, os, sys, time
import wavemmf.cli
from wavemmf.cli import main

def tell(*arguments):
    print("working", flush=True)

def pause(*arguments):
    tell()
    time.sleep(0.5)

def progress_by(report):
    return lambda description: contextlib.nullcontext(report)

{place}
sys.argv = ["wavemmf", *sys.argv[1:]]
main()
"""
IN_KERNELS = "sys.modules['wavemmf.cli.factorize'].progress_bar = progress_by(tell)"
BETWEEN_KERNELS = "sys.modules['wavemmf.cli.factorize'].progress_bar = progress_by(pause)"
WHILE_COMPARING = "sys.modules['wavemmf.cli.compare'].progress_bar = progress_by(pause)"
WHILE_WRITING = "os.fsync = lambda descriptor: [pause() for _ in range(200)]"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        (IN_KERNELS, ["factorize", "kronecker", "--core", "16", "--k", "8", "-o", "{}/out/f.mmf"]),
        (BETWEEN_KERNELS, ["factorize", "{}/g.edges", "--core", "10", "-o", "{}/out/f.mmf"]),
        (WHILE_WRITING, ["factorize", "karate", "-o", "{}/out/f.mmf"]),
        (
            WHILE_COMPARING,
            ["compare", "karate", "--methods", "random", "--runs", "200", "--csv", "{}/out/a.csv"],
        ),
    ],
    ids=["in kernels", "between kernels", "writing", "comparing"],
)
def test_ctrl_c_leaves_nothing_behind(place, arguments, tmp_path):
    # Whether by pauses or by the work itself, more than a second is left after the first word of
    # the process, so the signal always arrives in the middle.
    edges = "".join(f"{i} {i + 1}\n" for i in range(20_000))
    (tmp_path / "g.edges").write_text(edges)
    (tmp_path / "out").mkdir()
    arguments = [argument.replace("{}", str(tmp_path)) for argument in arguments]
    _, messages = interrupted(INTERRUPTED.format(place=place), *arguments)
    assert messages == "interrupted; nothing was written\n"
    assert list((tmp_path / "out").iterdir()) == []
