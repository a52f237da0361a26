"""The figures by which a user judges a factorization."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..factorization import Factorization

__all__ = ["as_facts", "summarize"]

# The basis of a larger matrix is not formed only to count its entries.
_COUNTED = 20_000


def summarize(f: Factorization) -> dict[str, Any]:
    """Return error, sizes, costs and history as plain Python values."""
    return {
        "error": f.error(),
        "relative_error": f.relative_error(),
        "error_is_exact": f.error_is_exact,
        "estimated_error": _pair(f.history.details.get("estimated_error")),
        "matrix_norm": f.matrix_norm,
        "n": f.n,
        "core": f.core_size,
        "k": _setting(f, "k", f.rotations.sizes),
        "drop": _setting(f, "drop", np.diff(f.rotations.drop_offsets)),
        "levels": f.num_levels,
        "stored_numbers": f.stored_numbers,
        "multiplications": f.multiplications,
        "transform_multiplications": f.transform_multiplications,
        "basis_nonzeros": f.basis_nonzeros if f.n <= _COUNTED else None,
        "frequencies": [float(f.frequencies.min()), float(f.frequencies.max())],
        "seconds": f.history.seconds[-1] if f.history.seconds else None,
        "optimize": f.parameters.get("optimize"),
        "optimized_in_parts": f.optimized_in_parts,
        "steps": _steps(f),
        "stopped": f.history.stopped,
        "gradient_norm": _finite(f.history.details.get("gradient_norm")),
        "restarts": _spread(f),
        "parameters": f.parameters,
    }


def _setting(f: Factorization, name: str, used: Any) -> int:
    """Return a setting, or the largest value in use if the factorization was made without."""
    given = f.parameters.get(name)
    return given if type(given) is int else int(used.max(initial=0))


def _steps(f: Factorization) -> int | None:
    """Return the optimisation steps taken, None if there were none, or some in every part."""
    if f.optimized_in_parts or not (f.parameters.get("optimize") and f.history.errors):
        return None
    return len(f.history.errors) - 1


def _finite(value: Any) -> float | None:
    """Return a number, None if it is missing or (after a diverged run) is none."""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _pair(value: Any) -> list[float] | None:
    """Return an estimate and its spread, None if what is kept is nothing of the kind."""
    numbers = [_finite(x) for x in value] if isinstance(value, list) else []
    return value if len(numbers) == 2 and None not in numbers else None


def _spread(f: Factorization) -> dict[str, Any] | None:
    """Return how the errors of the restarts were spread, None if nothing is known of them."""
    details = f.history.details
    runs, closed, optimized = (
        details.get(name) for name in ("restarts", "closed_form_errors", "optimized_errors")
    )
    # A file may hold anything here: metadata are for people, and checked by nobody before.
    known = isinstance(closed, dict) and all(
        _finite(closed.get(name)) is not None for name in ("best", "median", "worst")
    )
    if not (known and type(runs) is int):
        return None
    counted = isinstance(optimized, list) and all(_finite(x) is not None for x in optimized)
    return {
        "runs": runs,
        "closed_form_errors": closed,
        "optimized_errors": optimized if counted else None,
    }


def as_facts(summary: dict[str, Any]) -> dict[str, str]:
    """Put a summary into words, beside what the matrix itself would cost."""
    n = summary["n"]
    low, high = summary["frequencies"]
    seconds = summary["seconds"]
    settings = {name: value for name, value in summary["parameters"].items() if name not in summary}
    if summary["restarts"] is None and summary["parameters"].get("restarts"):
        settings["restarts"] = summary["parameters"]["restarts"]  # before it was refined
    return {
        "rows": f"{n}",
        "core": f"{summary['core']}",
        "levels": f"{summary['levels']}",
        "rotations": f"k = {summary['k']}, drop = {summary['drop']}",
        **_error_facts(summary),
        "stored numbers": _beside(summary["stored_numbers"], n * (n + 1) // 2, "dense matrix"),
        "multiplications": _beside(summary["multiplications"], n * n, "dense product"),
        "basis non-zeros": _beside(summary["basis_nonzeros"], n * n, "dense basis"),
        "frequencies": f"{low:.6g} to {high:.6g}",
        "settings": ", ".join(f"{name} = {value}" for name, value in settings.items()) or "unknown",
        **_optimisation_facts(summary),
        "time": "unknown" if seconds is None else f"{seconds:.3f} s",
        "stopped because": summary["stopped"] or "unknown",
    }


def _optimisation_facts(summary: dict[str, Any]) -> dict[str, str]:
    """Put what is known about optimisation and restarts into words."""
    facts = {}
    if summary["optimized_in_parts"]:
        facts["optimisation"] = f"{summary['optimize']} in parts"
    elif summary["optimize"] is not None:
        norm = summary["gradient_norm"]
        taken = "unknown" if summary["steps"] is None else summary["steps"]
        end = "" if norm is None else f", gradient norm {norm:.3g}"
        facts["optimisation"] = f"{summary['optimize']}, steps: {taken}{end}"
    if summary["restarts"] is not None:
        runs, errors = summary["restarts"]["runs"], summary["restarts"]["closed_form_errors"]
        facts["restarts"] = (
            f"{runs}, closed-form errors: best {errors['best']:.4g}, median "
            f"{errors['median']:.4g}, worst {errors['worst']:.4g}"
        )
        optimized = summary["restarts"]["optimized_errors"]
        if optimized:
            facts["finalists"] = (
                f"{len(optimized)}, optimised errors: best {min(optimized):.4g}, "
                f"worst {max(optimized):.4g}"
            )
    return facts


def _error_facts(summary: dict[str, Any]) -> dict[str, str]:
    """Put the error into words: exact, or a bound with an estimate."""
    limit = "" if summary["error_is_exact"] else "at most "
    facts = {
        "error": f"{limit}{summary['error']:.6g} (Frobenius norm)",
        "relative error": f"{limit}{summary['relative_error']:.6g}",
    }
    if summary["estimated_error"] is not None and summary["matrix_norm"] > 0.0:
        estimate, spread = (x / summary["matrix_norm"] for x in summary["estimated_error"])
        facts["relative error"] += f", estimated {estimate:.6g} ± {spread:.2g}"
    return facts


def _beside(count: int | None, full: int, what: str) -> str:
    return f"{'not counted' if count is None else count} ({what}: {full})"
