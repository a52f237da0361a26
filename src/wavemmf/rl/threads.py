"""Keep torch to one thread while small tensors are computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["one_thread"]


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
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
