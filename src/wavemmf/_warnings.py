"""Treat warnings differently for a moment, in one thread at a time."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

__all__ = ["warnings_treated"]


class _OneAtATime:
    """A lock that a child process does not find held by a thread of its parent."""

    def __init__(self) -> None:
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        """Make the lock anew."""
        self.lock = threading.RLock()


_one_at_a_time = _OneAtATime()


@contextmanager
def warnings_treated(action: Literal["error", "ignore"], *messages: str) -> Iterator[None]:
    """Ignore warnings in the block, or raise them, if one of the `messages` matches.

    The filters of warnings belong to the process: were they changed and put back by two threads
    at a time, the one that ends last would put back what the other has changed.

    Parameters
    ----------
    action : {"error", "ignore"}
        What becomes of the warnings.
    *messages : str
        Regular expressions for how they begin; other threads may warn of other things meanwhile.

    Examples
    --------
    >>> with warnings_treated("ignore", ".*beta"):
    ...     warnings.warn("this is a beta feature")
    """
    with _one_at_a_time.lock, warnings.catch_warnings():
        for message in messages:
            warnings.filterwarnings(action, message=message)
        yield
