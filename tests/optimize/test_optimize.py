"""Optimising rotations: what every method must satisfy, and what the good ones reach."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oracle
import wavemmf as wm
from wavemmf.errors import InputTypeError, InvalidInputError
from wavemmf.optimize import LBFGS, OPTIMIZERS, SGD, Adam, Stiefel

KARATE = wm.graphs.karate()


@pytest.mark.parametrize("method", OPTIMIZERS)
@pytest.mark.parametrize("matrix", oracle.MATRICES)
@pytest.mark.parametrize(("k", "drop"), [(2, 1), (4, 1), (5, 3)])
def test_never_worse_than_the_start(method: str, matrix: str, k: int, drop: int) -> None:
    a = oracle.MATRICES[matrix]
    start = wm.factorize(a, core=min(3, len(a)), k=k, drop=drop)
    f = wm.factorize(a, core=min(3, len(a)), k=k, drop=drop, optimize=method, steps=15)
    oracle.check_constraints(f)
    scale = max(np.linalg.norm(a), 1e-300)
    assert f.error() <= start.error() + 1e-12 * scale
    assert abs(f.error() - np.linalg.norm(a - f.to_dense())) <= 1e-9 * scale
    np.testing.assert_array_equal(f.rotations.groups, start.rotations.groups)
    np.testing.assert_array_equal(f.rotations.wavelets, start.rotations.wavelets)


def test_regular_indices_suit_tensor_products() -> None:
    """At 62 levels of 8 wavelets, below the best approximation that stores as many numbers."""
    matrix = wm.graphs.kronecker(9)
    f = wm.factorize(matrix, core=16, k=16, drop=8, select="regular", optimize="lbfgs", steps=120)
    assert f.num_levels == 62
    assert f.error() < wm.baselines.truncated_eigh(matrix, 31).error()


@pytest.mark.parametrize(("selector", "limit"), [("random", 1.20), ("neighbors", 0.743)])
def test_any_selector_can_be_optimised(selector: str, limit: float) -> None:
    """The limits are means over these seeds, so that no single draw decides."""
    learned = []
    for seed in range(12):
        options = {"core": 8, "k": 4, "select": selector, "seed": seed}
        f = wm.factorize(KARATE, **options, optimize="lbfgs", steps=60)
        assert f.error() < wm.factorize(KARATE, **options).error()
        learned.append(f.error())
    assert np.exp(np.mean(np.log(learned))) < limit


def test_karate_and_cayley_reach_their_known_errors() -> None:
    assert wm.factorize(KARATE, core=8, k=8, optimize="lbfgs", steps=500).error() <= 0.062
    cayley = wm.graphs.cayley_tree(4, 4)
    for k, core, limit in ((8, 8, 0.033), (8, 64, 0.0014), (4, 64, 1e-4)):
        assert wm.factorize(cayley, core=core, k=k, optimize="lbfgs").error() <= limit


def test_restarts_reach_their_known_error_and_report_the_spread() -> None:
    f = wm.factorize(KARATE, core=8, k=8, optimize="lbfgs", restarts=400, steps=800)
    assert f.error() <= 0.013
    details = f.history.details
    assert details["restarts"] == 400
    spread = details["closed_form_errors"]
    assert spread["best"] <= spread["median"] <= spread["worst"]
    assert len(details["optimized_errors"]) == 15
    assert f.error() == pytest.approx(min(details["optimized_errors"]), rel=1e-6)


def test_restarts_repeat_and_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for threads in ("1", "2"):
        monkeypatch.setenv("WAVEMMF_NUM_THREADS", threads)
        f = wm.factorize(KARATE, core=8, k=4, optimize="lbfgs", restarts=wm.Search(12, 3), steps=20)
        results.append(f)
    np.testing.assert_array_equal(results[0].rotations.blocks, results[1].rotations.blocks)


def test_interrupted_restarts_return_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEMMF_NUM_THREADS", "1")
    steps: list[int] = []

    def interrupt(step: int, error: float) -> None:
        steps.append(step)
        if len(steps) == 15:
            raise KeyboardInterrupt

    f = wm.factorize(KARATE, core=8, k=4, optimize=LBFGS(steps=10, callback=interrupt), restarts=6)
    assert f.history.stopped == "interrupted"
    assert len(steps) == 15
    assert f.error() < wm.factorize(KARATE, core=8, k=4).error()


def test_restarts_without_optimisation_keep_the_best_run() -> None:
    single = wm.factorize(KARATE, core=8, k=4)
    many = wm.factorize(KARATE, core=8, k=4, restarts=30)
    assert many.error() <= single.error()


def test_lbfgs_beats_the_fixed_step_methods_at_equal_steps() -> None:
    errors = {
        method: wm.factorize(KARATE, core=8, k=8, optimize=method, steps=200).error()
        for method in OPTIMIZERS
    }
    assert min(errors, key=lambda method: errors[method]) == "lbfgs"


def test_first_order_optimality_is_reported_and_falls() -> None:
    short, long = (
        wm.factorize(KARATE, core=8, k=3, optimize=LBFGS(steps=steps, tolerance=0.0))
        for steps in (5, 800)
    )
    assert long.history.details["gradient_norm"] < 1e-2 * short.history.details["gradient_norm"]


def test_stiefel_satisfies_armijo_and_wolfe_at_every_step() -> None:
    a = wm.graphs.normalized_laplacian(KARATE).toarray()
    from wavemmf.optimize._objective import Objective

    f = wm.factorize(a, core=8, k=4)
    method = Stiefel()
    descent = method.begin(Objective(a, f.rotations), f.rotations.blocks)
    for _ in range(30):
        before = descent.point
        skew = 2.0 * before.gradient
        slope = -float(skew @ before.gradient)
        # The paper: the derivative at zero is minus half the squared norm of the skew matrix.
        assert slope == pytest.approx(-0.5 * float(skew @ skew))
        assert descent.step() is None
        tau = descent.length / 2.0
        assert descent.point.value <= before.value + method.sufficient * tau * slope
        here = descent.point
        descent.point = before
        reached = descent.move(-skew, tau)
        np.testing.assert_array_equal(reached.blocks, here.blocks)
        assert descent.slope(reached, -skew, tau) >= method.curvature * slope
        descent.point = here


@pytest.mark.parametrize("first", [1e-6, 0.05, 1.0, 30.0, 1e6])
def test_the_line_search_shortens_and_lengthens_steps(first: float) -> None:
    from wavemmf.optimize._descent import Point
    from wavemmf.optimize._linesearch import armijo_wolfe

    nothing = np.empty(0)

    def move(step: float) -> Point:  # a parabola with its minimum at 1
        return Point(nothing, (step - 1.0) ** 2, nothing, 0.0)

    found = armijo_wolfe(move(0.0), -2.0, move, lambda _, t: 2.0 * (t - 1.0), first, 1e-4, 0.5)
    assert found is not None
    step, point = found
    assert point.value <= 1.0 - 2e-4 * step
    assert 2.0 * (step - 1.0) >= -1.0  # half of the slope at the start


def test_stiefel_stops_at_a_small_gradient() -> None:
    f = wm.factorize(np.diag(np.arange(6.0)), core=2, k=2, optimize="stiefel")
    assert "gradient" in f.history.stopped


def test_smoothness_makes_wavelets_smoother() -> None:
    plain = wm.factorize(KARATE, core=8, k=8, optimize="lbfgs", steps=200)
    smooth = wm.factorize(KARATE, core=8, k=8, optimize=LBFGS(steps=200, smoothness=1.0, power=2.0))

    def energy(f: wm.Factorization) -> float:
        return float((np.delete(f.frequencies, f.core_indices) ** 2).sum())

    assert energy(smooth) < energy(plain)
    assert smooth.error() > plain.error()
    assert smooth.history.errors[-1] == pytest.approx(smooth.error(), rel=1e-6)


@pytest.mark.parametrize("scale", [2.0**-400, 2.0**400])
def test_units_of_the_matrix_do_not_matter(scale: float) -> None:
    a = wm.graphs.normalized_laplacian(KARATE).toarray()
    f, g = (wm.factorize(m, core=8, k=4, optimize="lbfgs", steps=30) for m in (a, a * scale))
    np.testing.assert_array_equal(f.rotations.blocks, g.rotations.blocks)


# -- long runs --------------------------------------------------------------------------------


def test_history_callback_and_progress() -> None:
    seen: list[tuple[int, float]] = []
    shown: list[str] = []
    f = wm.factorize(
        KARATE,
        core=8,
        k=4,
        optimize=LBFGS(steps=12, callback=lambda step, error: seen.append((step, error))),
        progress=lambda done, total, note: shown.append(note),
    )
    assert [step for step, _ in seen] == list(range(1, 13))
    assert len(f.history.errors) == len(f.history.seconds) == 13
    assert [error for _, error in seen] == list(f.history.errors[1:])
    assert list(f.history.seconds) == sorted(f.history.seconds)
    assert f.history.stopped == "12 steps were taken"
    assert any("error" in note for note in shown)


def test_callback_can_stop() -> None:
    method = LBFGS(callback=lambda step, error: step == 3)
    f = wm.factorize(KARATE, core=8, k=4, optimize=method)
    assert len(f.history.errors) == 4
    assert "callback" in f.history.stopped


def test_interruption_returns_the_best_so_far() -> None:
    def interrupt(step: int, error: float) -> None:
        if step == 5:
            raise KeyboardInterrupt

    f = wm.factorize(KARATE, core=8, k=4, optimize=LBFGS(callback=interrupt))
    assert f.history.stopped == "interrupted"
    assert f.error() < wm.factorize(KARATE, core=8, k=4).error()


@pytest.mark.parametrize("method", OPTIMIZERS)
def test_resumed_runs_continue_identically(method: str, tmp_path: Path) -> None:
    def optimised(**more: Any) -> wm.Factorization:
        settings = OPTIMIZERS[method](steps=30, tolerance=0.0, **more)
        return wm.factorize(KARATE, core=8, k=4, optimize=settings)

    whole = optimised()
    path = tmp_path / "state.ckpt"

    def interrupt(step: int, error: float) -> None:
        if step == 11:
            raise KeyboardInterrupt

    first = optimised(checkpoint=path, callback=interrupt)
    assert first.history.stopped == "interrupted"
    assert path.exists()
    resumed = optimised(checkpoint=path)
    np.testing.assert_array_equal(resumed.rotations.blocks, whole.rotations.blocks)
    assert resumed.history.errors == whole.history.errors
    assert not path.exists()


def test_killed_runs_continue_identically(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys, time, wavemmf as wm

        def tell(step, error):
            print(step, flush=True)
            time.sleep(0.02)  # leaves the time to be killed before the end

        method = wm.optimize.LBFGS(steps=150, tolerance=0.0, checkpoint=sys.argv[1],
                                   checkpoint_seconds=0.0, callback=tell)
        f = wm.factorize(wm.graphs.karate(), core=8, k=8, optimize=method)
        f.save(sys.argv[2])
        """
    )
    state, result = tmp_path / "state.ckpt", tmp_path / "f.mmf"
    command = [sys.executable, "-c", script, str(state), str(result)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 40:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert state.exists()
    assert not result.exists()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    expected = wm.factorize(KARATE, core=8, k=8, optimize=LBFGS(steps=150, tolerance=0.0))
    np.testing.assert_array_equal(wm.load(result).rotations.blocks, expected.rotations.blocks)
    assert sorted(os.listdir(tmp_path)) == ["f.mmf"]


def test_a_checkpoint_of_another_problem_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.ckpt"

    def interrupt(step: int, error: float) -> None:
        raise KeyboardInterrupt

    same = LBFGS(checkpoint=path)
    wm.factorize(KARATE, core=8, k=4, optimize=replace(same, callback=interrupt))
    for core, k, method in (
        (7, 4, same), (8, 3, same), (8, 4, Adam(checkpoint=path)),
        (8, 4, replace(same, smoothness=1.0)),
    ):  # fmt: skip
        with pytest.raises(InvalidInputError, match="another matrix, other indices or other"):
            wm.factorize(KARATE, core, k, optimize=method)
    with pytest.raises(InvalidInputError, match="does not exist"):
        LBFGS(checkpoint=tmp_path / "no" / "state")


# -- refining ---------------------------------------------------------------------------------


def test_refine_a_loaded_file(tmp_path: Path) -> None:
    f = wm.factorize(KARATE, core=8, k=8)
    f.save(tmp_path / "f.mmf")
    g = wm.refine(wm.load(tmp_path / "f.mmf"), KARATE, steps=100)
    direct = wm.factorize(KARATE, core=8, k=8, optimize="lbfgs", steps=100)
    assert g.error() == pytest.approx(direct.error(), rel=1e-9)
    assert g.parameters["optimize"] == "lbfgs"
    assert wm.refine(g, KARATE, optimize="stiefel", steps=5).error() <= g.error()


def test_refine_bad_arguments() -> None:
    f = wm.factorize(KARATE, core=8)
    with pytest.raises(InvalidInputError, match="34 rows, the matrix has 5"):
        wm.refine(f, np.eye(5))
    with pytest.raises(InvalidInputError, match="needs an optimiser"):
        wm.refine(f, KARATE, None)
    with pytest.raises(InvalidInputError, match=r"lbfgs.*newton"):
        wm.refine(f, KARATE, optimize="newton")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"optimize": "magic"}, "lbfgs.*magic"),
        ({"optimize": "lbfgs", "steps": -1}, "steps"),
        ({"optimize": "lbfgs", "steps": 2.5}, "steps"),
        ({"optimize": LBFGS}, "wavemmf.optimize.LBFGS.*got LBFGS"),
        ({"optimize": LBFGS(), "steps": 7}, r"give LBFGS\(steps=7\)"),
        ({"restarts": -1}, "restarts"),
        ({"restarts": 3, "select": "regular"}, "restarts"),
        ({"restarts": 3, "optimize": LBFGS(checkpoint="x")}, "checkpoint.*restarts"),
    ],
)
def test_bad_settings(arguments: dict, message: str) -> None:
    with pytest.raises((InvalidInputError, InputTypeError), match=message):
        wm.factorize(KARATE, core=8, **arguments)


