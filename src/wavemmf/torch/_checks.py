"""What the compiled kernels accept: real tensors of one precision, in main memory."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
import torch

from ..errors import InputTypeError, InvalidInputError
from ..factorization import Rotations

__all__ = ["as_array", "check_blocks", "check_signal", "check_tensor"]


def check_tensor(name: str, tensor: Any) -> None:
    """Refuse anything but a dense float32 or float64 tensor on the CPU."""
    if not isinstance(tensor, torch.Tensor):
        raise InputTypeError(f"{name} must be a torch tensor, got {type(tensor).__name__}")
    if tensor.device.type != "cpu":
        raise InvalidInputError(
            f"{name} is on the device {tensor.device}; the kernels run on the CPU only, "
            "so call .cpu() first"
        )
    if tensor.layout != torch.strided:
        raise InputTypeError(f"{name} must be a dense tensor, got layout {tensor.layout}")
    if tensor.dtype not in (torch.float32, torch.float64):
        raise InputTypeError(f"{name} must be float32 or float64, got {tensor.dtype}")


def check_signal(name: str, tensor: Any, n: int) -> None:
    """Refuse anything but one signal (n,) or several (n, m)."""
    check_tensor(name, tensor)
    if tensor.ndim not in (1, 2) or tensor.shape[0] != n:
        raise InvalidInputError(
            f"{name} must have shape ({n},) or ({n}, m), got {tuple(tensor.shape)}"
        )


def check_blocks(blocks: Any, rotations: Rotations) -> None:
    """Refuse anything but all blocks of the rotations, packed."""
    check_tensor("blocks", blocks)
    if rotations.kind != "full":
        raise InvalidInputError(
            "rotations must have full blocks, got compact levels; call rotations.to_full()"
        )
    if tuple(blocks.shape) != (rotations.blocks.size,):
        raise InvalidInputError(
            f"blocks must have shape ({rotations.blocks.size},), like rotations.blocks, "
            f"got {tuple(blocks.shape)}"
        )


def as_array(tensor: torch.Tensor) -> npt.NDArray[Any]:
    """Return the values as a C-ordered NumPy array, shared if possible."""
    array: npt.NDArray[Any] = tensor.detach().contiguous().numpy()
    return array
