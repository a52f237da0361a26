"""Hold back Ctrl-C while compiled code or a consistent update is under way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["deferred_interrupts"]


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Deliver a Ctrl-C that arrives inside the block when the block ends.

    A KeyboardInterrupt raised while arguments are handed to a kernel can crash the process, and
    one in the middle of an update leaves it half done. Outside the main thread, where Python
    delivers no signals, this does nothing.

    Examples
    --------
    >>> with deferred_interrupts():
    ...     pass
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored, or handled outside Python
        yield
        return
    pending: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: pending.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pending:
            before(*pending[0])
