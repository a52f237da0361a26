"""Keep torch to one thread while small tensors are computed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["one_thread"]


class _Users:
    """The threads that keep torch to one thread now, and how many it had before them."""

    def __init__(self) -> None:
        self.count = 0
        self.threads_before = 0
        self.renew_lock()

    def renew_lock(self) -> None:
        """Make a lock; in a child process nobody would release that of the parent."""
        self.lock = threading.Lock()


_users = _Users()
_this_thread = threading.local()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_users.renew_lock)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the block with one torch thread.

    A level of a policy is dozens of operations on a few thousand numbers: waiting for a second
    thread takes longer than the work, many times so on a busy machine. Episodes are spread over
    threads by the kernels instead. One thread also makes sums, and so a whole training, the
    same on every machine.

    Examples
    --------
    >>> with one_thread():
    ...     torch.get_num_threads()
    1
    """
    if getattr(_this_thread, "inside", False):
        yield
        return
    with _users.lock:
        # Always asked for: until then a thread takes over whatever another sets.
        found = torch.get_num_threads()
        if _users.count == 0:  # otherwise it may be one already, because of another thread
            _users.threads_before = found
        _users.count += 1
    _this_thread.inside = True
    torch.set_num_threads(1)
    try:
        yield
    finally:
        _this_thread.inside = False
        with _users.lock:
            _users.count -= 1
        # Threads that begin now have this number; others keep to the one they have set.
        torch.set_num_threads(_users.threads_before)
