"""Optimisation on the command line: factorize --optimize, refine, and Ctrl-C during both."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import wavemmf as wm
from command_line import failed, interrupted, run
from wavemmf.factorization import History

KARATE = wm.graphs.karate()
LEARN = ["--core", 8, "--k", 4, "--optimize", "lbfgs"]


def interrupt_after(monkeypatch, command, steps):
    """Make Ctrl-C arrive after some steps of an optimisation."""
    module = sys.modules[f"wavemmf.cli.{command}"]
    original = module.optimizer

    def stop(step, error):
        if step == steps:
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "optimizer", lambda *a, **s: original(*a, **s, callback=stop))


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "results"
    path.mkdir()
    return path


@pytest.fixture
def saved(folder):
    path = folder / "f.mmf"
    wm.factorize(KARATE, 8, 4).save(path)
    return path


class TestFactorize:
    def test_json_tells_about_the_optimisation(self, folder):
        path = folder / "f.mmf"
        result = run("factorize", "karate", *LEARN, "--steps", 12, "-o", path, "--json")
        assert (result.exit_code, result.stderr) == (0, "")
        told = json.loads(result.stdout)
        expected = wm.factorize(KARATE, 8, 4, optimize="lbfgs", steps=12)
        assert told["error"] == pytest.approx(expected.error(), rel=1e-9)
        assert (told["optimize"], told["steps"]) == ("lbfgs", 12)
        assert told["stopped"] == "12 steps were taken"
        assert told["gradient_norm"] == pytest.approx(
            expected.history.details["gradient_norm"], rel=1e-6
        )
        assert told["restarts"] is None
        assert wm.load(path).error() == told["error"]
        info = json.loads(run("info", path, "--json").stdout)
        assert (info["optimize"], info["steps"]) == ("lbfgs", 12)

    def test_without_optimisation_json_says_so(self):
        told = json.loads(run("factorize", "karate", "--core", 8, "--json").stdout)
        assert [told[name] for name in ("optimize", "steps", "gradient_norm", "restarts")] == (
            [None] * 4
        )

    def test_settings_reach_the_library(self):
        options = ["--optimize", "adam", "--steps", 9, "--tolerance", 0, "--smoothness", 0.5]
        result = run("factorize", "karate", "--core", 8, *options, "--power", 2, "--json")
        told = json.loads(result.stdout)
        settings = {"steps": 9, "tolerance": 0.0, "smoothness": 0.5, "power": 2.0}
        expected = wm.factorize(KARATE, 8, optimize=wm.optimize.Adam(**settings))
        assert told["error"] == pytest.approx(expected.error(), rel=1e-9)

    def test_the_spread_of_restarts_is_told(self):
        options = [*LEARN, "--restarts", 6, "--finalists", 2, "--steps", 5]
        told = json.loads(run("factorize", "karate", *options, "--json").stdout)
        spread = told["restarts"]
        assert spread["runs"] == 6
        assert spread["closed_form_errors"]["best"] <= spread["closed_form_errors"]["worst"]
        assert len(spread["optimized_errors"]) == 2
        assert min(spread["optimized_errors"]) == pytest.approx(told["error"], rel=1e-6)
        text = run("factorize", "karate", *options).stdout
        assert re.search(r"^restarts +6, closed-form errors: best", text, re.MULTILINE)
        assert re.search(r"^finalists +2, optimised errors: best", text, re.MULTILINE)

    def test_progress_shows_the_error(self, monkeypatch):
        shown = []
        module = sys.modules["wavemmf.cli.factorize"]
        original = module.run_factorization

        def listening(*arguments, progress, **settings):
            def listen(done, total, note=""):
                shown.append(note)
                progress(done, total, note)

            return original(*arguments, progress=listen, **settings)

        monkeypatch.setattr(module, "run_factorization", listening)
        assert run("factorize", "karate", *LEARN, "--steps", 3).exit_code == 0
        assert sum(re.fullmatch(r"error [\d.e+-]+", note) is not None for note in shown) == 3

    def test_a_diverged_run_is_still_json(self, folder):
        f = wm.factorize(KARATE, 8, 4, optimize="sgd", steps=2)
        details = {"gradient_norm": float("nan")}
        diverged = History("sgd", f.history.errors, f.history.seconds, "diverged", details)
        rotations, parameters = f.rotations, f.parameters
        matrix = wm.graphs.as_matrix(KARATE)
        wm.Factorization.from_rotations(matrix, rotations, diverged, parameters).save(
            folder / "f.mmf"
        )
        told = json.loads(run("info", folder / "f.mmf", "--json").stdout)
        assert told["gradient_norm"] is None
        assert "sgd, steps: 2" in run("info", folder / "f.mmf").stdout

    @pytest.mark.parametrize(
        ("options", "parts"),
        [
            (["--optimize", "newton"], ["'lbfgs'", "'newton'"]),
            ([*LEARN, "--steps", -1], ["steps must be"]),
            ([*LEARN, "--tolerance", -1], ["tolerance must be"]),
            ([*LEARN, "--smoothness", "nan"], ["smoothness must be"]),
            ([*LEARN, "--restarts", -1], ["restarts must be"]),
            ([*LEARN, "--restarts", 2, "--finalists", 0], ["finalists must be"]),
            ([*LEARN, "--restarts", 2, "--select", "regular"], ["select='regular'"]),
            (["--steps", 5], ["--steps is for an optimisation", "--optimize"]),
            (["--smoothness", 1], ["--smoothness is for an optimisation"]),
            ([*LEARN, "--finalists", 5], ["--finalists is for --restarts"]),
            ([*LEARN, "--checkpoint", "{}/no/c"], ["does not exist"]),
            ([*LEARN, "--checkpoint", "{}/f.mmf"], ["must be a file of its own"]),
            (
                [*LEARN, "--restarts", 2, "--checkpoint", "{}/c"],
                ["--checkpoint cannot be combined with --restarts"],
            ),
        ],
    )
    def test_bad_settings(self, options, parts, folder):
        options = [str(option).replace("{}", str(folder)) for option in options]
        failed(run("factorize", "karate", *options, "-o", folder / "f.mmf"), *parts)
        assert list(folder.iterdir()) == []

    def test_an_interrupted_optimisation_is_saved_and_continued(self, folder, monkeypatch):
        path, state = folder / "f.mmf", folder / "state"
        options = [*LEARN, "--steps", 20, "--tolerance", 0, "--checkpoint", state, "-o", path]
        with monkeypatch.context() as context:
            interrupt_after(context, "factorize", 7)
            result = run("factorize", "karate", *options, "--json")
        assert result.exit_code == 130
        assert result.stderr == (
            f"interrupted; the best result of 7 steps was written to {path}; "
            f"the same command continues from {state}\n"
        )
        told = json.loads(result.stdout)
        assert (told["stopped"], told["steps"]) == ("interrupted", 7)
        assert wm.load(path).error() == told["error"]
        assert sorted(file.name for file in folder.iterdir()) == ["f.mmf", "state"]
        assert run("factorize", "karate", *options).exit_code == 0
        whole = wm.factorize(KARATE, 8, 4, optimize=wm.optimize.LBFGS(steps=20, tolerance=0.0))
        np.testing.assert_array_equal(wm.load(path).rotations.blocks, whole.rotations.blocks)
        assert [file.name for file in folder.iterdir()] == ["f.mmf"]

    def test_an_interruption_without_output(self, monkeypatch):
        interrupt_after(monkeypatch, "factorize", 2)
        result = run("factorize", "karate", *LEARN)
        assert result.exit_code == 130
        assert result.stderr == "interrupted; nothing was written\n"
        assert re.search(r"^stopped because +interrupted", result.stdout, re.MULTILINE)


class TestRefine:
    def test_the_file_is_replaced(self, saved, folder):
        before = wm.load(saved)
        result = run("refine", saved, "karate", "--steps", 15, "--json")
        assert (result.exit_code, result.stderr) == (0, "")
        told = json.loads(result.stdout)
        after = wm.load(saved)
        assert told["error_before"] == pytest.approx(before.error(), rel=1e-9)
        assert told["error"] == after.error() < before.error()
        assert (told["steps"], told["output"]) == (15, str(saved))
        assert after.error() == pytest.approx(wm.refine(before, KARATE, steps=15).error(), rel=1e-9)
        assert [file.name for file in folder.iterdir()] == [saved.name]

    def test_another_output_and_words(self, saved, folder):
        before = saved.read_bytes()
        options = ["-o", folder / "g.mmf", "--steps", 5, "--optimize", "stiefel"]
        result = run("refine", saved, "karate", *options)
        assert result.exit_code == 0
        assert saved.read_bytes() == before
        old, new = wm.load(saved), wm.load(folder / "g.mmf")
        assert new.parameters["optimize"] == "stiefel"
        assert f"{new.error():.6g} (Frobenius norm), before: {old.error():.6g}" in result.stdout

    def test_the_error_before_is_for_the_matrix_given(self, saved):
        options = ["--matrix", "laplacian", "--steps", 3, "--json"]
        told = json.loads(run("refine", saved, "karate", *options).stdout)
        laplacian = wm.graphs.laplacian(KARATE)
        rotations = wm.factorize(KARATE, 8, 4).rotations
        expected = wm.Factorization.from_rotations(laplacian, rotations).error()
        assert told["error_before"] == pytest.approx(expected, rel=1e-9)
        assert told["error"] < expected

    @pytest.mark.parametrize(
        ("arguments", "parts"),
        [
            (["{}/f.mmf", "cayley"], ["f.mmf has 34 rows, cayley has 161"]),
            (["{}/no.mmf", "karate"], ["no such file", "no.mmf"]),
            (["{}/f.mmf", "{}/no.npy"], ["neither a file nor a data set"]),
            (["{}/f.mmf", "karate", "-o", "{}/no/f.mmf"], ["does not exist"]),
            (["{}/f.mmf", "karate", "--optimize", "magic"], ["'magic'"]),
            (["{}/f.mmf", "karate", "--steps", "-1"], ["steps must be"]),
            (["{}/f.mmf", "karate", "--power", "-1"], ["power must be"]),
            (["{}/f.mmf", "karate", "--checkpoint", "{}/f.mmf"], ["a file of its own"]),
            (["{}/f.mmf", "{}/f.mmf"], ["is the input"]),
            (["{}/f.mmf", "{}/a.npy"], ["not symmetric", "--symmetrize"]),
        ],
    )
    def test_errors_leave_everything_as_it_was(self, arguments, parts, saved, folder):
        matrix = np.eye(34)
        matrix[2, 5] = 0.5
        np.save(folder / "a.npy", matrix)
        before = saved.read_bytes()
        arguments = [argument.replace("{}", str(folder)) for argument in arguments]
        failed(run("refine", *arguments), *parts)
        assert saved.read_bytes() == before
        assert sorted(file.name for file in folder.iterdir()) == ["a.npy", "f.mmf"]

    def test_symmetrize(self, saved, folder):
        matrix = wm.graphs.normalized_laplacian(KARATE).toarray()
        matrix[2, 5] += 0.5
        np.save(folder / "a.npy", matrix)
        options = ["--symmetrize", "--steps", 2]
        assert run("refine", saved, folder / "a.npy", *options).exit_code == 0

    def test_a_damaged_file(self, saved):
        saved.write_bytes(saved.read_bytes()[:400])
        failed(run("refine", saved, "karate"), "not a whole wavemmf file")

    def test_an_interruption_keeps_the_best(self, saved, monkeypatch):
        before = wm.load(saved).error()
        interrupt_after(monkeypatch, "refine", 4)
        result = run("refine", saved, "karate")
        assert result.exit_code == 130
        assert f"best result of 4 steps was written to {saved}" in result.stderr
        assert wm.load(saved).error() < before


# The command, telling its parent on standard output when the optimisation has begun.
TELLING = """
import contextlib, sys, time
import wavemmf.cli
from wavemmf.cli import main

