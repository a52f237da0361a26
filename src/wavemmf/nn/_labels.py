"""Check what is known of nodes before a network learns from it."""

from __future__ import annotations

from typing import Any

import torch

from ..errors import InputTypeError, InvalidInputError

__all__ = ["check_classes", "check_features", "standardized"]


def check_features(x: Any) -> torch.Tensor:
    """Return a table of finite features as float32, one row per node.

    Examples
    --------
    >>> check_features(torch.tensor([[1, 2], [3, 4]]))
    tensor([[1., 2.],
            [3., 4.]])
    >>> check_features(torch.tensor([[1.0], [float("nan")]]))
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: x must be finite, but feature 0 of node 1 is nan
    """
    if not isinstance(x, torch.Tensor) or x.is_complex() or x.layout != torch.strided:
        raise InputTypeError(f"x must be a dense tensor of real numbers, got {_kind(x)}")
    if x.ndim != 2:
        raise InvalidInputError(f"x must have one row of features per node, got {_kind(x)}")
    features = x.detach().to(torch.float32)
    wrong = ~torch.isfinite(features)
    if wrong.any():
        node, feature = wrong.nonzero()[0].tolist()
        raise InvalidInputError(
            f"x must be finite, but feature {feature} of node {node} is {x[node, feature].item()}"
            + ("" if not torch.isfinite(x[node, feature]) else ", too large for float32")
        )
    return features


def check_classes(y: Any) -> torch.Tensor:
    """Return the classes of nodes as int64.

    Examples
    --------
    >>> check_classes(torch.tensor([0, -1]))
    Traceback (most recent call last):
    ...
    wavemmf.errors.InvalidInputError: y must hold classes counted from 0, but that of node 1 is -1
    """
    whole = isinstance(y, torch.Tensor) and y.layout == torch.strided
    if not whole or y.is_floating_point() or y.is_complex() or y.dtype == torch.bool:
        raise InputTypeError(f"y must be a tensor of integers, got {_kind(y)}")
    if y.ndim != 1 or y.numel() == 0:
        raise InvalidInputError(f"y must have one class per node, got {_kind(y)}")
    classes: torch.Tensor = y.detach().to(torch.int64)
    if int(classes.min()) < 0:
        node = int((classes < 0).nonzero()[0])
        raise InvalidInputError(
            f"y must hold classes counted from 0, but that of node {node} is {classes[node].item()}"
        )
    return classes


def standardized(table: torch.Tensor) -> torch.Tensor:
    """Return columns of mean 0 and standard deviation 1; constant columns become 0.

    Examples
    --------
    >>> standardized(torch.tensor([[1.0, 7.0], [3.0, 7.0]]))
    tensor([[-1.,  0.],
            [ 1.,  0.]])
    """
    columns = table.double()
    spread = columns.std(dim=0, correction=0)
    spread = torch.where(spread > 0.0, spread, torch.ones(()))
    return ((columns - columns.mean(dim=0)) / spread).float()


def _kind(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return type(value).__name__
    return f"{value.dtype} of shape {tuple(value.shape)}, {value.layout}"
