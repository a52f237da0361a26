"""How a factorization came about: errors along the way and why the work stopped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._plain import plain

__all__ = ["History"]


@dataclass(frozen=True)
class History:
    """The record of a computation.

    Attributes
    ----------
    method : str
        What was run, for example ``"greedy"``.
    errors : tuple of float
        The Frobenius error after each recorded step; the last entry is that of the result.
    seconds : tuple of float
        Time since the start at each of those steps.
    stopped : str
        Why the work stopped, in words.
    details : dict
        Further facts about the run, plain numbers, strings and lists.

    Examples
    --------
    >>> History("greedy", (0.5,), (0.01,), "the core size was reached").errors[-1]
    0.5
    """

    method: str = ""
    errors: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()
    stopped: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("errors", "seconds"):
            numbers = tuple(float(value) for value in getattr(self, name))
            object.__setattr__(self, name, numbers)
        object.__setattr__(self, "details", plain("details", self.details))

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain Python values."""
        return {
            "method": self.method,
            "errors": list(self.errors),
            "seconds": list(self.seconds),
            "stopped": self.stopped,
            "details": self.details,
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> History:
        """Build the record from what `to_json` gave."""
        return cls(
            method=str(record.get("method", "")),
            errors=record.get("errors", ()),
            seconds=record.get("seconds", ()),
            stopped=str(record.get("stopped", "")),
            details=dict(record.get("details", {})),
        )
