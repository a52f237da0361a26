"""What a page is made from: everything it shows, as plain values for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._version import __version__
from ..errors import InvalidInputError
from ..factorization import Factorization
from ..factorization._fill import estimated_fill
from ..factorization._norms import frobenius_norm
from ..graphs import as_matrix, is_graph
from ..plot._matrices import elimination_order
from ..signals import bands, describe
from ..signals._check import as_signals
from ._drawing import Drawing, make_drawing
from ._hierarchy import heirs, tree_order
from ._images import reduced_image
from ._packing import pack_floats, pack_fractions, pack_integers
from ._reach import reach
from ._summary import as_facts, summarize

__all__ = ["content"]

# More numbers than this in the rotations are rounded to two bytes each.
_EXACT = 1_000_000
_CURVE_POINTS = 400
# The basis is written out for scales only if it has at most about so many entries.
_MOST_ENTRIES = 5e7


def content(f: Factorization, A: Any = None, title: str = "", signal: Any = None) -> dict[str, Any]:
    """Return what the page shows.

    The basis itself is not in it: the page computes each wavelet from the rotations, which are
    far fewer numbers.
    """
    matrix = None if A is None else _factorized(f, A)
    summary = summarize(f)
    support, main = reach(f)
    return {
        "title": title,
        "version": __version__,
        "n": f.n,
        "core": f.core_size,
        "levels": f.num_levels,
        "figures": _figures(f, summary, matrix),
        "facts": list(as_facts(summary).items()),
        "drawing": _drawing(make_drawing(f, A)),
        "rotations": _rotations(f),
        "frequencies": pack_floats(f.frequencies),
        "support": pack_integers(support),
        "main": pack_integers(main),
        **_scales(f, A),
        "coefficients": None if signal is None else pack_floats(_coefficients(f, signal)),
        "heirs": pack_integers(heirs(f)),
        "order": pack_integers(tree_order(f)),
        "images": _images(f, matrix),
        "errors": _curve(f),
    }


def _scales(f: Factorization, A: Any) -> dict[str, Any]:
    """Return octaves, 0 being the core, and with a graph how many steps every wavelet reaches."""
    local = A is not None and is_graph(A) and estimated_fill(f.rotations) <= _MOST_ENTRIES
    hops = pack_integers(describe(f, A)["hops"]) if local else None
    return {"octaves": pack_integers(bands(f) + 1), "hops": hops}


def _coefficients(f: Factorization, signal: Any) -> Any:
    values, _ = as_signals(signal, f)
    if values.ndim != 1:
        raise InvalidInputError(f"a report shows one signal, got {values.shape[1]} of them")
    return f.analyze(values)


def _factorized(f: Factorization, A: Any) -> Any:
    """Return the matrix that was factorized, None if `A` is only its graph or another one."""
    matrix = as_matrix(A)
    same = np.isclose(frobenius_norm(matrix), f.matrix_norm, rtol=1e-9)
    return matrix if matrix.shape == f.shape and same else None


def _figures(f: Factorization, summary: dict[str, Any], matrix: Any) -> dict[str, Any]:
    sparse = matrix is not None and sp.issparse(matrix)
    return {
        "relative_error": summary["relative_error"],
        "error": summary["error"],
        "exact": summary["error_is_exact"],
        "stored": summary["stored_numbers"],
        "dense": f.n * (f.n + 1) // 2,
        "nonzeros": int(sp.triu(matrix).nnz) if sparse else None,
        "k": summary["k"],
        "drop": summary["drop"],
    }


def _drawing(drawing: Drawing) -> dict[str, Any]:
    return {
        "points": pack_fractions(np.ravel(drawing.points)),
        "lines": pack_integers(np.ravel(drawing.lines)),
        "note": drawing.note,
        "names": list(drawing.names),
    }


def _rotations(f: Factorization) -> dict[str, Any]:
    r = f.rotations.to_full()  # what the script of the page understands
    pack_blocks = pack_floats if r.blocks.size <= _EXACT else pack_fractions
    return {
        "offsets": pack_integers(r.offsets),
        "groups": pack_integers(r.groups),
        "blocks": pack_blocks(r.blocks),
        "drop_offsets": pack_integers(r.drop_offsets),
        "wavelets": pack_integers(r.wavelets),
        "core": pack_integers(f.core_indices),
    }


def _images(f: Factorization, matrix: Any) -> list[dict[str, Any]]:
    order = elimination_order(f)
    before = [] if matrix is None else [("before", matrix)]
    images = [(name, reduced_image(m, order)) for name, m in [*before, ("after", f.h.to_sparse())]]
    return [
        {"name": name, "size": len(image), "values": pack_floats(image.ravel())}
        for name, image in images
    ]


def _curve(f: Factorization) -> list[list[float]]:
    """Return steps and errors of the optimisation; of many steps only some."""
    errors = np.array(f.history.errors)
    if errors.size < 2 or not np.isfinite(errors).all():
        return []
    shown = np.unique(np.linspace(0, errors.size - 1, _CURVE_POINTS).astype(np.int64))
    return [[int(step), float(errors[step])] for step in shown]
