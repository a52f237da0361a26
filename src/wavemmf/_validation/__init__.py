"""Check what the user gave before any work starts, and say exactly what is wrong with it."""

from ._matrices import Matrix, check_compressed, check_matrix
from ._memory import check_memory
from ._settings import (
    as_generator,
    check_choice,
    check_finite,
    check_integer,
    check_mmf_parameters,
    check_named,
    check_not_negative,
    check_positive,
    core_size,
)

__all__ = [
    "Matrix",
    "as_generator",
    "check_choice",
    "check_compressed",
    "check_finite",
    "check_integer",
    "check_matrix",
    "check_memory",
    "check_mmf_parameters",
    "check_named",
    "check_not_negative",
    "check_positive",
    "core_size",
]
