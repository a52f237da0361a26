"""Features of nodes on one scale."""

from __future__ import annotations

import torch

__all__ = ["standardized"]


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