@pytest.mark.parametrize(
    ("method", "setting", "message"),
    [
        (LBFGS, {"tolerance": -1.0}, "tolerance"),
        (LBFGS, {"smoothness": np.nan}, "smoothness"),
        (LBFGS, {"memory": 0}, "memory must be"),
        (LBFGS, {"memory": 2.5}, "memory must be"),
        (Stiefel, {"sufficient": 0.95}, "0 < sufficient < curvature < 1"),
        (Stiefel, {"curvature": 1.0}, "0 < sufficient < curvature < 1"),
        (Stiefel, {"first_step": 0.0}, "first_step must be"),
        (SGD, {"learning_rate": -1.0}, "learning_rate must be"),
        (SGD, {"momentum": 1.0}, "momentum must be"),
        (Adam, {"learning_rate": np.inf}, "learning_rate must be"),
        (Adam, {"decay": 0.9}, "decay must be a pair"),
        (Adam, {"decay": (0.9, 1.0)}, "decay must be"),
        (wm.Search, {"count": 3, "finalists": 0}, "finalists"),
    ],
)
def test_settings_are_checked_where_they_are_given(
    method: Any, setting: dict[str, Any], message: str
) -> None:
    with pytest.raises((InvalidInputError, InputTypeError), match=message):
        method(**setting)


def test_names_stand_for_defaults() -> None:
    for name, method in OPTIMIZERS.items():
        one = wm.factorize(KARATE, core=8, optimize=name, steps=4)
        other = wm.factorize(KARATE, core=8, optimize=method(steps=4))
        np.testing.assert_array_equal(one.rotations.blocks, other.rotations.blocks)
        assert one.parameters == other.parameters
        assert one.parameters["optimize"] == one.history.method == name
