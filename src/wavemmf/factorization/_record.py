"""A factorization as plain values and arrays: one description for all files that hold one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._validation import check_compressed
from ._core_diagonal import CoreDiagonal
from ._factorization import Factorization
from ._history import History
from ._rotations import Rotations
from ._rounded import DIGITS, rotations_of_codes

__all__ = ["ARRAYS", "from_record", "to_record"]

Arrays = dict[str, npt.NDArray[Any]]

_ROTATION_ARRAYS = ("offsets", "groups", "blocks", "drop_offsets", "wavelets")
_DENSE_CORE = ("core",)
_SPARSE_CORE = ("core_data", "core_indices", "core_indptr")

#: The names of all arrays that a record may have; the core is dense or sparse.
ARRAYS = (*_ROTATION_ARRAYS, "diagonal_of_h", *_DENSE_CORE, *_SPARSE_CORE)


def to_record(f: Factorization) -> tuple[dict[str, Any], Arrays]:
    """Return everything `f` consists of, as values for JSON and as arrays.

    Examples
    --------
    >>> import wavemmf as wm
    >>> f = wm.factorize(wm.graphs.cycle(8), core=2, k=2)
    >>> from_record(*to_record(f)).error() == f.error()
    True
    """
    values = {
        "n": f.n,
        "rotations": f.rotations.kind,
        "matrix_norm": f.matrix_norm,
        "residual_norm": f.residual_norm,
        "error_is_exact": f.error_is_exact,
        "history": f.history.to_json(),
        "parameters": f.parameters,
    }
    if f.node_names is not None:
        values["node_names"] = list(f.node_names)
    arrays = {name: getattr(f.rotations, name) for name in _ROTATION_ARRAYS}
    arrays["diagonal_of_h"] = f.h.diagonal
    if sp.issparse(f.core):
        parts = (f.core.data, f.core.indices, f.core.indptr)
        return values, {**arrays, **dict(zip(_SPARSE_CORE, parts, strict=True))}
    return values, {**arrays, "core": f.core}


def from_record(values: Mapping[str, Any], arrays: Mapping[str, Any]) -> Factorization:
    """Return the factorization of a record, which may come from a file and hold anything.

    Raises
    ------
    ValueError, TypeError, KeyError
        With what is wrong; nothing of the claimed size was allocated.
    """
    n = _checked("n", values["n"], int)
    # First of all: whatever follows makes room for n numbers.
    if np.shape(arrays["diagonal_of_h"]) != (n,):
        shape = np.shape(arrays["diagonal_of_h"])
        raise ValueError(f"n is {n}, but diagonal_of_h has shape {shape}")
    kind = _checked("rotations", values["rotations"], str)
    packed: dict[str, Any] = {name: arrays[name] for name in _ROTATION_ARRAYS}
    make = rotations_of_codes if np.asarray(packed["blocks"]).dtype.name in DIGITS else _rotations
    rotations = make({"n": n, "kind": kind, **packed})
    return Factorization(
        rotations,
        CoreDiagonal(arrays["diagonal_of_h"], _core(arrays, rotations.core.size), rotations.core),
        matrix_norm=_checked("matrix_norm", values["matrix_norm"], float, int),
        residual_norm=_checked("residual_norm", values["residual_norm"], float, int),
        history=History.from_json(_checked("history", values["history"], dict)),
        parameters=_checked("parameters", values["parameters"], dict),
        error_is_exact=_checked("error_is_exact", values["error_is_exact"], bool),
        node_names=values.get("node_names"),
    )


def _rotations(fields: dict[str, Any]) -> Rotations:
    return Rotations(**fields)


def _checked(name: str, value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} must be {wanted}, got {value!r}")
    return value


def _core(arrays: Mapping[str, Any], size: int) -> Any:
    if "core" in arrays:
        return arrays["core"]
    parts = tuple(arrays[name] for name in _SPARSE_CORE)
    core = sp.csr_array(parts, shape=(size, size))
    check_compressed(core)  # indices from a file may point anywhere
    return core
