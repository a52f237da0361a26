"""The figures by which a user judges a factorization."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..factorization import Factorization

__all__ = ["as_facts", "summarize"]


def summarize(f: Factorization) -> dict[str, Any]:
    """Return error, sizes, costs and history as plain Python values."""
    return {
        "error": f.error(),
        "relative_error": f.relative_error(),
        "matrix_norm": f.matrix_norm,
        "n": f.n,
        "core": f.core_size,
        "k": _setting(f, "k", f.rotations.sizes),
        "drop": _setting(f, "drop", np.diff(f.rotations.drop_offsets)),
        "levels": f.num_levels,
        "stored_numbers": f.stored_numbers,
        "multiplications": f.multiplications,
        "transform_multiplications": f.transform_multiplications,
        "basis_nonzeros": f.basis_nonzeros,
        "frequencies": [float(f.frequencies.min()), float(f.frequencies.max())],
        "seconds": f.history.seconds[-1] if f.history.seconds else None,
        "stopped": f.history.stopped,
        "parameters": f.parameters,
    }


def _setting(f: Factorization, name: str, used: Any) -> int:
    """Return a setting, or the largest value in use if the factorization was made without."""
    given = f.parameters.get(name)
    return int(used.max(initial=0)) if given is None else int(given)


def as_facts(summary: dict[str, Any]) -> dict[str, str]:
    """Put a summary into words, beside what the matrix itself would cost."""
    n = summary["n"]
    low, high = summary["frequencies"]
    seconds = summary["seconds"]
    settings = {name: value for name, value in summary["parameters"].items() if name not in summary}
    return {
        "rows": f"{n}",
        "core": f"{summary['core']}",
        "levels": f"{summary['levels']}",
        "rotations": f"k = {summary['k']}, drop = {summary['drop']}",
        "error": f"{summary['error']:.6g} (Frobenius norm)",
        "relative error": f"{summary['relative_error']:.6g}",
        "stored numbers": _beside(summary["stored_numbers"], n * (n + 1) // 2, "dense matrix"),
        "multiplications": _beside(summary["multiplications"], n * n, "dense product"),
        "basis non-zeros": _beside(summary["basis_nonzeros"], n * n, "dense basis"),
        "frequencies": f"{low:.6g} to {high:.6g}",
        "settings": ", ".join(f"{name} = {value}" for name, value in settings.items()) or "unknown",
        "time": "unknown" if seconds is None else f"{seconds:.3f} s",
        "stopped because": summary["stopped"] or "unknown",
    }


def _beside(count: int, full: int, what: str) -> str:
    return f"{count} ({what}: {full})"