told = []

def tell(done, total, note=""):
    if note.startswith("error") and done >= 3:
        if not told:
            told.append(print("working", flush=True))
        time.sleep(0.5)

for command in ("factorize", "refine"):
    module = sys.modules[f"wavemmf.cli.{command}"]
    module.progress_bar = lambda description: contextlib.nullcontext(tell)
sys.argv = ["wavemmf", *sys.argv[1:]]
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("command", ["factorize", "refine"])
def test_ctrl_c_during_a_long_optimisation(command, folder):
    path = folder / "f.mmf"
    if command == "refine":
        wm.factorize(KARATE, 8, 8).save(path)
        arguments = ["refine", path, "karate"]
    else:
        arguments = ["factorize", "karate", "--core", 8, "--k", 8, "-o", path]
    # Hundreds of steps with pauses: the signal always arrives in the middle.
    long = ["--optimize", "lbfgs", "--steps", 10**6, "--tolerance", 0, "--json"]
    printed, messages = interrupted(TELLING, *arguments, *long)
    assert re.fullmatch(
        rf"interrupted; the best result of \d+ steps was written to {re.escape(str(path))}\n",
        messages,
    )
    told = json.loads(printed)
    assert told["stopped"] == "interrupted"
    assert wm.load(path).error() == told["error"]
    assert [file.name for file in folder.iterdir()] == ["f.mmf"]


def test_a_refine_round_trip_in_processes(folder):
    def start(*arguments):
        command = [sys.executable, "-m", "wavemmf", *map(str, arguments), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    path = folder / "f.mmf"
    made = start("factorize", "karate", "--core", 8, "--k", 8, "-o", path)
    refined = start("refine", path, "karate", "--steps", 30)
    shown = json.loads(run("info", path, "--json").stdout)
    assert refined["error_before"] == pytest.approx(made["error"], rel=1e-9)
    assert refined["error"] < 0.8 * made["error"]
    assert shown["error"] == refined["error"]
    assert shown["stopped"] == refined["stopped"]
