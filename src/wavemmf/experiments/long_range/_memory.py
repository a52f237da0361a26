"""How much memory a training keeps from its forward to its backward pass."""

from __future__ import annotations

from collections.abc import Callable

import torch

__all__ = ["megabytes_kept"]


def megabytes_kept(run: Callable[[], torch.Tensor]) -> float:
    """Return the size of all tensors that autograd keeps, each counted once, in 10^6 bytes.

    It is the same on every machine, other than the memory of a process.

    Examples
    --------
    >>> x = torch.ones(1000, 250, requires_grad=True)
    >>> megabytes_kept(lambda: x.exp())
    1.0
    """
    sizes: dict[int, int] = {}
    alive = []

    def count(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout == torch.strided:
            storage = tensor.untyped_storage()
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        alive.append(run())  # until all are counted: addresses are used again
    return sum(sizes.values()) / 1e6
