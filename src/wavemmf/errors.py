"""The exceptions wavemmf raises on purpose.

Every one of them also derives from the built-in exception a caller would expect
(`ValueError`, `TypeError`, `ImportError`), so ``except ValueError`` keeps working.
"""

from __future__ import annotations

__all__ = [
    "AccuracyWarning",
    "ClusterError",
    "CompilationDisabledError",
    "FileFormatError",
    "InputTypeError",
    "InvalidFactorizationError",
    "InvalidInputError",
    "LargeResultWarning",
    "MissingDependencyError",
    "SingularError",
    "TooLargeError",
    "UnusedAttributeWarning",
    "WavemmfError",
]


class WavemmfError(Exception):
    """Base class of all errors raised deliberately by wavemmf."""


class AccuracyWarning(UserWarning):
    """An approximation is too rough for what is computed from it; the message has the number."""


class LargeResultWarning(UserWarning):
    """A result will be very large; the message has its size and what does without it."""


class UnusedAttributeWarning(UserWarning):
    """Edges have attributes that are not used; the message says how to use them."""


class InvalidInputError(WavemmfError, ValueError):
    """A value is outside what is allowed; the message says what is."""


class InputTypeError(WavemmfError, TypeError):
    """An object is of a kind that wavemmf cannot read as a matrix, graph or signal."""


class InvalidFactorizationError(InvalidInputError):
    """Index sets or rotations break a constraint of the factorization.

    Attributes
    ----------
    level : int or None
        The 1-based level at fault, when one level can be named.
    """

    def __init__(self, message: str, level: int | None = None) -> None:
        super().__init__(message)
        self.level = level

    def __reduce__(self) -> tuple[type[InvalidFactorizationError], tuple[str, int | None]]:
        return type(self), (str(self), self.level)


class FileFormatError(InvalidInputError):
    """A file exists but does not hold what its name promises."""


class TooLargeError(InvalidInputError):
    """The work would need more memory than is sensible; nothing was allocated."""


class SingularError(WavemmfError, ArithmeticError):
    """A system of equations has no unique solution; the message says what can be done."""


class MissingDependencyError(WavemmfError, ImportError):
    """An optional package is needed; the message names the extra that installs it."""


class CompilationDisabledError(WavemmfError, NotImplementedError):
    """Only compiled code can do this, and ``NUMBA_DISABLE_JIT=1`` forbids to compile."""


class ClusterError(WavemmfError, RuntimeError):
    """Work on a cluster cannot begin or go on: no scheduler, no workers, other versions."""
