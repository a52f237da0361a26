"""Import optional packages on first use, and name the extra when one is missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from .errors import MissingDependencyError

__all__ = ["require"]


def require(module: str, extra: str) -> ModuleType:
    """Import `module`, or say which extra of wavemmf provides it.

    Parameters
    ----------
    module : str
        Dotted name of the module to import.
    extra : str
        The optional-dependency group of wavemmf that installs it.

    Returns
    -------
    module

    Raises
    ------
    MissingDependencyError
        If the module cannot be found.

    Examples
    --------
    >>> require("json", extra="none").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"this needs the package {module.partition('.')[0]!r}: pip install 'wavemmf[{extra}]'"
        ) from error
