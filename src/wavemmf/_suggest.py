"""What a name with a typing error was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["did_you_mean"]


def did_you_mean(given: Any, names: Iterable[Any]) -> str:
    """Return ``; did you mean ...?`` if one of the names is close to what was given, else nothing.

    Examples
    --------
    >>> did_you_mean("gredy", ["greedy", "random"]), did_you_mean("newton", ["sgd"])
    ("; did you mean 'greedy'?", '')
    """
    import difflib  # only when something is wrong

    if not isinstance(given, str):
        return ""
    known = {name.lower(): name for name in names if isinstance(name, str)}
    # Whoever leaves out the part before the colon means the rest.
    known |= {lower.rpartition(":")[2]: name for lower, name in known.items()}
    close = difflib.get_close_matches(given.lower(), known, n=1, cutoff=0.6)
    return f"; did you mean {known[close[0]]!r}?" if close else ""
